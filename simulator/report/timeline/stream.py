"""The timeline of a prepared scenario that nobody has played: what is to happen when. Pure.

Stream time is turns joined, without holds; where the picture will be held there is a moment.
Counterparts: `simulator.media.timeline` has what was prepared, `.session` makes the timeline of a
session, `.lanes` has the types.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from simulator.media.timeline import Prepared, PreparedTurn, falls_due
from simulator.report.timeline.lanes import TIMELINE_VERSION, Span, Timeline, clip_time, lane
from simulator.report.timeline.scripted import (
    evidence_spans,
    instruction_span,
    play_span,
    turn_span,
    window_span,
)
from simulator.scenario.types import Pace


def stream_timeline(prepared: Prepared) -> Timeline:
    """What will happen in a session of `prepared`, but for what the agent does."""
    turns = prepared.turns
    # A turn ends where the next begins, to the last bit of a float.
    borders = [t.stream_start for t in turns[1:]]
    borders += [t.stream_start + t.duration for t in turns[-1:]]
    placed = list(zip(turns, borders, strict=True))
    played = [play_span(t.turn, t.stream_start, end) for t, end in placed]
    return Timeline(
        version=TIMELINE_VERSION,
        scenario=prepared.scenario.id,
        agent="",
        clock="stream",
        origin=0.0,
        end=borders[-1],
        lanes=(
            lane("turns", [turn_span(t.turn, t.stream_start, end) for t, end in placed]),
            lane("video", [*played, *_holds(prepared, played)]),
            lane("instructions", _instructions(prepared)),
            lane("evidence", evidence_spans(prepared.scenario, played)),
            lane("windows", _windows(prepared, played)),
        ),
    )


def _waits(prepared: Prepared, turn: PreparedTurn) -> bool:
    """Whether the picture is held after this turn, until the agent has answered or shown quiet."""
    return prepared.scenario.pace is Pace.WAIT and bool(turn.spoken or turn.turn.event is not None)


def _holds(prepared: Prepared, played: Sequence[Span]) -> Iterator[Span]:
    for turn, span in zip(prepared.turns, played, strict=True):
        if _waits(prepared, turn):
            yield Span(
                start=span.end,
                end=span.end,
                kind="hold",
                by=span.by,
                turn=span.turn,
                numbers={"clip_start": clip_time(span, span.end)},
            )


def _instructions(prepared: Prepared) -> Iterator[Span]:
    for turn in prepared.turns:
        for spoken in turn.spoken:
            start, end = turn.stream_start + spoken.start, turn.stream_start + spoken.end
            yield instruction_span(turn.turn, spoken.index, start, end)


def _windows(prepared: Prepared, played: Sequence[Span]) -> Iterator[Span]:
    for turn, span in zip(prepared.turns, played, strict=True):
        due = falls_due(turn)
        if due.at is None or not turn.turn.expect.conduct.owed:
            continue
        # What is left of it after a turn that waits passes in the hold.
        until, early = (span.end, "held") if _waits(prepared, turn) else (played[-1].end, "cut")
        yield window_span(
            turn.turn,
            turn.stream_start + due.at,
            turn.turn.within,
            until,
            why=due.kind or "",
            early=early,
        )
