"""Clips that play slower, faster, several times over or at a level: pictures, sound, cache."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from simulator.errors import InputError, ScenarioError
from simulator.media.build import Maker
from simulator.media.cache import Cache
from simulator.media.clips import Located
from simulator.media.loudness import loudness
from simulator.media.played import SLOWEST_HEARD, look, sounds_of
from simulator.media.prepare import prepare
from simulator.media.probe import probe
from simulator.media.sound import SoundReader
from simulator.media.stretch import PIECE, Stretched, tempos
from simulator.media.timeline import Asset
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.types import (
    Canvas,
    Clip,
    Gesture,
    Scenario,
    Show,
)

Make = Callable[..., Path]
MakeScenario = Callable[..., Scenario]
Play = Callable[[Sequence[Asset]], Any]
Sound = NDArray[np.float32]
RATE = 48_000


def grey(level: int, width: int = 160, height: int = 96) -> NDArray[np.uint8]:
    return np.full((height, width, 3), level, np.uint8)


def tone(seconds: float, pitch: float = 440, loud: float = 0.3) -> Sound:
    wave = loud * np.sin(np.arange(round(seconds * RATE)) * 2 * np.pi * pitch / RATE)
    return np.stack([wave, wave], axis=1).astype(np.float32)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def flashing(make_clip: Make) -> Path:
    """Two seconds; at 0.5 and 1.5 s a white picture and a tone, both for 0.2 s."""
    sound = np.zeros((2 * RATE, 2), np.float32)
    for at in (0.5, 1.5):
        sound[round(at * RATE) : round((at + 0.2) * RATE)] = tone(0.2)
    lit = [(i / 30, grey(230 if i % 30 in range(15, 21) else 30)) for i in range(60)]
    return make_clip("flash.mkv", lit, sound, audio_codec="flac")


def made(make_scenario: MakeScenario, clip: Path, cuts: Sequence[float], **keys: Any) -> Scenario:
    scenario = make_scenario(clip, cuts)
    return replace(scenario, clips={"main": Clip(name="main", path=clip, **keys)})


def spans(loud: NDArray[np.bool_], rate: float) -> list[tuple[float, float]]:
    """From when to when; a gap of less than 50 ms is none."""
    at = np.flatnonzero(loud) / rate
    if not len(at):
        return []
    breaks = [i + 1 for i, (a, b) in enumerate(itertools.pairwise(at)) if b - a > 0.05]
    return [(float(g[0]), float(g[-1])) for g in np.split(at, breaks)]


def seen(played: Any) -> list[tuple[float, float]]:
    lit = np.array([picture.mean() > 150 for _, picture in played.pictures])
    return spans(lit, 30)


def heard(played: Any) -> list[tuple[float, float]]:
    return spans(np.abs(played.sound[:, 0]) > 0.05, RATE)


@pytest.mark.parametrize(
    ("speed", "repeat", "begins"),
    [
        (0.5, 1, [1.0, 3.0]),
        (0.2, 1, [2.5, 7.5]),
        (2.0, 2, [0.25, 0.75, 1.25, 1.75]),
        (1.0, 3, [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]),
        (0.8, 2, [0.625, 1.875, 3.125, 4.375]),
    ],
)
def test_pictures_and_sound_stay_together(
    flashing: Path,
    cache: Cache,
    make_scenario: MakeScenario,
    play: Play,
    speed: float,
    repeat: int,
    begins: list[float],
) -> None:
    whole = 2 / speed * repeat
    scenario = made(make_scenario, flashing, [0, whole / 2, whole], speed=speed, repeat=repeat)
    prepared = prepare(scenario, cache=cache)
    assert prepared.duration == pytest.approx(whole, abs=0.001)
    played = play([t.segment for t in prepared.turns])
    assert [a for a, _ in seen(played)] == pytest.approx(begins, abs=1 / 30 + 0.001)
    if speed < SLOWEST_HEARD:
        assert not heard(played)
        return
    # The filter smears each moment a little; its middle is where it should be.
    assert [a for a, _ in heard(played)] == pytest.approx(begins, abs=0.025)
    assert [b for _, b in heard(played)] == pytest.approx(
        [a + 0.2 / speed for a in begins], abs=0.025
    )


def test_a_slowed_tone_keeps_its_pitch(make_clip: Make) -> None:
    source = probe(make_clip("tone.flac", sound=tone(12), audio_codec="flac"))
    with SoundReader(source) as reader:
        out = np.concatenate([b.copy() for b in Stretched(reader, 0.4).read(0, 28 * RATE)])
    part = out[RATE : 27 * RATE, 0] * np.hanning(26 * RATE)
    spectrum = np.abs(np.fft.rfft(part))
    assert float(np.argmax(spectrum)) / 26 == pytest.approx(440, abs=1)
    around = np.abs(out[PIECE - RATE // 10 : PIECE + RATE // 10, 0])
    assert 0.2 < float(around.max()) < 0.35, "where two pieces meet it stays as loud"


@pytest.mark.parametrize("speed", [0.05, 0.2, 0.5, 1.3, 4.0])
def test_the_same_sound_wherever_reading_begins(make_clip: Make, speed: float) -> None:
    rng = np.random.default_rng(3)
    noise = (0.1 * rng.standard_normal((4 * RATE, 2))).astype(np.float32)
    source = probe(make_clip("noise.flac", sound=noise, audio_codec="flac"))
    length = round(4 / speed * RATE)

    def read(first: int, last: int) -> Sound:
        with SoundReader(source) as reader:
            return np.concatenate([b.copy() for b in Stretched(reader, speed).read(first, last)])

    whole = read(-100, length + 100)
    assert len(whole) == length + 200
    assert not whole[:100].any()
    for first in (0, length // 3, length // 2, length - 5_000):
        assert np.array_equal(read(first, first + 5_000), whole[first + 100 :][:5_000])


def test_tempos_are_such_as_the_filter_does_well() -> None:
    for speed in (0.05, 0.2, 0.5, 0.77, 1.9, 2.0, 3.0, 4.0):
        assert all(0.5 <= tempo <= 2 for tempo in tempos(speed))
        assert np.prod(tempos(speed)) == pytest.approx(speed)


def test_copies_meet_without_a_click(make_clip: Make, cache: Cache) -> None:
    # It ends at a crest and begins at 0: joined as it is, there is a step of 0.3.
    clip = make_clip("tone.flac", sound=tone(1 + 0.25 / 440), audio_codec="flac")
    source = look(Clip(name="main", path=clip, repeat=3), Located(clip, "0"), cache)
    with sounds_of(source) as reader:
        out = np.concatenate([b.copy() for b in reader.read(0, 3 * RATE)])
    assert np.abs(np.diff(out[:, 0])).max() < 0.03
    assert np.abs(out[RATE // 2 : RATE // 2 + 200]).max() == pytest.approx(0.3, abs=0.01)


@pytest.mark.parametrize(("level", "speed"), [(-12.0, 1.0), (-3.5, 0.5), (0.0, 1.0)])
def test_the_level_is_measured_over_the_whole_clip(
    make_clip: Make, cache: Cache, level: float, speed: float
) -> None:
    rng = np.random.default_rng(7)
    noise = (0.5 * rng.standard_normal((6 * RATE, 2))).clip(-1, 1).astype(np.float32)
    noise[: 3 * RATE] *= 0.1
    clip = make_clip("loud.flac", sound=noise, audio_codec="flac")
    named = Clip(name="main", path=clip, level=level, speed=speed)
    with sounds_of(look(named, Located(clip, "0"), cache)) as reader:
        played = np.concatenate([b.copy() for b in reader.read(0, round(6 / speed * RATE))])
    assert loudness(played) == pytest.approx(-20 + level, abs=0.1)
    halves = [loudness(half) for half in np.array_split(played, 2)]
    assert halves[0] is not None
    assert halves[1] is not None
    assert halves[1] - halves[0] == pytest.approx(20, abs=1), "quiet parts stay quiet"


def test_a_level_that_brings_peaks_up_does_not_clip(
    make_clip: Make, cache: Cache, make_scenario: MakeScenario, play: Play
) -> None:
    sound = tone(6, loud=0.001)
    sound[3 * RATE : 3 * RATE + 200] = tone(200 / RATE, loud=0.9)
    clip = make_clip("spike.flac", sound=sound, audio_codec="flac")
    scenario = made(make_scenario, clip, [0, 6], level=10)
    played = play([t.segment for t in prepare(scenario, cache=cache).turns])
    assert np.abs(played.sound).max() < 1.0


def test_the_loudness_is_measured_once(
    make_clip: Make, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    clip = make_clip("tone.flac", sound=tone(3), audio_codec="flac")
    located = Located(clip, "a" * 64)
    first = look(Clip(name="main", path=clip, level=-10), located, cache)
    monkeypatch.setattr("simulator.media.played._measured", lambda source: pytest.fail("again"))
    second = look(Clip(name="main", path=clip, level=-16), located, cache)
    assert first.gain / second.gain == pytest.approx(10 ** (6 / 20))


def test_a_level_for_silence_is_refused(make_clip: Make, cache: Cache) -> None:
    mute = make_clip("mute.mkv", [(0.0, grey(9)), (0.5, grey(9))])
    silent = make_clip("silent.flac", sound=np.zeros((RATE, 2), np.float32), audio_codec="flac")
    for clip in (mute, silent):
        with pytest.raises(InputError, match=f"nothing is audible in {clip.name}"):
            look(Clip(name="main", path=clip, level=0), Located(clip, clip.name), cache)


def test_keys_change_for_clips_that_use_them_alone(
    flashing: Path, make_clip: Make, cache: Cache, make_scenario: MakeScenario
) -> None:
    hand = make_clip("hand.mkv", [(i / 30, grey(40 + 8 * i, 64, 48)) for i in range(15)])

    def key(**clips: Clip) -> str:
        scenario = make_scenario(flashing, [0, 1.9], canvas=Canvas(width=320, height=180))
        signed = replace(scenario.turns[0], instructions=(Gesture(clip="hand", end=0.3),))
        named = {"main": Clip(name="main", path=flashing), "hand": Clip(name="hand", path=hand)}
        scenario = replace(scenario, turns=(signed,), clips=named | clips)
        return prepare(scenario, cache=cache).turns[0].segment.key

    plain, main = key(), Clip(name="main", path=flashing)
    assert key(main=replace(main, speed=1.0, repeat=1)) == plain
    others = [key(main=replace(main, speed=0.9)), key(main=replace(main, repeat=2))]
    others.append(key(main=replace(main, level=-10)))
    sign = Clip(name="hand", path=hand)
    others += [key(hand=replace(sign, speed=0.5)), key(hand=replace(sign, repeat=2))]
    assert len({plain, *others}) == 6
    assert key(hand=replace(sign, level=-10.0)) == plain, "a gesture is not heard"


def test_a_gesture_plays_slowly_and_again(
    make_clip: Make, cache: Cache, make_scenario: MakeScenario
) -> None:
    still = make_clip("still.mkv", [(i / 30, grey(90, 320, 180)) for i in range(120)])
    hand = make_clip("hand.mkv", [(i / 30, grey(40 + 8 * i, 64, 48)) for i in range(15)])
    scenario = make_scenario(still, [0, 3.8], canvas=Canvas(width=640, height=360))
    signed = replace(scenario.turns[0], instructions=(Gesture(clip="hand"),))
    clips = {"hand": Clip(name="hand", path=hand, speed=0.5, repeat=3)}
    scenario = replace(scenario, turns=(signed,), clips=dict(scenario.clips) | clips)
    (spoken,) = prepare(scenario, cache=cache).turns[0].spoken
    assert spoken.end - spoken.start == pytest.approx(3.0, abs=0.1)


def test_times_are_those_of_the_clip_as_it_plays(
    flashing: Path, cache: Cache, make_scenario: MakeScenario
) -> None:
    with pytest.raises(ScenarioError) as refused:
        prepare(made(make_scenario, flashing, [0, 13], speed=0.5, repeat=3), cache=cache)
    assert "which lasts 12.00 s at speed 0.5 3 times over" in refused.value.problems[0]
    with pytest.raises(ScenarioError, match=r"lasts 1\.00 s at speed 2"):
        prepare(made(make_scenario, flashing, [0, 1.9], speed=2), cache=cache)


def test_only_what_changed_is_made_again(
    flashing: Path, cache: Cache, make_scenario: MakeScenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []
    build = Maker.build

    def counted(maker: Maker, folder: Path) -> None:
        built.append(maker._job.turn.id)
        build(maker, folder)

    monkeypatch.setattr(Maker, "build", counted)
    first = made(make_scenario, flashing, [0, 1, 2, 4], speed=0.5, level=-10.0)
    prepare(first, cache=cache)
    assert built == ["t1", "t2", "t3"]
    turns = [replace(t, expect=Answer(text="Yes."), evidence=((0, 1),)) for t in first.turns]
    prepare(replace(first, turns=tuple(turns)), cache=cache)
    assert len(built) == 3, "gold answers decide no bytes"
    turns[1] = replace(turns[1], instructions=(Show(text="Hi", takes=0.4),))
    prepare(replace(first, turns=tuple(turns)), cache=cache)
    assert built[3:] == ["t2"]
