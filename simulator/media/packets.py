"""One encoded part on disk: its packets of sound and picture with their times, mapped and shared.

A file is the magic, the payloads as they were written, the index, and a trailer of fixed size that
finds the index; a file that was cut off or never finished therefore has no valid trailer and is
refused. Sessions read through a memory map, so many of them playing one part hold it once.
Counterparts: `simulator.media.encode` writes these, `simulator.rtc.playlist` plays them.
"""

from __future__ import annotations

import json
import mmap
import struct
import weakref
import zlib
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from simulator.errors import InstrumentError
from simulator.media.timeline import PTIME
from simulator.protocol.tracks import AUDIO, VIDEO, Track

_MAGIC = b"OMNIPKT2"
_MAGIC_1 = b"OMNIPKT1"
"""Of files that have one picture and one sound, and do not name them."""
_TRAILER = struct.Struct("<QQI8s")
"""Offset of the index, its length, its CRC-32, magic."""
_ROW = np.dtype([("pts", "<i8"), ("offset", "<i8"), ("size", "<i4"), ("key", "?"), ("pad", "V3")])
"""Index row of one packet; 24 bytes, so that the columns stay aligned."""


class BrokenPartError(InstrumentError):
    """A packet file is cut off, damaged, or not one."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class PacketTrack:
    """The packets of one track. Arrays are read-only views of the file."""

    track: Track
    pts: NDArray[np.int64]
    """Ticks from the part's start: 48 kHz for sound, 90 kHz for picture."""
    size: NDArray[np.int32]
    """Bytes."""
    key: NDArray[np.bool_]
    """Whether decoding can start here; always true for sound."""
    offset: NDArray[np.int64]
    """Where in the file each payload lies."""
    codec: str
    """opus, h264, vp8 or jpeg."""
    _map: mmap.mmap
    _plain: tuple[memoryview, memoryview, memoryview] = field(init=False)
    """The first two and the last of these arrays, as what gives one number several times faster."""

    def __post_init__(self) -> None:
        plain = (self.pts.data, self.size.data, self.offset.data)
        object.__setattr__(self, "_plain", plain)

    def __len__(self) -> int:
        return len(self.pts)

    def ticks(self, index: int) -> int:
        """A packet's pts."""
        ticks: int = self._plain[0][index]
        return ticks

    def payload(self, index: int) -> bytes:
        """A packet's bytes: an Opus packet, an access unit in Annex-B, a frame of VP8, a JPEG."""
        _, size, offset = self._plain
        start = offset[index]
        return self._map[start : start + size[index]]


class PacketFile:
    """A finished part, open for reading.

    `open` gives the same object for the same unchanged file as long as anybody holds it. No
    descriptor is kept: the mapping goes with the last reference.
    """

    _shared: ClassVar[weakref.WeakValueDictionary[tuple[str, int, int, int], PacketFile]] = (
        weakref.WeakValueDictionary()
    )

    def __init__(
        self,
        path: Path,
        duration: float,
        tracks: Mapping[str, PacketTrack],
        info: Mapping[str, Any],
    ) -> None:
        self.path = path
        self.duration = duration
        """Seconds; a whole number of 20 ms."""
        self.tracks = tracks
        """By name. Of sound: Opus, a packet each 20 ms; pts in 48 kHz ticks from the part's start.
        Of pictures: H264 in Annex-B, or VP8; pts in 90 kHz ticks; frames at k/fps below the
        duration, of which the first is a key."""
        self.info = info
        """Codec names, profile-level-id, width, height, fps, created-by."""

    @classmethod
    def open(cls, path: Path) -> PacketFile:
        """Open a part; raises BrokenPartError if it is cut off or none, OSError if unreadable."""
        with path.open("rb") as file:
            stat = path.stat()
            identity = (str(path), stat.st_ino, stat.st_mtime_ns, stat.st_size)
            shared = cls._shared.get(identity)
            if shared is not None:
                return shared
            if stat.st_size < len(_MAGIC) + _TRAILER.size:
                raise BrokenPartError(f"{path}: cut off")
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        opened = cls._parse(path, mapped)
        cls._shared[identity] = opened
        return opened

    @classmethod
    def _parse(cls, path: Path, mapped: mmap.mmap) -> PacketFile:
        body = len(mapped) - _TRAILER.size
        start, length, crc, magic = _TRAILER.unpack_from(mapped, body)
        known = magic in (_MAGIC, _MAGIC_1) and mapped[: len(magic)] == magic
        if not known or start + length != body:
            raise BrokenPartError(f"{path}: cut off, or not a part")
        index = mapped[start:body]
        if zlib.crc32(index) != crc:
            raise BrokenPartError(f"{path}: its index is damaged")
        (head_size,) = struct.unpack_from("<I", index)
        head = json.loads(index[4 : 4 + head_size])
        rows = np.frombuffer(
            mapped, np.uint8, count=length - 4 - head_size, offset=start + 4 + head_size
        )
        table = rows.view(_ROW)
        tracks: dict[str, PacketTrack] = {}
        at = 0
        for named in head["tracks"] if magic == _MAGIC else _unnamed(head, len(table)):
            own = table[at : at + named["packets"]]
            at += len(own)
            track = Track(id=named["id"], kind=named["kind"])
            tracks[track.id] = PacketTrack(
                track, own["pts"], own["size"], own["key"], own["offset"], named["codec"], mapped
            )
        return cls(path, float(head["duration"]), tracks, head["info"])


