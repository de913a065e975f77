"""Receiver reports in RTCP: what the other side says has arrived (RFC 3550, section 6.4). Pure.

Counterparts: `simulator.rtc.vitals` reads them live, `simulator.measuring.measure` afterwards.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

SENDER_REPORT = 200
RECEIVER_REPORT = 201
_BLOCK = struct.Struct(">IIIIII")
"""A report block: SSRC, loss, highest sequence number, jitter, LSR, DLSR."""
MARK = 0.25
"""Seconds between packets that are noted, to tell when those that are reported left."""
_MARKS = 256
"""Packets whose times are kept: a minute, far beyond a report's age."""


class Report(NamedTuple):
    """What a receiver says of one of our streams."""

    ssrc: int
    lost: int
    """Packets lost so far; may be negative with duplicates."""
    highest: int
    """Highest sequence number received, with its cycles above."""
    since: int
    """Middle 32 bits of the NTP time of the sender report that it had last; 0: none."""
    delay: float
    """Seconds since it had that."""


def reports(packet: bytes) -> Iterator[Report]:
    """The report blocks of a compound RTCP packet; stops at anything malformed or cut off."""
    at = 0
    while at + 8 <= len(packet):
        first, kind, words = struct.unpack_from(">BBH", packet, at)
        end = at + 4 * (words + 1)
        if first >> 6 != 2 or end > len(packet):
            return
        if kind in (SENDER_REPORT, RECEIVER_REPORT):
            block = at + (28 if kind == SENDER_REPORT else 8)
            for _ in range(first & 0x1F):
                if block + _BLOCK.size > end:
                    return
                ssrc, loss, highest, _, since, delay = _BLOCK.unpack_from(packet, block)
                lost = loss & 0xFFFFFF
                lost = lost - (1 << 24) if lost >> 23 else lost
                yield Report(ssrc, lost, highest, since, delay / 65_536)
                block += _BLOCK.size
        at = end


AHEAD = 2_000
"""Packets that a report may be ahead of what we have noted, or behind what it said before, and be
believed: more than leave between two of our notes."""


class Arrival:
    """Follows, from the reports on it, how far one stream of ours has come through.

    Feed it with what left and what was reported, in order of time.
    """

    def __init__(self) -> None:
        self.until: float | None = None
        """When the newest packet left that the other side says it has; None: it said nothing."""
        self.apart: float | None = None
        """The longest time between two reports, seconds; None: there were fewer than two."""
        self._reported: float | None = None
        self._told: int | None = None
        self._nonsense = False
        self._newest = 0
        self._began: int | None = None
        self._left: deque[tuple[int, float]] = deque(maxlen=_MARKS)

    def left(self, sequence: int, t: float) -> None:
        """A packet left at `t`, resends aside. One each `MARK` seconds is enough."""
        if self._began is None:
            self._began = self._newest = sequence
        self._newest += (sequence - self._newest + 0x8000) % 0x10000 - 0x8000
        self._left.append((self._newest, t))

    def reported(self, highest: int, t: float) -> None:
        """A report came: `highest` is the highest sequence number received."""
        if self._began is None:
            return
        # Without its cycles, which not every side counts as we do.
        newest = self._newest + (highest - self._newest + 0x8000) % 0x10000 - 0x8000
        backwards = self._told is not None and newest < self._told - AHEAD
        if newest > self._newest + AHEAD or backwards or self._nonsense:
            # It says that it has what has not left, or that it has lost what it had: such a side's
            # reports prove nothing.
            self._nonsense = True
            self.until = self.apart = None
            return
        self._told = newest
        if self._reported is not None:
            self.apart = max(self.apart or 0.0, t - self._reported)
        self._reported = t
        had = [at for number, at in self._left if number <= newest]
        if newest >= self._began and had:
            self.until = max(had[-1], self.until or had[-1])


def is_rtcp(data: bytes) -> bool:
    """Whether a packet of the shared port is RTCP (RFC 5761, section 4)."""
    return len(data) >= 2 and 192 <= data[1] <= 208
