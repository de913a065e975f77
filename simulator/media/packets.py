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
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from simulator.errors import InstrumentError
from simulator.media.timeline import PTIME
from simulator.protocol.tracks import AUDIO_CLOCK, VIDEO_CLOCK

_MAGIC = b"OMNIPKT1"
_TRAILER = struct.Struct("<QQI8s")
"""Offset of the index, its length, its CRC-32, magic."""
_ROW = np.dtype([("pts", "<i8"), ("offset", "<i8"), ("size", "<i4"), ("key", "?"), ("pad", "V3")])
"""Index row of one packet; 24 bytes, so that the columns stay aligned."""


class BrokenPartError(InstrumentError):
    """A packet file is cut off, damaged, or not one."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class PacketTrack:
    """The packets of one track. Arrays are read-only views of the file."""

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
        audio: PacketTrack,
        video: PacketTrack,
        info: Mapping[str, Any],
    ) -> None:
        self.path = path
        self.duration = duration
        """Seconds; a whole number of 20 ms."""
        self.audio = audio
        """Opus, a packet each 20 ms; pts in 48 kHz ticks from the part's start."""
        self.video = video
        """H264 in Annex-B, or VP8; pts in 90 kHz ticks; frames at k/fps below the duration, of
        which the first is a key."""
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
        if mapped[: len(_MAGIC)] != _MAGIC or magic != _MAGIC or start + length != body:
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
        count = int(head["audio"])
        codecs = ("opus", str(head["info"].get("video", "h264")))
        tracks = [
            PacketTrack(part["pts"], part["size"], part["key"], part["offset"], codec, mapped)
            for part, codec in zip((table[:count], table[count:]), codecs, strict=True)
        ]
        return cls(path, float(head["duration"]), tracks[0], tracks[1], head["info"])


class PacketWriter:
    """Writes a part; leaves no file behind unless `finish` was reached."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: BinaryIO = path.open("wb")
        self._file.write(_MAGIC)
        self._at = len(_MAGIC)
        # Flat rows of pts, offset, size, key: an hour is 9 MB, where tuples would be 50.
        self._audio = array("q")
        self._video = array("q")
        self._finished = False

    def add_audio(self, pts: int, data: bytes) -> None:
        """Append an Opus packet; `pts` in 48 kHz ticks, 960 after the one before."""
        self._audio.extend((pts, self._put(data), len(data), 1))

    def add_video(self, pts: int, key: bool, data: bytes) -> None:
        """Append an access unit; `pts` in 90 kHz ticks, later than the one before."""
        self._video.extend((pts, self._put(data), len(data), int(key)))

    def _put(self, data: bytes) -> int:
        at = self._at
        self._file.write(data)
        self._at += len(data)
        return at

    def finish(self, duration: float, info: Mapping[str, Any]) -> None:
        """Write the index. Raises InstrumentError if the packets do not fill `duration` exactly.

        Stills (`video` of `info` is jpeg) have no sound, and need not begin with the part.
        """
        audio = np.array(self._audio, np.int64).reshape(-1, 4)
        video = np.array(self._video, np.int64).reshape(-1, 4)
        self._check(duration, audio, video, stills=info.get("video") == "jpeg")
        head = json.dumps({"duration": duration, "audio": len(audio), "info": dict(info)}).encode()
        head += b" " * (-(self._at + 4 + len(head)) % 8)
        table = np.zeros(len(audio) + len(video), _ROW)
        for i, name in enumerate(("pts", "offset", "size", "key")):
            table[name] = np.concatenate((audio[:, i], video[:, i]))
        index = struct.pack("<I", len(head)) + head + table.tobytes()
        self._file.write(index)
        self._file.write(_TRAILER.pack(self._at, len(index), zlib.crc32(index), _MAGIC))
        self._file.flush()
        self._finished = True

    def _check(
        self,
        duration: float,
        audio: NDArray[np.int64],
        video: NDArray[np.int64],
        *,
        stills: bool,
    ) -> None:
        ticks = round(PTIME * AUDIO_CLOCK)
        wanted = np.arange(0 if stills else round(duration / PTIME), dtype=np.int64) * ticks
        if not np.array_equal(audio[:, 0], wanted):
            raise InstrumentError(
                f"{self.path}: {len(audio)} packets of sound do not fill {duration:.3f} s"
            )
        if not stills and (not len(video) or video[0, 0] != 0 or not video[0, 3]):
            raise InstrumentError(f"{self.path}: no keyframe at the start")
        times = video[:, 0]
        if (np.diff(times) <= 0).any() or (times >= round(duration * VIDEO_CLOCK)).any():
            raise InstrumentError(f"{self.path}: picture times are not in order")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        if not self._finished:
            self.path.unlink(missing_ok=True)
