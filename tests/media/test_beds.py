"""Backgrounds: at the level stated, at their time, on over cuts, and only where they are heard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from simulator.errors import InputError
from simulator.media.beds import Beds, over_beds
from simulator.media.cache import Cache
from simulator.media.loudness import INSTRUCTION, loudness
from simulator.media.prepare import prepare
from simulator.media.timeline import Asset
from simulator.scenario.types import Background, Say, Scenario

Make = Callable[..., Path]
MakeScenario = Callable[..., Scenario]
Play = Callable[[Sequence[Asset]], Any]
Sound = NDArray[np.float32]
RATE = 48_000


@pytest.fixture
def noise(make_clip: Make) -> Path:
    """Three seconds of noise in mono at half the rate."""
    samples = 0.2 * np.random.default_rng(3).standard_normal((3 * 24_000, 1))
    return make_clip(
        "noise.flac",
        sound=samples.astype(np.float32),
        rate=24_000,
        layout="mono",
        audio_codec="flac",
    )


@pytest.fixture
def quiet_clip(make_clip: Make) -> Path:
    pictures = [(i / 30, np.full((96, 160, 3), 90, np.uint8)) for i in range(241)]
    return make_clip("quiet.mkv", pictures, np.zeros((8 * RATE, 2), np.float32))


def level(sound: Sound) -> float:
    found = loudness(sound)
    return -99.0 if found is None else found


def test_a_bed_lies_at_its_level_and_runs_on(
    quiet_clip: Path, noise: Path, tmp_path: Path, make_scenario: MakeScenario, play: Play
) -> None:
    made = make_scenario(quiet_clip, [0.0, 2.5, 7.0])
    made = replace(made, backgrounds=(Background(sound=noise, level=-10),))
    prepared = prepare(made, cache=Cache(tmp_path / "cache"))
    sound = play([t.segment for t in prepared.turns]).sound
    assert level(sound) == pytest.approx(INSTRUCTION - 10, abs=1.0)
    moments = [
        float(np.sqrt(np.mean(sound[at : at + 4_800] ** 2))) for at in range(0, 324_000, 4_800)
    ]
    assert max(moments) < 1.3 * min(moments), "no hole at the loop's seam or at the cut"
    hold = play([prepared.turns[1].hold, prepared.turns[1].hold]).sound
    assert level(hold) == pytest.approx(level(sound), abs=3.0), "the noise goes on while we wait"


def test_a_loop_continues_from_one_part_to_the_next(noise: Path) -> None:
    bed = Beds().get(Background(sound=noise))
    whole = np.concatenate(list(over_beds([np.zeros((9 * RATE, 2), np.float32)], -100, [bed])))
    parts = [np.zeros((n, 2), np.float32) for n in (1_000, 5 * RATE, 4 * RATE - 1_000)]
    assert np.array_equal(np.concatenate(list(over_beds(parts, -100, [bed]))), whole)
    length = len(bed.samples)
    assert np.array_equal(whole[:length], whole[length : 2 * length])


def test_a_sound_at_a_time_begins_and_is_cut_there(
    quiet_clip: Path, noise: Path, tmp_path: Path, make_scenario: MakeScenario, play: Play
) -> None:
    made = make_scenario(quiet_clip, [0.0, 2.0, 4.0, 6.0])
    timed = Background(sound=noise, level=-6, at=1.5, until=3.0, clip="main")
    cache = Cache(tmp_path / "cache")
    prepared = prepare(replace(made, backgrounds=(timed,)), cache=cache)
    sound = np.abs(play([t.segment for t in prepared.turns]).sound).max(axis=1)
    loud = np.flatnonzero(sound > 0.01) / RATE
    assert (loud[0], loud[-1]) == pytest.approx((1.5, 3.0), abs=0.03)
    plain = prepare(made, cache=cache)
    same = [
        a.segment.key == b.segment.key for a, b in zip(prepared.turns, plain.turns, strict=True)
    ]
    assert same == [False, False, True], "a turn in which it is not heard is not made again"


def test_a_bystander_may_be_quieter_than_the_user(
    quiet_clip: Path, noise: Path, tmp_path: Path, make_scenario: MakeScenario, play: Play
) -> None:
    says = {0: Say(text="x", sound=noise, voice="guest", level=-12), 1: Say(text="x", sound=noise)}
    made = make_scenario(quiet_clip, [0.0, 3.0, 6.0], says=says)
    prepared = prepare(made, cache=Cache(tmp_path / "cache"))
    guest, user = (level(play([t.segment]).sound) for t in prepared.turns)
    assert user == pytest.approx(INSTRUCTION, abs=1.0)
    assert guest == pytest.approx(user - 12, abs=1.0)


def test_what_cannot_be_a_background_is_refused(make_clip: Make, noise: Path) -> None:
    silent = make_clip("silent.wav", sound=np.zeros((RATE, 2), np.float32))
    with pytest.raises(InputError, match=r"silent\.wav: nothing is audible"):
        Beds().get(Background(sound=silent))
    long = make_clip(
        "long.wav", sound=np.full((121 * 8_000, 1), 0.1, np.float32), rate=8_000, layout="mono"
    )
    with pytest.raises(InputError, match=r"121 s is too long \(at most 120 s\)"):
        Beds().get(Background(sound=long))
    with pytest.raises(InputError, match="no such file"):
        Beds().get(Background(sound=noise.with_name("none.flac")))
