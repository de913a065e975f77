"""The records of `events.jsonl`: types, and their JSON. Format version 1 (recordings/README.md).

Each line is an object with `seq`, `t` (session seconds), `type`, `turn` (id of the turn playing
then, or null; never an attribution) and the fields of one of the types here. Readers keep types
that they do not know as `Unknown`. Counterparts: `simulator.recording.writer` and `.reader`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

FORMAT_VERSION = 1
_LARGEST = 1e15
"""What numbers in a line are below: nothing that we measure comes near it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """A state of the whole session: dialling, connected, playing, ended."""

    type: ClassVar[str] = "session"
    state: Literal["dialling", "connected", "playing", "ended"]
    play_at: float | None = None
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
    edge: Literal["start", "end"]
    part: Literal["play", "hold", "splice"]
    of: str
    """Id of the turn that the part belongs to."""
    at: float
    """Exact session time of the edge on the stream (t is when it was written)."""
    clip: str = ""
    start: float = 0.0
    """Clip time of the part's first sample."""
    end: float = 0.0
    """Clip time of its last."""
    asset: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstructionRecord:
    """An instruction's first or last audible sample was sent (by the prepared sound's measure)."""

    type: ClassVar[str] = "instruction"
    id: str
    """`turn-id/index`."""
    edge: Literal["start", "end"]
    at: float
    """Exact session time."""
    kind: str
    voice: str
    text: str
    asset: str = ""
    overlapped: bool = False
    """The agent was audible when it began."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """A turn enters a state."""

    type: ClassVar[str] = "turn"
    of: str
    state: str
    at: float
    cause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseRecord:
    """A response begins, ends, or its sound is drained or was interrupted."""

    type: ClassVar[str] = "response"
    id: str
    edge: Literal["start", "end", "drained", "cleared", "listened"]
    trigger: str | None = None
    input_item: str | None = None
    status: str | None = None
    usage: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRecord:
    """Text of a response, or a transcript."""

    type: ClassVar[str] = "text"
    text: str
    """The delta, or with `final` the whole."""
    response: str | None = None
    item: str | None = None
    kind: Literal["output", "transcript", "user"] = "output"
    final: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechRecord:
    """The live detector's edges; measured onsets belong to the trace."""

    type: ClassVar[str] = "speech"
    edge: Literal["start", "end"]
    by: Literal["agent", "user"]
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
    span: tuple[float, float] | None = None
    tokens: int = 0
    used: int = 0
    window: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRecord:
    """A message on the wire, redacted and capped."""

    type: ClassVar[str] = "wire"
    dir: Literal["in", "out"]
    name: str
    """The message's own type."""
    bytes: int
    body: Any = None
    """The message, or its first characters where it was over the cap."""
    cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRecord:
    """The instrument's health over the last second."""

    type: ClassVar[str] = "health"
    send_p99_ms: float
    send_max_ms: float
    loop_lag_ms: float
    lost: int = 0
    """Packets of the agent lost so far."""
    rtt_ms: float | None = None
    drops: int = 0
    """What bounded queues of ours have dropped so far."""
    host_load: float = 0.0
    """One-minute load average over the number of cores."""
    reported: int = 0
    """Receiver reports from the agent's side so far: the proof that our media arrive."""
    core_held_ms: float = 0.0
    """How long the sending core ran at half its usual speed or less since the last such record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RtpRecord:
    """How the RTP stamps of a sent stream lie on session time.

    A packet with stamp `s` was due at ``origin_t + (s - origin_ticks) / clock`` (the difference
    modulo 2**32). Written with the first packet of a stream, and again if that ever changes.
    """

    type: ClassVar[str] = "rtp"
    stream: Literal["audio", "video"]
    ssrc: int
    pt: int
    """Payload type; resends have another, or another SSRC, or a sequence number seen before."""
    clock: int
    """Ticks per second."""
    origin_ticks: int
    origin_t: float
    """Session time at which the packet with that stamp was due: for sound the end of its 20 ms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultRecord:
    """Something broke."""

    type: ClassVar[str] = "fault"
    whose: str
    code: str
    message: str
    fatal: bool


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

_TYPES: dict[str, type[Any]] = {
    r.type: r
    for r in (
        SessionRecord,
        SegmentRecord,
        InstructionRecord,
        TurnRecord,
        ResponseRecord,
        TextRecord,
        SpeechRecord,
        CommandRecord,
        ContextRecord,
        WireRecord,
        HealthRecord,
        RtpRecord,
        FaultRecord,
    )
}

_FIELDS: dict[str, dict[str, Any]] = {
    kind: {f.name: get_type_hints(cls)[f.name] for f in dataclasses.fields(cls)}
    for kind, cls in _TYPES.items()
}
"""The types of each record's fields."""


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
    for f in dataclasses.fields(record):
        value = getattr(record, f.name)
        if value is not None:
            head[f.name] = round(value, 6) if isinstance(value, float) else value
    return head


def from_json(line: Mapping[str, Any]) -> Stamped:
    """A line's record. Raises ValueError if a field is missing or of another type than it has."""
    try:
        seq, t, kind, turn = line["seq"], line["t"], line["type"], line.get("turn")
    except KeyError as error:
        raise ValueError(f"not a record: {error}") from None
    if not (type(seq) is int and _fits(t, float) and _fits(kind, str) and _fits(turn, str | None)):
        raise ValueError("not a record: seq, t, type or turn is of another type")
    body = {k: v for k, v in line.items() if k not in ("seq", "t", "type", "turn")}
    cls = _TYPES.get(kind)
    record: Record | Unknown
    if cls is None:
        record = Unknown(type=kind, body=body)
    else:
        names = {f.name for f in dataclasses.fields(cls)}
        if isinstance(body.get("span"), list):
            body["span"] = tuple(body["span"])
        if cls is HealthRecord:
            # A measure of ours that came to no number is written as a word.
            body = {k: float(v) if v in ("nan", "inf", "-inf") else v for k, v in body.items()}
        try:
            record = cls(**{k: v for k, v in body.items() if k in names})
        except TypeError as error:
            raise ValueError(f"{kind}: {error}") from None
        for name, wanted in _FIELDS[kind].items():
            value = getattr(record, name)
            if not _fits(value, wanted) and not (cls is HealthRecord and _no_number(value)):
                raise ValueError(f"{kind}: {name} is of another type")
    return Stamped(seq=seq, t=float(t), turn=turn, record=record)


def _no_number(value: object) -> bool:
    """Whether it is a float that is no number."""
    return isinstance(value, float) and not math.isfinite(value)


def _fits(value: object, wanted: Any) -> bool:
    """Whether a value that was JSON is of a field's type; of a Literal any word is taken."""
    if wanted is float:
        return (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and -_LARGEST < value < _LARGEST
        )
    if wanted is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 63
    if wanted is Any or isinstance(wanted, type):
        return wanted is Any or isinstance(value, wanted)
    origin, inner = get_origin(wanted), get_args(wanted)
    if origin is Literal:
        return isinstance(value, str)
    if origin is tuple:
        return (
            isinstance(value, tuple)
            and len(value) == len(inner)
            and all(_fits(v, w) for v, w in zip(value, inner, strict=True))
        )
    if origin in (Union, UnionType):
        return any(_fits(value, w) for w in inner)
    return isinstance(value, origin)
