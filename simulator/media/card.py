"""A card: lines of text that fill the picture, white on dark.

Counterparts: `simulator.scenario.before` says what is on it, `simulator.media.prepare` shows it.
"""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw

from simulator.errors import InputError
from simulator.media.lettering import Lettering, right_to_left
from simulator.media.subtitle import Overlay, overlay_of, wrap
from simulator.scenario.types import Canvas

CARD = 1
"""Raise when cards look different for the same text; part of their cache key."""
_SIZES = (0.085, 0.075, 0.066, 0.058, 0.05, 0.043, 0.037, 0.031)
"""Letter heights to try, as shares of the canvas' height."""
_MARGIN = 0.08
_GROUND = 18
_PITCH = 1.36
_GAP = 0.45
"""Room between two of the lines given, in letter heights."""


def card(lines: Sequence[str], canvas: Canvas, lettering: Lettering) -> Overlay:
    """The whole canvas as a card. Raises InputError if the font lacks characters or the text is too
    long."""
    for line in lines:
        lettering.check(line, "the card")
    width = round(canvas.width * (1 - 2 * _MARGIN))
    room = round(canvas.height * (1 - 1.5 * _MARGIN))
    for share in _SIZES:
        size = max(8, round(canvas.height * share))
        font = lettering.at(size)
        blocks = [wrap(line, font, width) for line in lines]
        height = round(size * (_PITCH * sum(map(len, blocks)) + _GAP * (len(blocks) - 1)))
        if all(blocks) and height <= room:
            break
    else:
        raise InputError(
            f"the card does not fit on the picture: {sum(map(len, lines))} characters "
            f"({lines[0][:40]!r}...)",
            hint="fewer steps, or shorter ones",
        )
    image = Image.new("RGBA", (canvas.width, canvas.height), (_GROUND, _GROUND, _GROUND, 255))
    pen = ImageDraw.Draw(image)
    y = (canvas.height - height) / 2
    for block in blocks:
        leftwards = right_to_left(block[0])
        x = canvas.width * (1 - _MARGIN) if leftwards else canvas.width * _MARGIN
        for line in block:
            anchor = "rm" if leftwards else "lm"
            middle = y + size * _PITCH / 2
            pen.text((x, middle), line, font=font, fill=(255, 255, 255, 255), anchor=anchor)
            y += size * _PITCH
        y += size * _GAP
    return overlay_of(image, 0, 0)
