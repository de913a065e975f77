"""pass@k and pass^k against counting every draw."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.report.repeats import Tries, pass_all, pass_at, pass_rates


@given(st.integers(1, 7), st.data())
def test_they_are_the_share_of_draws(scored: int, data: st.DataObject) -> None:
    right = data.draw(st.integers(0, scored))
    k = data.draw(st.integers(1, scored))
    draws = list(combinations([True] * right + [False] * (scored - right), k))
    tries = Tries(right=right, scored=scored)
    assert pass_at(k, tries) == pytest.approx(sum(any(d) for d in draws) / len(draws))
    assert pass_all(k, tries) == pytest.approx(sum(all(d) for d in draws) / len(draws))


def test_more_tries_than_there_are_are_refused() -> None:
    for k in (0, 3):
        with pytest.raises(ValueError, match="tries"):
            pass_at(k, Tries(right=1, scored=2))


def test_turns_with_too_few_scored_tries_are_counted() -> None:
    rates = pass_rates([Tries(right=3, scored=3), Tries(right=1, scored=2)], 3)
    assert [(r.k, r.counted, r.left_out) for r in rates] == [(1, 2, 0), (2, 2, 0), (3, 1, 1)]
    assert (rates[1].at, rates[1].all) == (1.0, 0.5)
    assert pass_rates([Tries(right=1, scored=1)], 1) == ()
