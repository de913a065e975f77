"""Pictures as RTP payloads, worked out once for a clip: H264 (RFC 6184) and VP8 (RFC 7741). Pure.

Many sessions play one clip, so where its packets begin and end is kept with the clip, as offsets
into its own bytes. Fragments of a unit have one size but for the last, which lets the kernel cut a
group of them out of one buffer. Counterparts: `simulator.media.packets` holds the pictures,
`simulator.rtc.sender` sends them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

from simulator.media.packets import PacketTrack

PAYLOAD_MAX = 1_300
"""Bytes of a payload, which with all headers stay within the usual 1,500 of a network."""
_VP8_BEGINS, _VP8_GOES_ON = b"\x10", b"\x00"
"""The first partition of a frame begins, or something goes on."""
_FU_A = 28
_STAP_A = 24
_START, _END = 0x80, 0x40
_FRAGMENT = PAYLOAD_MAX - 2

Piece = tuple[bytes, int, int]
"""A payload: its first bytes, then those of the picture from .. to."""

_Span = tuple[int, int]


def vp8(frame: bytes) -> tuple[Piece, ...]:
    """A frame of VP8 as payloads of about one size, each behind the shortest descriptor."""
    count = -(-len(frame) // (PAYLOAD_MAX - 1))
    size = -(-len(frame) // max(1, count))
    starts = range(0, len(frame), max(1, size))
    return tuple(
        (_VP8_GOES_ON if at else _VP8_BEGINS, at, min(at + size, len(frame))) for at in starts
    )


def h264(access_unit: bytes) -> tuple[Piece, ...]:
    """An access unit in Annex-B as payloads (packetization mode 1): small units together, large
    ones in fragments."""
    pieces: list[Piece] = []
    small: list[_Span] = []
    size = 1
    for begin, end in _units(access_unit):
        if small and (end - begin > PAYLOAD_MAX or size + 2 + end - begin > PAYLOAD_MAX):
            pieces.append(_together(access_unit, small))
            small, size = [], 1
        if end - begin > PAYLOAD_MAX:
            pieces += _fragments(access_unit, begin, end)
        else:
            small.append((begin, end))
            size += 2 + end - begin
    if small:
        pieces.append(_together(access_unit, small))
    return tuple(pieces)


class Packetised:
    """The pieces of each picture of a track, worked out when first asked for."""

    def __init__(self, track: PacketTrack) -> None:
        self._pieces: list[tuple[Piece, ...] | None] = [None] * len(track)
        self._cut = vp8 if track.codec == "vp8" else h264

    def of(self, index: int, picture: bytes) -> tuple[Piece, ...]:
        """Those of picture `index`, whose bytes are `picture`."""
        pieces = self._pieces[index]
        if pieces is None:
            pieces = self._pieces[index] = self._cut(picture)
        return pieces


_KEPT: WeakKeyDictionary[PacketTrack, Packetised] = WeakKeyDictionary()


def packetised(track: PacketTrack) -> Packetised:
    """Those of `track`, shared by all sessions that play it."""
    found = _KEPT.get(track)
    if found is None:
        found = _KEPT[track] = Packetised(track)
    return found


def _units(data: bytes) -> Iterator[_Span]:
    """Where each NAL unit lies, without start codes and the zeros that may follow it."""
    at = data.find(b"\0\0\1")
    while at >= 0:
        begin = at + 3
        at = data.find(b"\0\0\1", begin)
        end = at if at >= 0 else len(data)
        while end > begin and data[end - 1] == 0:
            end -= 1
        if end > begin:
            yield begin, end


def _together(data: bytes, spans: Sequence[_Span]) -> Piece:
    """One unit as it is, or several in an aggregation packet (5.7.1)."""
    if len(spans) == 1:
        return b"", *spans[0]
    heads = [data[begin] for begin, _ in spans]
    first = _STAP_A | max(h & 0x60 for h in heads) | max(h & 0x80 for h in heads)
    body = b"".join((end - begin).to_bytes(2) + data[begin:end] for begin, end in spans)
    return bytes((first,)) + body, 0, 0


def _fragments(data: bytes, begin: int, end: int) -> Iterator[Piece]:
    """A large unit in fragments (5.8)."""
    indicator, kind = data[begin] & 0xE0 | _FU_A, data[begin] & 0x1F
    begin += 1
    size = -(-(end - begin) // -(-(end - begin) // _FRAGMENT))
    for at in range(begin, end, size):
        stop = min(at + size, end)
        mark = (_START if at == begin else 0) | (_END if stop == end else 0)
        yield bytes((indicator, kind | mark)), at, stop
