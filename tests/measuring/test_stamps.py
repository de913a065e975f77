"""Stamps that count at another rate are read at that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator.measuring.sound import Sound
from simulator.measuring.stalls import stalls
from simulator.measuring.stamps import duration, paced
from simulator.measuring.utterances import join, responses
from tests.measuring.test_sound import LOOK_AHEAD, log_of


@pytest.mark.parametrize("rate", [24_000, 16_000, 8_000, 44_100, 48_000, 96_000])
@pytest.mark.parametrize("first", [0, 2**32 - 30_000])
def test_a_voice_is_where_it_is_at_any_rate_of_the_stamps(
    sounds: Any, rate: int, first: int
) -> None:
    payloads = sounds.opus(sounds.placed(9.0, (2.0, sounds.voice(1.0)), (6.0, sounds.voice(0.7))))
    count = np.arange(len(payloads))
    stamps = (first + np.round(count * 0.02 * rate).astype(np.int64)) % 2**32
    late = np.random.default_rng(1).exponential(0.001, len(count))
    sound = Sound(log_of(payloads, np.maximum.accumulate(1.0 + 0.02 * count + late), stamps))
    runs = join(sound.islands(), 0.7)
    assert [r.start - LOOK_AHEAD for r in runs] == pytest.approx([3.0, 7.0], abs=0.004)
    assert [r.end - LOOK_AHEAD for r in runs] == pytest.approx([4.0, 7.7], abs=0.015)
    assert stalls(sound.stretches, responses((), runs)) == ()
    assert sound.lost == 0


def test_what_counts_as_it_should_is_left_alone(sounds: Any) -> None:
    """Also where it stands still, jumps, or leaves silence out."""
    payloads = sounds.opus(sounds.placed(4.0, (1.0, sounds.voice(2.0))))
    count = np.arange(len(payloads))
    for stamps in (
        960 * count,
        960 * (count // 3 * 3),
        960 * count + 77_777 * (count > 90),
        960 * np.where(count > 60, 60 + (count - 60) * 1.005, count).astype(np.int64),
    ):
        log = log_of(payloads, 0.02 * count, stamps)
        assert paced(log) is log


@pytest.mark.parametrize(
    ("head", "samples"),
    [
        (b"", 0),
        (bytes([31 << 3]), 960),
        (bytes([16 << 3]), 120),
        (bytes([3 << 3]), 2_880),
        (bytes([13 << 3 | 1]), 1_920),
        (bytes([31 << 3 | 3, 3]), 2_880),
        (bytes([31 << 3 | 3]), 0),
    ],
)
def test_how_long_a_packet_says_it_is(head: bytes, samples: int) -> None:
    assert duration(head) == samples


def test_so_long_is_what_an_encoder_makes(sounds: Any) -> None:
    assert {duration(p[:2]) for p in sounds.opus(sounds.voice(0.5))} == {960}
