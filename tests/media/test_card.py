"""Cards: prepared as turns of their own, all of the text on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simulator.errors import InputError
from simulator.media.cache import Cache
from simulator.media.card import card
from simulator.media.lettering import Lettering
from simulator.media.prepare import prepare
from simulator.media.timeline import Asset
from simulator.scenario.expectations.either import Either
from simulator.scenario.types import Canvas, Scenario, Turn

LINES = ("Keep three bottles on the table", "1. Take the left bottle away", "2. Put it back")


def test_a_card_fills_the_picture_in_silence(
    make_clip: Callable[..., Path],
    make_scenario: Callable[..., Scenario],
    play: Callable[[Sequence[Asset]], Any],
    tmp_path: Path,
) -> None:
    clip = make_clip("c.mkv", [(i / 30, np.full((96, 160, 3), 90, np.uint8)) for i in range(60)])
    path = tmp_path / "made.yaml"
    path.write_text("version: 1\n")
    made = make_scenario(clip, [0.0, 1.0], canvas=Canvas(width=640, height=360), goal="Tea")
    first = Turn(
        id="prior-card", index=0, clip="", start=0.0, end=1.5, expect=Either(), prior=True,
        card=LINES,
    )  # fmt: skip
    turns = (first, replace(made.turns[0], index=1))
    cache = Cache(tmp_path / "cache")
    prepared = prepare(replace(made, path=path, turns=turns), cache=cache)
    assert [t.duration for t in prepared.turns] == [1.5, 1.0]
    assert prepared.turns[1].stream_start == 1.5
    played = play([prepared.turns[0].segment])
    picture = played.pictures[-1][1]
    assert picture.max() > 220
    assert picture[:, :20].max() < 40, "dark to the border"
    assert float(np.abs(played.sound).max()) < 1e-3
    # Another card is another part; the turn of the clip stays what it was.
    other = prepare(
        replace(made, path=path, turns=(replace(first, card=("Other",)), turns[1])), cache=cache
    )
    assert other.turns[0].segment.key != prepared.turns[0].segment.key
    assert other.turns[1].segment.key == prepared.turns[1].segment.key


def test_all_lines_are_drawn_or_it_is_refused() -> None:
    few = card(LINES, Canvas(), Lettering()).luma
    many = card([f"{n}. Step of the work" for n in range(10)], Canvas(), Lettering()).luma
    assert few.shape == many.shape == (720, 1280)
    rows = (many.max(axis=1) > 200 * 256).astype(int)
    assert int((np.diff(rows) == 1).sum()) >= 10, "ten lines with room between them"
    with pytest.raises(InputError, match="the card does not fit"):
        card(["A step of the work, and a long one"] * 40, Canvas(), Lettering())
    with pytest.raises(InputError, match="lacks: 你"):
        card(["你"], Canvas(), Lettering())
