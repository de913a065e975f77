"""The records of `events.jsonl`: types, and their JSON. Format: recordings/README.md.

Each line is an object with `seq`, `t` (session seconds), `type`, `turn` (id of the turn playing
then, or null; never an attribution) and the fields of one of the types here. A field's annotation
is also what pydantic holds a line that is read against. Readers keep types that they do not know as
`Unknown`, pass over fields that they do not know, and take new words where there are a few.
Counterparts: `simulator.recording.writer` and `.reader`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    TypeAdapter,
    ValidationError,
)
from pydantic_core import CoreSchema, core_schema

from simulator.protocol.health import Sent

FORMAT_VERSION = 2
_LARGEST = 1e15
"""What numbers in a line are below: nothing that we measure comes near it."""


class _AnyWord:
    """Makes pydantic take any text where a type checker wants one of a few words."""

    def __get_pydantic_core_schema__(self, _: Any, __: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.str_schema()


def _from_word(value: Any) -> Any:
    return float(value) if value in ("nan", "inf", "-inf") else value


def _bounded(value: float) -> float:
    if math.isfinite(value) and not -_LARGEST < value < _LARGEST:
        raise ValueError("is too large")
    return value


Number = Annotated[float, Field(strict=True, gt=-_LARGEST, lt=_LARGEST, allow_inf_nan=False)]
Measure = Annotated[
    float, BeforeValidator(_from_word), Field(strict=True), AfterValidator(_bounded)
]
"""A measure of ours, which may have come to no number; such a one is written as a word."""
Count = Annotated[int, Field(strict=True, gt=-(1 << 63), lt=1 << 63)]
Flag = Annotated[bool, Field(strict=True)]
_T = TypeVar("_T", bound=str)
Word = Annotated[_T, _AnyWord()]
"""One of a few words, or one that a newer version has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """A state of the whole session: dialling, connected, playing, ended."""

    type: ClassVar[str] = "session"
    state: Word[Literal["dialling", "connected", "playing", "ended"]]
    play_at: Number | None = None
    """With `playing`: the session time of stream time 0. Readers subtract it."""
    outcome: str | None = None
    """With `ended`."""
    reason: str | None = None
    negotiated: Mapping[str, Any] | None = None
    """With `connected`: codecs, payload types, SSRCs, candidate pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentRecord:
    """A part of the stream begins (edge start) or has ended."""

    type: ClassVar[str] = "segment"
    edge: Word[Literal["start", "end"]]
    part: Word[Literal["play", "hold", "splice"]]
    of: str
    """Id of the turn that the part belongs to."""
    at: Number
    """Exact session time of the edge on the stream (t is when it was written)."""
    clip: str = ""
    start: Number = 0.0
    """Clip time of the part's first sample."""
    end: Number = 0.0
    """Clip time of its last."""
    asset: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionRecord:
    """An instruction's first or last audible sample was sent (by the prepared sound's measure)."""

    type: ClassVar[str] = "instruction"
    id: str
    """`turn-id/index`."""
    edge: Word[Literal["start", "end"]]
    at: Number
    """Exact session time."""
    kind: str
    voice: str
    text: str
    asset: str = ""
    overlapped: Flag = False
    """The agent was audible when it began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """A turn enters a state."""

    type: ClassVar[str] = "turn"
    of: str
    state: str
    at: Number
    cause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseRecord:
    """A response begins, ends, or its sound is drained or was interrupted."""

    type: ClassVar[str] = "response"
    id: str
    edge: Word[Literal["start", "end", "drained", "cleared", "listened"]]
    trigger: str | None = None
    input_item: str | None = None
    status: str | None = None
    usage: Mapping[str, Any] | None = None
    reason: str | None = None
    """With `end`: the provider's code for why it is not completed."""
    message: str | None = None
    """And its words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRecord:
    """Text of a response, or a transcript."""

    type: ClassVar[str] = "text"
    text: str
    """The delta, or with `final` the whole."""
    response: str | None = None
    item: str | None = None
    part: Count = 0
    """Which of its item's parts it is, or belongs to."""
    kind: Word[Literal["output", "transcript", "user"]] = "output"
    final: Flag = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechRecord:
    """The live detector's edges; measured onsets belong to the trace."""

    type: ClassVar[str] = "speech"
    edge: Word[Literal["start", "end"]]
    by: Word[Literal["agent", "user"]]
    item: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandRecord:
    """Something that we ordered over the wire or of ourselves."""

    type: ClassVar[str] = "command"
    id: str
    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    acked_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRecord:
    """The agent's report on its context budget."""

    type: ClassVar[str] = "context"
    op: str
    kind: str = ""
    span: tuple[Number, Number] | None = None
    tokens: Count = 0
    used: Count = 0
    window: Count = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRecord:
    """A message on the wire, redacted and capped."""

    type: ClassVar[str] = "wire"
    dir: Word[Literal["in", "out"]]
    name: str
    """The message's own type."""
    bytes: Count
    body: Any = None
    """The message, or its first characters where it was over the cap."""
    cut: Flag = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRecord:
    """The instrument's health over the last second."""

    type: ClassVar[str] = "health"
    send_p99_ms: Measure
    send_max_ms: Measure
    loop_lag_ms: Measure
    lost: Count = 0
    """Packets of the agent lost so far."""
    rtt_ms: Measure | None = None
    drops: Count = 0
    """What bounded queues of ours have dropped so far."""
    host_load: Measure = 0.0
    """One-minute load average over the number of cores."""
    reported: Count = 0
    """Receiver reports from the agent's side so far: the proof that our media arrive."""
    core_held_ms: Measure = 0.0
    """How long the sending core ran at half its usual speed or less since the last such record."""
    tracks: tuple[Sent, ...] = ()
    """What has become of each track that we send, so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RtpRecord:
    """How the RTP stamps of a sent stream lie on session time.

    A packet with stamp `s` was due at ``origin_t + (s - origin_ticks) / clock`` (the difference
    modulo 2**32). Written with the first packet of a stream, and again if that ever changes.
    """

    type: ClassVar[str] = "rtp"
    stream: str
    """Name of the track."""
    ssrc: Count
    pt: Count
    """Payload type; resends have another, or another SSRC, or a sequence number seen before."""
    clock: Count
    """Ticks per second."""
    origin_ticks: Count
    origin_t: Number
    """Session time at which the packet with that stamp was due: for sound the end of its 20 ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRecord:
    """Something broke."""

    type: ClassVar[str] = "fault"
    whose: str
    code: str
    message: str
    fatal: Flag
    unanswered: Flag | None = None
    """The provider says by it that it could not answer; None: that was not asked of it."""
    of: str | None = None
    """The turn that it would have answered, where the wire says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """A type that this version does not know, kept as it is."""

    type: str
    body: Mapping[str, Any]


Record = (
    SessionRecord
    | SegmentRecord
    | InstructionRecord
    | TurnRecord
    | ResponseRecord
    | TextRecord
    | SpeechRecord
    | CommandRecord
    | ContextRecord
    | WireRecord
    | HealthRecord
    | RtpRecord
    | FaultRecord
)

TYPES: Mapping[str, type[Record]] = {r.type: r for r in get_args(Record)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamped:
    """A record with the line's own fields."""

    seq: int
    t: float
    turn: str | None
    record: Record | Unknown


