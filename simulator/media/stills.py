"""A turn's pictures as JPEG stills, for agents that take single pictures and no video.

They are taken from the encoded segment, so they show what a caller's video would have shown. Their
times lie on one grid over the whole stream, whatever its cuts. Counterparts:
`simulator.media.prepare` makes the segments, `simulator.media.packets` holds a track of stills as
any other.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import cast

import av
from av.video.codeccontext import VideoCodecContext
from av.video.reformatter import Interpolation
from PIL import Image

from simulator.errors import InputError
from simulator.media.cache import Cache, key_of
from simulator.media.packets import PacketFile, PacketTrack, PacketWriter
from simulator.media.timeline import PreparedTurn, on_grid
from simulator.protocol.tracks import VIDEO, VIDEO_CLOCK

_CODE = 1
"""Raise when stills change for the same segment."""
_QUALITIES = (88, 80, 70, 60, 45, 30)
"""JPEG qualities to try until one is small enough; then the picture is made smaller."""
_SMALLER = 0.75
_LEAST = 16
"""Pixels of a still's longer side below which it is not made smaller."""
_EPSILON = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class StillFormat:
    """What a peer takes. Raises InputError if nothing can be like that."""

    rate: float = 1.0
    """Stills a second of stream."""
    longest: int = 768
    """Pixels of the longer side at most; a picture is never enlarged."""
    limit: int = 45_000
    """Bytes of a JPEG at most: as base64 with some JSON around it, it fits a message of 64 KiB,
    which is what a WebRTC data channel is sure to carry."""

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 30:
            raise InputError(f"stills: rate {self.rate:g} must be over 0 and at most 30 a second")
        if self.longest < _LEAST:
            raise InputError(f"stills: longest {self.longest} must be {_LEAST} pixels or more")
        if self.limit < 2_000:
            raise InputError(f"stills: limit {self.limit} must be 2000 bytes or more")


def stills(turn: PreparedTurn, wanted: StillFormat, cache: Cache) -> PacketTrack:
    """The stills of a turn's segment: pts in 90 kHz ticks from its start; maybe none, in a short
    one. Made once, then from the cache. While it holds, the last one goes on to be true.

    Raises InputError if the cache cannot be written or `limit` cannot be kept.
    """
    begin = turn.stream_start % (1 / wanted.rate)
    key = key_of("stills", _CODE, turn.segment.key, round(begin * VIDEO_CLOCK), asdict(wanted))

    def read(folder: Path) -> PacketTrack:
        return PacketFile.open(folder / "stills").tracks[VIDEO.id]

    def build(folder: Path) -> None:
        segment = PacketFile.open(turn.segment.path)
        with PacketWriter(folder / "stills", {VIDEO: "jpeg"}) as out:
            times = _times(turn.stream_start, segment.duration, wanted.rate)
            for time, picture in zip(
                times, _pictures(segment.tracks[VIDEO.id], times), strict=True
            ):
                out.add(VIDEO, round(time * VIDEO_CLOCK), _jpeg(picture, wanted))
            out.finish(segment.duration, {"video": "jpeg"})

    return cache.entry(key, read, build)


def clip_times(turn: PreparedTurn, track: PacketTrack) -> tuple[float, ...]:
    """The clip time of each of a turn's stills, as an author writes it."""
    return tuple(on_grid(turn.turn.start) + int(ticks) / VIDEO_CLOCK for ticks in track.pts)


def _times(start: float, duration: float, rate: float) -> list[float]:
    """Segment times at which the stream's time is a multiple of 1 / `rate`."""
    first = ceil((start - _EPSILON) * rate)
    last = ceil((start + duration - _EPSILON) * rate)
    return [max(0.0, k / rate - start) for k in range(first, last)]


def _pictures(track: PacketTrack, times: Sequence[float]) -> Iterator[av.VideoFrame]:
    """The picture shown at each of `times`, which ascend."""
    context = av.CodecContext.create(track.codec, "r")
    assert isinstance(context, VideoCodecContext)
    context.thread_count = 1
    for time in times:
        ticks = round(time * VIDEO_CLOCK)
        shown = int(track.pts.searchsorted(ticks, side="right")) - 1
        key = shown
        while not track.key[key]:
            key -= 1
        frames = [
            frame
            for index in range(key, shown + 1)
            for frame in context.decode(av.Packet(track.payload(index)))
        ]
        frames += context.decode(None)
        context.flush_buffers()
        yield frames[-1]


def _jpeg(picture: av.VideoFrame, wanted: StillFormat) -> bytes:
    """As large and as good as it may be."""
    share = min(1.0, wanted.longest / max(picture.width, picture.height))
    while True:
        width, height = (max(1, round(side * share)) for side in (picture.width, picture.height))
        small = picture.reformat(width, height, "rgb24", interpolation=Interpolation.AREA)
        image = cast("Image.Image", small.to_image())  # type: ignore[no-untyped-call]
        for quality in _QUALITIES:
            data = io.BytesIO()
            image.save(data, "JPEG", quality=quality, optimize=True)
            if data.tell() <= wanted.limit:
                return data.getvalue()
        share *= _SMALLER
        if max(width, height) * _SMALLER < _LEAST:
            raise InputError(f"stills: no picture fits into {wanted.limit} bytes")
