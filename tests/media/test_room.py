"""Room tone: quiet, of the room's own level, and without a seam."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.media.room import HIGHEST, LOWEST, Quietest


def rms(sound: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> float:
    return float(np.sqrt(np.mean(np.square(sound))))


def test_a_clip_without_sound_gets_faint_noise() -> None:
    tone = Quietest().tone()
    assert tone.shape == (48_000, 2)
    assert rms(tone) == pytest.approx(LOWEST, rel=0.01)


def test_the_tone_has_the_level_of_the_quietest_moments() -> None:
    rng = np.random.default_rng(3)
    sound = (0.001 * rng.standard_normal((96_000, 2))).astype(np.float32)
    sound[:48_000] += 0.3 * np.sin(np.arange(48_000) / 20)[:, None].astype(np.float32)
    quietest = Quietest()
    passed = np.concatenate(list(quietest.watch(sound[i : i + 999] for i in range(0, 96_000, 999))))
    assert np.array_equal(passed, sound)
    assert rms(quietest.tone()) == pytest.approx(0.001, rel=0.1)


def test_loud_clips_do_not_make_a_loud_hold() -> None:
    quietest = Quietest()
    list(quietest.watch([np.full((48_000, 2), 0.5, np.float32)]))
    assert rms(quietest.tone()) <= HIGHEST * 1.01


def test_it_loops_without_a_seam() -> None:
    tone = Quietest().tone()
    steps = np.abs(np.diff(np.concatenate((tone, tone)), axis=0))
    assert steps[47_990:48_010].max() < steps.max() * 1.01
