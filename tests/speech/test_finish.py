"""What an engine said, made ready: level, ends, and the file."""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest

from simulator.errors import InputError
from simulator.media.loudness import INSTRUCTION, loudness
from simulator.media.sound import load
from simulator.speech.engine import Speech
from simulator.speech.finish import PEAK, finish, write_flac


def voice(level: float, rate: int, seconds: float = 1.0) -> Speech:
    time = np.arange(round(seconds * rate)) / rate
    samples = level * np.sin(2 * np.pi * 500 * time)
    return Speech(samples=samples.astype(np.float32), rate=rate)


@pytest.mark.parametrize("rate", [16_000, 22_050, 24_000, 48_000])
@pytest.mark.parametrize("level", [0.02, 0.9])
def test_any_level_and_rate_come_out_as_loud(rate: int, level: float, tmp_path: Path) -> None:
    samples, seconds = finish(voice(level, rate))
    assert seconds == pytest.approx(1.0, abs=0.002)
    path = tmp_path / "said.flac"
    write_flac(path, samples, rate)
    with av.open(str(path)) as opened:
        assert opened.streams.audio[0].rate == rate
    heard = load(path)
    assert len(heard) / 48_000 == pytest.approx(seconds, abs=0.001)
    assert loudness(heard) == pytest.approx(INSTRUCTION, abs=0.3)


def test_peaks_stay_under_full_scale() -> None:
    """A click a second long away is loud in peak and nearly silent in loudness."""
    speech = voice(0.01, 24_000, 2.0)
    speech.samples[12_000] = 0.9
    samples, _ = finish(speech)
    assert float(np.abs(samples).max()) == pytest.approx(PEAK, rel=1e-5)


def test_ends_do_not_click() -> None:
    samples, _ = finish(Speech(samples=np.full(24_000, 0.5, np.float32), rate=24_000))
    assert samples[0] == samples[-1] == 0
    assert float(np.abs(np.diff(samples)).max()) < 0.02


def test_silence_is_refused() -> None:
    with pytest.raises(InputError, match="nothing is audible"):
        finish(Speech(samples=np.zeros(1_000, np.float32), rate=24_000))
    with pytest.raises(InputError, match="nothing is audible"):
        finish(Speech(samples=np.zeros(0, np.float32), rate=24_000))
