"""Strict and open: a score by the path that was fixed beforehand, and one by whichever of a turn's
listed paths was taken. Pure.

The score of a run is one of them, as its judge was set (`mode`, strict by default); both are told
wherever turns list several paths. Where they list none the two are one. Counterparts:
`simulator.judging.answered.Along` has both for an answer, `simulator.report.part` tells them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from simulator.judging.judge import VerdictState
from simulator.report.rows import TurnRow
from simulator.scenario.expectations.answer import PRIOR

Mode = Literal["strict", "open"]


class Along(NamedTuple):
    """A turn's scores, 0 to 1."""

    taken: str | None
    """The path that the answer suits best; None if it suits none, or if the turn has but one."""
    strict: float
    open: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PathSummary:
    """Both means, 0 to 100, over all scored turns."""

    turns: int
    """Scored turns that list several paths."""
    other: int
    """Answers that took another path than the fixed one."""
    strict: float
    open: float


def along(turn: TurnRow) -> Along | None:
    """A turn's scores by both; None if it is not scored."""
    if turn.state != VerdictState.SCORED or turn.score is None:
        return None
    found = turn.verdict.details.get("paths") if turn.verdict is not None else None
    if not isinstance(found, dict) or not {"taken", "strict", "open"} <= found.keys():
        return Along(None, turn.score, turn.score)
    # What conduct takes from the words (a late answer is worth nothing), it takes from both.
    late = turn.metrics is not None and turn.metrics.late
    content = turn.verdict.content if turn.verdict is not None else None
    lost = late or (bool(content) and turn.score == 0.0)
    worth = 0.0 if lost else 1.0
    return Along(found["taken"], worth * float(found["strict"]), worth * float(found["open"]))


def path_summary(turns: Sequence[TurnRow]) -> PathSummary | None:
    """None where no scored turn lists several paths."""
    scored = [(t, a) for t in turns if (a := along(t)) is not None]
    several = [a for t, a in scored if t.verdict is not None and "paths" in t.verdict.details]
    if not several:
        return None
    return PathSummary(
        turns=len(several),
        other=sum(a.taken not in (None, PRIOR) for a in several),
        strict=100 * sum(a.strict for _, a in scored) / len(scored),
        open=100 * sum(a.open for _, a in scored) / len(scored),
    )
