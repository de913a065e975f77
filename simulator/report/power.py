"""How many turns a comparison takes, before anything is played. Pure numbers.

A paired comparison of n independent turns with standard deviation s of the differences shows a true
difference d (two-sided test at alpha) with probability `power` if

    n = ((z[1 - alpha/2] + z[power]) * s / d)^2 + z[1 - alpha/2]^2 / 2

(the normal approximation, corrected for the t distribution after Guenther 1981, Am. Stat. 35).
Turns of one scenario are not independent: n is multiplied by the design effect (Kish 1965).
Counterpart: `simulator.cli.power` takes s and the design effect from runs.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

WORST_SD = 50.0
"""Standard deviation, in points of 100, of turns that are right or wrong at even odds."""
CORRELATION = 0.5
"""How alike two systems' scores on one turn are taken to be where nothing was measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """How differences scatter from turn to turn."""

    sd: float
    """Standard deviation of the paired differences, in points of 100."""
    design_effect: float = 1.0
    """How many turns of these scenarios tell as much as one independent turn; at least 1."""
    said: str = ""
    """Where the two come from."""


def turns_needed(d: float, spread: Spread, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Turns that show a true difference of `d` points of 100. Raises ValueError for senseless d,
    alpha or power (allowed: d > 0, alpha in (0, 1), power in (alpha, 1))."""
    z_alpha, z_power = _z(alpha, power)
    if not d > 0 or not math.isfinite(d):
        raise ValueError(f"a difference of {d:g} points")
    independent = ((z_alpha + z_power) * spread.sd / d) ** 2 + z_alpha**2 / 2
    return max(2, math.ceil(independent * spread.design_effect - 1e-9))


def difference_shown(
    turns: int, spread: Spread, *, alpha: float = 0.05, power: float = 0.8
) -> float | None:
    """The smallest true difference that so many turns show, in points; None if they are too few."""
    z_alpha, z_power = _z(alpha, power)
    left = turns / spread.design_effect - z_alpha**2 / 2
    return (z_alpha + z_power) * spread.sd / math.sqrt(left) if left > 0 else None


def _z(alpha: float, power: float) -> tuple[float, float]:
    if not 0 < alpha < 1:
        raise ValueError(f"alpha {alpha:g} is not between 0 and 1")
    if not alpha < power < 1:
        raise ValueError(f"power {power:g} is not between alpha ({alpha:g}) and 1")
    normal = NormalDist()
    return normal.inv_cdf(1 - alpha / 2), normal.inv_cdf(power)


def design_effect(values: Sequence[float], clusters: Sequence[Hashable]) -> float:
    """Variance of the mean as clusters have it over that of independent values; at least 1.

    With residuals e: sum over clusters of (sum of e)^2, over the sum of e^2, each with the usual
    correction for its number of free terms. 1 where fewer than two clusters leave it unknown.
    """
    index = {c: n for n, c in enumerate(dict.fromkeys(clusters))}
    groups, n = len(index), len(values)
    if groups < 2 or n < 3:
        return 1.0
    rest = np.asarray(values, dtype=float) - float(np.mean(values))
    single = float((rest**2).sum()) / (n - 1)
    if single <= 0:
        return 1.0
    sums = np.bincount([index[c] for c in clusters], weights=rest)
    whole = float((sums**2).sum()) / (groups - 1) * groups / n
    return max(1.0, whole / single)


def spread_of_one(sd: float, *, correlation: float = CORRELATION) -> float:
    """Standard deviation of paired differences of two systems that scatter by `sd` each."""
    return sd * math.sqrt(2 * (1 - correlation))
