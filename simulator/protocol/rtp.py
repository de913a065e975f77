"""RTP packets as bytes: where the header ends, what the payload is, counters that wrap. Pure.

RFC 3550, section 5.1, and RFC 8285 for header extensions. Counterpart: `simulator.protocol.rtcp`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def header_size(packet: bytes) -> int:
    """Bytes of an RTP packet's header with its extensions; the whole, if it is no RTP packet."""
    size = len(packet)
    if size < 12:
        return size
    first = packet[0]
    head = 12 + 4 * (first & 0x0F)
    if first & 0x10:
        if size < head + 4:
            return size
        head += 4 + 4 * int.from_bytes(packet[head + 2 : head + 4])
    return head if head < size else size


def extension(packet: bytes, number: int) -> bytes | None:
    """The header extension of that number, of the one-byte form (RFC 8285); None if it has none."""
    if len(packet) < 16 or not packet[0] & 0x10:
        return None
    at = 12 + 4 * (packet[0] & 0x0F)
    if packet[at : at + 2] != b"\xbe\xde":
        return None
    end = min(len(packet), at + 4 + 4 * int.from_bytes(packet[at + 2 : at + 4]))
    at += 4
    while at < end:
        if packet[at] == 0:  # padding
            at += 1
            continue
        size = (packet[at] & 0x0F) + 1
        if packet[at] >> 4 == number:
            return packet[at + 1 : min(at + 1 + size, end)]
        at += 1 + size
    return None


def rtp_payload(packet: bytes) -> bytes:
    """The payload of an RTP packet, without extensions and padding; empty if it is cut short."""
    if len(packet) < 12:
        return b""
    end = len(packet) - (packet[-1] if packet[0] & 0x20 else 0)
    return packet[header_size(packet) : end]


def unwrap(values: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """Counters of `bits` bits as numbers that go on rising; small steps back stay steps back."""
    if not len(values):
        return values
    whole = 1 << bits
    steps = (np.diff(values) + whole // 2) % whole - whole // 2
    return np.concatenate([values[:1], values[0] + np.cumsum(steps)])
