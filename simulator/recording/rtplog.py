"""The RTP log as bytes: a classic pcap of made-up IP and UDP around real RTP and RTCP. Pure.

Wireshark opens it. The file is big-endian with nanosecond stamps (magic ``a1b23c4d``), link type
raw IPv4; a packet's stamp is session time, counted from 1970. Addresses say the direction and ports
the track, see `Flow`. Big-endian, because then one `struct` call writes a whole record: the log is
written between packets of a live session. Counterparts: `simulator.recording.writer` fills it in a
session, `simulator.recording.reader` reads it back.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

MAGIC = 0xA1B23C4D
SNAPLEN = 262_144
LINKTYPE_RAW = 101
FILE_HEADER = struct.pack(">IHHiIII", MAGIC, 2, 4, 0, 0, SNAPLEN, LINKTYPE_RAW)

SIMULATOR = bytes((198, 51, 100, 1))
"""Our made-up address (from a block that RFC 5737 keeps for documents)."""
AGENT = bytes((203, 0, 113, 1))
RTCP_PORT = 5005
FIRST_PORT = 5004
"""That of the first track; the others have the even ones after it."""


class Flow(NamedTuple):
    """What a packet is: its direction, and by its port the track that it is of."""

    sent: bool
    port: int


_STAMP = struct.Struct(">II")
"""pcap: seconds, nanoseconds."""
_RECORD = struct.Struct(">IIHH6sH8sHHHH")
"""pcap: kept, whole; IPv4: version to service, length, identity to protocol, checksum, both
addresses; UDP: both ports, length, checksum (0: none)."""
_PCAP_HEADER = struct.Struct(">IIII")
_IP_UDP = 28
_MIDDLE = b"\x00\x00\x40\x00\x40\x11"
"""Identity 0, do not fragment, 64 hops, UDP."""


def _sum16(data: bytes) -> int:
    return sum(struct.unpack(f">{len(data) // 2}H", data))


_ENDS = {True: SIMULATOR + AGENT, False: AGENT + SIMULATOR}
_DIRECTIONS = {ends: sent for sent, ends in _ENDS.items()}
_SUMS = {sent: 0x4500 + _sum16(_MIDDLE) + _sum16(ends) for sent, ends in _ENDS.items()}


def stamp(t: float) -> bytes:
    """How a record of session time `t` begins."""
    seconds = int(t)
    return _STAMP.pack(seconds, int((t - seconds) * 1e9))


@lru_cache(maxsize=4_096)
def head(flow: Flow, size: int, keep: int) -> bytes:
    """What follows the stamp in a record of a packet of `size` bytes, before its first `keep`."""
    length = size + _IP_UDP
    total = _SUMS[flow.sent] + length
    total = (total & 0xFFFF) + (total >> 16)
    check = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return _RECORD.pack(
        keep + _IP_UDP,
        length,
        0x4500,
        length,
        _MIDDLE,
        check,
        _ENDS[flow.sent],
        flow.port,
        flow.port,
        size + 8,
        0,
    )


class Captured(NamedTuple):
    """One packet of the log."""

    t: float
    """Session seconds."""
    flow: Flow
    start: int
    """Where the RTP or RTCP packet begins in the file's bytes."""
    kept: int
    """How much of it is there."""
    size: int
    """How large it was."""


class NotALogError(ValueError):
    """The bytes do not begin as such a log does."""


def scan(data: bytes) -> Iterator[Captured]:
    """The packets of a log, in order; stops before a record that was cut off.

    Records between other addresses than our two are passed over. Raises NotALogError.
    """
    if len(data) < len(FILE_HEADER):
        if FILE_HEADER.startswith(data):
            return
        raise NotALogError("too short")
    if data[:4] != FILE_HEADER[:4] or data[20:24] != FILE_HEADER[20:24]:
        raise NotALogError("not a big-endian nanosecond pcap of raw IP")
    at, end = len(FILE_HEADER), len(data)
    while at + _PCAP_HEADER.size <= end:
        seconds, nanos, kept, whole = _PCAP_HEADER.unpack_from(data, at)
        body = at + _PCAP_HEADER.size
        at = body + kept
        if at > end or kept > whole or nanos >= 1_000_000_000:
            return
        if kept < _IP_UDP:
            continue
        sent = _DIRECTIONS.get(data[body + 12 : body + 20])
        if sent is not None:
            flow = Flow(sent, int.from_bytes(data[body + 20 : body + 22]))
            start = body + _IP_UDP
            yield Captured(seconds + nanos / 1e9, flow, start, kept - _IP_UDP, whole - _IP_UDP)
