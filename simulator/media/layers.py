"""What lies over a segment's pictures for a while: writing and gestures, each at its place in time.

A layer knows on which pictures of its segment it is seen, and on which of them something new
appeared last: the end of a written or signed instruction, to the picture. Counterparts:
`simulator.media.writing` draws text, `simulator.media.build` lays these over what it encodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import av
import numpy as np
from numpy.typing import NDArray

from simulator.errors import InputError
from simulator.media.lettering import Lettering
from simulator.media.picture import Fitter, turning
from simulator.media.played import Pictures
from simulator.media.subtitle import Overlay
from simulator.media.timeline import PTIME
from simulator.media.writing import Writing, corner
from simulator.scenario.types import Anchor, Canvas, Gesture, Placement, Show

LAYERS = 1
"""Raise when layers look different for the same input; part of the cache key of turns with any."""
_WIDEST = 0.6
"""Share of the canvas' width that a gesture may take."""
_RIM = 2
"""Pixels of the light rim around a gesture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """The segment that layers lie in, counted in pictures."""

    name: str
    """What messages call the turn."""
    start: float
    """Clip time at which it begins."""
    count: int
    """Its pictures."""
    fps: int

    def place(self, what: str, placement: Placement, length: int, stay: int = 0) -> int:
        """The picture on which something of `length` pictures begins that ends `stay` before the
        segment's end if it is placed there. Raises InputError if it does not fit."""
        match placement.anchor:
            case Anchor.END:
                first = self.count - stay - length
            case Anchor.START | Anchor.SPEAKING | Anchor.STOPPED:
                first = 0
            case Anchor.TIME:
                first = round((placement.at - self.start) * self.fps)
        if first < 0 or first + length > self.count:
            at = f", and it would begin at {placement.at:g}"
            rest = f" and stays {stay / self.fps:.2f} s" if stay else ""
            raise InputError(
                f"{self.name}: {what} lasts {length / self.fps:.2f} s{rest} and does not fit: its "
                f"segment lasts {self.count / self.fps:.2f} s"
                + (at if placement.anchor is Anchor.TIME else ""),
                hint="move the turn's `until`, or make it shorter: `takes`, or `from` and `until`",
            )
        return first


class Layer(Protocol):
    """Something that lies over pictures `first` to `until` of a segment."""

    index: int
    """Which of the turn's instructions it is."""
    first: int
    until: int
    newest: int
    """The picture on which something new appeared last; for a clip, known once it was laid."""

    def lay_on(self, frame: av.VideoFrame, k: int, matrix: str) -> None:
        """Draw picture `k` of it on `frame`, which must be yuv420p, limited range, and ours."""


class WritingLayer:
    """A `show` of the scenario."""

    def __init__(
        self, index: int, show: Show, canvas: Canvas, stretch: Stretch, lettering: Lettering
    ) -> None:
        what = f"show: {show.text[:40]!r}"
        try:
            self._writing = Writing(show, canvas, lettering)
        except InputError as error:
            raise InputError(f"{stretch.name}: show: {error.message}", hint=error.hint) from error
        self.index = index
        self._length = max(1, round(show.takes * stretch.fps))
        stay = None if show.stay is None else round(show.stay * stretch.fps)
        self.first = stretch.place(what, show.placement, self._length, stay or 0)
        self.newest = self.first + self._length - 1
        at_end = show.placement.anchor is Anchor.END or stay is None
        self.until = stretch.count if at_end else min(stretch.count, self.newest + 1 + (stay or 0))
        self._drawn: tuple[int, Overlay] | None = None

    def lay_on(self, frame: av.VideoFrame, k: int, matrix: str) -> None:
        # With fewer steps than pictures some bring nothing new; the last one always does.
        step = self._writing.steps * min(k - self.first + 1, self._length) // self._length
        if self._drawn is None or self._drawn[0] != step:
            self._drawn = (step, self._writing.after(step))
        self._drawn[1].lay_on(frame)


