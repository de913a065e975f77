"""What happens when in a prepared scenario, on stream time: what a preview draws and writes. Pure.

Stream time is segments joined, without holds. Counterparts: `simulator.authoring.sheet`, `.film`
and `.transcript` show it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from simulator.media.timeline import Prepared, PreparedTurn, falls_due, on_grid
from simulator.protocol.conduct import Wants
from simulator.scenario.types import Pace


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """An instruction, or a bystander's speech."""

    turn: PreparedTurn
    start: float
    """Stream time."""
    end: float
    voice: str
    kind: str
    text: str

    @property
    def user(self) -> bool:
        return self.voice == "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The time in which an answer has to begin."""

    turn: PreparedTurn
    due: float
    """Stream time."""
    within: float
    """Seconds after it."""
    event: bool
    """An event is what makes it due, not the end of an instruction."""


def given(prepared: Prepared) -> Iterator[Given]:
    """All instructions in order."""
    for turn in prepared.turns:
        for spoken in turn.spoken:
            instruction = turn.turn.instructions[spoken.index]
            yield Given(
                turn=turn,
                start=turn.stream_start + spoken.start,
                end=turn.stream_start + spoken.end,
                voice=instruction.voice,
                kind=instruction.kind,
                text=instruction.text,
            )


def windows(prepared: Prepared) -> Iterator[Window]:
    """When answers are due."""
    for turn in prepared.turns:
        due = falls_due(turn).at
        if turn.turn.expect.wants is Wants.ANSWER and due is not None:
            yield Window(
                turn=turn,
                due=turn.stream_start + due,
                within=turn.turn.within,
                event=turn.turn.event is not None,
            )


def evidence(prepared: Prepared) -> Iterator[tuple[PreparedTurn, float, float]]:
    """(the turn that it belongs to, from, to) on stream time; only what plays of it."""
    for turn in prepared.turns:
        for start, end in turn.turn.evidence:
            for other in prepared.turns:
                if other.turn.clip != turn.turn.clip:
                    continue
                first, last = max(start, other.turn.start), min(end, other.turn.end)
                moment = start == end and other.turn.start <= start < other.turn.end
                if first < last or moment:
                    shift = other.stream_start - on_grid(other.turn.start)
                    yield turn, first + shift, last + shift


def clip_time(turn: PreparedTurn, segment_time: float) -> float:
    """The clip time that is shown so many seconds into a turn's segment."""
    return on_grid(turn.turn.start) + segment_time


def waits(prepared: Prepared, turn: PreparedTurn) -> bool:
    """Whether the picture is held after this turn, until the agent has answered or shown quiet."""
    return prepared.scenario.pace is Pace.WAIT and bool(turn.spoken or turn.turn.event is not None)


def clock(seconds: float, digits: int = 2) -> str:
    """`1:02.50`, or `2.50` under a minute."""
    whole = round(seconds, digits)
    minutes, rest = divmod(whole, 60)
    if minutes < 1:
        return f"{rest:.{digits}f}"
    return f"{int(minutes)}:{rest:0{digits + 3 if digits else 2}.{digits}f}"
