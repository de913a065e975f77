"""Loudness: BS.1770's own reference tone, what is too short for a block, and instructions alike."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.media.loudness import ALIKE, INSTRUCTION, MOST, gain, loudness
from simulator.protocol.samples import Stereo
from simulator.protocol.tracks import AUDIO_CLOCK


def tone(level: float, seconds: float = 2.0, hertz: float = 997.0) -> Stereo:
    time = np.arange(round(seconds * AUDIO_CLOCK)) / AUDIO_CLOCK
    wave = level * np.sin(2 * np.pi * hertz * time)
    return np.stack([wave, wave], axis=1).astype(np.float32)


def test_the_reference_tone() -> None:
    """A 997 Hz sine at -20 dBFS on both channels is -20 LUFS, by the recommendation."""
    found = loudness(tone(0.1))
    assert found is not None
    assert found == pytest.approx(-20.0, abs=0.1)


def test_bass_counts_less() -> None:
    low, high = loudness(tone(0.1, hertz=50)), loudness(tone(0.1, hertz=3_000))
    assert low is not None
    assert high is not None
    assert high - low > 5


def test_a_short_word_and_pauses_measure_as_the_sound_itself() -> None:
    short = loudness(tone(0.1, 0.15))
    assert short == pytest.approx(-20.0, abs=0.4)
    paused = np.concatenate([tone(0.1), np.zeros((4 * AUDIO_CLOCK, 2), np.float32), tone(0.1)])
    assert loudness(paused) == pytest.approx(-20.0, abs=0.4), "the gate leaves pauses out"


def test_silence_has_none() -> None:
    assert loudness(np.zeros((AUDIO_CLOCK, 2), np.float32)) is None
    assert loudness(np.zeros((0, 2), np.float32)) is None
    assert gain(np.zeros((AUDIO_CLOCK, 2), np.float32)) == 1.0


@pytest.mark.parametrize("level", [0.01, 0.03, 0.25, 0.9])
def test_sounds_become_alike(level: float) -> None:
    sound = tone(level)
    assert loudness(sound * np.float32(gain(sound))) == pytest.approx(INSTRUCTION, abs=0.2)


def test_what_is_near_is_left_and_what_is_nearly_silent_is_not_blown_up() -> None:
    assert gain(tone(0.1 * 10 ** (0.9 * ALIKE / 20))) == 1.0
    assert gain(tone(0.0006)) == pytest.approx(10 ** (MOST / 20), rel=1e-6)
