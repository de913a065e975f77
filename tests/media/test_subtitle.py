"""Subtitles: drawn where they belong, or refused by name."""

from __future__ import annotations

import av
import numpy as np
import pytest

from simulator.errors import InputError
from simulator.media.lettering import Lettering
from simulator.media.picture import black
from simulator.media.subtitle import draw, wrap
from simulator.scenario.types import Canvas


def test_only_the_text_area_changes_and_the_letters_are_white() -> None:
    canvas = Canvas()
    frame = black(canvas)
    for plane, value in zip(frame.planes, (120, 90, 160), strict=True):
        plane.update(bytes([value]) * plane.buffer_size)
    overlay = draw("Keep three bottles on the table", canvas)
    overlay.lay_on(frame)
    luma = frame.to_ndarray()[:720]
    rows, columns = overlay.luma.shape
    inside = np.zeros_like(luma, bool)
    inside[overlay.top : overlay.top + rows, overlay.left : overlay.left + columns] = True
    assert (luma[~inside] == 120).all()
    assert luma.max() >= 230
    assert overlay.top > 600
    assert abs(overlay.left * 2 + columns - 1280) <= 2
    assert isinstance(frame, av.VideoFrame)


@pytest.mark.parametrize(
    "text",
    ["Żółw, Ünïcode & Co.", "Ελληνικά", "Тест", "a\nb\tc", 'quotes "x" — dash', "naïve café"],
)
def test_the_font_has_what_it_should(text: str) -> None:
    assert Lettering().missing(text) == ""
    assert draw(text, Canvas(width=640, height=360)).luma.size


@pytest.mark.parametrize(
    ("text", "named"),
    [("你好 table", "U+4F60"), ("fine \U0001f600", "U+1F600"), ("مرحبا", "ARABIC")],
)
def test_missing_characters_are_named(text: str, named: str) -> None:
    with pytest.raises(InputError, match=named.replace("+", r"\+")):
        draw(text, Canvas())


def test_long_text_wraps_and_very_long_text_is_refused() -> None:
    one = draw("word " * 5, Canvas())
    many = draw("word " * 30, Canvas())
    assert many.luma.shape[0] > one.luma.shape[0] * 1.8
    assert many.luma.shape[1] <= 1280
    with pytest.raises(InputError, match="does not fit"):
        draw("word " * 400, Canvas())
    with pytest.raises(InputError, match="does not fit"):
        draw("w" * 500, Canvas())


def test_chinese_breaks_between_characters_and_latin_only_at_spaces() -> None:
    font = Lettering().at(20)  # it lacks them, but measures them
    text = "请把三个瓶子放在桌子上，然后等一等。"
    lines = wrap(text, font, round(font.getlength(text) / 2.5))
    assert len(lines) >= 3
    assert "".join(lines) == text
    assert not any(line[0] in "，。" for line in lines)
    assert wrap("one two three", font, round(font.getlength("one two")) + 2) == ["one two", "three"]


def test_each_line_given_is_a_line_drawn() -> None:
    one = draw("Three bottles", Canvas()).luma.shape[0]
    assert draw("Three bottles\n1. Take one\n2. Put it back", Canvas()).luma.shape[0] > 2 * one
