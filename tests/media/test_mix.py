"""Mixing: where speech lies to the sample, and peaks that stay under the ceiling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from simulator.media.mix import CEILING, Laid, audible, lay, limited, mixed


def tone(count: int, level: float) -> NDArray[np.float32]:
    wave = level * np.sin(np.arange(count) * 2 * np.pi * 300 / 48_000)
    return np.stack([wave, wave], axis=1).astype(np.float32)


def test_audible_is_found_to_the_sample() -> None:
    sound = np.zeros((10_000, 2), np.float32)
    sound[1_000:2_000] = 0.5
    sound[900:1_000] = 0.5 * 10 ** (-51 / 20)
    sound[2_000:2_010, 1] = 0.5 * 10 ** (-49 / 20)
    assert audible(sound) == (1_000, 2_010)


def test_silence_is_not_audible() -> None:
    assert audible(np.zeros((100, 2), np.float32)) is None
    assert audible(np.zeros((0, 2), np.float32)) is None


def test_laid_speech_ends_where_it_should_and_stays_in_its_segment() -> None:
    speech = np.zeros((1_000, 2), np.float32)
    speech[100:800] = 0.4
    laid = lay(speech, (100, 800), 5_000 - 700, 4_250, 5_000)
    assert laid.at == 4_250
    assert len(laid.samples) == 750
    bed = np.zeros((6_000, 2), np.float32)
    out = np.concatenate(list(mixed([bed], 0, [laid])))
    loud = np.flatnonzero(np.abs(out[:, 0]) > 0.1)
    assert (loud[0], loud[-1] + 1) == (4_300, 5_000)


@given(
    seed=st.integers(0, 2**32 - 1),
    loud=st.floats(0.1, 6.0),
    size=st.integers(1, 9_000),
    count=st.integers(1, 25_000),
)
@settings(max_examples=40, deadline=None)
def test_the_limiter_never_passes_its_ceiling(
    seed: int, loud: float, size: int, count: int
) -> None:
    rng = np.random.default_rng(seed)
    envelope = np.repeat(rng.random(count // 700 + 1), 700)[:count, None]
    sound = (rng.standard_normal((count, 2)) * envelope * loud).astype(np.float32)
    out = np.concatenate(list(limited(sound[i : i + size] for i in range(0, count, size))))
    assert out.shape == sound.shape
    assert float(np.abs(out).max()) <= CEILING + 1e-6
    assert not np.any(np.sign(out) * np.sign(sound) < 0)


def test_what_is_under_the_ceiling_is_left_alone() -> None:
    sound = tone(50_000, 0.9)
    assert np.array_equal(np.concatenate(list(limited([sound]))), sound)


def test_a_loud_moment_is_over_after_half_a_second() -> None:
    sound = tone(96_000, 0.6)
    laid = Laid(20_000, tone(4_800, 0.9))
    out = np.concatenate(list(mixed([sound], 0, [laid])))
    assert float(np.abs(out).max()) == pytest.approx(CEILING, abs=0.02)
    assert np.array_equal(out[:19_000], sound[:19_000])
    assert np.array_equal(out[20_000 + 4_800 + 24_000 :], sound[20_000 + 4_800 + 24_000 :])
