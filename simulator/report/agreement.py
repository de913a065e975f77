"""How far judges agree: Pearson, Krippendorff's alpha, exact matches, bias, each with an interval.

All are functions of sums, so a bootstrap over clusters is one product of matrices. Scores are
points from 0 to 5. Pure. Counterparts: `simulator.report.panel` reads the scores of a run,
`simulator.cli.agreement` prints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Column = NDArray[np.float64]
"""One rater's points on all turns; NaN where there are none."""
_Sums = NDArray[np.float64]
"""Sums in the last axis, a row for each resampling."""

RESAMPLES = 2_000
SEED = 7
LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number with its 95 % interval (percentile bootstrap, clustered)."""

    value: float | None
    """None if it is not defined: too few turns, or no variance."""
    low: float | None = None
    high: float | None = None
    """None as well where there are too few clusters to say."""
    turns: int = 0


def clusters_of(names: Sequence[str]) -> NDArray[np.intp]:
    """The cluster of each turn as a number, by its scenario."""
    return np.unique(np.array(names, dtype=object).astype(str), return_inverse=True)[1]


def pearson(a: Column, b: Column, clusters: NDArray[np.intp]) -> Figure:
    """Pearson's correlation over the turns that both have."""

    def of(s: _Sums) -> NDArray[np.float64]:
        n, x, y, xx, yy, xy = np.moveaxis(s, -1, 0)
        spread = (n * xx - x * x) * (n * yy - y * y)
        # Sums of points lose some 1e-12 of their square: below that there is no variance.
        flat = spread <= 1e-9 * (n * xx + 1) * (n * yy + 1)
        return np.where(flat, np.nan, (n * xy - x * y) / np.sqrt(np.where(flat, 1.0, spread)))

    return _figure([a, b], lambda x, y: [np.ones_like(x), x, y, x * x, y * y, x * y], of, clusters)


def exact_match(a: Column, b: Column, clusters: NDArray[np.intp]) -> Figure:
    """Share of turns on which both give the same whole points."""
    return _mean(
        [np.floor(a + 0.5), np.floor(b + 0.5)], lambda x, y: (x == y).astype(float), clusters
    )


def bias(a: Column, b: Column, clusters: NDArray[np.intp]) -> Figure:
    """Mean of `a - b`, in points."""
    return _mean([a, b], lambda x, y: x - y, clusters)


def slope(x: Column, y: Column, clusters: NDArray[np.intp]) -> Figure:
    """Least-squares slope of `y` over `x`."""

    def of(s: _Sums) -> NDArray[np.float64]:
        n, sx, sy, xx, xy = np.moveaxis(s, -1, 0)
        spread = n * xx - sx * sx
        flat = spread <= 1e-9 * (n * xx + 1)
        return np.where(flat, np.nan, (n * xy - sx * sy) / np.where(flat, 1.0, spread))

    return _figure([x, y], lambda x, y: [np.ones_like(x), x, y, x * x, x * y], of, clusters)


def alpha(raters: Sequence[Column], clusters: NDArray[np.intp]) -> Figure:
    """Krippendorff's alpha for interval data, over turns with two ratings or more.

    1 - Do/De, with Do the mean squared difference of pairs within turns and De that of all pairs
    (Krippendorff, Content Analysis, ch. 12). Gaps are allowed.
    """
    table = np.array(raters)
    there = ~np.isnan(table)
    rated = there.sum(axis=0)
    usable = rated >= 2
    table, there, rated = table[:, usable], there[:, usable], rated[usable].astype(float)
    values = np.where(there, table, 0.0)
    s1, s2 = values.sum(axis=0), (values**2).sum(axis=0)
    within = 2 * (rated * s2 - s1 * s1) / (rated - 1) if len(rated) else rated

    def of(s: _Sums) -> NDArray[np.float64]:
        n, within, s1, s2 = np.moveaxis(s, -1, 0)
        spread = 2 * (n * s2 - s1 * s1)
        flat = spread <= 1e-9 * (n * s2 + 1)
        return np.where(flat, np.nan, 1 - within * (n - 1) / np.where(flat, 1.0, spread))

    return _interval(np.stack([rated, within, s1, s2], axis=-1), of, clusters[usable])


def _mean(
    columns: Sequence[Column], each: Callable[..., Column], clusters: NDArray[np.intp]
) -> Figure:
    def of(s: _Sums) -> NDArray[np.float64]:
        n, total = np.moveaxis(s, -1, 0)
        return np.where(n > 0, total / np.where(n > 0, n, 1), np.nan)

    return _figure(columns, lambda *c: [np.ones_like(c[0]), each(*c)], of, clusters)


def _figure(
    columns: Sequence[Column],
    terms: Callable[..., list[Column]],
    of: Callable[[_Sums], NDArray[np.float64]],
    clusters: NDArray[np.intp],
) -> Figure:
    """A figure over the turns that all columns have."""
    both = ~np.isnan(np.array(columns)).any(axis=0)
    made = terms(*(c[both] for c in columns))
    return _interval(np.stack(made, axis=-1), of, clusters[both])


def _interval(
    terms: NDArray[np.float64],
    of: Callable[[_Sums], NDArray[np.float64]],
    clusters: NDArray[np.intp],
) -> Figure:
    """The figure of the sums of `terms` (turns by terms), with its interval over clusters."""
    turns = len(terms)
    if turns < 2:
        return Figure(value=None, turns=turns)
    value = float(of(terms.sum(axis=0)))
    if np.isnan(value):
        return Figure(value=None, turns=turns)
    names, index = np.unique(clusters, return_inverse=True)
    sums = np.zeros((len(names), terms.shape[1]))
    np.add.at(sums, index, terms)
    if len(names) < 3:
        return Figure(value=value, turns=turns)
    random = np.random.default_rng(SEED)
    draws = random.multinomial(len(names), np.full(len(names), 1 / len(names)), RESAMPLES)
    found = of(draws @ sums)
    found = found[~np.isnan(found)]
    if len(found) < RESAMPLES / 2:
        return Figure(value=value, turns=turns)
    low, high = np.quantile(found, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Figure(value=value, low=float(low), high=float(high), turns=turns)
