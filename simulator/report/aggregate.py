"""Scores by sub-task, major task and tier, aggregated as OmniAssistBench does. Pure numbers.

Every mean, at every level, is over turns: a sub-task with many turns weighs more in its major task,
its tier and the whole. What is left out is named with its reason; what could not be scored stays in
coverage and bounds. Counterparts: `simulator.scenario.taxonomy` is the tree of tasks,
`simulator.report.statistics` does each mean with its interval.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from simulator.report.statistics import Score, ScoredUnit, score_of
from simulator.scenario.taxonomy import CUSTOM, TASKS

POINTS = 5
"""Full marks of the published scale, 0 to 5; a percentage is 20 times its points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskUnit(ScoredUnit):
    """One planned turn with its sub-task."""

    task: str
    """Code of the sub-task, or `custom`."""
    excluded: str = ""
    """Why it is not counted at all (there is no right answer to it); empty if it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTable:
    """Turn-weighted scores at each level, 0 to 100."""

    overall: Score
    by_tier: Mapping[str, Score]
    by_major: Mapping[str, Score]
    by_task: Mapping[str, Score]
    excluded: Mapping[str, int]
    """How many turns were left out, by reason."""


def aggregate(units: Sequence[TaskUnit]) -> ScoreTable:
    """The scores of planned turns at each level, in the order of the published tables."""
    counted = [u for u in units if not u.excluded]
    excluded: dict[str, int] = {}
    for unit in units:
        if unit.excluded:
            excluded[unit.excluded] = excluded.get(unit.excluded, 0) + 1
    return ScoreTable(
        overall=score_of(counted),
        by_tier=_grouped(counted, tier_of),
        by_major=_grouped(counted, major_of),
        by_task=_grouped(counted, lambda task: task),
        excluded=excluded,
    )


def tier_of(task: str) -> str:
    """The tier of a sub-task; one that is not of the taxonomy is its own."""
    return TASKS[task].tier if task in TASKS else task


def major_of(task: str) -> str:
    """The major task of a sub-task; one that is not of the taxonomy is its own."""
    return TASKS[task].major if task in TASKS else task


def _grouped(units: Sequence[TaskUnit], group: Callable[[str], str]) -> dict[str, Score]:
    names = dict.fromkeys(group(task) for task in (*TASKS, CUSTOM))
    names |= dict.fromkeys(sorted(group(u.task) for u in units))
    own = {n: [u for u in units if group(u.task) == n] for n in names}
    return {n: score_of(units) for n, units in own.items() if units}