class GestureLayer:
    """A `gesture` of the scenario: a clip, trimmed, picture-in-picture."""

    def __init__(
        self,
        index: int,
        gesture: Gesture,
        canvas: Canvas,
        stretch: Stretch,
        reader: Pictures,
        length: float,
    ) -> None:
        """`length`: seconds that the clip lasts as a whole."""
        what = f"gesture {gesture.clip!r}"
        end = length if gesture.end is None else gesture.end
        for key, time in (("from", gesture.start), ("until", end)):
            if time > length + PTIME:
                raise InputError(
                    f"{stretch.name}: {what}: {key}: {time:g} s is after the end of its clip, "
                    f"which lasts {length:.2f} s"
                )
        self.index = index
        self._gesture = gesture
        self._canvas = canvas
        self._reader = reader
        self._fps = stretch.fps
        count = max(1, round((end - gesture.start) * stretch.fps))
        self.first = stretch.place(what, gesture.placement, count)
        self.until = self.first + count
        self.newest = self.first
        self._left = self._top = 0
        self._fitter: Fitter | None = None
        self._shown: av.VideoFrame | None = None
        self._planes: list[NDArray[np.uint8]] = []

    def lay_on(self, frame: av.VideoFrame, k: int, matrix: str) -> None:
        shown = self._reader.at(self._gesture.start + (k - self.first) / self._fps)
        if shown is not self._shown:
            self._shown, self.newest = shown, k
            self._planes = self._fit(shown, matrix)
        for plane, pixels, half in zip(frame.planes, self._planes, (1, 2, 2), strict=True):
            target = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
            rows, columns = pixels.shape
            top, left = self._top // half, self._left // half
            target[top : top + rows, left : left + columns] = pixels

    def _fit(self, shown: av.VideoFrame, matrix: str) -> list[NDArray[np.uint8]]:
        if self._fitter is None:
            width, height = self._size(shown)
            self._left, self._top = corner(self._gesture.corner, self._canvas, width, height)
            self._fitter = Fitter(replace(self._canvas, width=width, height=height), matrix)
        fitted = self._fitter.fit(shown, self._reader.aspect)
        planes = []
        for plane, half in zip(fitted.planes, (1, 2, 2), strict=True):
            pixels = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
            pixels = pixels[: fitted.height // half, : fitted.width // half].copy()
            for edge in (np.s_[: _RIM // half], np.s_[-_RIM // half :]):
                pixels[edge] = pixels[:, edge] = 235 if half == 1 else 128
            planes.append(pixels)
        return planes

    def _size(self, shown: av.VideoFrame) -> tuple[int, int]:
        """Width and height in pixels, even, in the clip's own proportions."""
        wide, high = float(shown.width * self._reader.aspect), float(shown.height)
        if turning(shown).quarters % 2:
            wide, high = high, wide
        scale = min(
            self._gesture.size * self._canvas.height / high, _WIDEST * self._canvas.width / wide
        )
        return max(2, round(wide * scale / 2) * 2), max(2, round(high * scale / 2) * 2)


def over(base: av.VideoFrame, k: int, layers: Sequence[Layer], matrix: str) -> av.VideoFrame:
    """Picture `k` of a segment with the layers that are seen on it; `base` stays as it is."""
    seen = [layer for layer in layers if layer.first <= k < layer.until]
    if not seen:
        return base
    frame = _copy(base)
    for layer in seen:
        layer.lay_on(frame, k, matrix)
    return frame


def _copy(frame: av.VideoFrame) -> av.VideoFrame:
    made = av.VideoFrame(frame.width, frame.height, frame.format.name)
    for source, target in zip(frame.planes, made.planes, strict=True):
        rows = np.frombuffer(memoryview(source), np.uint8).reshape(-1, source.line_size)
        into = np.frombuffer(memoryview(target), np.uint8).reshape(-1, target.line_size)
        into[:, : source.width] = rows[:, : source.width]
    return made
