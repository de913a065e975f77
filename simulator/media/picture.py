"""Pictures of a clip: read in time order as they are, then fitted to the canvas.

Clip time is what a player shows: 0 is the file's start. The picture at a time is the last one that
had appeared by then, so any frame rate, constant or not, comes out right at any other.
Counterparts: `simulator.media.probe` says what a clip holds, `simulator.media.subtitle` draws on
what comes out here, `simulator.media.encode` takes it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import av
import numpy as np
from av.filter import Graph
from av.sidedata.sidedata import Type as SideData
from av.video.reformatter import ColorRange

from simulator.errors import InputError
from simulator.media.probe import Probe
from simulator.scenario.types import Canvas

_BT709, _BT601 = 1, (5, 6)
"""Code points of ITU-T H.273 for colour matrices."""
_TOLERANCE = 0.001
"""A picture whose stamp is this little late still counts: stamps are often whole milliseconds."""
_SEEK_AHEAD = 4.0
"""Seconds ahead from which seeking is quicker than reading on."""
_SEEK_EARLY = 0.5
"""Seconds by which a seek aims early: containers seek by decoding time."""
SLACK = 0.5
"""A stream may end this much before its container does; its last picture stands meanwhile."""


class PictureReader:
    """The pictures of one clip. Cheap going forwards; going back seeks.

    Where keyframes are far apart it may decode for long; `passing` is called for each picture on
    the way, and may raise to end that.
    """

    def __init__(self, probe: Probe, passing: Callable[[], None] | None = None) -> None:
        self._probe = probe
        self._passing = passing
        self._container: av.container.InputContainer | None = None
        self._frames: Iterator[av.VideoFrame] = iter(())
        self._now: av.VideoFrame | None = None
        self._now_time = 0.0
        self._next: av.VideoFrame | None = None
        self._ended = False
        self._aspect = Fraction(1)

    def at(self, time: float) -> av.VideoFrame:
        """The picture shown at clip time `time`: the same object as long as it stands.

        Raises InputError if the clip's pictures have ended before, or cannot be decoded.
        """
        try:
            return self._at(time)
        except av.FFmpegError as error:
            raise InputError(
                f"{self._probe.path}: its pictures cannot be decoded near {time:.2f} s: {error}",
                hint="the file is damaged; export it again",
            ) from error

    @property
    def aspect(self) -> Fraction:
        """Width over height of one of its pixels."""
        return self._aspect

    def _at(self, time: float) -> av.VideoFrame:
        behind = self._now is not None and time < self._now_time - _TOLERANCE
        far = time > self._now_time + _SEEK_AHEAD
        if self._container is None or behind or far:
            self._seek(time)
        while not self._ended:
            if self._next is None:
                self._next = next(self._frames, None)
                self._ended = self._next is None
                if self._passing is not None:
                    self._passing()
                continue
            stamp = self._stamp(self._next)
            # Before the first picture has appeared, the first one stands.
            if stamp > time + _TOLERANCE and self._now is not None:
                break
            if self._now is None or stamp > self._now_time:
                self._now, self._now_time = self._next, stamp
            self._next = None
        if self._now is None:
            raise InputError(f"{self._probe.path}: no picture can be decoded from it")
        if self._ended and time > self._now_time + SLACK + self._frame_length():
            raise InputError(
                f"{self._probe.path}: its pictures end at {self._now_time:.2f} s, "
                f"before {time:.2f} s",
                hint="the file says that it is longer than it is; it may be cut off",
            )
        return self._now

    def _stamp(self, frame: av.VideoFrame) -> float:
        if frame.pts is None or frame.time_base is None:
            return self._now_time + self._frame_length()
        return float(frame.pts * frame.time_base) - self._probe.zero

    def _frame_length(self) -> float:
        return 1 / (self._probe.rate or 30.0)

    def _seek(self, time: float) -> None:
        self._open()
        if time > _SEEK_EARLY * 2:
            self._position(time - _SEEK_EARLY)
            first = next(self._frames, None)
            if first is None or self._stamp(first) > time + _TOLERANCE:
                # The index is missing or wrong: read from the start, which is slow but right.
                self._open()
            else:
                self._next = first

    def _open(self) -> None:
        self.close()
        self._container = av.open(str(self._probe.path))
        stream = self._container.streams.video[self._probe.picture_index]
        stream.codec_context.thread_count = 1
        self._aspect = Fraction(stream.sample_aspect_ratio or 1)
        if self._aspect <= 0:
            self._aspect = Fraction(1)
        self._frames = self._container.decode(stream)
        self._now, self._next, self._now_time, self._ended = None, None, 0.0, False

    def _position(self, time: float) -> None:
        assert self._container is not None
        stream = self._container.streams.video[self._probe.picture_index]
        assert stream.time_base is not None
        self._container.seek(round((time + self._probe.zero) / stream.time_base), stream=stream)
        self._frames = self._container.decode(stream)

    def close(self) -> None:
        if self._container is not None:
            self._container.close()
            self._container = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Turning:
    """How a stored picture must be turned to stand upright."""

    quarters: int = 0
    """Quarter turns clockwise."""
    mirrored: bool = False
    """Left and right are exchanged before turning."""


def turning(frame: av.VideoFrame) -> Turning:
    """What the picture's display matrix asks for; odd angles are rounded to quarter turns."""
    sides: Any = frame.side_data
    try:
        data = sides[SideData.DISPLAYMATRIX]
    except KeyError:
        return Turning()
    a, b, _, c, d = struct.unpack("=5i", bytes(data)[:20])
    mirrored = a * d - b * c < 0
    if mirrored:
        a, b = -a, -b
    # (a, b) is where the stored x axis points on screen, y down.
    angle = np.degrees(np.arctan2(b, a))
    return Turning(round(float(angle) / 90) % 4, mirrored)


