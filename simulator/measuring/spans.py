"""When each turn and each instruction was, in session time, from what was sent. Pure.

The manifest says where speech lies in a prepared segment, the segment records say when its first
sample was due, and the log of sent packets says how late each really left. Counterparts:
`simulator.measuring.measure` calls it, `simulator.session.script` made the schedule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from simulator.measuring.trace import Heard, TurnSpan
from simulator.media.timeline import segment_time
from simulator.protocol.conditions import Decide
from simulator.protocol.due import Due, Said, due
from simulator.recording.manifest import Manifest, TurnInfo
from simulator.recording.records import SegmentRecord, Stamped

EPS = 1e-4
"""Times that differ by less are one time."""
TAIL = 0.03
"""Seconds of sound that may be missing at the end: a session ends with its stream, so the very last
packet may stay behind."""

Lateness = Callable[[float], float]
"""Seconds by which the packet of sound left late that holds the sample of a session time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """Which part of a session's stream was played."""

    starts: dict[str, float]
    """Turn id -> session time of its segment's first sample."""
    until: float
    """Session time up to which sound was sent."""
    end: float
    """Session time at which the session ended."""


def played(events: Sequence[Stamped], *, until: float, end: float) -> Played:
    """What the segment records say; a segment that was only ordered is not in it."""
    starts = {
        e.record.of: e.record.at
        for e in events
        if isinstance(e.record, SegmentRecord)
        and e.record.part == "play"
        and e.record.edge == "start"
        and e.record.at < until - EPS
    }
    return Played(starts=starts, until=until, end=end)


def heard(manifest: Manifest, what: Played, late: Lateness) -> tuple[Heard, ...]:
    """Every instruction that was sent, in order."""
    out: list[Heard] = []
    for turn in manifest.turns:
        at = what.starts.get(turn.id)
        if at is None:
            continue
        for spoken in turn.spoken:
            start, end = at + spoken.start, at + spoken.end
            if start >= what.until - EPS:
                continue
            cut = end > what.until + TAIL
            end = min(end, what.until) if cut else end
            out.append(
                Heard(
                    id=f"{turn.id}/{spoken.index}",
                    turn=turn.id,
                    voice=spoken.voice,
                    start=start + late(start),
                    end=end + late(end - EPS),
                    cut=cut,
                )
            )
    return tuple(sorted(out, key=lambda h: h.start))


def turn_spans(
    manifest: Manifest, what: Played, instructions: Sequence[Heard]
) -> tuple[TurnSpan, ...]:
    """Every turn of the scenario, reached or not; without send errors and opportunities."""
    forced = manifest.conditions.decide is Decide.TURN_END
    starts = [what.starts.get(t.id) for t in manifest.turns]
    out = []
    for turn, start in zip(manifest.turns, starts, strict=True):
        if start is None:
            out.append(
                TurnSpan(
                    id=turn.id,
                    index=turn.index,
                    expect=turn.expect,
                    start=what.end,
                    end=what.end,
                    done=what.end,
                    reached=False,
                    complete=False,
                    within=turn.within,
                    asked_in=turn.asked_in,
                    conduct=turn.conduct,
                )
            )
            continue
        end = start + turn.segment.duration
        later = [s for s in starts if s is not None and s > start + EPS]
        done = min(later, default=max(what.end, start))
        complete = end <= what.until + TAIL
        fell = _due(turn, start, what, instructions, forced=forced)
        out.append(
            TurnSpan(
                id=turn.id,
                index=turn.index,
                expect=turn.expect,
                start=start,
                end=end if complete else min(end, what.until),
                done=done,
                complete=complete,
                due=fell.at,
                due_kind=fell.kind,
                asked_at=fell.asked_at,
                within=turn.within,
                asked_in=turn.asked_in,
                conduct=turn.conduct,
            )
        )
    return tuple(out)


def _due(
    turn: TurnInfo, start: float, what: Played, instructions: Sequence[Heard], *, forced: bool
) -> Due:
    """When a turn that was reached fell due, why, and since when it could be answered."""

    def played(at: float) -> float:
        return at if at <= what.until + TAIL else math.inf

    mine = [h for h in instructions if h.turn == turn.id]
    fell = due(
        turn.conduct,
        [Said(h.voice, h.start, math.inf if h.cut else h.end) for h in mine],
        event=None if turn.event is None else played(start + segment_time(turn.start, turn.event)),
        decided_at=played(start + turn.segment.duration) if forced else None,
    )
    standing = [h.start for h in instructions if h.turn == turn.asked_in and h.voice == "user"]
    return replace(
        fell,
        at=None if fell.at is None or math.isinf(fell.at) else fell.at,
        asked_at=min(standing) if standing and fell.kind == "event" else fell.asked_at,
    )
