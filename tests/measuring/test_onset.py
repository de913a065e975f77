"""Where a voice begins in noise, to what can be known of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator.measuring.onset import HOP, beginning
from tests.measuring.test_speech import RATE
from tests.measuring.test_tones import clear

AT = RATE
LOUD = RATE // 5
"""So long after it began a voice surely is one."""


def noisy(piece: Any, snr_db: float, seed: int, *, hz: float = 24_000.0) -> Any:
    """A second of noise and then a voice in it, so many dB over it; the noise goes up to `hz`."""
    noise = np.random.default_rng(seed).normal(0, 1, AT + len(piece))
    spectrum = np.fft.rfft(noise)
    spectrum[round(hz / RATE * len(noise)) :] = 0
    noise = np.fft.irfft(spectrum, len(noise))
    noise *= np.std(piece) * 10 ** (-snr_db / 20) / np.std(noise)
    noise[AT:] += piece
    return noise.astype(np.float32)


def found(sound: Any) -> tuple[float, float]:
    """By how many seconds the beginning is wrong, and may be."""
    quiet = np.arange(len(sound) // HOP) < (AT - RATE // 5) // HOP
    begins = beginning(sound, quiet, (AT - RATE // 4, AT + LOUD), audible_db=-70.0)
    return (begins.first - AT) / RATE, begins.unsure / RATE


@pytest.mark.parametrize(("snr_db", "off"), [(10, 0.025), (20, 0.015)])
@pytest.mark.parametrize("hz", [24_000.0, 6_000.0])
def test_a_beginning_is_where_it_is_and_within_what_is_stated(
    snr_db: float, off: float, hz: float
) -> None:
    told = [found(noisy(piece, snr_db, seed, hz=hz)) for seed, piece in enumerate(clear())]
    errors, unsure = np.array(told).T
    assert (np.abs(errors) <= unsure).mean() > 0.93
    assert np.percentile(np.abs(errors), 90) < off
    assert np.median(unsure) <= 0.025


def test_a_crackle_before_it_is_no_beginning() -> None:
    for seed, piece in enumerate(clear()[:12]):
        sound = noisy(piece, 20, seed)
        plain, _ = found(sound)
        sound[AT - RATE // 8 :][: RATE // 500] += np.float32(2 * np.std(piece))
        error, unsure = found(sound)
        assert abs(error) <= unsure
        assert error == pytest.approx(plain, abs=0.015)
