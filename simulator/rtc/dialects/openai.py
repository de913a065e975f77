"""The openai dialect: SDP by HTTP POST, `oai-events`, the Realtime API's GA event names.

    POST url            application/sdp, Bearer in the target's headers
    201 (or 200)        application/sdp, Location of the call
    hang up             POST Location/hangup, or DELETE Location where that is not known

The older names of some events are read too. Beside the API's own events three of ours may come from
an agent built on `simulator.bridge`: `omnistage.context`, `omnistage.listened` and, the other way,
`omnistage.cue`. Counterpart: `simulator.bridge.host` answers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal
from urllib.parse import urljoin, urlsplit

import aiohttp

from simulator.agent import Dial
from simulator.errors import AgentError
from simulator.protocol.events import (
    Acknowledged,
    Cancel,
    Commit,
    Configure,
    ContextChanged,
    Drained,
    Fault,
    Listened,
    Ready,
    Respond,
    ResponseEnded,
    ResponseStarted,
    Text,
    UserSpeech,
    Whose,
    WireCommand,
    WireEvent,
)
from simulator.rtc.dialects import Answer
from simulator.rtc.fields import Message, is_number, mapping, optional, seconds, string, whole
from simulator.text import all_well_formed, public_url, well_formed

SDP_LIMIT = 1_000_000
"""Bytes of an answer that we are ready to read."""
TEXT_CAP = 200_000
"""Characters of text of one response that are passed on."""
_EXCERPT = 200
_FORGET_AFTER = 1_000
"""Responses whose text is counted; older ones are forgotten."""

_TextKind = Literal["output", "transcript"]


class Call:
    """One call; see `simulator.rtc.dialects.Dialect`."""

    channel = "oai-events"

    def __init__(self, target: Dial) -> None:
        self._target = target
        self._ready = False
        self._commands = 0
        self._configured: list[str] = []
        self._detects = True
        """It may decide by itself when the user has finished."""
        self._commits: list[str] = []
        """Commits of ours that it has not acknowledged."""
        self._asked: str | None = None
        """The turn for which a response was asked for, until that begins."""
        self._committed: str | None = None
        self._texts: dict[str, int] = {}
        self._dropped = 0
        self._readers: Mapping[str, Callable[[Message], Sequence[WireEvent]]] = {
            "session.created": self._session,
            "session.updated": self._updated,
            "error": self._error,
            "input_audio_buffer.speech_started": lambda m: [_speech(m, "start")],
            "input_audio_buffer.speech_stopped": lambda m: [_speech(m, "end")],
            "input_audio_buffer.committed": self._commit,
            "response.created": self._created,
            "response.done": self._done,
            "response.output_text.delta": lambda m: self._delta(m, "output"),
            "response.output_text.done": lambda m: self._final(m, "output", "text"),
            "response.text.delta": lambda m: self._delta(m, "output"),
            "response.text.done": lambda m: self._final(m, "output", "text"),
            "response.output_audio_transcript.delta": lambda m: self._delta(m, "transcript"),
            "response.output_audio_transcript.done": lambda m: self._final(
                m, "transcript", "transcript"
            ),
            "response.audio_transcript.delta": lambda m: self._delta(m, "transcript"),
            "response.audio_transcript.done": lambda m: self._final(m, "transcript", "transcript"),
            "conversation.item.input_audio_transcription.delta": lambda m: [
                Text(text=string(m, "delta"), item=optional(m, "item_id"), kind="user")
            ],
            "conversation.item.input_audio_transcription.completed": lambda m: [
                Text(
                    text=string(m, "transcript"),
                    item=optional(m, "item_id"),
                    kind="user",
                    final=True,
                )
            ],
            "output_audio_buffer.stopped": lambda m: [Drained(response=string(m, "response_id"))],
            "output_audio_buffer.cleared": lambda m: [
                Drained(response=string(m, "response_id"), cleared=True)
            ],
            "omnistage.context": lambda m: [_context(m)],
            "omnistage.listened": lambda m: [Listened(response=optional(m, "response_id"))],
        }

    @property
    def dropped(self) -> int:
        return self._dropped

    # ------------------------------------------------------------ the call itself

    async def call(self, http: aiohttp.ClientSession, offer: str) -> Answer:
        where = public_url(self._target.url)
        headers = {
            **self._target.headers,
            "Content-Type": "application/sdp",
            "Accept": "application/sdp",
        }
        try:
            # A redirected POST would become a GET, and take the token to another place.
            async with http.post(
                self._target.url, data=offer, headers=headers, allow_redirects=False
            ) as response:
                text = await _body(response)
                location = response.headers.get("Location")
                if response.status not in (200, 201):
                    said = well_formed(response.reason or "")
                    more = _excerpt(text)
                    if location is not None and 300 <= response.status < 400:
                        more = f": the call is at {public_url(location)}"
                    raise AgentError(
                        f"{where} refused the call: {response.status} {said}{more}",
                        hint=_remedy(response.status),
                    )
        except TimeoutError:
            raise AgentError(f"{where} did not answer the call in time") from None
        except (aiohttp.InvalidURL, UnicodeError):
            raise AgentError(f"{where} is not an address that can be called") from None
        except aiohttp.ClientConnectorError as error:
            raise AgentError(f"nobody answers at {where}: {error.os_error}") from None
        except aiohttp.ClientError as error:
            raise AgentError(
                f"{where} broke off the call: {well_formed(str(error)) or type(error).__name__}"
            ) from None
        except ValueError as error:
            raise AgentError(f"{where} cannot be called: {well_formed(str(error))}") from None
        if not text.lstrip().startswith("v="):
            raise AgentError(f"{where} answered without SDP{_excerpt(text)}")
        return Answer(sdp=text, location=_absolute(self._target.url, location))

    async def hang_up(self, http: aiohttp.ClientSession, answer: Answer) -> None:
        where = answer.location
        # The agent chose that address: our token goes nowhere but where we have dialled.
        if where is None or _origin(where) != _origin(self._target.url):
            return
        headers = dict(self._target.headers)
        try:
            async with http.post(
                f"{where.rstrip('/')}/hangup", headers=headers, allow_redirects=False
            ) as said:
                known = said.status not in (404, 405, 501)
            if not known:
                async with http.delete(where, headers=headers, allow_redirects=False):
                    pass
        except (aiohttp.ClientError, TimeoutError, ValueError):
            return

    # ------------------------------------------------------------ reading

    def read(self, message: str | bytes) -> Sequence[WireEvent]:
        try:
            parsed = all_well_formed(json.loads(message))
        except RecursionError:
            raise ValueError("nested too deeply") from None
        if not isinstance(parsed, dict):
            raise ValueError("not a JSON object")
        reader = self._readers.get(string(parsed, "type"))
        return reader(parsed) if reader is not None else ()

    def _session(self, _: Message) -> Sequence[WireEvent]:
        if self._ready:
            return ()
        self._ready = True
        return (Ready(),)

    def _updated(self, message: Message) -> Sequence[WireEvent]:
        events = [*self._session(message)]
        if self._configured:
            events.append(Acknowledged(command=self._configured.pop(0)))
            if not self._detects and _detects(message):
                what = "it keeps its own turn detection, so decide: turn-end cannot be had of it"
                events.append(
                    Fault(whose=Whose.AGENT, code="turn_detection", message=what, fatal=True)
                )
        return events

    def _error(self, message: Message) -> Sequence[WireEvent]:
        error = mapping(message, "error")
        code = optional(error, "code") or optional(error, "type") or "error"
        command = optional(error, "event_id")
        for waiting in (self._configured, self._commits):
            if command in waiting:
                waiting.remove(command)
        text = (optional(error, "message") or "")[:1_000]
        return (Fault(whose=Whose.AGENT, code=code, message=text, fatal=False),)

    def _commit(self, message: Message) -> Sequence[WireEvent]:
        self._committed = string(message, "item_id")
        return (Acknowledged(command=self._commits.pop(0), what="commit"),) if self._commits else ()

    def _created(self, message: Message) -> Sequence[WireEvent]:
        response = mapping(message, "response")
        metadata = response.get("metadata")
        named = metadata.get("turn") if isinstance(metadata, dict) else None
        # A server may not give back what we named; but what we asked for is what begins now.
        trigger = named if isinstance(named, str) else self._asked
        self._asked = None
        item, self._committed = self._committed, None
        return (
            ResponseStarted(
                response=string(response, "id"),
                trigger=trigger,
                input_item=item,
            ),
        )

    def _done(self, message: Message) -> Sequence[WireEvent]:
        response = mapping(message, "response")
        usage = response.get("usage")
        return (
            ResponseEnded(
                response=string(response, "id"),
                status=optional(response, "status") or "completed",
                usage=usage if isinstance(usage, dict) else None,
            ),
        )

    def _delta(self, message: Message, kind: _TextKind) -> Sequence[WireEvent]:
        response = optional(message, "response_id")
        text = self._capped(response, string(message, "delta"))
        item = optional(message, "item_id")
        return (Text(text=text, response=response, item=item, kind=kind),) if text else ()

    def _final(self, message: Message, kind: _TextKind, field: str) -> Sequence[WireEvent]:
        text = string(message, field)
        self._dropped += max(0, len(text) - TEXT_CAP)
        return (
            Text(
                text=text[:TEXT_CAP],
                response=optional(message, "response_id"),
                item=optional(message, "item_id"),
                kind=kind,
                final=True,
            ),
        )

    def _capped(self, response: str | None, text: str) -> str:
        """`text` as far as the response's cap allows; the rest is counted."""
        key = response or ""
        had = self._texts.pop(key, 0)
        kept = text[: max(0, TEXT_CAP - had)]
        self._texts[key] = had + len(kept)
        self._dropped += len(text) - len(kept)
        if len(self._texts) > _FORGET_AFTER:
            del self._texts[next(iter(self._texts))]
        return kept

    # ------------------------------------------------------------ writing

    def write(self, command: WireCommand) -> tuple[str, Sequence[Mapping[str, Any]]]:
        self._commands += 1
        name = f"om_{self._commands}"
        match command:
            case Configure():
                self._configured.append(name)
                self._detects = command.turn_detection
                session: dict[str, Any] = {
                    "type": "realtime",
                    "instructions": command.instructions,
                    "output_modalities": ["audio"],
                    **self._target.session,
                }
                if not command.turn_detection:
                    session["audio"] = _undetected(session.get("audio"))
                return name, [{"type": "session.update", "event_id": name, "session": session}]
            case Commit():
                self._commits.append(name)
                return name, [{"type": "input_audio_buffer.commit", "event_id": name}]
            case Respond():
                self._asked = command.turn
                response = {"metadata": {"turn": command.turn}}
                return name, [{"type": "response.create", "event_id": name, "response": response}]
            case Cancel():
                cut: list[Mapping[str, Any]] = [
                    {"type": "output_audio_buffer.clear", "event_id": name}
                ]
                if command.response is not None:
                    cancel = {"type": "response.cancel", "response_id": command.response}
                    cut.insert(0, {**cancel, "event_id": f"{name}_1"})
                return name, cut
            case _:
                cue = {"type": "omnistage.cue", "event_id": name, "turn": {"index": command.turn}}
                return name, [cue]


