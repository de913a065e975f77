"""How far judges agree: against textbook values, and against scipy-free formulas by hand."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.report.agreement import alpha, bias, clusters_of, exact_match, pearson, slope

NAN = float("nan")


def alone(n: int) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Every turn a cluster of its own."""
    return np.arange(n)


def test_alpha_is_krippendorffs_own_example() -> None:
    """Reliability data C of `Computing Krippendorff's Alpha-Reliability` (2011): interval 0.849."""
    coders = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
    found = alpha([np.array(c, dtype=float) for c in coders], alone(12))
    assert found.value == pytest.approx(0.849, abs=0.0005)
    assert found.turns == 11
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.849 < found.high


def test_pearson_slope_bias_and_matches() -> None:
    random = np.random.default_rng(1)
    a = random.integers(0, 6, 300).astype(np.float64)
    b = np.clip(a + random.integers(-1, 2, 300), 0, 5).astype(np.float64)
    where = clusters_of([f"s{n // 5}" for n in range(300)])
    assert pearson(a, b, where).value == pytest.approx(np.corrcoef(a, b)[0, 1])
    assert slope(a, b, where).value == pytest.approx(np.polyfit(a, b, 1)[0])
    assert bias(a, b, where).value == pytest.approx((a - b).mean())
    assert exact_match(a, b, where).value == pytest.approx((a == b).mean())
    figure = pearson(a, b, where)
    assert figure == pearson(a, b, where)
    assert figure.low is not None
    assert figure.high is not None
    assert 0 < figure.high - figure.low < 0.15


def test_perfect_and_opposite_judges() -> None:
    a = np.array([0.0, 1, 2, 3, 4, 5])
    assert pearson(a, a, alone(6)).value == pytest.approx(1)
    assert pearson(a, 5 - a, alone(6)).value == pytest.approx(-1)
    assert alpha([a, a], alone(6)).value == pytest.approx(1)
    assert alpha([a, 5 - a], alone(6)).value == pytest.approx(-0.8333, abs=1e-3)


def test_what_is_not_defined_is_none_and_not_a_warning() -> None:
    flat, a = np.full(6, 3.0), np.arange(6.0)
    gap = np.full(6, NAN)
    for x in (flat, gap):
        assert pearson(a, x, alone(6)).value is None
        assert pearson(x, x, alone(6)).value is None
    assert alpha([flat, flat], alone(6)).value is None
    assert alpha([a, gap], alone(6)).value is None
    assert bias(a, gap, alone(6)).value is None
    two = pearson(a, a, clusters_of(["s"] * 3 + ["t"] * 3))
    assert two.value == pytest.approx(1)
    assert two.low is None
    tenths = np.full(700, 0.1)
    assert pearson(tenths, np.arange(700.0), alone(700)).value is None


def test_turns_that_one_lacks_are_left_out_of_the_pair() -> None:
    a, b = np.array([1.0, 2, NAN, 4, 5]), np.array([1.0, NAN, 3, 4, 4])
    assert bias(a, b, alone(5)).turns == 3
    assert exact_match(a, b, alone(5)).value == pytest.approx(2 / 3)
