"""Edges of sound to the millisecond, and what is not speech."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator.measuring.speech import islands, levels_db

RATE = 48_000
LOOK_AHEAD = 312


def through_opus(sounds: Any, samples: Any) -> Any:
    """What comes out at the other end, put back by the encoder's look-ahead."""
    from simulator.measuring.sound import opus_samples

    decode = opus_samples()
    return np.concatenate([decode(p) for p in sounds.opus(samples)])[LOOK_AHEAD:]


@pytest.mark.parametrize("pitch", [90.0, 130.0, 210.0])
@pytest.mark.parametrize("at", [1.0, 1.0037, 2.0155])
def test_edges_are_right_to_two_milliseconds(sounds: Any, pitch: float, at: float) -> None:
    track = sounds.placed(4.0, (at, sounds.voice(0.8, pitch=pitch)))
    for heard, tolerance in ((track, 0.0005), (through_opus(sounds, track), 0.002)):
        found = islands(heard)
        assert len(found) == 1
        assert found[0][0] / RATE == pytest.approx(at, abs=tolerance)
        assert found[0][1] / RATE == pytest.approx(at + 0.8, abs=max(tolerance, 0.012))


def test_a_pause_parts_islands(sounds: Any) -> None:
    track = sounds.placed(4.0, (1.0, sounds.voice(0.5)), (1.6, sounds.voice(0.5)))
    assert len(islands(track)) == 2


@pytest.mark.parametrize("level", [1e-3, 1e-2, 3e-2])
def test_steady_noise_is_nothing(level: float) -> None:
    noise = np.random.default_rng(1).normal(0, level, 8 * RATE).astype(np.float32)
    assert islands(noise) == []
    assert islands(noise, "level") == []


def test_a_voice_over_noise_is_found(sounds: Any) -> None:
    noise = np.random.default_rng(2).normal(0, 2e-3, 6 * RATE).astype(np.float32)
    found = islands(noise + sounds.placed(6.0, (2.5, sounds.voice(1.0))))
    assert found[0][0] / RATE == pytest.approx(2.5, abs=0.005)
    assert found[-1][1] / RATE == pytest.approx(3.5, abs=0.03)


def test_clicks_are_heard_by_level_alone(sounds: Any) -> None:
    click = (0.5 * np.sin(np.arange(960) * 2 * np.pi * 1000 / RATE)).astype(np.float32)
    track = sounds.placed(3.0, (1.25, click))
    assert islands(track) == []
    ((first, last),) = islands(through_opus(sounds, track), "level")
    assert first / RATE == pytest.approx(1.25, abs=0.002)
    assert last / RATE == pytest.approx(1.27, abs=0.01)


def test_nothing_is_nothing() -> None:
    assert islands(np.zeros(0, np.float32)) == []
    assert islands(np.zeros(5 * RATE, np.float32)) == []


def test_levels_of_steps() -> None:
    samples = np.concatenate([np.ones(48), np.full(48, 0.1), np.zeros(48)]).astype(np.float32)
    assert levels_db(samples, 48) == pytest.approx([0.0, -20.0, -100.0], abs=1e-4)