def matrix_of(frame: av.VideoFrame) -> str:
    """Name of the picture's colour matrix, as x264 calls it; large pictures that do not say are
    taken for BT.709, as players do."""
    if frame.colorspace == _BT709:
        return "bt709"
    if frame.colorspace in _BT601:
        return "smpte170m"
    large = frame.width >= 1280 or frame.height >= 720
    return "bt709" if large and frame.format.is_rgb is False else "smpte170m"


class Fitter:
    """Fits pictures to the canvas: upright, whole, in their own proportions, the rest black."""

    def __init__(self, canvas: Canvas, matrix: str | None = None) -> None:
        """`matrix`: the colour matrix to come out, as `matrix_of` names it; None keeps it."""
        self._canvas = canvas
        self._matrix = matrix
        self._key: tuple[object, ...] = ()
        self._turn = Turning()
        self._graph: Graph | None = None

    def fit(self, frame: av.VideoFrame, aspect: Fraction) -> av.VideoFrame:
        """`frame` on the canvas, yuv420p limited range. May be `frame` itself."""
        canvas = self._canvas
        key: tuple[object, ...] = (frame.format.name, frame.width, frame.height, aspect)
        key = (*key, frame.color_range, frame.rotation)
        if key != self._key:
            # Side data that was looked at keeps its picture until the garbage collector comes by:
            # looked at for every picture, hundreds of megabytes.
            self._key, self._turn, self._graph = key, turning(frame), None
        limited = frame.color_range != ColorRange.JPEG and frame.format.name != "yuvj420p"
        if (
            (frame.width, frame.height) == (canvas.width, canvas.height)
            and frame.format.name == "yuv420p"
            and aspect == 1
            and limited
            and self._turn == Turning()
            and self._matrix is None
        ):
            return frame
        if self._graph is None:
            self._graph = self._build(frame, aspect, self._turn)
        frame.pts = None
        self._graph.push(frame)
        fitted = self._graph.pull()
        assert isinstance(fitted, av.VideoFrame)
        return fitted

    def _build(self, frame: av.VideoFrame, aspect: Fraction, turn: Turning) -> Graph:
        canvas = self._canvas
        width, height = frame.width * aspect, Fraction(frame.height)
        if turn.quarters % 2:
            width, height = height, width
        scale = min(canvas.width / width, canvas.height / height)
        # Even sizes, for 4:2:0; a very flat picture still gets two rows.
        inner_w = max(2, min(canvas.width, round(width * scale / 2) * 2))
        inner_h = max(2, min(canvas.height, round(height * scale / 2) * 2))
        steps: list[tuple[str, str]] = []
        if turn.mirrored:
            steps.append(("hflip", ""))
        if turn.quarters == 1:
            steps.append(("transpose", "clock"))
        elif turn.quarters == 2:
            steps += [("hflip", ""), ("vflip", "")]
        elif turn.quarters == 3:
            steps.append(("transpose", "cclock"))
        colours = f":out_color_matrix={self._matrix}" if self._matrix else ""
        steps.append(("scale", f"{inner_w}:{inner_h}:flags=bicubic:out_range=tv{colours}"))
        steps.append(("format", "yuv420p"))
        x, y = (canvas.width - inner_w) // 4 * 2, (canvas.height - inner_h) // 4 * 2
        if (inner_w, inner_h) != (canvas.width, canvas.height):
            steps.append(("pad", f"{canvas.width}:{canvas.height}:{x}:{y}:black"))
        steps.append(("setsar", "1"))
        graph = Graph()
        last = graph.add_buffer(
            width=frame.width,
            height=frame.height,
            format=frame.format,
            time_base=Fraction(1, 30),
        )
        for name, arguments in steps:
            following = graph.add(name, arguments or None)
            last.link_to(following)
            last = following
        sink = graph.add("buffersink")
        last.link_to(sink)
        graph.configure()
        return graph


def black(canvas: Canvas) -> av.VideoFrame:
    """A black picture."""
    frame = av.VideoFrame(canvas.width, canvas.height, "yuv420p")
    for plane, value in zip(frame.planes, (16, 128, 128), strict=True):
        plane.update(bytes([value]) * plane.buffer_size)
    return frame
