"""Means, intervals, coverage and bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.report.statistics import ScoredUnit, percentile, score_of


def units(*scores: float | None, scenario: str = "s") -> list[ScoredUnit]:
    return [ScoredUnit(score=s, scenario=scenario, turn=n) for n, s in enumerate(scores)]


def test_bounds_count_the_missing_at_nothing_and_at_full() -> None:
    score = score_of(units(1.0, 0.5, None, None))
    assert score.mean == 75.0
    assert (score.coverage, score.planned, score.scored) == (0.5, 4, 2)
    assert (score.low, score.high) == (37.5, 87.5)


def test_nothing_scored_and_nothing_planned() -> None:
    score = score_of(units(None, None))
    assert (score.mean, score.ci95, score.coverage) == (None, None, 0.0)
    assert (score.low, score.high) == (0.0, 100.0)
    assert score_of([]).coverage == 1.0


def test_interval_of_scenarios_is_wider_than_their_turns_suggest() -> None:
    """Ten turns that are all alike within two scenarios are two observations, not twenty."""
    alike = units(*[1.0] * 10, scenario="a") + units(*[0.0] * 10, scenario="b")
    score = score_of(alike)
    assert score.clustered_by == "scenario"
    assert score.ci95 == (0.0, 100.0)
    assert score.mean == 50.0


def test_one_scenario_is_clustered_by_its_turns() -> None:
    score = score_of(units(1.0, 0.0, 1.0, 0.0))
    assert score.clustered_by == "turn"
    assert score.ci95 == (0.0, 100.0)
    repeated = score_of(units(1.0, 0.0) * 50)
    assert repeated.ci95 == (0.0, 100.0), "repeats of two turns are two clusters"


def test_a_single_cluster_has_no_interval() -> None:
    score = score_of(units(0.5))
    assert (score.ci95, score.clustered_by) == (None, None)


def test_interval_agrees_with_the_normal_one_for_many_clusters() -> None:
    values = [(n % 10) / 9 for n in range(200)]
    score = score_of(units(*values))
    assert score.ci95 is not None
    # Standard deviation of 0, 1/9, ..., 1 is 0.3191; 1.96 * 0.3191 / sqrt(200) = 0.0442.
    assert score.ci95[0] == pytest.approx(50 - 4.42, abs=0.5)
    assert score.ci95[1] == pytest.approx(50 + 4.42, abs=0.5)


def test_the_same_run_gets_the_same_interval() -> None:
    values = units(0.1, 0.9, 0.4, None, 1.0)
    assert score_of(values) == score_of(values)


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=40), st.integers(1, 4))
def test_bounds_hold_the_mean(scores: list[float | None], scenarios: int) -> None:
    mixed = [
        ScoredUnit(score=s, scenario=n % scenarios, turn=n // scenarios)
        for n, s in enumerate(scores)
    ]
    score = score_of(mixed)
    assert 0.0 <= score.coverage <= 1.0
    assert 0.0 <= score.low <= score.high <= 100.0 + 1e-9
    if score.mean is not None:
        assert score.low - 1e-9 <= score.mean <= score.high + 1e-9
    if score.ci95 is not None:
        assert 0.0 <= score.ci95[0] <= score.ci95[1] <= 100.0 + 1e-9


def test_percentiles_are_linear_between_order_statistics() -> None:
    assert percentile([], 50) is None
    assert percentile([3.0], 95) == 3.0
    assert percentile([1.0, 2.0], 50) == 1.5
    assert percentile([4.0, 1.0, 3.0, 2.0], 95) == pytest.approx(3.85)
