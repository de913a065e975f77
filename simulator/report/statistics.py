"""Means with their intervals, coverage and bounds; percentiles. Pure numbers.

Counterpart: `simulator.report.part` decides what is counted.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

RESAMPLES = 2000
SEED = 20260101
"""The same run gets the same interval each time it is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredUnit:
    """One planned turn as the mean sees it."""

    score: float | None
    """0 to 1; None if it was not scored."""
    scenario: Hashable
    turn: Hashable
    """The turn's name within its scenario, the same in each repeat."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A mean that hides nothing, from 0 to 100."""

    mean: float | None
    """Over the scored turns; None if there are none."""
    ci95: tuple[float, float] | None
    """95 % interval of the mean; None with fewer than two clusters."""
    coverage: float
    """Scored turns of planned turns, 0 to 1; 1 if nothing was planned."""
    low: float
    """The mean if every turn that was not scored had got 0."""
    high: float
    """The mean if every turn that was not scored had got full marks."""
    planned: int
    scored: int
    clustered_by: str | None
    """What was resampled for the interval: scenario, or turn where there is but one scenario."""


def score_of(units: Sequence[ScoredUnit]) -> Score:
    """The score of planned turns.

    Interval: percentile bootstrap over whole clusters (RESAMPLES draws, seeded), since turns of one
    scenario share its picture, its agent's session and its author. Clusters are scenarios; with a
    single scenario they are its turns (a turn with all its repeats), which says how the score would
    vary over other turns of that scenario, not over other scenarios.
    """
    planned = len(units)
    got = [u.score for u in units if u.score is not None]
    scored, total = len(got), float(sum(got))
    interval, by = _interval([u for u in units if u.score is not None])
    return Score(
        mean=100 * total / scored if scored else None,
        ci95=interval,
        coverage=scored / planned if planned else 1.0,
        low=100 * total / planned if planned else 0.0,
        high=100 * (total + (planned - scored)) / planned if planned else 100.0,
        planned=planned,
        scored=scored,
        clustered_by=by,
    )


def withheld(score: Score) -> Score:
    """A score that says how much was scored and nothing of how well."""
    return replace(score, mean=None, ci95=None, low=0.0, high=100.0, clustered_by=None)


def _interval(units: Sequence[ScoredUnit]) -> tuple[tuple[float, float] | None, str | None]:
    by_scenario = len({u.scenario for u in units}) > 1
    sums: dict[Hashable, float] = {}
    counts: dict[Hashable, int] = {}
    for unit in units:
        key = unit.scenario if by_scenario else unit.turn
        sums[key] = sums.get(key, 0.0) + (unit.score or 0.0)
        counts[key] = counts.get(key, 0) + 1
    if len(sums) < 2:
        return None, None
    total = np.array([sums[k] for k in sums])
    count = np.array([counts[k] for k in sums])
    rng = np.random.default_rng(SEED)
    drawn = rng.integers(0, len(total), size=(RESAMPLES, len(total)))
    means = total[drawn].sum(axis=1) / count[drawn].sum(axis=1)
    low, high = np.percentile(100 * means, [2.5, 97.5])
    return (float(low), float(high)), "scenario" if by_scenario else "turn"


def percentile(values: Sequence[float], q: float) -> float | None:
    """The q-th percentile (0 to 100), linear between order statistics; None of nothing.

    With n sorted values x[0..n-1] it is the value at position q/100 * (n - 1), which for p95 of
    fewer than 20 values lies between the two largest.
    """
    if not values:
        return None
    return float(np.percentile(np.asarray(values, dtype=float), q, method="linear"))


def weighted_mean(values: Sequence[float], weights: Sequence[float]) -> float:
    """The mean of group means weighted by their sizes: the mean over all that are in the groups.

    Raises ValueError for different lengths or weights that add up to nothing.
    """
    if len(values) != len(weights) or sum(weights) <= 0:
        raise ValueError("one weight for each value, and some weight in all")
    return float(np.dot(values, weights) / np.sum(weights))