def to_json(stamped: Stamped) -> dict[str, Any]:
    """The line's object; fields at None are left out."""
    record = stamped.record
    head: dict[str, Any] = {
        "seq": stamped.seq,
        "t": round(stamped.t, 6),
        "type": record.type,
        "turn": stamped.turn,
    }
    if isinstance(record, Unknown):
        return head | dict(record.body)
    return head | _fields(record)


def _fields(value: Any) -> dict[str, Any]:
    """A value's fields, but for those at None."""
    named = ((f.name, getattr(value, f.name)) for f in dataclasses.fields(value))
    return {name: _plain(field) for name, field in named if field is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, tuple):
        return [_plain(v) for v in value]
    return _fields(value) if dataclasses.is_dataclass(value) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    """What every line has."""

    seq: Annotated[int, Field(strict=True)]
    t: Number
    type: str
    turn: str | None = None


_HEAD = TypeAdapter(_Head)
_BODY: dict[str, TypeAdapter[Record]] = {kind: TypeAdapter(cls) for kind, cls in TYPES.items()}


def from_json(line: dict[str, Any]) -> Stamped:
    """A line's record. Raises ValueError if a field is missing or of another type than it has."""
    try:
        head = _HEAD.validate_python(line)
        body = _BODY.get(head.type)
        record = body.validate_python(line) if body is not None else _unknown(head.type, line)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(p) for p in first["loc"])
        raise ValueError(f"not a record: {where}: {first['msg']}") from None
    return Stamped(seq=head.seq, t=head.t, turn=head.turn, record=record)


def _unknown(kind: str, line: dict[str, Any]) -> Unknown:
    own = {f.name for f in dataclasses.fields(_Head)}
    return Unknown(type=kind, body={k: v for k, v in line.items() if k not in own})
