"""Where speech begins and ends, on made-up and on real speech."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.bridge.babble import babble
from simulator.bridge.vad import FRAME, Edge, SpeechDetector
from simulator.protocol.samples import RATE, MonoInt16


def edges(detector: SpeechDetector, samples: MonoInt16) -> list[Edge]:
    out = []
    for i in range(0, len(samples) - FRAME + 1, FRAME):
        out += detector.feed(samples[i : i + FRAME], i / RATE)
    return out


def placed(at: float, spoken: MonoInt16, total: float, noise: float = 0.0) -> MonoInt16:
    made = np.random.default_rng(1).normal(0, 1, round(total * RATE)) * 32768 * 10 ** (noise / 20)
    if not noise:
        made[:] = 0
    first = round(at * RATE)
    made[first : first + len(spoken)] += spoken
    return made.astype(np.int16)


@pytest.mark.parametrize("at", [0.5, 0.5133, 1.2077])
def test_edges_are_those_of_the_sound(at: float) -> None:
    spoken = babble("How many are left?")
    found = edges(SpeechDetector(), placed(at, spoken, 4.0))
    assert [e.edge for e in found] == ["start", "end"]
    assert found[0].time == pytest.approx(at, abs=0.001)
    # The last 12 ms fade out: what is 30 dB under the voice is not audible any more.
    assert found[1].time == pytest.approx(at + len(spoken) / RATE, abs=0.004)
    assert 0.2 < found[1].found - found[1].time < 0.3


def test_a_noisy_room_moves_them_by_little() -> None:
    spoken = babble("How many are left?")
    found = edges(SpeechDetector(), placed(2.0, spoken, 5.0, noise=-50.0))
    assert [e.edge for e in found] == ["start", "end"]
    assert found[0].time == pytest.approx(2.0, abs=0.01)
    assert found[1].time == pytest.approx(2.0 + len(spoken) / RATE, abs=0.02)


def test_noise_alone_is_no_speech() -> None:
    assert edges(SpeechDetector(), placed(0, np.zeros(1, np.int16), 4.0, noise=-45.0)) == []


def test_a_pause_shorter_than_the_hangover_does_not_end_it() -> None:
    spoken = babble("How many")
    gap = np.zeros(round(0.2 * RATE), np.int16)
    joined = np.concatenate([spoken, gap, spoken])
    assert len(edges(SpeechDetector(), placed(0.5, joined, 4.0))) == 2
    assert len(edges(SpeechDetector(hangover=0.12), placed(0.5, joined, 4.0))) == 4


def test_a_click_is_a_sound_but_no_speech() -> None:
    click = (np.sin(np.arange(480) / 6) * 16000).astype(np.int16)
    samples = placed(0.7041, click, 2.0)
    assert edges(SpeechDetector(), samples) == []
    found = edges(SpeechDetector(kind="sound", hangover=0.1), samples)
    assert [e.edge for e in found] == ["start", "end"]
    assert found[0].time == pytest.approx(0.7041, abs=0.0005)
    assert found[0].found - found[0].time <= FRAME / RATE