def _undetected(audio: object) -> dict[str, Any]:
    """The settings of sound with the server's turn detection off."""
    known = audio if isinstance(audio, dict) else {}
    given = known.get("input")
    return {
        **known,
        "input": {**(given if isinstance(given, dict) else {}), "turn_detection": None},
    }


def _detects(message: Message) -> bool:
    """Whether a server says that its turn detection is on; one that says nothing is believed."""
    found: object = message
    for key in ("session", "audio", "input", "turn_detection"):
        found = found.get(key) if isinstance(found, dict) else None
    return found is not None


async def _body(response: aiohttp.ClientResponse) -> str:
    """The body as text, as far as `SDP_LIMIT`."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > SDP_LIMIT:
            break
    return bytes(body[:SDP_LIMIT]).decode("utf-8", "replace")


def _speech(message: Message, edge: Literal["start", "end"]) -> UserSpeech:
    return UserSpeech(edge=edge, item=optional(message, "item_id"))


def _context(message: Message) -> ContextChanged:
    span = message.get("span")
    pair = isinstance(span, list) and len(span) == 2 and all(is_number(s) for s in span)
    return ContextChanged(
        op=string(message, "op"),
        kind=optional(message, "kind") or "",
        span=(seconds(span[0]), seconds(span[1])) if isinstance(span, list) and pair else None,
        tokens=whole(message, "tokens"),
        used=whole(message, "used"),
        window=whole(message, "window"),
    )


def _excerpt(body: str) -> str:
    words = " ".join(body.split())
    return f": {words[:_EXCERPT]}" if words else ""


def _remedy(status: int) -> str:
    if status in (401, 403):
        return "check the key or token in the agent's options"
    if 300 <= status < 400:
        return "give the agent's URL as it is after the redirect"
    if status == 404:
        return "check the path of the agent's URL"
    return ""


def _absolute(base: str, location: str | None) -> str | None:
    """Where the call is, for hanging up; None if that was not said, or cannot be read."""
    try:
        return location and urljoin(base, location)
    except ValueError:
        return None


def _origin(url: str) -> tuple[str, str | None, int | None] | None:
    """Scheme, host and port; None if they cannot be read, which is nobody's origin."""
    try:
        parts = urlsplit(url)
        usual = {"http": 80, "https": 443}.get(parts.scheme)
        return parts.scheme, parts.hostname, parts.port or usual
    except ValueError:
        return None
