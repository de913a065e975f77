"""Fonts: the packaged ones, or one that a scenario brings, and what they cannot draw.

Printed text is set in the package `fontpkg-noto-sans` (Latin, Greek, Cyrillic and more),
handwriting in `fontpkg-caveat` (Latin and Cyrillic). Counterparts: `simulator.media.subtitle` and
`simulator.media.writing` draw with this.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Literal

from PIL import ImageFont, features

from simulator.errors import InputError

_NAMELESS = "\U0010fffe"
"""A code point that no font has: shows what a missing character looks like."""
_PACKAGES = {"typed": "fontpkg_noto_sans", "handwritten": "fontpkg_caveat"}
_FONTS = (
    ("CJK", "Noto Sans SC"),
    ("HIRAGANA", "Noto Sans JP"),
    ("KATAKANA", "Noto Sans JP"),
    ("HANGUL", "Noto Sans KR"),
    ("ARABIC", "Noto Sans Arabic"),
    ("HEBREW", "Noto Sans Hebrew"),
    ("DEVANAGARI", "Noto Sans Devanagari"),
    ("THAI", "Noto Sans Thai"),
)
"""What a character's Unicode name begins with, and a free font that has it."""


@lru_cache(maxsize=4)
def packaged(style: str) -> Path:
    """The upright face of the packaged font of a style."""
    name = _PACKAGES[style]
    try:
        root = Path(import_module(name).ROOT)
    except ModuleNotFoundError:
        root = Path()
    files = sorted(Path(root, "files").glob("*.ttf"))
    upright = [f for f in files if "Italic" not in f.name]
    if not upright:
        package = name.replace("_", "-")
        raise InputError(f"the font package {package} is not there", hint=f"pip install {package}")
    return upright[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lettering:
    """A font to draw with."""

    style: Literal["typed", "handwritten"] = "typed"
    file: Path | None = None
    """A font file that the scenario brings; None takes the packaged one of the style."""

    @property
    def path(self) -> Path:
        return self.file or packaged(self.style)

    def at(self, size: int) -> ImageFont.FreeTypeFont:
        """The font with letters of `size` pixels. Raises InputError if it cannot be read."""
        try:
            font = ImageFont.truetype(str(self.path), size)
        except OSError as error:
            raise InputError(
                f"font {self.path}: cannot be read: {error}",
                hint="name a TrueType or OpenType file (.ttf, .otf) with outlines",
            ) from error
        try:
            names = font.get_variation_names()
        except OSError:
            names = []
        if b"SemiBold" in names:
            font.set_variation_by_name(b"SemiBold")
        return font

    def missing(self, text: str) -> str:
        """The characters of `text` that the font lacks, each once."""
        font = self.at(32)
        nothing = bytes(font.getmask(_NAMELESS))
        lacking = []
        for character in dict.fromkeys(text):
            category = unicodedata.category(character)
            if category[0] in "ZC":
                # Spaces and joiners have no picture of their own; other controls are never drawn.
                if category in ("Co", "Cn", "Cs"):
                    lacking.append(character)
                continue
            if bytes(font.getmask(character)) == nothing:
                lacking.append(character)
        return "".join(lacking)

    def check(self, text: str, what: str) -> None:
        """Raises InputError if `text` cannot be drawn right: `what` it is, the characters, the font
        and one that would do."""
        if lacking := self.missing(text):
            names = ", ".join(
                f"{c} (U+{ord(c):04X} {unicodedata.name(c, 'without a name')})" for c in lacking[:8]
            )
            raise InputError(
                f"{what} {text[:60]!r} has characters that the font {self.path.name} lacks: "
                f"{names}",
                hint=f"use other words for them, or a font that has them, {_font_for(lacking)}",
            )
        if right_to_left(text) and not (features.check("raqm") and features.check("fribidi")):
            raise InputError(
                f"{what} {text[:60]!r} is written from right to left, which Pillow cannot lay out "
                "here",
                hint="install the library fribidi",
            )


def right_to_left(text: str) -> bool:
    """Whether the first letter that has a direction goes from right to left."""
    for character in text:
        way = unicodedata.bidirectional(character)
        if way in ("L", "R", "AL"):
            return way != "L"
    return False


def _font_for(lacking: str) -> str:
    """The scenario's key and a font that would do."""
    for character in lacking:
        name = unicodedata.name(character, "")
        for beginning, font in _FONTS:
            if name.startswith(beginning):
                return f"such as {font}, as the scenario's `font`"
        if unicodedata.category(character) == "So":
            return "such as Noto Emoji, as the scenario's `font`"
    return "as the scenario's `font`"
