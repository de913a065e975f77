"""Stamps of senders that count at another rate than Opus does. Pure.

Stamps of Opus count 48,000 a second whatever is coded (RFC 7587, 4.1); some senders count at the
rate of what they put in (24,000, 16,000, 44,100). Read as they are a second lasts half of one, or a
third, and who sends in real time seems to stand still. How long a packet's sound is its first bytes
say (RFC 6716, 3.1): where stamps go on by another share of that, they are read so. Counterparts:
`simulator.measuring.sources` tells whose packets are whose, `simulator.measuring.clockmap` maps
stamps to times.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from simulator.protocol.rtp import unwrap
from simulator.recording.reader import RtpLog

LEAST = 20
"""Packets in a row, at least, that tell of a rate,"""
ALIKE = 0.01
"""most of which are so near to it;"""
OFF = 0.02
"""and a share by which it is another one: a clock that is off counts what it sends all the same."""
_FRAMES = (480, 960, 1920, 2880) * 3 + (480, 960) * 2 + (120, 240, 480, 960) * 4
"""Samples of a frame by its configuration: SILK, hybrid, CELT."""


def paced(log: RtpLog) -> RtpLog:
    """Packets of Opus, each sender's stamps counted at 48,000 a second."""
    stamps = log.rtp.copy()
    lengths = np.array([duration(log.payload(i)[:2]) for i in range(len(log))], np.int64)
    for ssrc in np.unique(log.ssrc):
        mine = np.flatnonzero(log.ssrc == ssrc)
        numbers = unwrap(log.seq[mine], 16)
        order = np.argsort(numbers, kind="stable")
        mine, numbers = mine[order], numbers[order]
        counted = unwrap(log.rtp[mine], 32)
        rate = _rate(numbers, counted, lengths[mine])
        if abs(rate - 1) > OFF:
            stamps[mine] = (counted[0] + np.round((counted - counted[0]) / rate)) % (1 << 32)
    return log if np.array_equal(stamps, log.rtp) else replace(log, rtp=stamps)


def _rate(
    numbers: NDArray[np.int64], stamps: NDArray[np.int64], lengths: NDArray[np.int64]
) -> float:
    """By what share of a packet's length stamps go on from it to the next; 1 where that is not to
    be told."""
    # Packets of one long frame share a stamp.
    leads = np.flatnonzero(np.diff(stamps, prepend=stamps[0] - 1))
    steps, whole = np.diff(stamps[leads]), np.diff(np.cumsum(lengths)[leads] - lengths[leads])
    told = (np.diff(numbers[leads]) == np.diff(leads)) & (steps > 0) & (whole > 0)
    if np.count_nonzero(told) < LEAST:
        return 1.0
    rates = steps[told] / whole[told]
    rate = float(np.median(rates))
    alike = np.abs(rates / rate - 1) < ALIKE
    return rate if alike.mean() > 0.5 else 1.0


def duration(head: bytes) -> int:
    """Samples at 48 kHz that a packet of Opus holds, by its first two bytes; 0: it says nothing."""
    if not head:
        return 0
    code = head[0] & 3
    frames = 1 if code == 0 else 2 if code < 3 else head[1] & 63 if len(head) > 1 else 0
    return frames * _FRAMES[head[0] >> 3]
