"""How sure a right answer is: pass@k and pass^k over repeats. Pure numbers.

With n tries of which c are right, and k of them drawn without putting back:

- pass@k, at least one of k is right: 1 - C(n-c, k) / C(n, k)  (Chen et al. 2021, arXiv 2107.03374)
- pass^k, all of k are right: C(c, k) / C(n, k)  (Yao et al. 2024, arXiv 2406.12045)

Both are unbiased for each turn, and are then averaged over turns. Counterpart:
`simulator.report.part` says which tries belong together.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

MOST = 10
"""Largest k that is reported."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tries:
    """What became of the repeats of one turn (or scenario)."""

    right: int
    scored: int
    """Of the planned repeats; the others could not be scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassRate:
    """Means over turns, 0 to 1."""

    k: int
    at: float
    """pass@k: at least one of k tries is right."""
    all: float
    """pass^k: all of k tries are right."""
    counted: int
    """Turns with at least k scored tries, which the means are over."""
    left_out: int
    """Turns with fewer."""


def pass_at(k: int, tries: Tries) -> float:
    """The chance that k of the tries hold a right one. Raises ValueError for k beyond them."""
    _check(k, tries)
    return 1.0 - math.comb(tries.scored - tries.right, k) / math.comb(tries.scored, k)


def pass_all(k: int, tries: Tries) -> float:
    """The chance that k of the tries are all right. Raises ValueError for k beyond them."""
    _check(k, tries)
    return math.comb(tries.right, k) / math.comb(tries.scored, k)


def _check(k: int, tries: Tries) -> None:
    if not 1 <= k <= tries.scored or not 0 <= tries.right <= tries.scored:
        raise ValueError(f"k={k} of {tries.scored} tries with {tries.right} right")


def pass_rates(tries: Sequence[Tries], repeats: int) -> tuple[PassRate, ...]:
    """The rates for k = 1 up to the planned repeats (at most MOST); none without repeats."""
    if repeats < 2:
        return ()
    out = []
    for k in range(1, min(repeats, MOST) + 1):
        own = [t for t in tries if t.scored >= k]
        if own:
            out.append(
                PassRate(
                    k=k,
                    at=sum(pass_at(k, t) for t in own) / len(own),
                    all=sum(pass_all(k, t) for t in own) / len(own),
                    counted=len(own),
                    left_out=len(tries) - len(own),
                )
            )
    return tuple(out)
