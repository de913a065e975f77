"""Paired differences: intervals that cover, p that is uniform under no difference."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from simulator.report import paired
from simulator.report.paired import Pair, difference


def pairs(values: list[float], *, size: int = 1) -> list[Pair]:
    """Pairs with these differences, `size` turns a scenario."""
    return [Pair(scenario=n // size, turn=n, a=0.0, b=v) for n, v in enumerate(values)]


def test_nothing_to_compare() -> None:
    assert difference([]) is None


def test_difference_wins_and_losses() -> None:
    found = difference(
        [
            Pair(scenario="s", turn="x", a=0.0, b=1.0),
            Pair(scenario="s", turn="y", a=1.0, b=0.5),
            Pair(scenario="t", turn="x", a=0.5, b=0.5),
        ]
    )
    assert found is not None
    assert found.difference == pytest.approx(0.5 / 3)
    assert (found.wins, found.losses, found.ties) == (1, 1, 1)
    assert (found.clusters, found.clustered_by) == (2, "scenario")
    assert found.a == pytest.approx(0.5)
    assert found.b == pytest.approx(2 / 3)


def test_the_same_twice_is_no_difference() -> None:
    found = difference(pairs([0.0] * 8))
    assert found is not None
    assert (found.difference, found.ci95, found.p) == (0.0, (0.0, 0.0), 1.0)


def test_one_scenario_is_clustered_by_turns_and_one_turn_by_nothing() -> None:
    found = difference([Pair(scenario="s", turn=n, a=0.0, b=1.0) for n in range(5)])
    assert found is not None
    assert (found.clusters, found.clustered_by, found.p) == (5, "turn", 2 / 32)
    single = difference(pairs([1.0]))
    assert single is not None
    assert (single.ci95, single.p) == (None, None)


@pytest.mark.parametrize("exact", [12, 0])
def test_p_agrees_with_scipy(exact: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paired, "EXACT", exact)
    values = [0.4, -0.1, 0.3, 0.5, -0.2, 0.35, 0.1, 0.25, -0.05, 0.15]
    theirs = stats.permutation_test(
        (np.array(values),), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    ours = difference(pairs(values))
    assert ours is not None
    assert ours.p == pytest.approx(theirs.pvalue, abs=0.0 if exact else 0.01)


def test_interval_agrees_with_scipy() -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(0.1, 0.3, 60)
    theirs = stats.bootstrap((values,), np.mean, method="percentile", rng=rng).confidence_interval
    ours = difference(pairs(list(values)))
    assert ours is not None
    assert ours.ci95 == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_clusters_that_hang_together_are_not_taken_for_many_turns() -> None:
    """No true difference, 20 scenarios of 5 turns that move together: 5 % are to be significant."""
    rng = np.random.default_rng(8)
    missed, significant, tried = 0, 0, 100
    for _ in range(tried):
        shift = np.repeat(rng.normal(0, 1, 20), 5)
        found = difference(pairs(list(shift + rng.normal(0, 0.5, 100)), size=5))
        assert found is not None
        assert found.ci95 is not None
        assert found.p is not None
        missed += not found.ci95[0] <= 0 <= found.ci95[1]
        significant += found.p < 0.05
    assert missed <= 12
    assert significant <= 11
