"""Speech-like sound is taken for speech, begins at once, and lasts as long as the words would."""

from __future__ import annotations

import numpy as np
import pytest
import webrtcvad

from simulator.bridge.babble import WORDS_PER_SECOND, babble, syllables
from simulator.protocol.samples import RATE

TEXTS = ["There are three bottles.", "No.", "3", "", "Put the left one back where it was before."]


@pytest.mark.parametrize("text", TEXTS)
def test_it_sounds_like_speech_to_a_detector(text: str) -> None:
    samples = babble(text)
    for size in (RATE // 100, RATE // 50):
        vad = webrtcvad.Vad(2)
        frames = [samples[i : i + size] for i in range(0, len(samples) - size + 1, size)]
        assert sum(vad.is_speech(f.tobytes(), RATE) for f in frames) > 0.9 * len(frames)


@pytest.mark.parametrize("text", TEXTS)
def test_it_begins_at_once_and_is_loud_enough(text: str) -> None:
    samples = babble(text).astype(np.float64) / 32768
    assert np.abs(samples[: RATE // 2000]).max() > 0.01  # within half a millisecond
    assert -24 < 20 * np.log10(np.sqrt(np.mean(samples**2))) < -16
    assert np.abs(samples).max() < 0.95


def test_its_length_is_that_of_the_words() -> None:
    assert len(babble("one two three four five")) == pytest.approx(5 / WORDS_PER_SECOND * RATE, 1)
    assert syllables("potato isn't 42") == [3, 1, 2]


def test_the_same_words_sound_the_same_and_others_do_not() -> None:
    assert np.array_equal(babble("hello there"), babble("hello there"))
    assert not np.array_equal(babble("hello there"), babble("hello where"))
