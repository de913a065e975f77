"""What the session's script hears and what it orders: one small vocabulary, no I/O.

Pure. Events come from a dialect (`simulator.rtc`), from the live speech detector or from the
engine's timer; commands go back to them. `simulator.session.script` stands between:
handle(event, now) -> commands.
Times are session time: monotonic seconds since dialling.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from simulator.protocol.conduct import Wants


class Outcome(StrEnum):
    """How an attempt ended: exactly one of these."""

    COMPLETED = "completed"
    AGENT_FAILED = "agent_failed"
    NETWORK_FAILED = "network_failed"
    INSTRUMENT_INVALID = "instrument_invalid"
    CANCELLED = "cancelled"
    UNSUPPORTED = "unsupported"


class Whose(StrEnum):
    """Whose fault a fault is."""

    AGENT = "agent"
    NETWORK = "network"
    INSTRUMENT = "instrument"
    USER = "user"


OUTCOMES: Mapping[Whose, Outcome] = {
    Whose.AGENT: Outcome.AGENT_FAILED,
    Whose.NETWORK: Outcome.NETWORK_FAILED,
    Whose.INSTRUMENT: Outcome.INSTRUMENT_INVALID,
    Whose.USER: Outcome.CANCELLED,
}
"""How an attempt ends after a fatal fault."""


class TurnState(StrEnum):
    PLAYING = "playing"
    AWAITING = "awaiting"
    """The segment is over and an answer is owed or the agent is speaking."""
    HOLDING = "holding"
    """Nothing is owed; the quiet tail runs, so that a wrong answer lands in its own turn."""
    SETTLING = "settling"
    """Changes to the model's history are being acknowledged (teacher forcing)."""
    DONE = "done"


# ---------------------------------------------------------------- what the script hears


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """Media flows and the protocol has answered: playing may begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wake:
    """A time that the script asked for has come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseStarted:
    response: str
    """The wire's response id."""
    trigger: str | None = None
    """The turn id that the wire names as its cause (through metadata or an input item of ours)."""
    input_item: str | None = None
    """The input item that caused it, if the wire says so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseEnded:
    """The model has finished generating; its sound may still be playing."""

    response: str
    status: str = "completed"
    """completed | cancelled | failed | incomplete."""
    usage: Mapping[str, object] | None = None
    reason: str | None = None
    """The provider's code for why it is not completed."""
    message: str | None = None
    """The provider's words for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sounding:
    """The wire says that the sound of a response begins."""

    response: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """The wire says that the sound of a response has been played out (or was cleared)."""

    response: str
    cleared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Text of the agent, or a transcript of what it or the user said."""

    text: str
    response: str | None = None
    """Response id; None if the wire has none."""
    item: str | None = None
    part: int = 0
    """Which of its item's parts it is, or belongs to."""
    kind: Literal["output", "transcript", "user"] = "output"
    """output: written by the model; transcript: of its own speech; user: of what it heard."""
    final: bool = False
    """A final text replaces the deltas before it; an unfinal one is a delta."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UserSpeech:
    """The agent's own turn detector heard us begin or end."""

    edge: Literal["start", "end"]
    item: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSpeech:
    """The live detector found the agent's sound beginning or ending (measured ones are the
    trace's)."""

    edge: Literal["start", "end"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Acknowledged:
    """The agent confirmed a command."""

    command: str
    what: Literal["configure", "commit"] = "configure"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listened:
    """The agent says that it was invoked and decided to keep quiet."""

    response: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextChanged:
    """The agent's report on its context budget."""

    op: str
    kind: str = ""
    span: tuple[float, float] | None = None
    tokens: int = 0
    used: int = 0
    window: int = 0


MALFORMED = "malformed"
"""The code of a fault that is no more than a message which cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Something broke."""

    whose: Whose
    code: str
    message: str
    fatal: bool
    unanswered: bool = False
    """The provider says by it that it could not answer."""
    turn: str | None = None
    """Turn id: what was asked for in its name will not come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancelled:
    """The user of the simulator wants to stop."""


WireEvent = (
    Ready
    | ResponseStarted
    | ResponseEnded
    | Sounding
    | Drained
    | Text
    | UserSpeech
    | Acknowledged
    | Listened
    | ContextChanged
    | Fault
)
"""What a dialect makes of an agent's messages."""

LinkEvent = WireEvent | AgentSpeech
"""What comes of a call."""

Event = LinkEvent | Wake | Cancelled

# ---------------------------------------------------------------- what the script orders


@dataclass(frozen=True, slots=True, kw_only=True)
class Configure:
    """Tell the agent its instructions (system prompt) and settings."""

    instructions: str
    turn_detection: bool = True
    """Whether it decides by itself when we have finished speaking; else we commit and ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """The user's sound so far is one whole item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Respond:
    """Ask for a response now; it names the turn as its trigger."""

    turn: str
    """Turn id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """Cut what the agent is saying."""

    response: str | None
    """The wire's id of a response that it has not finished; None if it only sounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """Play a turn's segment, once, from `at`."""

    turn: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Loop a turn's hold from `at` until the next Play."""

    turn: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """Tell a cued baseline which turn begins, what the right answer is and when it falls due. No
    agent that is being evaluated ever gets one."""

    turn: str
    """Turn id."""
    index: int
    wants: Wants
    answer: str | None
    """The right answer; None where none is."""
    asked: bool
    """Something in the turn asks for the answer."""
    duration: float
    """Seconds of its segment."""
    due_in: float | None
    """Seconds from its first sample until the answer falls due; None if none does."""
    event: bool
    """What asks for the answer cannot be heard: it falls due by itself."""
    starts_in: float
    """Seconds from now until its first sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WakeAt:
    """Send a Wake at this time; the last one asked for counts."""

    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnChanged:
    """A turn has entered a state (to be recorded)."""

    turn: int
    state: TurnState
    at: float
    """Session time at which it holds: for PLAYING and after it, the exact time on the stream."""
    cause: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """The attempt is over."""

    outcome: Outcome
    reason: str = ""


WireCommand = Configure | Cue | Commit | Respond | Cancel
"""What a dialect turns into messages."""

Command = WireCommand | Play | Hold | WakeAt | TurnChanged | Finish
