"""How many turns: against the exact power of the paired t test, and against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from simulator.report.power import (
    Spread,
    design_effect,
    difference_shown,
    spread_of_one,
    turns_needed,
)


def exact_power(n: int, effect: float, alpha: float) -> float:
    """Of a two-sided paired t test, by the noncentral t distribution."""
    limit, shift = stats.t.ppf(1 - alpha / 2, n - 1), effect * math.sqrt(n)
    return float(stats.nct.sf(limit, n - 1, shift) + stats.nct.cdf(-limit, n - 1, shift))


@pytest.mark.parametrize("d", [2.0, 5.0, 10.0, 20.0, 40.0])
@pytest.mark.parametrize(("alpha", "power"), [(0.05, 0.8), (0.05, 0.95), (0.01, 0.9)])
def test_it_is_the_exact_number_within_one_turn(d: float, alpha: float, power: float) -> None:
    n = turns_needed(d, Spread(sd=40.0), alpha=alpha, power=power)
    assert exact_power(n + 1, d / 40, alpha) >= power
    assert exact_power(n - 1, d / 40, alpha) < power


def test_known_figures() -> None:
    # (1.95996 + 0.84162)^2 * 100 + 1.92 = 786.81: a tenth of a standard deviation.
    assert turns_needed(5, Spread(sd=50)) == 787
    assert turns_needed(5, Spread(sd=50, design_effect=2.0)) == 1574
    assert turns_needed(1000, Spread(sd=1)) == 2
    assert difference_shown(787, Spread(sd=50)) == pytest.approx(5.0, abs=0.01)
    assert difference_shown(1, Spread(sd=50)) is None


@pytest.mark.parametrize(
    ("d", "alpha", "power"),
    [(0, 0.05, 0.8), (-1, 0.05, 0.8), (math.nan, 0.05, 0.8), (5, 0, 0.8), (5, 0.05, 1), (5, 2, 3)],
)
def test_senseless_wishes(d: float, alpha: float, power: float) -> None:
    with pytest.raises(ValueError, match=r"difference|alpha"):
        turns_needed(d, Spread(sd=50), alpha=alpha, power=power)


def test_design_effect() -> None:
    assert design_effect([1.0, 0.0, 1.0, 0.0], "abcd") == 1.0
    assert design_effect([1.0, 1.0, 1.0], "abc") == 1.0
    assert design_effect([1.0, 0.0], "aa") == 1.0
    # Turns that are all alike within their scenario are one observation each scenario.
    rng = np.random.default_rng(1)
    alike = np.repeat(rng.normal(0, 1, 200), 5)
    assert design_effect(list(alike), list(np.repeat(range(200), 5))) == pytest.approx(5, rel=0.01)
    loose = rng.normal(0, 1, 1000)
    assert design_effect(list(loose), list(np.repeat(range(200), 5))) == pytest.approx(1, abs=0.2)


def test_spread_of_two_systems() -> None:
    assert spread_of_one(30.0, correlation=0.5) == pytest.approx(30.0)
    assert spread_of_one(30.0, correlation=0.0) == pytest.approx(30 * math.sqrt(2))