def _unnamed(head: Mapping[str, Any], packets: int) -> Sequence[Mapping[str, Any]]:
    """The tracks of a file that does not name them: the sound, then the picture."""
    sound = int(head["audio"])
    codec = str(head["info"].get("video", "h264"))
    return (
        {**asdict(AUDIO), "codec": "opus", "packets": sound},
        {**asdict(VIDEO), "codec": codec, "packets": packets - sound},
    )


class PacketWriter:
    """Writes a part; leaves no file behind unless `finish` was reached."""

    def __init__(self, path: Path, codecs: Mapping[Track, str]) -> None:
        """`codecs`: the part's tracks, each with its codec (opus; h264, vp8 or jpeg)."""
        self.path = path
        self._codecs = codecs
        self._file: BinaryIO = path.open("wb")
        self._file.write(_MAGIC)
        self._at = len(_MAGIC)
        # Flat rows of pts, offset, size, key: an hour is 9 MB, where tuples would be 50.
        self._rows = {track.id: array("q") for track in codecs}
        self._finished = False

    def add(self, track: Track, pts: int, data: bytes, *, key: bool = True) -> None:
        """Append a packet: of sound an Opus packet, `pts` 960 ticks of 48 kHz after the one before;
        of pictures an access unit, `pts` in 90 kHz ticks, later than the one before."""
        self._rows[track.id].extend((pts, self._at, len(data), int(key)))
        self._file.write(data)
        self._at += len(data)

    def finish(self, duration: float, info: Mapping[str, Any]) -> None:
        """Write the index. Raises InstrumentError if the packets do not fill `duration` exactly.

        Stills (jpeg) need not begin with the part.
        """
        tables = [np.array(self._rows[track.id], np.int64).reshape(-1, 4) for track in self._codecs]
        for (track, codec), table in zip(self._codecs.items(), tables, strict=True):
            self._check(duration, track, codec, table)
        described = {
            "duration": duration,
            "tracks": [
                {**asdict(track), "codec": codec, "packets": len(table)}
                for (track, codec), table in zip(self._codecs.items(), tables, strict=True)
            ],
            "info": dict(info),
        }
        head = json.dumps(described).encode()
        head += b" " * (-(self._at + 4 + len(head)) % 8)
        every = np.concatenate(tables)
        rows = np.zeros(len(every), _ROW)
        for i, name in enumerate(("pts", "offset", "size", "key")):
            rows[name] = every[:, i]
        index = struct.pack("<I", len(head)) + head + rows.tobytes()
        self._file.write(index)
        self._file.write(_TRAILER.pack(self._at, len(index), zlib.crc32(index), _MAGIC))
        self._file.flush()
        self._finished = True

    def _check(self, duration: float, track: Track, codec: str, table: NDArray[np.int64]) -> None:
        times, keys = table[:, 0], table[:, 3]
        if track.kind == "audio":
            ticks = round(PTIME * track.clock)
            if not np.array_equal(times, np.arange(round(duration / PTIME)) * ticks):
                raise InstrumentError(
                    f"{self.path}: {len(times)} packets of {track.id} do not fill {duration:.3f} s"
                )
            return
        if codec != "jpeg" and (not len(times) or times[0] != 0 or not keys[0]):
            raise InstrumentError(f"{self.path}: {track.id} has no keyframe at the start")
        if (np.diff(times) <= 0).any() or (times >= round(duration * track.clock)).any():
            raise InstrumentError(f"{self.path}: the times of {track.id} are not in order")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        if not self._finished:
            self.path.unlink(missing_ok=True)
