"""The openai dialect's words: `oai-events`, the Realtime API's GA event names, in JSON. Pure.

The older names of some events are read too. Beside the API's own events three of ours may come from
an agent built on `simulator.bridge`: `omnistage.context`, `omnistage.listened` and, the other way,
`omnistage.cue`. Counterpart: `simulator.bridge.wire` speaks at the other end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, assert_never

from simulator.protocol.events import (
    Acknowledged,
    Cancel,
    Commit,
    Configure,
    ContextChanged,
    Cue,
    Drained,
    Fault,
    Listened,
    Ready,
    Respond,
    ResponseEnded,
    ResponseStarted,
    Sounding,
    Text,
    UserSpeech,
    Whose,
    WireCommand,
    WireEvent,
)
from simulator.protocol.refusals import (
    Refusals,
    code_of,
    ending_of,
    error_of,
    why_not_completed,
    words_of,
)
from simulator.rtc import dialect
from simulator.rtc.dialect import Message, Written
from simulator.rtc.fields import (
    Fields,
    compact,
    identity,
    identity_if_any,
    is_number,
    mapping,
    optional,
    parsed,
    seconds,
    string,
    whole,
)

CHANNEL = "oai-events"

_EXPIRED = "session_expired"
"""The error after which there is no session."""
_PARTS = 1_000
"""Parts of one item that are told apart."""
_KEPT = Fault(
    whose=Whose.AGENT,
    code="turn_detection",
    message="it keeps its own turn detection, so decide: turn-end cannot be had of it",
    fatal=True,
)

_DETECTION = (("session", "audio", "input", "turn_detection"), ("session", "turn_detection"))
"""Where a session's settings have it."""

_TextKind = Literal["output", "transcript", "user"]


class Codec(dialect.Codec):
    """One call's words; `settings` are added to those of its session."""

    channels = (CHANNEL,)

    def __init__(self, settings: Mapping[str, object]) -> None:
        self._settings = settings
        self._ready = False
        self._named = 0
        self._detects = True
        """It may decide by itself when the user has finished."""
        self._refusals = Refusals()
        self._committed: str | None = None
        self._open: dict[str, str | float] = {}
        """Responses that have begun and not ended, each with its id as it was said."""

    # ------------------------------------------------------------ reading

    def read(self, message: Message) -> Sequence[WireEvent]:
        fields = parsed(message.body)
        kind = string(fields, "type")
        acknowledged = self._refusals.hears(kind)
        match kind:
            case "session.created":
                return self._session()
            case "session.updated":
                return self._updated(fields, acknowledged)
            case "error":
                return (self._error(fields),)
            case "input_audio_buffer.speech_started":
                return (UserSpeech(edge="start", item=identity_if_any(fields, "item_id")),)
            case "input_audio_buffer.speech_stopped":
                return (UserSpeech(edge="end", item=identity_if_any(fields, "item_id")),)
            case "input_audio_buffer.committed":
                return self._commit(fields, acknowledged)
            case "response.created":
                return (self._created(fields),)
            case "response.done":
                return (self._done(fields),)
            case "response.output_text.delta" | "response.text.delta":
                return (_text(fields, "output", "delta"),)
            case "response.output_text.done" | "response.text.done":
                return (_text(fields, "output", "text", final=True),)
            case "response.output_audio_transcript.delta" | "response.audio_transcript.delta":
                return (_text(fields, "transcript", "delta"),)
            case "response.output_audio_transcript.done" | "response.audio_transcript.done":
                return (_text(fields, "transcript", "transcript", final=True),)
            case "conversation.item.input_audio_transcription.delta":
                return (_text(fields, "user", "delta"),)
            case "conversation.item.input_audio_transcription.completed":
                return (_text(fields, "user", "transcript", final=True),)
            case "output_audio_buffer.started":
                return (Sounding(response=identity(fields, "response_id")),)
            case "output_audio_buffer.stopped":
                return (Drained(response=identity(fields, "response_id")),)
            case "output_audio_buffer.cleared":
                return (Drained(response=identity(fields, "response_id"), cleared=True),)
            case "omnistage.context":
                return (_context(fields),)
            case "omnistage.listened":
                return (Listened(response=identity_if_any(fields, "response_id")),)
            case _:
                return ()

    def _session(self) -> Sequence[WireEvent]:
        if self._ready:
            return ()
        self._ready = True
        return (Ready(),)

    def _updated(self, fields: Fields, acknowledged: str | None) -> Sequence[WireEvent]:
        events = [*self._session()]
        if acknowledged is not None:
            events.append(Acknowledged(command=acknowledged))
        if not self._detects and _detects(fields):
            events.append(_KEPT)
        return events

    def _error(self, fields: Fields) -> Fault:
        error = error_of(fields)
        unanswered, turn = self._refusals.unanswered(error)
        code = code_of(error) or "error"
        return Fault(
            whose=Whose.AGENT,
            code=code,
            message=words_of(error) or "",
            # After it nothing is answered, also where the call is left standing.
            fatal=code == _EXPIRED,
            unanswered=unanswered,
            turn=turn,
        )

    def _commit(self, fields: Fields, acknowledged: str | None) -> Sequence[WireEvent]:
        self._committed = identity(fields, "item_id")
        if acknowledged is not None:
            return (Acknowledged(command=acknowledged, what="commit"),)
        # It has acknowledged that it is not to, and goes on deciding when we have finished.
        return () if self._detects or self._refusals.waits("session.update") else (_KEPT,)

    def _created(self, fields: Fields) -> ResponseStarted:
        response = mapping(fields, "response")
        metadata = response.get("metadata")
        named = metadata.get("turn") if isinstance(metadata, dict) else None
        # A server may not give back what we named; but what we asked for is what begins now.
        asked = self._refusals.begins()
        trigger = named if isinstance(named, str) else asked
        item, self._committed = self._committed, None
        name = identity(response, "id")
        self._open[name] = response["id"]
        return ResponseStarted(response=name, trigger=trigger, input_item=item)

    def _done(self, fields: Fields) -> ResponseEnded:
        response = mapping(fields, "response")
        usage = response.get("usage")
        reason, message = why_not_completed(response)
        name = self._ended(response)
        self._open.pop(name, None)
        return ResponseEnded(
            response=name,
            status=ending_of(response),
            usage=usage if isinstance(usage, dict) else None,
            reason=reason,
            message=message,
        )

    def _ended(self, response: Fields) -> str:
        """Which response has ended; where that is not said, the only one that is open."""
        if response.get("id") is None and len(self._open) == 1:
            return next(iter(self._open))
        return identity(response, "id")

    # ------------------------------------------------------------ writing

    def write(self, command: WireCommand) -> Written:
        match command:
            case Configure():
                name = self._name()
                self._detects = command.turn_detection
                return self._written(name, _update(name, command, self._settings))
            case Commit():
                name = self._name()
                return self._written(name, {"type": "input_audio_buffer.commit", "event_id": name})
            case Respond():
                name = self._name()
                self._refusals.asks(command.turn, name)
                response = {"metadata": {"turn": command.turn}}
                return self._written(
                    name, {"type": "response.create", "event_id": name, "response": response}
                )
            case Cancel():
                name = self._name()
                clear = {"type": "output_audio_buffer.clear", "event_id": name}
                if command.response is None:
                    return self._written(name, clear)
                named = self._open.get(command.response, command.response)
                cancel = {"type": "response.cancel", "response_id": named}
                return self._written(name, {**cancel, "event_id": f"{name}_1"}, clear)
            case Cue():
                return _written("", _cue(command))
            case _:
                assert_never(command)

    def _name(self) -> str:
        self._named += 1
        return f"om_{self._named}"

    def _written(self, name: str, *said: Fields) -> Written:
        for fields in said:
            self._refusals.says(fields["event_id"], fields["type"])
        return _written(name, *said)


