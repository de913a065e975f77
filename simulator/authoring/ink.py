"""Letters and colours of previews. Counterparts: `simulator.authoring.film` and `.sheet`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import fontpkg_noto_sans
from PIL import ImageDraw, ImageFont

from simulator.protocol.conduct import Wants

Colour = tuple[int, int, int]

PAPER: Colour = (250, 250, 248)
INK: Colour = (28, 30, 34)
FAINT: Colour = (130, 134, 140)
LINE: Colour = (214, 216, 220)
ANSWER: Colour = (60, 140, 90)
QUIET: Colour = (120, 128, 140)
EITHER: Colour = (190, 150, 40)
USER: Colour = (40, 100, 190)
OTHER: Colour = (200, 110, 40)
EVIDENCE: Colour = (40, 150, 160)
WINDOW: Colour = (120, 190, 120)
DUE: Colour = (200, 40, 40)

WANTS: Mapping[Wants, Colour] = {
    Wants.ANSWER: ANSWER,
    Wants.SILENCE: QUIET,
    Wants.NOTHING: EITHER,
}
"""Of turns, by what they want of the agent."""


@lru_cache(maxsize=16)
def font(size: int) -> ImageFont.FreeTypeFont:
    """The packaged font's upright face; these letters are ours, not the scenario's."""
    faces = sorted(Path(fontpkg_noto_sans.ROOT, "files").glob("*.ttf"))
    return ImageFont.truetype(str(next(f for f in faces if "Italic" not in f.name)), size)


def fitted(text: str, size: int, width: float) -> str:
    """`text`, cut to `width` with three dots if it is longer."""
    letters = font(size)
    text = " ".join(text.split())
    if letters.getlength(text) <= width:
        return text
    while text and letters.getlength(text + "...") > width:
        text = text[:-1]
    return text + "..."


def write(
    pen: ImageDraw.ImageDraw,
    at: tuple[float, float],
    text: str,
    size: int,
    fill: Colour,
    anchor: str = "la",
) -> None:
    """One line of text; `anchor` as Pillow has it."""
    pen.text(at, text, font=font(size), fill=fill, anchor=anchor)
