"""The serving end of the openai dialect's messages: reads the caller's, writes the server's. Pure.

Event names and shapes are those of the Realtime API (GA). Whatever a caller sends gets an answer:
what is understood is acknowledged as a real server does, what is not gets an `error` event, and the
session stays open. Counterparts: `simulator.rtc.dialects.openai` is the calling end,
`simulator.bridge.call` holds one of these for each call.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from simulator.bridge.events import (
    Committed,
    Configured,
    Cued,
    CuedTurn,
    ItemAdded,
    ResponseAsked,
    ResponseCancelled,
)
from simulator.bridge.refusal import Refusal, decoded
from simulator.bridge.settings import checked, defaults, merged
from simulator.protocol.conduct import Wants

CUE = "omnistage.cue"
"""The simulator's own message; see `simulator.protocol.events.Cue`."""
TEXT_LIMIT = 40_000
"""Characters of a response's text; what is more is cut, and the response ends `incomplete`. The
whole goes into one message at its end, which may have 262,144 bytes, up to six for a character."""
ITEMS = 10_000
"""Items of one conversation; the oldest are forgotten beyond it."""

Status = Literal["completed", "cancelled", "failed", "incomplete"]
Modality = Literal["audio", "text"]

ClientEvent = Cued | Configured | ItemAdded | ResponseAsked | ResponseCancelled | Committed


@dataclass(frozen=True, slots=True)
class Clear:
    """The caller wants the sound that is playing cut (`output_audio_buffer.clear`)."""


