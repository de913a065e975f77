"""Text on the picture: drawn once with Pillow, laid on each picture in the encoder's own colours.

Text that the font cannot draw is refused by name, never shown as boxes. Counterparts:
`simulator.media.lettering` has the fonts, `simulator.media.writing` draws what the user writes,
`simulator.media.picture` gives the pictures.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import av
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from simulator.errors import InputError
from simulator.media.lettering import Lettering
from simulator.scenario.types import Canvas

_MARGIN = 0.05
_SIZES = (0.055, 0.048, 0.042, 0.036, 0.031)
"""Letter heights to try, as shares of the canvas' height."""
_TALLEST = 0.34
"""Share of the canvas' height that the text may take."""
_LINES = 12
_BACK = 110
"""Opacity (of 255) of the dark ground behind the letters."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """Drawn text, ready to be laid on a yuv420p picture."""

    left: int
    top: int
    """Even."""
    luma: NDArray[np.uint16]
    """Colour × opacity, rows × columns."""
    luma_rest: NDArray[np.uint16]
    """256 - opacity of the text, rows × columns."""
    chroma: NDArray[np.uint16]
    """Neutral chroma × opacity, half size."""
    chroma_rest: NDArray[np.uint16]

    def lay_on(self, frame: av.VideoFrame) -> None:
        """Draw on `frame`, which must be yuv420p, limited range, and ours alone."""
        for plane, (ink, rest), half in zip(
            frame.planes,
            (
                (self.luma, self.luma_rest),
                (self.chroma, self.chroma_rest),
                (self.chroma, self.chroma_rest),
            ),
            (1, 2, 2),
            strict=True,
        ):
            pixels = np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
            rows, columns = ink.shape
            top, left = self.top // half, self.left // half
            area = pixels[top : top + rows, left : left + columns]
            area[:] = (area * rest + ink) >> 8


def draw(text: str, canvas: Canvas, lettering: Lettering | None = None) -> Overlay:
    """`text` at the bottom of the canvas, each of its lines wrapped. Raises InputError if the font
    lacks characters or the text is too long."""
    paragraphs = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    text = "\n".join(paragraphs)
    lettering = lettering or Lettering()
    lettering.check(text, "the subtitle")
    width = round(canvas.width * (1 - 2 * _MARGIN))
    for share in _SIZES:
        size = max(8, round(canvas.height * share))
        font = lettering.at(size)
        lines = wrapped(paragraphs, font, width)
        height = round(size * 1.36 * len(lines)) + 4 * (1 + size // 14)
        if lines and height <= canvas.height * _TALLEST:
            return _draw(lines, font, size, height, canvas)
    raise InputError(
        f"the subtitle does not fit on the picture: {len(text)} characters ({text[:40]!r}...)",
        hint="say it in fewer words",
    )


def wrapped(paragraphs: Sequence[str], font: ImageFont.FreeTypeFont, width: int) -> list[str]:
    """The lines of several paragraphs; none if one of them cannot be wrapped."""
    each = [wrap(paragraph, font, width) for paragraph in paragraphs]
    return [line for lines in each for line in lines] if all(each) else []


def wrap(text: str, font: ImageFont.FreeTypeFont, width: int) -> list[str]:
    """Lines that fit; none if a single word does not, or if there are too many."""
    lines: list[str] = []
    for glue, word in _words(text):
        if len(lines) > _LINES or len(word) > width or font.getlength(word) > width:
            return []
        joined = f"{lines[-1]}{glue}{word}" if lines else word
        if lines and font.getlength(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(word)
    return lines


def _words(text: str) -> Iterator[tuple[str, str]]:
    """What stands before each word, and the word. Between wide characters (Chinese) a line
    may break without a space, but none begins with a mark."""
    for word in text.split(" "):
        glue, held = " ", ""
        for character in word:
            wide = unicodedata.east_asian_width(character) in "WF"
            opens = wide and unicodedata.category(character)[0] != "P"
            if opens and held:
                yield glue, held
                glue, held = "", ""
            held += character
        yield glue, held


def _draw(
    lines: list[str], font: ImageFont.FreeTypeFont, size: int, height: int, canvas: Canvas
) -> Overlay:
    widest = max(font.getlength(line) for line in lines)
    pad = size // 2
    width = min(canvas.width, round(widest) + 2 * pad) // 2 * 2
    height = min(canvas.height, height + pad) // 2 * 2
    image = Image.new("RGBA", (width, height), (0, 0, 0, 0))
    pen = ImageDraw.Draw(image)
    pen.rounded_rectangle((0, 0, width - 1, height - 1), pad // 2, fill=(0, 0, 0, _BACK))
    pen.multiline_text(
        (width / 2, height / 2),
        "\n".join(lines),
        font=font,
        fill=(255, 255, 255, 255),
        stroke_width=max(1, size // 14),
        stroke_fill=(0, 0, 0, 255),
        anchor="mm",
        align="center",
        spacing=size * 0.12,
    )
    left = (canvas.width - width) // 4 * 2
    top = (canvas.height - height - round(canvas.height * 0.04)) // 2 * 2
    return overlay_of(image, left, max(0, top))


def overlay_of(image: Image.Image, left: int, top: int) -> Overlay:
    """A grey drawing with its opacity (RGBA, even sizes), to be laid at an even place."""
    width, height = image.size
    pixels = np.asarray(image).astype(np.uint16)
    # Black to white is 16 to 235 in limited range; grey has no colour.
    luma = 16 + pixels[..., 0] * 219 // 255
    opacity = pixels[..., 3] * 256 // 255
    half = opacity.reshape(height // 2, 2, width // 2, 2).mean(axis=(1, 3)).astype(np.uint16)
    return Overlay(
        left,
        top,
        luma * opacity,
        (256 - opacity).astype(np.uint16),
        (128 * half).astype(np.uint16),
        (256 - half).astype(np.uint16),
    )
