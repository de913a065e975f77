"""Writing and gestures over a segment: drawn as meant, and their ends known to the picture."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from simulator.errors import InputError
from simulator.media.cache import Cache
from simulator.media.lettering import Lettering, packaged
from simulator.media.picture import black
from simulator.media.prepare import prepare
from simulator.media.timeline import Asset, falls_due
from simulator.media.writing import Writing
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.types import (
    Anchor,
    Canvas,
    Clip,
    Corner,
    Gesture,
    Instruction,
    Placement,
    Scenario,
    Show,
)

Make = Callable[..., Path]
MakeScenario = Callable[..., Scenario]
Play = Callable[[Sequence[Asset]], Any]
FPS = 30
AREA = Canvas(width=640, height=360)


def grey(level: int, width: int = 320, height: int = 180) -> NDArray[np.uint8]:
    return np.full((height, width, 3), level, np.uint8)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def still(make_clip: Make) -> Path:
    """Four seconds of one grey."""
    return make_clip("still.mkv", [(i / 30, grey(90)) for i in range(120)])


@pytest.fixture
def hand(make_clip: Make) -> Path:
    """A second at 25 pictures a second, each lighter than the one before."""
    return make_clip("hand.mkv", [(i / 25, grey(40 + 8 * i, 64, 48)) for i in range(25)])


def scenario(
    make_scenario: MakeScenario, still: Path, given: Instruction, hand: Path | None = None
) -> Scenario:
    made = make_scenario(still, [0.0, 3.0, 3.8], canvas=AREA, expects={0: Answer(text="Yes.")})
    first = replace(made.turns[0], instructions=(given,))
    clips = dict(made.clips)
    if hand is not None:
        clips["hand"] = Clip(name="hand", path=hand)
    return replace(made, turns=(first, made.turns[1]), clips=clips)


def changes(pictures: Sequence[tuple[float, NDArray[np.uint8]]], area: tuple[slice, slice]) -> Any:
    """Times at which a new picture is seen in `area`."""
    out = []
    for (_, before), (time, now) in itertools.pairwise(pictures):
        if np.abs(now[area].astype(int) - before[area]).max() > 60:
            out.append(time)
    return out


TOP = (slice(0, 180), slice(0, 320))
RIGHT = (slice(20, 120), slice(520, 620))


@pytest.mark.parametrize("style", ["typed", "handwritten"])
def test_writing_ends_with_its_last_new_picture(
    style: Any, still: Path, cache: Cache, make_scenario: MakeScenario, play: Play
) -> None:
    show = Show(text="Which one is it?", style=style, takes=1.5)
    turn = prepare(scenario(make_scenario, still, show), cache=cache).turns[0]
    played = play([turn.segment, turn.hold])
    seen = changes(played.pictures, TOP)
    (spoken,) = turn.spoken
    assert (seen[0], seen[-1]) == pytest.approx((spoken.start, spoken.end), abs=1 / FPS + 1e-6)
    assert spoken.end == pytest.approx(3.0 - 1 / FPS)
    assert spoken.end - spoken.start == pytest.approx(1.5 - 1 / FPS)
    assert falls_due(turn).at == spoken.end
    assert len(seen) >= 8, "it appears as it is written"
    assert played.pictures[-1][1][TOP].max() > 200, "it stands while we wait"


def test_writing_stays_as_long_as_it_should(
    still: Path, cache: Cache, make_scenario: MakeScenario, play: Play
) -> None:
    placed = Placement(anchor=Anchor.TIME, at=0.5)
    show = Show(text="Look", takes=0.0, stay=1.0, placement=placed)
    turn = prepare(scenario(make_scenario, still, show), cache=cache).turns[0]
    assert (turn.spoken[0].start, turn.spoken[0].end) == pytest.approx((0.5, 0.5))
    seen = changes(play([turn.segment]).pictures, TOP)
    assert seen == pytest.approx([0.5, 1.5 + 1 / FPS], abs=1 / FPS + 1e-6)
    early = replace(show, placement=Placement())
    turn = prepare(scenario(make_scenario, still, early), cache=cache).turns[0]
    assert falls_due(turn).at == pytest.approx(2.0 - 1 / FPS)


def test_a_gesture_plays_in_its_corner_and_ends_with_its_last_picture(
    still: Path, hand: Path, cache: Cache, make_scenario: MakeScenario, play: Play
) -> None:
    sign = Gesture(clip="hand", start=0.2, end=0.8, size=0.4, means="Stop")
    turn = prepare(scenario(make_scenario, still, sign, hand), cache=cache).turns[0]
    (spoken,) = turn.spoken
    assert spoken.start == pytest.approx(3.0 - 18 / FPS)
    assert 3.0 - 2 / FPS - 1e-6 <= spoken.end <= 3.0 - 1 / FPS + 1e-6
    pictures = play([turn.segment]).pictures
    inside = [float(p[60:100, 560:600].mean()) for _, p in pictures]
    first = round(spoken.start * FPS)
    assert inside[first - 1] == pytest.approx(90, abs=4)
    assert inside[first] == pytest.approx(80, abs=6), "trimmed: the sixth of its pictures"
    # In 18 pictures come those from 0.2 s to 0.767 s: 5 to 19 of the clip's own.
    assert inside[-1] == pytest.approx(40 + 8 * 19, abs=6)
    assert float(pictures[-1][1][:, :300].mean()) == pytest.approx(90, abs=4), "nothing elsewhere"


def test_a_gesture_is_gone_when_its_clip_has_ended(
    still: Path, hand: Path, cache: Cache, make_scenario: MakeScenario, play: Play
) -> None:
    sign = Gesture(clip="hand", corner=Corner.TOP_RIGHT, placement=Placement(anchor=Anchor.START))
    turn = prepare(scenario(make_scenario, still, sign, hand), cache=cache).turns[0]
    assert turn.spoken[0].start == 0.0
    assert turn.spoken[0].end == pytest.approx(1.0, abs=2 / FPS)
    after = [p for t, p in play([turn.segment]).pictures if t > 1.1]
    assert all(float(p[RIGHT].mean()) == pytest.approx(90, abs=4) for p in after)


def test_what_does_not_fit_is_refused(
    still: Path, hand: Path, cache: Cache, make_scenario: MakeScenario, make_clip: Make
) -> None:
    def refused(given: Instruction, clip: Path = hand) -> str:
        with pytest.raises(InputError) as caught:
            prepare(scenario(make_scenario, still, given, clip), cache=cache)
        return str(caught.value)

    long = make_clip("long.mkv", [(i / 30, grey(99, 64, 48)) for i in range(110)])
    assert (
        "turns[0] (t1): gesture 'hand' lasts 3.67 s and does not fit: its segment lasts 3.00"
        in (refused(Gesture(clip="hand"), long))
    )
    assert "until: 1.6 s is after the end of its clip, which lasts 0.99 s" in (
        refused(Gesture(clip="hand", end=1.6))
    )
    assert "does not fit" in refused(Show(text="Too slow", takes=4.0))
    assert "CJK UNIFIED" in refused(Show(text="Hi 你"))
    assert "such as Noto Sans SC, as the scenario's `font`" in refused(Show(text="Hi 你"))
    assert "the font Caveat[wght].ttf lacks: α" in refused(Show(text="α", style="handwritten"))
    assert "does not fit on the picture" in refused(Show(text="word " * 200))


def test_only_what_is_seen_decides_the_cache(
    still: Path, hand: Path, cache: Cache, make_scenario: MakeScenario
) -> None:
    def key(given: Instruction) -> str:
        return (
            prepare(scenario(make_scenario, still, given, hand), cache=cache).turns[0].segment.key
        )

    sign = Gesture(clip="hand", means="Stop")
    assert key(sign) == key(replace(sign, means="Halt"))
    assert key(sign) != key(replace(sign, corner=Corner.BOTTOM_LEFT))
    show = Show(text="Hi", takes=0.5)
    assert key(show) != key(replace(show, text="Ho"))


@pytest.mark.parametrize("style", ["typed", "handwritten"])
def test_every_step_adds_ink(style: Any) -> None:
    writing = Writing(Show(text="It ends here.", style=style), Canvas(), Lettering(style=style))
    ink = [
        float(228 * 256 - writing.after(n).luma.astype(float).mean())
        for n in range(writing.steps + 1)
    ]
    assert ink == sorted(ink)
    assert ink[-1] > ink[-2]
    assert ink[0] < ink[1] or style == "handwritten"
    frame = black(Canvas())
    writing.after(writing.steps).lay_on(frame)
    luma = frame.to_ndarray()[:720]
    assert luma.max() <= 235


def test_a_scenario_may_bring_its_font(tmp_path: Path) -> None:
    broken = tmp_path / "broken.ttf"
    broken.write_bytes(b"no font")
    with pytest.raises(InputError, match=r"broken\.ttf: cannot be read"):
        Lettering(file=broken).check("Hi", "the writing")
    assert Lettering(file=packaged("handwritten")).missing("Hi Привет") == ""
