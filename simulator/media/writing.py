"""What the user writes, appearing on the picture as it is written: dark on paper, line by line.

Typed text comes letter by letter, handwriting as a pen goes. The last picture on which something
new appears is known: it is the instruction's end. Counterparts: `simulator.media.layers` says when,
`simulator.media.lettering` has the fonts, `simulator.media.subtitle` the `Overlay`.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from simulator.errors import InputError
from simulator.media.lettering import Lettering, right_to_left
from simulator.media.subtitle import Overlay, wrap
from simulator.scenario.types import Canvas, Corner, Show

_SIZES = {
    "typed": (0.075, 0.065, 0.056, 0.048, 0.042, 0.036),
    "handwritten": (0.11, 0.095, 0.082, 0.07, 0.06, 0.052),
}
"""Letter heights to try, as shares of the canvas' height; handwriting has smaller letters."""
_WIDTH = 0.44
"""Width of a picture-in-picture, as a share of the canvas'."""
_TALLEST = 0.42
"""Share of the canvas' height that a panel may take."""
EDGE = 0.03
"""Distance from the canvas' border, as a share of its height."""
_PAPER, _INK, _BORDER = 228, 24, 96
"""Luma, limited range."""


@dataclass(frozen=True, slots=True)
class _TextLine:
    """One line of text on the panel."""

    mask: NDArray[np.uint16]
    """Opacity of its ink, 0 to 256, rows × columns of the whole panel's width."""
    top: int
    """Row of the panel at which the mask begins; negative never."""
    steps: tuple[int, ...]
    """Columns up to which it is seen, one a step; growing (falling if `leftwards`)."""
    leftwards: bool


class Writing:
    """A text on its panel, of which any part can be shown."""

    def __init__(self, show: Show, canvas: Canvas, lettering: Lettering) -> None:
        """Raises InputError if the font lacks characters or the text is too long."""
        lettering.check(show.text, "the writing")
        room = canvas.width if show.full else round(canvas.width * _WIDTH)
        for share in _SIZES[show.style]:
            size = max(8, round(canvas.height * share))
            font = lettering.at(size)
            pad = round(size * 0.55)
            lines = wrap(show.text, font, room - 2 * pad)
            pitch = round(size * 1.36)
            height = pitch * len(lines) + pad
            if lines and height <= canvas.height * _TALLEST:
                break
        else:
            raise InputError(
                f"the writing does not fit on the picture: {len(show.text)} characters "
                f"({show.text[:40]!r}...)",
                hint="write fewer words, or `place: full`",
            )
        width = room if show.full else min(room, round(max(map(font.getlength, lines))) + 2 * pad)
        self._width, self._height = -(-width // 2) * 2, -(-height // 2) * 2
        self._left, self._top = _place(show, canvas, self._width, self._height)
        letters = show.style == "typed"
        self._lines = [
            _line(text, font, self._width, pad, pad // 2 + i * pitch, pitch, letters)
            for i, text in enumerate(lines)
        ]
        self._ends = tuple(accumulate(len(line.steps) for line in self._lines))
        self._paper = np.full((self._height, self._width), _PAPER, np.uint16)
        for edge in (np.s_[:2], np.s_[-2:], np.s_[:, :2], np.s_[:, -2:]):
            self._paper[edge] = _BORDER
        shape = (self._height // 2, self._width // 2)
        self._chroma = np.full(shape, 128 * 256, np.uint16)
        self._chroma_rest = np.zeros(shape, np.uint16)
        self._rest = np.zeros((self._height, self._width), np.uint16)

    @property
    def steps(self) -> int:
        """In how many steps it can be written; each adds something that is seen."""
        return self._ends[-1]

    def after(self, step: int) -> Overlay:
        """The panel with the first `step` steps written: 0 none, `steps` all."""
        luma = self._paper.copy()
        begun = 0
        for line, end in zip(self._lines, self._ends, strict=True):
            if step <= begun:
                break
            column = line.steps[min(step, end) - begun - 1]
            seen = np.s_[:, column:] if line.leftwards else np.s_[:, :column]
            rows = luma[line.top : line.top + len(line.mask)]
            ink = line.mask[: len(rows)][seen]
            rows[seen] = (rows[seen] * (256 - ink) + _INK * ink) >> 8
            begun = end
        return Overlay(
            self._left, self._top, luma * 256, self._rest, self._chroma, self._chroma_rest
        )


def _place(show: Show, canvas: Canvas, width: int, height: int) -> tuple[int, int]:
    if show.full:
        return 0, 0
    return corner(show.corner, canvas, width, height)


def corner(where: Corner, canvas: Canvas, width: int, height: int) -> tuple[int, int]:
    """Left and top, both even, of a picture-in-picture."""
    edge = round(canvas.height * EDGE) // 2 * 2
    left = edge if where in (Corner.TOP_LEFT, Corner.BOTTOM_LEFT) else canvas.width - width - edge
    top = edge if where in (Corner.TOP_LEFT, Corner.TOP_RIGHT) else canvas.height - height - edge
    return max(0, left // 2 * 2), max(0, top // 2 * 2)


def _line(
    text: str,
    font: ImageFont.FreeTypeFont,
    width: int,
    pad: int,
    top: int,
    pitch: int,
    letters: bool,
) -> _TextLine:
    leftwards = right_to_left(text)
    # Room below for what hangs under the line; it may lie over the next line's top.
    image = Image.new("L", (width, pitch + pitch // 2), 0)
    x = width - pad if leftwards else pad
    ImageDraw.Draw(image).text(
        (x, pitch // 2), text, font=font, fill=255, anchor="rm" if leftwards else "lm"
    )
    mask = np.asarray(image).astype(np.uint16) * 256 // 255
    inked = np.flatnonzero(mask.max(axis=0) > 64)
    first, last = (int(inked[0]), int(inked[-1])) if len(inked) else (pad, pad)
    if leftwards:
        columns = range(last, first - 1, -1)
        return _TextLine(mask, top, tuple(columns), True)
    if not letters:
        return _TextLine(mask, top, tuple(range(first + 1, last + 2)), False)
    ends = [pad + round(font.getlength(text[: i + 1])) for i, c in enumerate(text) if c != " "]
    ends[-1] = width
    # A letter that adds no column (a combining accent) comes with the one before it.
    kept = [end for end, after in zip(ends, [*ends[1:], width + 1], strict=True) if end < after]
    return _TextLine(mask, top, tuple(kept), False)
