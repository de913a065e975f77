"""Hiss that begins with a reply and goes on is not said."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from simulator.measuring.speech import find
from tests.measuring.test_speech import RATE, noise, through_opus
from tests.measuring.test_tones import AT, clear


def track(
    sounds: Any, pieces: list[tuple[float, Any]], hiss: tuple[float, float], db: float
) -> Any:
    length = round((max(at for at, _ in pieces) + 6) * RATE)
    made = np.zeros(length, np.float32)
    for at, piece in pieces:
        made[round(at * RATE) :][: len(piece)] += piece.astype(np.float32)
    first, last = (round(at * RATE) for at in hiss)
    made[first:last] += noise(10, db)[: last - first]
    return through_opus(sounds, made)


@pytest.mark.parametrize(("level_db", "late"), [(-50, 0.45), (-42, 0.03), (-35, 0.03)])
def test_what_was_said_ends_though_the_hiss_goes_on(
    sounds: Any, level_db: float, late: float
) -> None:
    """Hiss at the gate itself is heard now and then; louder one hides the end of a word."""
    for piece in clear():
        over = AT + len(piece) / RATE
        clean = find(track(sounds, [(AT, piece)], (0, 0), level_db))
        hissed = find(track(sounds, [(AT, piece)], (AT, over + 2.7), level_db))
        assert hissed[0].first / RATE == pytest.approx(AT, abs=0.006)
        assert -0.12 < (hissed[-1].stop - clean[-1].stop) / RATE < late


@pytest.mark.parametrize("level_db", [-48, -40])
def test_a_second_reply_in_the_hiss_begins_where_it_does(sounds: Any, level_db: float) -> None:
    chosen = clear()
    for first, second in itertools.pairwise(chosen):
        at = AT + len(first) / RATE + 1.2
        said = [(AT, first), (at, second)]
        hiss = (AT, at + len(second) / RATE + 1)
        found = find(track(sounds, said, hiss, level_db))
        island = min(found, key=lambda each: abs(each.first / RATE - at))
        assert abs(island.first / RATE - at) <= island.unsure / RATE <= 0.06
        assert not any(
            AT + len(first) / RATE + 0.1 < each.first / RATE < at - 0.1 for each in found
        )


def test_the_end_of_a_word_is_not_cut(sounds: Any) -> None:
    """A hissed s of 250 ms is part of it."""
    piece = clear()[0]
    hissed = np.concatenate([piece, 0.1 * np.max(np.abs(piece)) * noise(0.25, -10)])
    island = find(track(sounds, [(AT, hissed)], (0, 0), -90))[-1]
    assert island.stop / RATE == pytest.approx(AT + len(hissed) / RATE, abs=0.02)
