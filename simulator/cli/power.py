"""`omnistage power`: how many turns a comparison takes, from what runs have shown, or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import stdev

from rich.console import Console

from simulator.errors import InputError
from simulator.report.compare import compare, side_of
from simulator.report.paired import Pair
from simulator.report.power import (
    WORST_SD,
    Spread,
    design_effect,
    difference_shown,
    spread_of_one,
    turns_needed,
)

TURNS = (50, 100, 200, 400, 685, 1000, 2000)
"""Sizes for which the smallest difference is shown; 685 are the scored turns of OmniAssistBench."""


def show_power(
    differences: Sequence[float],
    runs: Sequence[Path],
    *,
    agents: tuple[str | None, str | None],
    sd: float | None,
    correlation: float,
    alpha: float,
    power: float,
    mix: bool = False,
) -> int:
    """Print turns for each difference, and differences for some numbers of turns."""
    if len(runs) > 2:
        raise InputError(f"{len(runs)} runs were named", hint="name one run, or two to be compared")
    if sd is not None and not 0 < sd <= 100:
        raise InputError(f"--sd {sd:g} is not between 0 and 100 points")
    if not -1 <= correlation < 1:
        raise InputError(f"--correlation {correlation:g} is not from -1 to below 1")
    spread = _spread(runs, agents, sd, correlation, mix)
    if spread.sd <= 0:
        raise InputError("no score differs from turn to turn", hint="give a guess with --sd")
    console = Console(soft_wrap=True, highlight=False)
    try:
        needed = [(d, turns_needed(d, spread, alpha=alpha, power=power)) for d in differences]
        shown = [(n, difference_shown(n, spread, alpha=alpha, power=power)) for n in TURNS]
    except ValueError as error:
        raise InputError(f"cannot be computed: {error}") from None
    console.print(
        f"Standard deviation of paired differences {spread.sd:.1f} points, design effect "
        f"{spread.design_effect:.2f}: {spread.said}."
    )
    console.print(f"To be shown with power {power:g} at alpha {alpha:g}, two-sided, paired:")
    for d, n in needed:
        console.print(f"  a difference of {d:g} points takes {n} turns")
    for n, least in shown:
        if least is not None and least <= 100:
            console.print(f"  {n} turns show a difference of {least:.1f} points")
    return 0


def _spread(
    runs: Sequence[Path],
    agents: tuple[str | None, str | None],
    sd: float | None,
    correlation: float,
    mix: bool,
) -> Spread:
    if not runs:
        one = WORST_SD if sd is None else sd
        whence = "the worst case (right or wrong at even odds)" if sd is None else "--sd"
        return Spread(
            sd=spread_of_one(one, correlation=correlation),
            said=f"scores scatter by {one:g} ({whence}), correlation {correlation:g} between the "
            "two, turns taken to be independent; name a run to have them measured",
        )
    if len(runs) == 2:
        a, b = (side_of(run, agent, mix=mix) for run, agent in zip(runs, agents, strict=True))
        found = compare(a, b)
        _enough(len(found.pairs), runs)
        spread = spread_of_pairs(found.pairs)
        said = "; ".join((f"{spread.said} of {a.name} and {b.name}", *found.notes))
        return replace(spread, said=said)
    side = side_of(runs[0], agents[0], mix=mix)
    values, scenarios = [], []
    for (scenario, _), turns in side.turns().items():
        scores = [t.score for t in turns if t.score is not None]
        if scores:
            values.append(100 * sum(scores) / len(scores))
            scenarios.append(scenario)
    _enough(len(values), runs)
    one = stdev(values) if sd is None else sd
    return Spread(
        sd=spread_of_one(one, correlation=correlation),
        design_effect=design_effect(values, scenarios),
        said=f"scores scatter by {one:.1f} over {len(values)} turns of {side.name}, correlation "
        f"{correlation:g} with the other system is a guess (--correlation, or name two runs)",
    )


def _enough(n: int, runs: Sequence[Path]) -> None:
    if n < 2:
        where = " and ".join(str(r) for r in runs)
        raise InputError(f"{where}: {n} scored turns are too few to see how scores scatter")


def spread_of_pairs(pairs: Sequence[Pair]) -> Spread:
    """As measured in a comparison. Needs two pairs for a standard deviation; 0 with fewer."""
    values = [p.b - p.a for p in pairs]
    return Spread(
        sd=stdev(values) if len(values) > 1 else 0.0,
        design_effect=design_effect(values, [p.scenario for p in pairs]),
        said=f"measured on {len(values)} pairs of turns",
    )