def _written(name: str, *said: Fields) -> Written:
    messages = tuple(Message(channel=CHANNEL, body=compact(fields)) for fields in said)
    return Written(messages=messages, command=name)


def _update(name: str, command: Configure, settings: Mapping[str, object]) -> Fields:
    session: dict[str, object] = {
        "type": "realtime",
        "instructions": command.instructions,
        "output_modalities": ["audio"],
        **settings,
    }
    if not command.turn_detection:
        session["audio"] = _undetected(session.get("audio"))
    return {"type": "session.update", "event_id": name, "session": session}


def _cue(cue: Cue) -> Fields:
    turn = {
        "id": cue.turn,
        "index": cue.index,
        "wants": cue.wants.value,
        "answer": cue.answer,
        "asked": cue.asked,
        "duration": cue.duration,
        "due_in": cue.due_in,
        "event": cue.event,
    }
    return {"type": "omnistage.cue", "turn": turn, "starts_in": cue.starts_in}


def _text(fields: Fields, kind: _TextKind, key: str, *, final: bool = False) -> Text:
    return Text(
        text=string(fields, key),
        response=None if kind == "user" else identity_if_any(fields, "response_id"),
        item=identity_if_any(fields, "item_id"),
        part=_part(fields),
        kind=kind,
        final=final,
    )


def _part(fields: Fields) -> int:
    """Which part of its item a text is; the first where that is not said in so many words."""
    index = fields.get("content_index")
    return index if isinstance(index, int) and 0 <= index < _PARTS else 0


def _undetected(audio: object) -> dict[str, Any]:
    """The settings of sound with the server's turn detection off."""
    known = audio if isinstance(audio, dict) else {}
    given = known.get("input")
    return {
        **known,
        "input": {**(given if isinstance(given, dict) else {}), "turn_detection": None},
    }


def _detects(fields: Fields) -> bool:
    """Whether a server says that its turn detection is on, in its present place or in its older
    one; one that says nothing is believed."""
    return any(_at(fields, path) is not None for path in _DETECTION)


def _at(fields: Fields, path: Sequence[str]) -> object:
    found: object = fields
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _context(fields: Fields) -> ContextChanged:
    span = fields.get("span")
    pair = isinstance(span, list) and len(span) == 2 and all(is_number(s) for s in span)
    return ContextChanged(
        op=string(fields, "op"),
        kind=optional(fields, "kind") or "",
        span=(seconds(span[0]), seconds(span[1])) if isinstance(span, list) and pair else None,
        tokens=whole(fields, "tokens"),
        used=whole(fields, "used"),
        window=whole(fields, "window"),
    )
