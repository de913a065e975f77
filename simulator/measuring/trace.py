"""What was measured in a recording: the values of `trace.json`. Pure.

Counterparts: `simulator.measuring.measure` makes it from a recording by one decoding pass,
`.attribution` says whose answer each response is, `.metrics` computes numbers from it, judges read
its texts. All times are session seconds. A sample of the user's sound
has the time at which it was spoken, a sample of the agent's the time at which it could first be
heard (RTP time mapped to arrival, plus its offset in the packet).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, to_json

from simulator.protocol.conditions import USUAL, Conditions
from simulator.protocol.conduct import BY_NAME, Conduct, stated
from simulator.protocol.due import DueKind
from simulator.protocol.health import Sent
from simulator.protocol.ownership import ByTime
from simulator.text import all_well_formed

TRACE_VERSION = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """One run of the agent's audible speech."""

    start: float
    """When its first sample could be heard: never before the packet that holds it had come."""
    end: float
    uncertainty: float = 0.0
    """Seconds by which `start` may be wrong: sound in which it is hard to tell, lost packets before
    it, a packet that came later than its stamp says by more than is usual in the call."""
    sent: float | None = None
    """When it began by the sender's stamps alone; None: not known beside `start`."""
    sent_end: float | None = None
    """And when it ended."""
    sound_from: float | None = None
    """Where other sound (breath, hiss) comes right before it, when that could first be heard."""
    disputed: bool = False
    """The live ear heard it begin at a time at which neither can be right by what both state, or
    not at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """One instruction (or bystander's speech) as it was sent."""

    id: str
    """`turn-id/index`."""
    turn: str
    voice: str
    start: float
    """First audible sample."""
    end: float
    """Just after the last audible sample."""
    cut: bool = False
    """The session ended before all of it was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """One response of the agent: everything with one wire id, or an utterance without one."""

    id: str
    """The wire's id, or `u1`, `u2`, ... for utterances."""
    speech: tuple[Speech, ...] = ()
    first_text: float | None = None
    """When its first written or transcribed text arrived."""
    text: str = ""
    """What it says: the output text, else the transcript of its speech."""
    transcript_missing: bool = False
    """It was audible but there is no text of it."""
    unheard: bool = False
    """The wire has what its voice said, and none was heard: its onset is that of the text."""
    trigger: str | None = None
    """Turn id named by the wire."""
    input_item: str | None = None
    status: str | None = None
    """completed | cancelled | failed | incomplete; None if the wire never said."""
    reason: str | None = None
    """The provider's code for why it is not completed."""
    message: str | None = None
    """The provider's words for it."""
    listened: bool = False
    """The agent's decision to keep quiet, not an answer."""
    begun: float | None = None
    """When the wire first spoke of it; None for an utterance without an id."""

    @property
    def onset(self) -> float | None:
        """First audible sample, or first text if it has no sound; for a decision to keep quiet
        when it was made; None if there is none of these, or if it was taken back before any of its
        voice was heard."""
        if self.speech:
            return self.speech[0].start
        if self.unheard and self.status == "cancelled":
            return None
        if self.first_text is None and self.listened:
            return self.begun
        return self.first_text

    @property
    def end(self) -> float | None:
        return self.speech[-1].end if self.speech else self.first_text

    @property
    def disputed(self) -> bool:
        """Whether the live ear heard its onset at another time."""
        return bool(self.speech) and self.speech[0].disputed

    @property
    def uncertainty(self) -> float:
        return self.speech[0].uncertainty if self.speech else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """An answer that the provider says it could not give."""

    at: float
    turn: str | None
    """Turn id; None before the first turn."""
    code: str
    """The provider's."""
    message: str
    """Its words."""
    response: str | None = None
    """The wire's id, if it had begun."""

    @property
    def told(self) -> str:
        return f"{self.code}: {self.message}" if self.message else self.code

    def of(self, turn: str | None) -> Failure:
        """The same, of a turn."""
        return replace(self, turn=turn)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSpan:
    """One turn as it was played."""

    id: str
    index: int
    expect: str
    """Name of what it expects (`simulator.scenario.expectations`)."""
    start: float
    """Session time of its segment's first sample."""
    end: float
    """Session time at which its segment ended."""
    done: float
    """When the turn was left: the next segment's start or the end of the session."""
    reached: bool = True
    """False: the session ended before it began (times are then the session's end)."""
    complete: bool = True
    """False: the session ended while its segment played."""
    due: float | None = None
    """When an answer fell due; None if nothing was asked."""
    due_uncertainty: float = 0.0
    """Seconds by which `due` may be wrong: the end of an instruction in the clip's own sound."""
    due_kind: DueKind | None = None
    """What made it due."""
    asked_at: float | None = None
    """First audible sample of the instruction that asks (of the standing one for an event)."""
    within: float = 8.0
    asked_in: str | None = None
    send_error_ms: float = 0.0
    """Largest send-time error in the latency stretch (due time - 1 s to onset, or the turn)."""
    stalled_s: float = 0.0
    """Seconds of it in which the agent's stream stood still (`Trace.stalls`)."""
    opportunity: bool | None = None
    """Whether the agent was given an occasion to decide: None if that cannot be known."""
    conduct: Conduct = BY_NAME
    """How it is treated."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "conduct", stated(self.conduct, self.expect))


Flag = Literal[
    "premature",
    "late",
    "extra",
    "joined",
    "maybe_previous",
    "false_alarm",
    "silence_token",
    "spoken_token",
    "interrupted",
    "overlapped",
    "greeting",
    "overrun",
    "cut",
]


By = Literal["wire", ByTime, "token"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributed:
    """Whose answer a response is, and why."""

    response: str
    turn: str | None
    """Turn id; None for a greeting before anything was asked."""
    by: By
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CodecDelay:
    """What packetisation and coding add to every latency, stated and not subtracted."""

    packet_s: float = 0.020
    """A sample of the user's sound leaves with its packet, up to this much after it was spoken."""
    codec_s: float = 0.0065
    """The agent's Opus encoder looks 312 samples ahead; ours is made up for in preparing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Misheard:
    """Where the live ear was wrong, as far as the recording tells."""

    kind: Literal["missed", "late", "held", "imagined"]
    """It did not hear a voice, or late; it went on hearing one that was silent; there was none."""
    start: float
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stall:
    """The agent's stream stood still though it was to go on."""

    start: float
    end: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """Send-time error of the whole session (actual - due), in milliseconds."""

    p50_ms: float
    p99_ms: float
    max_ms: float
    packets: int
    unsent: int = 0
    """Pictures and pieces of sound that were due and did not leave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """The ladder of proof of life."""

    transport: bool
    """The agent's side has reported on our media: they arrived."""
    session: bool
    """Its protocol replied."""
    response: bool
    """It spoke or wrote at least once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """Everything measured in one recording."""

    version: int = TRACE_VERSION
    scenario: str
    agent: str
    outcome: str
    reason: str = ""
    play_at: float | None
    """Session time of stream time 0; None if playing never began."""
    end: float
    """Session time of the last thing recorded."""
    turns: tuple[TurnSpan, ...]
    heard: tuple[Heard, ...]
    speech: tuple[Speech, ...]
    """All audible speech of the agent, whatever response it belongs to."""
    misheard: tuple[Misheard, ...] = ()
    """Where the live ear erred: a turn may have gone on, or a barge-in begun, at a wrong moment."""
    stalls: tuple[Stall, ...] = ()
    """Where the agent's stream stood still for over a second."""
    ceased: float | None = None
    """When the last of the agent's sound came, if it had been sent in silence as well and then was
    sent no more: from then on nothing shows that it kept quiet."""
    responses: tuple[Response, ...]
    attribution: tuple[Attributed, ...]
    failures: tuple[Failure, ...] = ()
    """What the provider said that it could not answer, in order."""
    pacing: Pacing
    sent: tuple[Sent, ...] = ()
    """What became of each track that we sent."""
    reported_at: float | None = None
    """Session time of the other side's last report on any of them; None: it never reported."""
    life: Life
    lost: int = 0
    """Packets of the agent's sound that never came."""
    detecting: bool = False
    """Its turn detection was still at work although it was to be asked at each turn's end."""
    damaged: int = 0
    """Lines of the recording's events that could not be read; 1 if the last one was cut off."""
    unread: int = 0
    """Messages of the agent that could not be read, and say nothing here."""
    codec: CodecDelay = CodecDelay()
    shared_host: bool = False
    """The agent computed on this machine beside others: latencies are marked."""
    before: str = ""
    """The version and method by which it was measured before, if by others than this one."""
    conditions: Conditions = USUAL
    """What the run imposed on the scenario."""

    def turn(self, turn_id: str) -> TurnSpan:
        for turn in self.turns:
            if turn.id == turn_id:
                return turn
        raise KeyError(turn_id)

    def response(self, response_id: str) -> Response:
        for response in self.responses:
            if response.id == response_id:
                return response
        raise KeyError(response_id)

    def responses_of(self, turn_id: str) -> tuple[tuple[Response, Attributed], ...]:
        """The responses attributed to a turn, in order of onset."""
        return tuple((self.response(a.response), a) for a in self.attribution if a.turn == turn_id)

    def failure_of(self, turn_id: str) -> Failure | None:
        """Why nothing came of the agent in a turn, if its provider said so."""
        return unanswered(self.attribution, self.failures).get(turn_id)

    @property
    def told_besides(self) -> tuple[Failure, ...]:
        """What the provider failed at, and answered all the same."""
        answered = {a.turn for a in self.attribution} | {None}
        return tuple(f for f in self.failures if f.turn in answered)


def unanswered(attributed: Iterable[Attributed], failed: Sequence[Failure]) -> dict[str, Failure]:
    """By turn the first failure in it, where nothing else came of the agent."""
    answered = {a.turn for a in attributed}
    own = [(f.turn, f) for f in reversed(failed) if f.turn is not None]
    return {turn: failure for turn, failure in own if turn not in answered}


_ADAPTER: TypeAdapter[Trace] = TypeAdapter(Trace)


def trace_to_json(trace: Trace, *, without: Mapping[str, Any] | None = None) -> bytes:
    return json_of(_ADAPTER, trace, without=without)


def json_of(
    adapter: TypeAdapter[Any], value: Any, *, without: Mapping[str, Any] | None = None
) -> bytes:
    """A value as JSON, also where a text of others in it is not well-formed. `without`: fields that
    are left out, as pydantic's `exclude` takes them."""
    left_out: Any = without
    try:
        return adapter.dump_json(value, indent=1, exclude=left_out)
    except PydanticSerializationError:
        plain = all_well_formed(adapter.dump_python(value, exclude=left_out))
        return to_json(plain, indent=1, inf_nan_mode="null")


def trace_from_json(data: bytes) -> Trace:
    """Raises pydantic.ValidationError for anything that is not a trace of this version."""
    return _ADAPTER.validate_json(data)
