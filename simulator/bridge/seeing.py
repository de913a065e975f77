"""What the caller's camera sends, as frames, for an agent that asks for them.

Nobody asks: packets are dropped undecoded and nothing is kept. Somebody asks: access units are put
together from RTP, decoded from the next keyframe on, and only the frames that are due at the asked
rate are converted. Counterparts: `simulator.rtc.taps` gives the packets, `simulator.bridge.call`
holds this.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import av
from aiortc.codecs import depayload
from aiortc.rtcrtpparameters import RTCRtpCodecParameters
from av.video.codeccontext import VideoCodecContext

from simulator.bridge.hearing import ArrivalClock
from simulator.protocol.rtp import rtp_payload

if TYPE_CHECKING:
    from PIL.Image import Image

_CODECS = {"video/h264": "h264", "video/vp8": "libvpx"}
_QUEUE = 2
"""Frames that wait for a slow reader; the oldest is dropped first."""
_ASK_AGAIN = 1.0
"""Seconds between requests for a keyframe."""
_MOST = 4_000_000
"""Bytes of one access unit, beyond which it cannot be one."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One frame of the caller's video."""

    time: float
    """When it could first be seen: its RTP time mapped to arrival."""
    frame: av.VideoFrame

    def image(self, longest: int | None = None) -> Image:
        """As a picture of Pillow's, its longer side at most `longest` pixels."""
        if longest is None or max(self.frame.width, self.frame.height) <= longest:
            longest = max(self.frame.width, self.frame.height)
        scale = longest / max(self.frame.width, self.frame.height)
        size = {
            "width": round(self.frame.width * scale),
            "height": round(self.frame.height * scale),
        }
        return cast("Image", self.frame.to_image(**size))  # type: ignore[no-untyped-call]


class Seeing:
    """The caller's video. One reader at a time: `async for seen in seeing.frames(fps=1)`."""

    def __init__(self, need_keyframe: Callable[[int], None] = lambda ssrc: None) -> None:
        self.codecs: Mapping[int, RTCRtpCodecParameters] = {}
        """The codecs agreed on, by payload type."""
        self.dropped = 0
        """Frames that a reader was too slow for."""
        self.broken = 0
        """Access units that could not be put together or decoded."""
        self._need_keyframe = need_keyframe
        self._queue: asyncio.Queue[Seen] | None = None
        self._every = 0.0
        self._due = float("-inf")
        self._asked = float("-inf")
        """When a keyframe was asked for."""
        self._decoder: VideoCodecContext | None = None
        self._clock = ArrivalClock(90_000)
        self._unit = bytearray()
        self._stamp: int | None = None
        self._sequence: int | None = None
        self._whole = False
        self._synced = False

    @property
    def wanted(self) -> bool:
        """Whether anybody asks for frames now."""
        return self._queue is not None

    async def frames(self, fps: float = 1.0) -> AsyncIterator[Seen]:
        """Frames at most `fps` a second, as they come; the first after the next keyframe."""
        if self._queue is not None:
            raise RuntimeError("somebody reads the frames already")
        self._queue = asyncio.Queue(maxsize=_QUEUE)
        self._every, self._due = 1.0 / fps, float("-inf")
        self._asked = float("-inf")
        try:
            while True:
                yield await self._queue.get()
        finally:
            self._queue = None
            self._decoder = None
            self._synced = False
            self._unit.clear()
            self._stamp = self._sequence = None

    def feed(self, t: float, packet: bytes) -> None:
        """An RTP packet in clear that arrived at `t`."""
        if self._queue is None or len(packet) < 12:
            return
        codec = self.codecs.get(packet[1] & 0x7F)
        name = _CODECS.get(codec.mimeType.lower()) if codec else None
        if codec is None or name is None:
            return
        if not self._synced and t - self._asked > _ASK_AGAIN:
            self._asked = t
            self._need_keyframe(int.from_bytes(packet[8:12]))
        sequence, stamp = int.from_bytes(packet[2:4]), int.from_bytes(packet[4:8])
        if self._sequence is not None and sequence != (self._sequence + 1) & 0xFFFF:
            self._whole = self._synced = False
        self._sequence = sequence
        if stamp != self._stamp:
            self._unit.clear()
            self._stamp, self._whole = stamp, True
        try:
            self._unit += depayload(codec, rtp_payload(packet))
        except ValueError:
            self._whole = False
        if len(self._unit) > _MOST:
            self._unit.clear()
            self._whole = False
        if packet[1] & 0x80:
            self._complete(name, stamp, t)

    def _complete(self, name: str, stamp: int, t: float) -> None:
        unit, whole = bytes(self._unit), self._whole
        self._unit.clear()
        _, time = self._clock.feed(stamp, t)
        if not whole or not unit:
            self.broken += 1
            return
        if not self._synced:
            if not _starts_group(name, unit):
                return
            decoder = av.CodecContext.create(name, "r")
            assert isinstance(decoder, VideoCodecContext)
            self._decoder = decoder
            self._synced = True
        assert self._decoder is not None
        try:
            frames = self._decoder.decode(av.Packet(unit))
        except av.FFmpegError:
            self.broken += 1
            self._synced = False
            return
        for frame in frames:
            if time >= self._due and self._queue is not None:
                late = time - self._due > self._every
                self._due = (time if late else self._due) + self._every
                if self._queue.full():
                    self._queue.get_nowait()
                    self.dropped += 1
                self._queue.put_nowait(Seen(time, frame))


def _starts_group(name: str, unit: bytes) -> bool:
    """Whether decoding can start at this access unit."""
    if name == "h264":
        return any(
            unit[i + 4] & 0x1F in (5, 7)
            for i in range(min(len(unit) - 5, 200))
            if unit[i : i + 4] == b"\0\0\0\1"
        )
    return not unit[0] & 1  # VP8: the lowest bit of the frame tag is 0 in a keyframe
