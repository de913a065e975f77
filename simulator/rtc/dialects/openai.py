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
from simulator.rtc.dialects import Answer
from simulator.session.events import (
    Acknowledged,
    Configure,
    ContextChanged,
    Drained,
    Fault,
    Listened,
    Ready,
    ResponseEnded,
    ResponseStarted,
    Text,
    UserSpeech,
    Whose,
    WireCommand,
    WireEvent,
)
from simulator.text import all_well_formed, public_url, well_formed

SDP_LIMIT = 1_000_000
"""Bytes of an answer that we are ready to read."""
TEXT_CAP = 200_000
"""Characters of text of one response that are passed on."""
_EXCERPT = 200
_FORGET_AFTER = 1_000
"""Responses whose text is counted; older ones are forgotten."""
_LARGEST = 2**53
"""No number of a report is so large; beyond it JSON's numbers are not exact."""

_Message = Mapping[str, Any]
_TextKind = Literal["output", "transcript"]


class Call:
    """One call; see `simulator.rtc.dialects.Dialect`."""

    channel = "oai-events"

    def __init__(self, target: Dial) -> None:
        self._target = target
        self._ready = False
        self._commands = 0
        self._configured: list[str] = []
        self._committed: str | None = None
        self._texts: dict[str, int] = {}
        self._dropped = 0
        self._readers: Mapping[str, Callable[[_Message], Sequence[WireEvent]]] = {
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
                Text(text=_string(m, "delta"), item=_optional(m, "item_id"), kind="user")
            ],
            "conversation.item.input_audio_transcription.completed": lambda m: [
                Text(
                    text=_string(m, "transcript"),
                    item=_optional(m, "item_id"),
                    kind="user",
                    final=True,
                )
            ],
            "output_audio_buffer.stopped": lambda m: [Drained(response=_string(m, "response_id"))],
            "output_audio_buffer.cleared": lambda m: [
                Drained(response=_string(m, "response_id"), cleared=True)
            ],
            "omnistage.context": lambda m: [_context(m)],
            "omnistage.listened": lambda m: [Listened(response=_optional(m, "response_id"))],
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
        reader = self._readers.get(_string(parsed, "type"))
        return reader(parsed) if reader is not None else ()

    def _session(self, _: _Message) -> Sequence[WireEvent]:
        if self._ready:
            return ()
        self._ready = True
        return (Ready(),)

    def _updated(self, message: _Message) -> Sequence[WireEvent]:
        events = [*self._session(message)]
        if self._configured:
            events.append(Acknowledged(command=self._configured.pop(0)))
        return events

    def _error(self, message: _Message) -> Sequence[WireEvent]:
        error = _object(message, "error")
        code = _optional(error, "code") or _optional(error, "type") or "error"
        command = _optional(error, "event_id")
        if command in self._configured:
            self._configured.remove(command)
        text = (_optional(error, "message") or "")[:1_000]
        return (Fault(whose=Whose.AGENT, code=code, message=text, fatal=False),)

    def _commit(self, message: _Message) -> Sequence[WireEvent]:
        self._committed = _string(message, "item_id")
        return ()

    def _created(self, message: _Message) -> Sequence[WireEvent]:
        response = _object(message, "response")
        metadata = response.get("metadata")
        trigger = metadata.get("turn") if isinstance(metadata, dict) else None
        item, self._committed = self._committed, None
        return (
            ResponseStarted(
                response=_string(response, "id"),
                trigger=trigger if isinstance(trigger, str) else None,
                input_item=item,
            ),
        )

    def _done(self, message: _Message) -> Sequence[WireEvent]:
        response = _object(message, "response")
        usage = response.get("usage")
        return (
            ResponseEnded(
                response=_string(response, "id"),
                status=_optional(response, "status") or "completed",
                usage=usage if isinstance(usage, dict) else None,
            ),
        )

    def _delta(self, message: _Message, kind: _TextKind) -> Sequence[WireEvent]:
        response = _optional(message, "response_id")
        text = self._capped(response, _string(message, "delta"))
        item = _optional(message, "item_id")
        return (Text(text=text, response=response, item=item, kind=kind),) if text else ()

    def _final(self, message: _Message, kind: _TextKind, field: str) -> Sequence[WireEvent]:
        text = _string(message, field)
        self._dropped += max(0, len(text) - TEXT_CAP)
        return (
            Text(
                text=text[:TEXT_CAP],
                response=_optional(message, "response_id"),
                item=_optional(message, "item_id"),
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
        if isinstance(command, Configure):
            self._configured.append(name)
            session: dict[str, Any] = {
                "type": "realtime",
                "instructions": command.instructions,
                "output_modalities": ["audio"],
                **self._target.session,
            }
            return name, [{"type": "session.update", "event_id": name, "session": session}]
        cue = {"type": "omnistage.cue", "event_id": name, "turn": {"index": command.turn}}
        return name, [cue]


async def _body(response: aiohttp.ClientResponse) -> str:
    """The body as text, as far as `SDP_LIMIT`."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > SDP_LIMIT:
            break
    return bytes(body[:SDP_LIMIT]).decode("utf-8", "replace")


def _speech(message: _Message, edge: Literal["start", "end"]) -> UserSpeech:
    return UserSpeech(edge=edge, item=_optional(message, "item_id"))


def _context(message: _Message) -> ContextChanged:
    span = message.get("span")
    pair = isinstance(span, list) and len(span) == 2 and all(_is_number(s) for s in span)
    return ContextChanged(
        op=_string(message, "op"),
        kind=_optional(message, "kind") or "",
        span=(_time(span[0]), _time(span[1])) if isinstance(span, list) and pair else None,
        tokens=_whole(message, "tokens"),
        used=_whole(message, "used"),
        window=_whole(message, "window"),
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _time(value: float) -> float:
    if not abs(value) < _LARGEST:  # NaN as well
        raise ValueError("span is not two times")
    return float(value)


def _whole(message: _Message, key: str) -> int:
    value = message.get(key, 0)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _LARGEST:
        raise ValueError(f"{key} is not a whole number from 0")
    return value


def _string(message: _Message, key: str) -> str:
    value = message.get(key)
    if not isinstance(value, str):
        raise ValueError(f"{key} is not text")
    return value


def _optional(message: _Message, key: str) -> str | None:
    value = message.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{key} is not text")
    return value


def _object(message: _Message, key: str) -> _Message:
    value = message.get(key)
    if not isinstance(value, dict):
        raise ValueError(f"{key} is not an object")
    return value


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