class Wire:
    """One session's protocol: its settings, its conversation, its numbering."""

    def __init__(
        self, session_id: str, settings: Mapping[str, Any], send: Callable[[str], None]
    ) -> None:
        self.session = merged(defaults(session_id), settings)
        self.items: dict[str, Mapping[str, Any]] = {}
        """The conversation, by item id, in order."""
        self._send = send
        self._numbers: dict[str, int] = {}
        self._tag = session_id.rpartition("_")[2]

    def name(self, kind: str) -> str:
        """A new id: `item_…_3`."""
        number = self._numbers[kind] = self._numbers.get(kind, 0) + 1
        return f"{kind}_{self._tag}_{number}"

    def emit(self, kind: str, **fields: Any) -> None:
        """Send a server event."""
        self._send(json.dumps({"type": kind, "event_id": self.name("event"), **fields}))

    # ------------------------------------------------------------ the caller's messages

    def read(self, raw: str | bytes, now: float) -> ClientEvent | Clear | None:
        """Take in one message, answer it where the protocol wants that, and say what it means."""
        event_id: str | None = None
        try:
            message = _parsed(raw)
            said = message.get("event_id")
            event_id = said if isinstance(said, str) else None
            return self._serve(message, now)
        except Refusal as refusal:
            self.emit("error", error={**refusal.body, "event_id": event_id})
        except RecursionError:
            deep = Refusal("invalid_message", "the message is nested too deeply")
            self.emit("error", error={**deep.body, "event_id": event_id})
        return None

    def _serve(self, message: Mapping[str, Any], now: float) -> ClientEvent | Clear | None:
        kind = message.get("type")
        if kind == CUE:
            return _cue(message, now)
        if kind == "session.update":
            changes = checked(message.get("session"))
            self.session = merged(self.session, changes)
            self.emit("session.updated", session=self.session)
            return Configured(session=changes)
        if kind == "conversation.item.create":
            return ItemAdded(item=self._create(message))
        if kind == "conversation.item.delete":
            item_id = message.get("item_id")
            if not isinstance(item_id, str) or self.items.pop(item_id, None) is None:
                raise Refusal("item_not_found", f"there is no item {item_id!r}", "item_id")
            self.emit("conversation.item.deleted", item_id=item_id)
            return None
        if kind == "response.create":
            settings = message.get("response") or {}
            if not isinstance(settings, dict):
                raise Refusal("invalid_type", "response has to be an object", "response")
            return ResponseAsked(settings=settings)
        if kind == "response.cancel":
            response = message.get("response_id")
            return ResponseCancelled(response=response if isinstance(response, str) else None)
        if kind == "output_audio_buffer.clear":
            return Clear()
        if kind == "input_audio_buffer.commit":
            return Committed(item=self.commit(self.name("item")))
        if kind == "input_audio_buffer.clear":
            self.emit("input_audio_buffer.cleared")
            return None
        raise Refusal("unknown_event", f"events of type {kind!r} are not served here", "type")

    def _create(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        item = dict(_mapping(message, "item"))
        if not isinstance(item.get("id"), str):
            item["id"] = self.name("item")
        if item["id"] in self.items:
            raise Refusal("item_exists", f"there is an item {item['id']!r} already", "item.id")
        before = message.get("previous_item_id")
        if before is not None and before != "root" and before not in self.items:
            raise Refusal("item_not_found", f"there is no item {before!r}", "previous_item_id")
        self.finish(item, self.add(item, before))
        return item

    # ------------------------------------------------------------ the server's events

    def created(self) -> None:
        self.emit("session.created", session=self.session)

    def add(self, item: Mapping[str, Any], after: str | None = None) -> str | None:
        """Put an item into the conversation: at its end, after another, or in front (`root`).

        Returns the id of the item before it; who has added one says so when it is whole (`finish`).
        """
        previous: str | None = next(reversed(self.items), None) if after is None else after
        if previous == "root":
            previous = None
        if after is None:
            self.items[item["id"]] = item
        else:
            order = list(self.items.items())
            place = 0 if previous is None else 1 + list(self.items).index(previous)
            order.insert(place, (item["id"], item))
            self.items = dict(order)
        while len(self.items) > ITEMS:
            del self.items[next(iter(self.items))]
        self.emit("conversation.item.added", item=item, previous_item_id=previous)
        return previous

    def finish(self, item: Mapping[str, Any], previous: str | None) -> None:
        """An item has got all that it will ever hold; one that was deleted meanwhile stays so."""
        if item["id"] in self.items:
            self.items[item["id"]] = item
            self.emit("conversation.item.done", item=item, previous_item_id=previous)

    def speech_started(self, item: str, audio_ms: int) -> None:
        self.emit("input_audio_buffer.speech_started", item_id=item, audio_start_ms=audio_ms)

    def speech_stopped(self, item: str, audio_ms: int) -> None:
        self.emit("input_audio_buffer.speech_stopped", item_id=item, audio_end_ms=audio_ms)

    def commit(self, item: str) -> str:
        """The user's sound becomes an item of the conversation; returns its id."""
        previous = next(reversed(self.items), None)
        self.emit("input_audio_buffer.committed", item_id=item, previous_item_id=previous)
        said = {
            "id": item,
            "object": "realtime.item",
            "type": "message",
            "role": "user",
            "status": "completed",
            "content": [{"type": "input_audio", "transcript": None}],
        }
        self.finish(said, self.add(said))
        return item


class ResponseWire:
    """The events of one response, in the order of a real server. End it with `done`."""

    def __init__(self, wire: Wire, modality: Modality, metadata: Mapping[str, Any] | None) -> None:
        self.id = wire.name("resp")
        self.item = wire.name("item")
        self.ended = False
        self._wire = wire
        self._modality = modality
        self._metadata = metadata
        self._text = ""
        self._cut = False
        wire.emit("response.created", response=self._response("in_progress"))
        wire.emit("response.output_item.added", **self._place(), item=self._item("in_progress"))
        self._previous = wire.add(self._item("in_progress"))
        wire.emit("response.content_part.added", **self._part(), part=self._content())

    def delta(self, text: str) -> None:
        """A piece of what is written, or of the transcript of what is spoken."""
        piece = text[: TEXT_LIMIT - len(self._text)]
        self._cut = self._cut or len(piece) < len(text)
        if piece:
            self._text += piece
            self._wire.emit(f"response.{self._stream}.delta", **self._part(), delta=piece)

    def done(self, status: Status = "completed", reason: str | None = None) -> None:
        """The response has been generated, or ended otherwise; its sound may still be playing."""
        if self.ended:
            return
        self.ended = True
        wire = self._wire
        if self._cut and status == "completed":
            status, reason = "incomplete", "max_output_tokens"
        if self._modality == "audio":
            wire.emit("response.output_audio.done", **self._part())
        if self._text:
            field = "transcript" if self._modality == "audio" else "text"
            wire.emit(f"response.{self._stream}.done", **self._part(), **{field: self._text})
        wire.emit("response.content_part.done", **self._part(), part=self._content())
        ended = "completed" if status == "completed" else "incomplete"
        item = self._item(ended)
        wire.finish(item, self._previous)
        wire.emit("response.output_item.done", **self._place(), item=item)
        response = self._response(status) | {"output": [item]}
        if reason is not None:
            response["status_details"] = {"type": status, "reason": reason}
        wire.emit("response.done", response=response)

    def sound(self, edge: Literal["started", "stopped", "cleared"]) -> None:
        """The sound of the response begins, has been played out, or was cut."""
        self._wire.emit(f"output_audio_buffer.{edge}", response_id=self.id)

    @property
    def _stream(self) -> str:
        return "output_text" if self._modality == "text" else "output_audio_transcript"

    def _place(self) -> dict[str, Any]:
        return {"response_id": self.id, "output_index": 0}

    def _part(self) -> dict[str, Any]:
        return {**self._place(), "item_id": self.item, "content_index": 0}

    def _content(self) -> dict[str, Any]:
        if self._modality == "text":
            return {"type": "output_text", "text": self._text}
        return {"type": "output_audio", "transcript": self._text or None}

    def _item(self, status: str) -> dict[str, Any]:
        return {
            "id": self.item,
            "object": "realtime.item",
            "type": "message",
            "role": "assistant",
            "status": status,
            "content": [] if status == "in_progress" else [self._content()],
        }

    def _response(self, status: str) -> dict[str, Any]:
        return {
            "id": self.id,
            "object": "realtime.response",
            "status": status,
            "output": [],
            "output_modalities": [self._modality],
            "metadata": self._metadata,
            "usage": None,
        }


# ---------------------------------------------------------------- parsing


def _parsed(raw: str | bytes) -> Mapping[str, Any]:
    if isinstance(raw, bytes):
        raise Refusal("invalid_message", "messages have to be JSON text, not binary")
    message = decoded(raw, "the message")
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise Refusal("invalid_message", "messages have to be objects with a type", "type")
    return message


def _mapping(message: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = message.get(key)
    if not isinstance(value, dict):
        raise Refusal("invalid_type", f"{key} has to be an object", key)
    return value


def _cue(message: Mapping[str, Any], now: float) -> Cued:
    turn = _mapping(message, "turn")
    wants, answer = turn.get("wants"), turn.get("answer")
    if wants not in list(Wants):
        raise Refusal("invalid_cue", f"turn.wants cannot be {wants!r}", "turn.wants")
    if answer is not None and not isinstance(answer, str):
        raise Refusal("invalid_cue", "turn.answer has to be text", "turn.answer")
    due_in = turn.get("due_in")
    try:
        return Cued(
            turn=CuedTurn(
                id=str(turn.get("id", "")),
                index=int(turn.get("index", 0)),
                wants=Wants(wants),
                answer=answer,
                asked=bool(turn.get("asked")),
                duration=float(turn.get("duration", 0.0)),
                due_in=None if due_in is None else float(due_in),
                event=bool(turn.get("event")),
            ),
            start=now + float(message.get("starts_in", 0.0)),
        )
    except (TypeError, ValueError) as error:
        raise Refusal("invalid_cue", f"the cue cannot be read: {error}", "turn") from None
