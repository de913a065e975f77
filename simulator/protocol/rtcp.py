"""Receiver reports in RTCP: what the other side says has arrived (RFC 3550, section 6.4). Pure.

Counterparts: `simulator.rtc.vitals` reads them live, `simulator.measuring.measure` afterwards.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

SENDER_REPORT = 200
RECEIVER_REPORT = 201
_BLOCK = struct.Struct(">IIIIII")
"""A report block: SSRC, loss, highest sequence number, jitter, LSR, DLSR."""


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


def media_arrived(packets: Iterable[bytes], ours: set[int]) -> bool:
    """Whether reports on a stream of ours moved on, or its only one speaks of packets received."""
    seen: dict[int, list[int]] = {}
    for packet in packets:
        for report in reports(packet):
            if report.ssrc in ours:
                seen.setdefault(report.ssrc, []).append(report.highest)
    return any(len(h) == 1 or max(h) > min(h) for h in seen.values())


def is_rtcp(data: bytes) -> bool:
    """Whether a packet of the shared port is RTCP (RFC 5761, section 4)."""
    return len(data) >= 2 and 192 <= data[1] <= 208
