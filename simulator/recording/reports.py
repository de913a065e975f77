"""Receiver reports in RTCP: the proof that what we sent arrived (RFC 3550, section 6.4). Pure.

Counterpart: `simulator.recording.measure`, for the first rung of the ladder of life.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_SENDER_REPORT = 200
_RECEIVER_REPORT = 201
_BLOCK = struct.Struct(">IIIIII")


class Report(NamedTuple):
    """What a receiver says of one of our streams."""

    ssrc: int
    lost: int
    """Packets lost so far; may be negative with duplicates."""
    highest: int
    """Highest sequence number received, with its cycles above."""


def reports(packet: bytes) -> Iterator[Report]:
    """The report blocks of a compound RTCP packet; stops at anything malformed."""
    at = 0
    while at + 8 <= len(packet):
        first, kind, words = struct.unpack_from(">BBH", packet, at)
        end = at + 4 * (words + 1)
        if first >> 6 != 2 or end > len(packet):
            return
        if kind in (_SENDER_REPORT, _RECEIVER_REPORT):
            block = at + (28 if kind == _SENDER_REPORT else 8)
            for _ in range(first & 0x1F):
                if block + _BLOCK.size > end:
                    return
                ssrc, loss, highest, *_rest = _BLOCK.unpack_from(packet, block)
                lost = loss & 0xFFFFFF
                yield Report(ssrc, lost - (1 << 24) if lost >> 23 else lost, highest)
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
