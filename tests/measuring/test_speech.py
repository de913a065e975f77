"""Edges of sound to the millisecond, and what is not speech."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator.measuring.levels import levels_db
from simulator.measuring.speech import find, islands

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


def noise(seconds: float, level_db: float, seed: int = 3) -> Any:
    wave = np.random.default_rng(seed).normal(0, 10 ** (level_db / 20), round(seconds * RATE))
    return wave.astype(np.float32)


def swelling_hiss(sounds: Any) -> Any:
    return noise(2.0, -50) * np.minimum(1, np.linspace(0, 4, 2 * RATE)).astype(np.float32)


def breath(sounds: Any) -> Any:
    """300 ms, and a moment of nothing."""
    taken = noise(0.3, -38) * np.sin(np.linspace(0, np.pi, round(0.3 * RATE))).astype(np.float32)
    return np.concatenate([np.zeros(round(1.66 * RATE), np.float32), taken, sounds.silence(0.04)])


def step_of_noise(sounds: Any) -> Any:
    return np.concatenate([sounds.silence(1.0), noise(1.0, -42)])


@pytest.mark.parametrize("lead", [swelling_hiss, breath, step_of_noise])
def test_an_onset_is_the_voice_and_what_leads_up_to_it_is_beside_it(sounds: Any, lead: Any) -> None:
    track = np.concatenate([lead(sounds), sounds.voice(0.8), sounds.silence(2.0)])
    (island,) = find(through_opus(sounds, track))
    assert island.first / RATE == pytest.approx(2.0, abs=0.008)
    assert abs(island.first / RATE - 2.0) <= island.unsure / RATE <= 0.03
    assert island.sound is not None
    assert island.sound / RATE < 1.98


def test_what_begins_at_once_has_nothing_before_it(sounds: Any) -> None:
    (island,) = find(through_opus(sounds, sounds.placed(3.0, (1.0, sounds.voice(0.8)))))
    assert island.sound is None
    assert island.unsure / RATE < 0.005


def test_a_consonant_is_no_breath(sounds: Any) -> None:
    sibilant = noise(0.12, -28)
    word = np.concatenate([sibilant, sounds.voice(0.8)])
    island = find(through_opus(sounds, sounds.placed(3.0, (1.0, word))))[0]
    assert island.first / RATE == pytest.approx(1.0, abs=0.004)
    assert island.sound is None


def test_hum_is_no_utterance_and_a_voice_over_it_is_one(sounds: Any) -> None:
    hum = (
        10 ** (-40 / 20) * 2**0.5 * np.sin(np.arange(25 * RATE) * 2 * np.pi * 100 / RATE)
    ).astype(np.float32)
    assert islands(hum) == []
    found = find(hum + sounds.placed(25.0, (12.0, sounds.voice(1.0))))
    assert found[0].first / RATE == pytest.approx(12.0, abs=0.008)
    assert found[-1].stop / RATE == pytest.approx(13.0, abs=0.03)


def test_the_floor_is_not_taken_from_the_speech_itself(sounds: Any) -> None:
    """Replies back to back, with 6 % of silence in all: each edge is where it is."""
    faint, loud = sounds.voice(0.9, level=0.02), sounds.voice(1.0)
    voices = [(0.1, faint), *((1.06 + 1.06 * k, loud) for k in range(8)), (9.54, faint)]
    found = islands(through_opus(sounds, sounds.placed(10.5, *voices)))
    assert [a / RATE for a, _ in found] == pytest.approx([at for at, _ in voices], abs=0.003)
    ends = [at + len(voice) / RATE for at, voice in voices]
    assert [b / RATE for _, b in found] == pytest.approx(ends, abs=0.015)


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
