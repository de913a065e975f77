"""The encoders: pictures to H264 or VP8, sound to Opus, timed so that parts splice.

Time of a sample. libopus gives back what went in 6.5 ms late. A `SoundEncoder` is therefore fed
`LOOKAHEAD` samples early, behind a run-in of `RUN_IN` packets that are thrown away: sample n of a
part comes out of a decoder at n, with no delay to account for, and parts of one sound join without
a seam. `info["sound_delay"]` publishes the 0.0.

What went before a part on the wire is not known when it is made: a hold that was left anywhere, or
another segment. So no packet counts on a decoder's memory: the encoder codes as for a path that
loses everything (`_LOSSY`), and what is heard from 5 ms after any cut is what was prepared. (Only a
steady tone without any noise, cut in its middle, comes up to its loudness in 0.13 s.)
Counterparts: `simulator.media.prepare` feeds these, `simulator.media.packets` keeps the packets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.audio.codeccontext import AudioCodecContext
from av.video.codeccontext import VideoCodecContext
from av.video.frame import PictureType

from simulator.protocol.samples import PACKET, Stereo
from simulator.protocol.tracks import AUDIO_CLOCK, VIDEO_CLOCK
from simulator.scenario.types import Canvas

LOOKAHEAD = 312
"""Samples by which libopus is late at 48 kHz; tests measure it."""
RUN_IN = 4
"""Packets encoded before a part's first and thrown away."""
_LOSSY = "100"
"""Loss in percent that the encoder is told of. Where it expects none, it codes the loudness of each
band as a step from the packet before: after another packet than that, sound begins 8 to 20 dB too
quiet or too loud, and comes right in 40 ms. The other way costs 2 % more bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """Settings that decide the bytes; part of every cache key."""

    codec: str = "h264"
    """h264, or vp8 for agents that take nothing else."""
    preset: str = "ultrafast"
    crf: int = 26
    video_rate: int = 1_600_000
    """Ceiling, bits a second, held over `video_buffer` bits."""
    video_buffer: int = 480_000
    """Bits over which the ceiling holds, and so a bound on a keyframe: 60 kB, some 50 packets. A
    larger one takes long to leave, and may fill a peer's socket. Screen text keeps over 44 dB."""
    audio_rate: int = 64_000

    def identity(self) -> dict[str, Any]:
        """What stands for it in a cache key. H264 goes without saying, as before there was VP8."""
        fields = asdict(self)
        return fields if self.codec != "h264" else {k: fields[k] for k in fields if k != "codec"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A level of H264 with its limits."""

    idc: str
    frame: int
    """Macroblocks in a picture."""
    rate: int
    """Macroblocks a second."""


_VP8_CRF = "20"
"""Of 4 to 63: about as good as x264's 26."""

_LEVELS = (
    Level(idc="3.1", frame=3_600, rate=108_000),
    Level(idc="4.0", frame=8_192, rate=245_760),
    Level(idc="5.1", frame=36_864, rate=983_040),
)


def level(canvas: Canvas) -> Level | None:
    """The lowest level from 3.1 that holds `canvas`; None if it is larger than any of them."""
    blocks = -(-canvas.width // 16) * -(-canvas.height // 16)
    for candidate in _LEVELS:
        if blocks <= candidate.frame and blocks * canvas.fps <= candidate.rate:
            return candidate
    return None


def profile_level_id(canvas: Canvas) -> str:
    """As it stands in an SDP: constrained baseline and the level."""
    found = level(canvas)
    return f"42e0{round(float(found.idc) * 10):02x}" if found else "42e033"


@lru_cache(maxsize=1)
def _assembler() -> tuple[str, ...]:
    """Keep x264 from AVX-512 where there is AVX2: the same bytes, a fifth sooner where measured."""
    try:
        flags = Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return ()
    return ("asm=avx2",) if {"avx2", "bmi2", "fma", "avx512f"} <= set(flags) else ()


@dataclass(frozen=True, slots=True)
class Unit:
    """An encoded picture."""

    pts: int
    """90 kHz ticks."""
    key: bool
    data: bytes


class PictureEncoder:
    """Encodes the pictures of one part, `canvas.fps` a second, the first of them a keyframe."""

    def __init__(self, canvas: Canvas, encoding: Encoding, matrix: str) -> None:
        self._ticks = Fraction(VIDEO_CLOCK, canvas.fps)
        self._count = 0
        vp8 = encoding.codec == "vp8"
        context = av.CodecContext.create("libvpx" if vp8 else "libx264", "w")
        assert isinstance(context, VideoCodecContext)
        context.width, context.height = canvas.width, canvas.height
        context.pix_fmt = "yuv420p"
        context.framerate = Fraction(canvas.fps)
        context.time_base = Fraction(1, canvas.fps)
        context.thread_count = 1
        context.gop_size = canvas.fps
        if vp8:
            context.bit_rate = encoding.video_rate
        context.options = _vp8(canvas, encoding) if vp8 else _h264(canvas, encoding, matrix)
        self._context = context

    def add(self, frame: av.VideoFrame) -> list[Unit]:
        """Encode the next picture; what is ready by now."""
        frame.pts = self._count
        frame.time_base = self._context.time_base
        frame.pict_type = PictureType.NONE
        self._count += 1
        return self._units(frame)

    def finish(self) -> list[Unit]:
        """The pictures that the encoder still holds."""
        return self._units(None)

    def _units(self, frame: av.VideoFrame | None) -> list[Unit]:
        units = []
        for packet in self._context.encode(frame):
            assert packet.pts is not None
            units.append(Unit(round(packet.pts * self._ticks), packet.is_keyframe, bytes(packet)))
        return units


def _h264(canvas: Canvas, encoding: Encoding, matrix: str) -> dict[str, str]:
    """Constrained baseline, Annex-B."""
    found = level(canvas)
    return {
        "preset": encoding.preset,
        "profile": "baseline",
        "level": found.idc if found else "5.1",
        "crf": str(encoding.crf),
        "maxrate": str(encoding.video_rate),
        "bufsize": str(encoding.video_buffer),
        "x264-params": ":".join(
            (
                f"keyint={canvas.fps}",
                f"min-keyint={canvas.fps}",
                "scenecut=0",
                "bframes=0",
                "ref=1",
                "weightp=0",
                # Without it the edges of blocks show.
                "deblock=0,0",
                "partitions=none",
                "aq-mode=0",
                "no-psy=1",
                "no-chroma-me=1",
                # Twice as far would cost a twelfth of the time, for 0.1 dB in dense film.
                "rc-lookahead=5",
                "sync-lookahead=0",
                "repeat-headers=1",
                "sliced-threads=0",
                "slices=1",
                "range=tv",
                f"colormatrix={matrix}",
                *_assembler(),
            )
        ),
    }


def _vp8(canvas: Canvas, encoding: Encoding) -> dict[str, str]:
    """As libvpx is used in calls; it keeps to the rate, and to a bound on keyframes of its own."""
    frame = encoding.video_rate / canvas.fps
    return {
        "deadline": "realtime",
        "cpu-used": "8",
        "lag-in-frames": "0",
        "auto-alt-ref": "0",
        "keyint_min": str(canvas.fps),
        "crf": _VP8_CRF,
        "qmin": "4",
        "qmax": "56",
        "maxrate": str(encoding.video_rate),
        "bufsize": str(encoding.video_buffer),
        "max-intra-rate": str(round(encoding.video_buffer / frame * 100)),
    }


class SoundEncoder:
    """Encodes one part's sound.

    Feed it the samples from `before` ahead of the part's first sample on, to `LOOKAHEAD` beyond its
    last, in blocks of any size; it gives exactly the part's packets.
    """

    before = RUN_IN * PACKET - LOOKAHEAD
    """Samples ahead of the part's first with which the feed begins."""

    def __init__(self, bitrate: int) -> None:
        context = av.CodecContext.create("libopus", "w")
        assert isinstance(context, AudioCodecContext)
        context.sample_rate = AUDIO_CLOCK
        context.layout = "stereo"
        context.format = "flt"
        context.bit_rate = bitrate
        context.time_base = Fraction(1, AUDIO_CLOCK)
        context.options = {
            "application": "audio",
            "frame_duration": "20",
            "vbr": "on",
            "packet_loss": _LOSSY,
        }
        self._context = context
        self._rest: Stereo = np.zeros((0, 2), np.float32)
        self._fed = 0
        self._given = 0

    def packets(self, blocks: Iterable[Stereo]) -> Iterator[bytes]:
        """The part's packets, as the samples come."""
        for block in blocks:
            self._rest = np.concatenate((self._rest, block)) if len(self._rest) else block
            whole = len(self._rest) // PACKET
            for i in range(whole):
                yield from self._encode(self._rest[i * PACKET : (i + 1) * PACKET])
            self._rest = self._rest[whole * PACKET :]
        yield from self._take(None)

    def _encode(self, samples: Stereo) -> Iterator[bytes]:
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(samples).reshape(1, -1), format="flt", layout="stereo"
        )
        frame.sample_rate = AUDIO_CLOCK
        frame.pts = self._fed
        frame.time_base = Fraction(1, AUDIO_CLOCK)
        self._fed += PACKET
        yield from self._take(frame)

    def _take(self, frame: av.AudioFrame | None) -> Iterator[bytes]:
        for packet in self._context.encode(frame):
            # What comes after the last whole frame is the encoder's own padding.
            if RUN_IN <= self._given < self._fed // PACKET:
                yield bytes(packet)
            self._given += 1


def encode_sound(samples: Stereo, *, bitrate: int = 64_000) -> list[bytes]:
    """Opus packets for sound that stands alone: silence before and after.

    `samples` is a whole number of packets long; sample n comes out of a decoder at n.
    """
    silence = np.zeros((SoundEncoder.before, 2), np.float32)
    tail = np.zeros((LOOKAHEAD, 2), np.float32)
    return list(SoundEncoder(bitrate).packets((silence, samples, tail)))


def info(canvas: Canvas, codec: str = "h264") -> dict[str, Any]:
    """What a packet file says of itself."""
    profile = {"profile-level-id": profile_level_id(canvas)} if codec == "h264" else {}
    return {
        "video": codec,
        "audio": "opus",
        **profile,
        "width": canvas.width,
        "height": canvas.height,
        "fps": canvas.fps,
        "sound_delay": 0.0,
    }
