"""Two systems on the same turns: difference, interval, wins and losses, what flipped. Pure numbers.

Turn by turn, since the same turns are hard for both; whole clusters are resampled, since the turns
of a scenario hang together. Counterpart: `simulator.report.compare` finds the pairs in two runs.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.report.statistics import RESAMPLES, SEED

EXACT = 12
"""Up to so many clusters, every assignment of signs is tried."""
DRAWS = 10_000
"""Random assignments of signs where there are more clusters."""
TIE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """One turn of two systems."""

    scenario: Hashable
    turn: Hashable
    a: float
    """The mean over A's repeats."""
    b: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """B - A, in the unit of the pairs."""

    n: int
    """Pairs."""
    a: float
    b: float
    """The means of both, over the pairs only."""
    difference: float
    ci95: tuple[float, float] | None
    """Percentile bootstrap over whole clusters; None with fewer than two."""
    p: float | None
    """How often a difference at least as large comes out if A and B change places in whole
    clusters at random (two-sided); None with fewer than two."""
    clusters: int
    clustered_by: str
    """scenario, or turn where there is but one scenario."""
    wins: int
    """Pairs in which B is better."""
    losses: int
    ties: int


def difference(pairs: Sequence[Pair]) -> Difference | None:
    """What sets B apart from A; None without pairs."""
    if not pairs:
        return None
    values = np.array([p.b - p.a for p in pairs])
    sums, counts, by = clusters(pairs, values)
    interval, p = None, None
    if len(sums) >= 2:
        rng = np.random.default_rng(SEED)
        drawn = rng.integers(0, len(sums), size=(RESAMPLES, len(sums)))
        means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
        low, high = np.percentile(means, [2.5, 97.5])
        interval, p = (float(low), float(high)), _p(sums)
    return Difference(
        n=len(pairs),
        a=float(np.mean([p.a for p in pairs])),
        b=float(np.mean([p.b for p in pairs])),
        difference=float(values.mean()),
        ci95=interval,
        p=p,
        clusters=len(sums),
        clustered_by=by,
        wins=int((values > TIE).sum()),
        losses=int((values < -TIE).sum()),
        ties=int((np.abs(values) <= TIE).sum()),
    )


def clusters(
    pairs: Sequence[Pair], values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], str]:
    """(sum of `values`, number of pairs) of each cluster, and what the clusters are."""
    by_scenario = len({p.scenario for p in pairs}) > 1
    keys = [p.scenario if by_scenario else (p.scenario, p.turn) for p in pairs]
    index = {key: n for n, key in enumerate(dict.fromkeys(keys))}
    where = [index[k] for k in keys]
    sums = np.bincount(where, weights=values).astype(np.float64)
    return sums, np.bincount(where).astype(np.float64), "scenario" if by_scenario else "turn"


def _p(sums: NDArray[np.float64]) -> float:
    """Two-sided p of a sign-flip test over clusters."""
    n = len(sums)
    if n <= EXACT:
        bits = np.arange(2**n)[:, None] >> np.arange(n) & 1
        extra = 0
    else:
        bits = np.random.default_rng(SEED).integers(0, 2, size=(DRAWS, n))
        extra = 1  # the assignment that was observed
    totals = np.abs((2 * bits - 1) @ sums)
    reached = int((totals >= abs(sums.sum()) - TIE).sum())
    return (reached + extra) / (len(totals) + extra)
