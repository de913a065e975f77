"""Which packets of a track one sender counted, where several did, or one began again. Pure.

A source (SSRC) is not enough: a sender that is made anew may keep it and count from the start, two
of them may have the same, and numbers that begin again near the old ones look like packets that
come very late. Numbers and stamps together tell: those of one count rise together. Counterparts:
`simulator.measuring.clockmap` maps each to session time, `simulator.measuring.sound` decodes each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

NEXT = 50
"""Numbers further on within which a stamp may be any: senders set their stamps anew."""
FAR = 3_000
"""A jump of numbers by more is a new count, not a loss."""
SHORTEST, LONGEST = 2.5e-3, 0.12
"""Seconds of a packet, at least and at most."""
LATE = 5
"""A packet that is late by no more numbers may be from before a long silence."""
YOUNG = 40
"""Packets of a count before whose first there may be some that are on their way."""
SILENCE = 60.0
"""Seconds of the longest silence that is looked across so."""
_RECENT = 4
"""Counts that may go on."""


@dataclass(slots=True)
class _Count:
    """One sender's count."""

    number: int
    """The highest so far,"""
    stamp: int
    """and its stamp."""
    packets: list[int] = field(default_factory=list)
    known: dict[int, int] = field(default_factory=dict)
    """The stamp of each number that has come; numbers go on rising."""
    lowest: int = 0

    def steps(self, number: int) -> int:
        """From the highest so far to a packet's number."""
        return _step(number - self.number, 16)

    def holds(self, number: int, stamp: int, clock: int) -> bool:
        """Whether a packet's stamp is in its place in this count."""
        steps = self.steps(number)
        place = self.number + steps
        if place in self.known:
            return self.known[place] == stamp
        if place < self.lowest - LATE and len(self.packets) > YOUNG:
            return False
        return _together(steps, _step(stamp - self.stamp, 32) / clock)

    def take(self, packet: int, number: int, stamp: int) -> None:
        place = self.number + self.steps(number)
        self.packets.append(packet)
        self.known.setdefault(place, stamp)
        self.lowest = min(self.lowest, place)
        if place > self.number:
            self.number, self.stamp = place, stamp


def counts(ssrc: Ints, seq: Ints, rtp: Ints, clock: int) -> Sequence[Ints]:
    """Indices of each count's packets, in order of arrival; counts in order of their first ones.

    All arrays are parallel and in order of arrival; `clock`: ticks per second.
    """
    found: list[_Count] = []
    recent: dict[int, list[_Count]] = {}
    for packet, (source, number, stamp) in enumerate(
        zip(ssrc.tolist(), seq.tolist(), rtp.tolist(), strict=True)
    ):
        mine = recent.setdefault(source, [])
        count = _whose(mine, number, stamp, clock)
        if count is None:
            count = _Count(number, stamp, lowest=number)
            found.append(count)
        else:
            mine.remove(count)
        mine.insert(0, count)
        del mine[_RECENT:]
        count.take(packet, number, stamp)
    return [np.asarray(count.packets, np.int64) for count in found]


def _whose(recent: Sequence[_Count], number: int, stamp: int, clock: int) -> _Count | None:
    """The count that a packet goes on with: one in which its stamp is in place, the last one first;
    else the last one, if its number is."""
    for count in recent:
        if count.holds(number, stamp, clock):
            return count
    if recent and 0 < recent[0].steps(number) <= NEXT:
        return recent[0]
    return None


def _together(steps: int, seconds: float) -> bool:
    """Whether two packets of one count may be so many numbers and so many seconds apart."""
    if not -FAR <= steps <= FAR:
        return False
    if seconds == 0:
        # The same once more, or a long frame that was cut into packets with one stamp.
        return abs(steps) * SHORTEST <= LONGEST
    if (seconds > 0) != (steps > 0):
        return False
    if abs(steps) <= LATE and abs(seconds) <= SILENCE:
        return True
    return abs(steps) * SHORTEST <= abs(seconds) <= abs(steps) * LONGEST


def _step(difference: int, bits: int) -> int:
    half = 1 << bits - 1
    return (difference + half) % (1 << bits) - half
