"""Where the agent's stream stood still though it was to go on. Pure.

A sender whose loop is blocked catches up, or goes on where it was; a path that is gone loses what
was sent meanwhile. An answer that begins in it is late by it, one that had begun is broken off.
Pauses of a sender that sends nothing in silence are none; one that sends in silence as well, and
then no more, has ceased: that nothing is heard of it says nothing from then on. Counterparts:
`simulator.measuring.sound` has the packets, `simulator.measuring.measure` tells each turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from simulator.measuring.trace import Response, Speech, Stall
from simulator.media.timeline import PTIME

LEAST = 1.0
"""Seconds under which it is told by an onset's uncertainty alone."""
BROKEN = 0.06
"""Seconds from it within which speech breaks off and goes on, where it never caught up."""

SILENCE = 3.0
"""Seconds without speech in which packets came all the same: such a sender sends in silence."""


class Stretch(Protocol):
    """What is asked of sound without long pauses."""

    sent: NDArray[np.float64]
    """Session time of each packet's first sample by its stamp,"""
    came: NDArray[np.float64]
    """and when the packet had come."""
    lost_before: float
    """Seconds of sound that were lost just before it."""
    follows: bool
    """By number and stamp it goes on just where the one before it ended."""


def stalls(stretches: Iterable[Stretch], responses: Sequence[Response]) -> tuple[Stall, ...]:
    """In order of time. `stretches`: the agent's sound in order, source by source; `responses`:
    all that was audible of it."""
    found: list[Stall] = []
    before: float | None = None
    for stretch in stretches:
        first = float(stretch.came[0])
        if before is not None and first - before > LEAST:
            broken = stretch.follows and _broken(responses, before + PTIME, first)
            if broken or stretch.lost_before > LEAST:
                found.append(Stall(start=before, end=first))
        found += _caught_up(stretch.sent, stretch.came)
        before = float(stretch.came[-1])
    return tuple(sorted(found, key=lambda stall: (stall.start, stall.end)))


def ceased(came: NDArray[np.float64], speech: Sequence[Speech], end: float) -> float | None:
    """When the last packet came of a sender that sent without a pause, in silence as well, and
    sent no more; None for all others. `came`: when each packet of the agent's sound did; `end`:
    until when it could have gone on."""
    times = np.sort(came)
    if not len(times) or end - times[-1] < 2 * LEAST or np.any(np.diff(times) > LEAST):
        return None
    first, last = float(times[0]), float(times[-1])
    edges = [first, *(t for s in speech for t in (s.start, s.end)), last]
    silent = max(b - a for a, b in zip(edges[::2], edges[1::2], strict=True))
    return last if silent >= SILENCE else None


def _caught_up(sent: NDArray[np.float64], came: NDArray[np.float64]) -> list[Stall]:
    """Where packets came over a second after their time: from that time until the first came."""
    late = came - sent > LEAST
    starts = np.flatnonzero(late & ~np.concatenate(([False], late[:-1])))
    return [Stall(start=float(sent[k]), end=float(came[k])) for k in starts.tolist()]


def _broken(responses: Sequence[Response], before: float, after: float) -> bool:
    """Whether speech breaks off and goes on, and is not of two responses by the wire's word."""
    ended = [r for r in responses for s in r.speech if abs(s.end - before) <= BROKEN]
    began = [r for r in responses for s in r.speech if abs(s.start - after) <= BROKEN]
    return any(
        first.id == then.id or first.begun is None or then.begun is None
        for first in ended
        for then in began
    )
