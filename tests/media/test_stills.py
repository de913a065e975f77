"""Stills: the right picture at each time, one grid over all cuts, within the limits of a peer."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from simulator.errors import InputError
from simulator.media.cache import Cache
from simulator.media.encode import Encoding
from simulator.media.packets import PacketTrack
from simulator.media.prepare import prepare
from simulator.media.stills import StillFormat, clip_times, stills
from simulator.plugins import content_root
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.types import (
    Canvas,
    Clip,
    Scenario,
    Turn,
)

Make = Callable[..., Path]
MakeScenario = Callable[..., Scenario]

DEMO = content_root("scenarios") / "demo/media/demo.mp4"


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def rising(make_clip: Make) -> Path:
    """Eight seconds, lighter by 2 each tenth of a second: the picture tells its time."""
    pictures = [(i / 10, np.full((96, 160, 3), 40 + 2 * i, np.uint8)) for i in range(80)]
    return make_clip("rising.mkv", pictures)


def opened(track: PacketTrack) -> list[NDArray[np.uint8]]:
    images = [Image.open(io.BytesIO(track.payload(i))) for i in range(len(track))]
    assert {image.format for image in images} <= {"JPEG"}
    return [np.asarray(image) for image in images]


@pytest.mark.parametrize("codec", ["h264", "vp8"])
def test_each_shows_its_time_and_the_grid_goes_on_over_cuts(
    rising: Path, cache: Cache, make_scenario: MakeScenario, codec: str
) -> None:
    scenario = make_scenario(rising, [0.5, 1.7, 2.0, 5.36])
    prepared = prepare(scenario, cache=cache, encoding=Encoding(codec=codec))
    tracks = [stills(turn, StillFormat(rate=2.0), cache) for turn in prepared.turns]
    assert [len(track) for track in tracks] == [3, 0, 7]
    times = [
        t for turn, track in zip(prepared.turns, tracks, strict=True)
        for t in clip_times(turn, track)
    ]  # fmt: skip
    assert times == pytest.approx([0.5 + k / 2 for k in range(10)], abs=1e-4)
    shown = [float(image.mean()) for track in tracks for image in opened(track)]
    assert shown == pytest.approx([40 + 20 * t for t in times], abs=3)
    assert all(track.codec == "jpeg" and track.key.all() for track in tracks)


def test_they_are_made_once(rising: Path, cache: Cache, make_scenario: MakeScenario) -> None:
    (turn,) = prepare(make_scenario(rising, [0.0, 3.0]), cache=cache).turns
    first = stills(turn, StillFormat(), cache)
    files = {f: f.stat().st_mtime_ns for f in cache.root.rglob("stills")}
    again = stills(turn, StillFormat(), cache)
    assert [again.payload(i) for i in range(3)] == [first.payload(i) for i in range(3)]
    assert {f: f.stat().st_mtime_ns for f in cache.root.rglob("stills")} == files
    assert len(stills(turn, StillFormat(rate=0.5), cache)) == 2


def test_a_crowded_picture_keeps_the_limits(
    make_clip: Make, cache: Cache, make_scenario: MakeScenario
) -> None:
    rng = np.random.default_rng(2)
    noise = [(i / 10, rng.integers(0, 255, (360, 640, 3), dtype=np.uint8)) for i in range(11)]
    scenario = make_scenario(
        make_clip("noise.mkv", noise), [0.0, 1.0], canvas=Canvas(width=640, height=360, fps=30)
    )
    (turn,) = prepare(scenario, cache=cache).turns
    for limit, longest in ((45_000, 768), (20_000, 320), (4_000, 768)):
        wanted = StillFormat(rate=1, longest=longest, limit=limit)
        (image,) = opened(stills(turn, wanted, cache))
        height, width = image.shape[:2]
        assert len(stills(turn, wanted, cache).payload(0)) <= limit
        assert width <= min(longest, 640)
        assert width / height == pytest.approx(640 / 360, rel=0.02)


def test_colours_are_those_of_the_clip(
    make_clip: Make, cache: Cache, make_scenario: MakeScenario
) -> None:
    """Of a large picture, which is encoded in another matrix than a small one."""
    colour = (200, 60, 30)
    picture = np.full((720, 1280, 3), colour, np.uint8)
    path = make_clip("red.mkv", [(i / 10, picture) for i in range(11)], pixel="yuv444p")
    (turn,) = prepare(make_scenario(path, [0.0, 1.0], canvas=Canvas()), cache=cache).turns
    (image,) = opened(stills(turn, StillFormat(), cache))
    assert image.shape == (432, 768, 3)
    prepared_as = image[100:-100, 100:-100].reshape(-1, 3).mean(axis=0)
    assert prepared_as == pytest.approx(colour, abs=12)


@pytest.mark.parametrize("clip", [DEMO, "bottles_remove_replace.mp4"], ids=["demo", "bottles"])
def test_a_real_clip(request: pytest.FixtureRequest, cache: Cache, clip: Path | str) -> None:
    path = clip if isinstance(clip, Path) else request.getfixturevalue("media_dir") / clip
    turn = Turn(id="t", index=0, clip="main", start=0.0, end=6.0, expect=Quiet())
    scenario = Scenario(
        id="s", path=path, sha256="0" * 64, clips={"main": Clip(name="main", path=path)},
        turns=(turn,),
    )  # fmt: skip
    (prepared,) = prepare(scenario, cache=cache).turns
    track = stills(prepared, StillFormat(), cache)
    assert len(track) == 6
    assert all(2_000 < len(track.payload(i)) <= 45_000 for i in range(6))
    assert {image.shape for image in opened(track)} == {(432, 768, 3)}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"rate": 0}, "rate"), ({"rate": 31}, "rate"), ({"longest": 3}, "longest"),
     ({"limit": 100}, "limit")],
)  # fmt: skip
def test_what_cannot_be(wrong: dict[str, float], said: str) -> None:
    with pytest.raises(InputError, match=said):
        StillFormat(**wrong)  # type: ignore[arg-type]
