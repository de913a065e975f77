"""Beeps, bells, ringing and music are no speech, and voices are no tones.

The voice is a bundled instruction that begins loud at a known sample; all goes through Opus.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.bridge.babble import babble
from simulator.measuring.levels import STEP, levels_db
from simulator.measuring.speech import find, islands
from simulator.measuring.tones import FRAME, few_lines, sung, tones
from tests.bench.onset_cases import voices
from tests.measuring.test_speech import LOOK_AHEAD, RATE, through_opus

Array = np.ndarray[Any, np.dtype[Any]]
AT = 2.0
"""When the voice begins."""


@cache
def pieces() -> list[Array]:
    return [piece for voice in voices("bundled", "") for piece in voice.strong]


@cache
def clear() -> list[Array]:
    """Some that are found where they begin when they are alone."""
    at = round(AT * RATE)
    alone = [np.concatenate([np.zeros(at), piece]).astype(np.float32) for piece in pieces()]
    found = [abs(find(track)[0].first - at) < 0.003 * RATE for track in alone]
    return [piece for piece, true in zip(pieces(), found, strict=True) if true][::5]


def seconds(length: float) -> Array:
    return np.arange(round(length * RATE)) / RATE


def shaped(wave: Array, level_db: float = -20.0) -> Array:
    """At a level, coming and going in 5 ms."""
    ramp = np.minimum(1, np.arange(len(wave)) / 240)
    return np.asarray(wave * ramp * ramp[::-1] * 10 ** (level_db / 20) / np.std(wave))


def beep(length: float = 0.15, hz: float = 660.0) -> Array:
    return shaped(np.sin(2 * np.pi * hz * seconds(length)))


def two_beeps() -> Array:
    return np.concatenate([beep(), np.zeros(RATE // 10), beep()])


def buzzer() -> Array:
    return shaped(np.sign(np.sin(2 * np.pi * 440 * seconds(0.3))))


def bell() -> Array:
    t = seconds(0.6)
    rung = np.sin(2 * np.pi * 880 * t) + 0.5 * np.sin(2 * np.pi * 2.76 * 880 * t)
    return shaped(rung * np.exp(-6 * t))


def chord() -> Array:
    t = seconds(0.4)
    return shaped(np.sum([np.sin(2 * np.pi * hz * t) for hz in (523, 659, 784)], axis=0))


def dialled() -> Array:
    t = seconds(0.2)
    return shaped(np.sin(2 * np.pi * 770 * t) + np.sin(2 * np.pi * 1336 * t))


def rising() -> Array:
    t = seconds(0.25)
    return shaped(np.sin(2 * np.pi * (700 * t + 1_400 * t * t)))


SOUNDS = [beep, two_beeps, buzzer, bell, chord, dialled, rising]


def before(sounds: Any, sound: Array, piece: Array, gap: float) -> Array:
    """A sound that ends so long before a voice, as it is heard at the other end."""
    track = np.zeros(round((AT + 0.5) * RATE) + len(piece))
    last = round((AT - gap) * RATE)
    track[last - len(sound) : last] += sound
    track[round(AT * RATE) :][: len(piece)] += piece
    return np.asarray(through_opus(sounds, track.astype(np.float32)))


@pytest.mark.parametrize("gap", [0.8, 0.3, 0.12])
@pytest.mark.parametrize("sound", SOUNDS)
def test_a_voice_begins_after_the_tone_before_it(
    sounds: Any, sound: Callable[[], Array], gap: float
) -> None:
    for piece in clear():
        island = find(before(sounds, sound(), piece, gap))[0]
        assert island.first / RATE == pytest.approx(AT, abs=0.004)
        assert abs(island.first / RATE - AT) <= island.unsure / RATE
        assert island.sound is not None
        lead = 0.95 if sound is two_beeps and gap > 0.7 else gap + len(sound()) / RATE
        assert AT - island.sound / RATE == pytest.approx(lead, abs=0.02)


@pytest.mark.parametrize("length", [0.15, 0.4])
def test_where_a_tone_goes_over_into_a_voice_is_told_to_a_few_hundredths(
    sounds: Any, length: float
) -> None:
    for piece in clear():
        island = find(before(sounds, beep(length), piece, 0.0))[0]
        assert abs(island.first / RATE - AT) <= island.unsure / RATE <= 0.08


def test_a_voice_that_keeps_its_pitch_for_a_moment_may_be_one_all_the_same() -> None:
    """The made-up voice of agents that have none glides, at times by little."""
    rng = np.random.default_rng(1)
    words = "the red cup is left of a table I heard you yes no okay there are people".split()  # noqa: SIM905
    for _ in range(60):
        said = babble(" ".join(rng.choice(words, rng.integers(1, 8)))) / np.float32(32_768)
        track = np.concatenate([np.zeros(RATE), said, np.zeros(RATE // 2)]).astype(np.float32)
        found = find(track)
        assert found[0].first - RATE <= max(found[0].unsure, 0.003 * RATE)
        assert found[-1].stop / RATE == pytest.approx(1 + len(said) / RATE, abs=0.01)


@pytest.mark.parametrize("sound", SOUNDS)
@pytest.mark.parametrize("times", [1, 4])
def test_tones_alone_are_no_speech(sounds: Any, sound: Callable[[], Array], times: int) -> None:
    rung = np.tile(np.concatenate([sound(), np.zeros(RATE // 5)]), times)
    track = np.concatenate([np.zeros(RATE), rung, np.zeros(RATE)]).astype(np.float32)
    heard = through_opus(sounds, track)
    assert islands(heard) == []
    assert islands(heard, "level") != []


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1_000), st.floats(-35, 0), st.floats(0.8, 1.25))
def test_a_voice_is_no_tone(chosen: int, level_db: float, speed: float) -> None:
    piece = pieces()[chosen % len(pieces())] * 10 ** (level_db / 20)
    at = np.arange(0, len(piece) - 1, speed)
    samples = np.interp(at, np.arange(len(piece)), piece).astype(np.float32)
    asked = np.ones(-(-len(samples) // FRAME), np.bool_)
    found = tones(samples, asked)
    assert not found.through(0, len(samples) // STEP)
    assert found.until(0, len(samples) // STEP) is None
    loud = levels_db(samples, FRAME)[: len(asked)]
    heard = loud > loud.max() - 30
    assert (found.steady | found.line)[: len(heard)][heard].mean() < 0.2


def test_nothing_is_no_tone() -> None:
    silent = tones(np.zeros(RATE, np.float32), np.zeros(100, np.bool_))
    assert not silent.steady.any()
    assert not silent.line.any()
    assert LOOK_AHEAD < FRAME


def test_what_may_be_hummed_by_the_voice_is_within_what_is_stated(sounds: Any) -> None:
    """A real one hummed for 0.3 s at 150 Hz before it spoke; a beep is as long, but no voice's."""
    hummed = beep(0.3, 150.0)
    assert sung(hummed.astype(np.float32))
    assert not sung(beep(0.3).astype(np.float32))
    for piece in clear()[::3]:
        island = find(before(sounds, hummed, piece, 0.3))[0]
        earliest = (island.first - island.unsure) / RATE
        assert earliest <= AT - 0.6 + 0.005


def test_something_brief_is_a_beep_if_it_is_few_lines() -> None:
    for sound in SOUNDS[:1] + SOUNDS[2:6]:
        assert few_lines(sound()[: RATE // 16].astype(np.float32))
    words = [few_lines(piece[: RATE // 16].astype(np.float32)) for piece in clear()]
    assert np.mean(words) < 0.2
