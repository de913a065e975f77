"""Several judges over one run, side by side, and beside people if there are scores of theirs.

What is compared is what the words are worth (`content`), in points from 0 to 5: when they were said
is the same for all. Turns without any words (missed, kept quiet) are left out, since no judge had
anything to judge there. Counterparts: `simulator.report.agreement` computes,
`simulator.cli.agreement` prints.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.errors import InputError
from simulator.judging.judge import Verdict
from simulator.judging.verdicts import read_verdicts
from simulator.measuring.stored import TRACE
from simulator.protocol.conditions import Conditions, differences, told
from simulator.report.agreement import (
    Column,
    Figure,
    alpha,
    bias,
    clusters_of,
    exact_match,
    pearson,
    slope,
)
from simulator.report.humans import Key
from simulator.report.rows import planned_trace
from simulator.run.accounting import read_attempts
from simulator.run.plan import Attempt, read_plan
from simulator.run.sides import MIX, refuse_unlike
from simulator.whole_file import put_file, whole_file

FULL = 5.0
APART = 2.0
"""Points between the highest and the lowest from which on judges disagree."""
MEDIAN, HUMAN = "median", "human"


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelTurn:
    """One turn with what each judge gave it."""

    attempt: str
    scenario: str
    conditions: Conditions
    turn: str
    candidate: str
    points: Mapping[str, float]
    """By judge; those that failed or could not measure are not in it."""
    why: Mapping[str, str]

    @property
    def median(self) -> float | None:
        return median(self.points.values()) if self.points else None

    @property
    def apart(self) -> float:
        """Points between the highest and the lowest."""
        return max(self.points.values()) - min(self.points.values()) if self.points else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two judges, or a judge and people."""

    a: str
    b: str
    pearson: Figure
    exact: Figure
    bias: Figure
    """Mean of a - b, in points."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaning:
    """How a judge leans."""

    judge: str
    against: str
    """`human`, or `median` of the other judges."""
    bias: Figure
    pearson: Figure
    verbosity: Figure
    """Pearson's correlation of judge - reference with the logarithm of the number of words."""
    per_doubling: Figure
    """Points more for an answer of twice as many words."""
    failed: int
    """Turns with words on which it gave no score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """All of it."""

    judges: tuple[str, ...]
    turns: int
    pairs: tuple[Pair, ...]
    alpha: Figure
    mean_of_medians: float | None
    """Points of 5."""
    leanings: tuple[Leaning, ...]
    humans: int = 0
    """Turns that people scored."""
    human_alpha: Figure | None = None
    """Among the people, if there are several."""
    apart: int = 0
    """Turns on which judges are at least APART points apart."""
    mixed: str = ""
    """The unlike conditions that were taken together, if so."""


def read_panel(
    run: Path, judges: Sequence[str] = (), *, mix: bool = False
) -> tuple[tuple[str, ...], list[PanelTurn]]:
    """The judges and the turns with words. Raises RecordingError, and InputError for unknown judges
    and for unlike conditions, which only `mix` takes together."""
    found: list[tuple[Attempt, dict[str, Verdict]]] = []
    for result in read_attempts(run, read_plan(run)):
        if result.folder is None:
            continue
        if (result.folder / TRACE).is_file():
            planned_trace(result.folder, result.attempt)
        by_turn: dict[str, dict[str, Verdict]] = {}
        for name, kept in read_verdicts(result.folder).items():
            for judged in kept.turns:
                by_turn.setdefault(judged.verdict.turn, {})[name] = judged.verdict
        for verdicts in by_turn.values():
            found.append((result.attempt, verdicts))
    there = tuple(sorted({name for _, verdicts in found for name in verdicts}))
    for name in judges:
        if name not in there:
            raise InputError(
                f"{run}: no judge {name!r} has judged it",
                hint=f"there are: {', '.join(there) or 'none; see omnistage judge'}",
            )
    chosen = tuple(judges) or there
    turns = []
    for attempt, verdicts in found:
        said = next((w for v in verdicts.values() if (w := words_of(v))), "")
        own = {n: v for n, v in verdicts.items() if n in chosen}
        if said and own:
            turns.append(
                PanelTurn(
                    attempt=attempt.id,
                    scenario=attempt.scenario,
                    conditions=attempt.conditions,
                    turn=next(iter(own.values())).turn,
                    candidate=said,
                    points={n: p for n, v in own.items() if (p := _points(v)) is not None},
                    why={n: v.why for n, v in own.items()},
                )
            )
    if not mix:
        hint = f"{MIX} takes them together"
        refuse_unlike((t.conditions for t in turns), str(run), hint=hint)
    return chosen, turns


def words_of(verdict: Verdict) -> str:
    """The words that a verdict is on; empty if there were none."""
    said = verdict.details.get("candidate") or verdict.details.get("said") or ""
    return str(said)


def _points(verdict: Verdict) -> float | None:
    worth = verdict.content if verdict.content is not None else verdict.score
    return None if worth is None else worth * FULL


def agreement(
    judges: Sequence[str],
    turns: Sequence[PanelTurn],
    humans: Mapping[Key, Mapping[str, float]] | None = None,
) -> Agreement:
    """Every figure there is of these judges."""
    clusters = clusters_of([t.scenario for t in turns])
    columns = {j: _column(t.points.get(j) for t in turns) for j in judges}
    rated = humans or {}
    people = _column(_mean(rated.get((t.attempt, t.turn))) for t in turns)
    words = _column(math.log2(1 + len(t.candidate.split())) for t in turns)
    leanings = []
    for judge in judges:
        others = [j for j in judges if j != judge]
        if humans:
            against, reference = HUMAN, people
        elif others:
            against = MEDIAN
            reference = _column(
                _median([t.points[j] for j in others if j in t.points]) for t in turns
            )
        else:
            continue
        over = columns[judge] - reference
        leanings.append(
            Leaning(
                judge=judge,
                against=against,
                bias=bias(columns[judge], reference, clusters),
                pearson=pearson(columns[judge], reference, clusters),
                verbosity=pearson(over, words, clusters),
                per_doubling=slope(words, over, clusters),
                failed=sum(judge in t.why and judge not in t.points for t in turns),
            )
        )
    sides = [*judges, HUMAN] if humans else list(judges)
    columns[HUMAN] = people
    medians = [t.median for t in turns if t.median is not None]
    return Agreement(
        judges=tuple(judges),
        turns=len(turns),
        pairs=tuple(_pair(a, b, columns, clusters) for a, b in combinations(sides, 2)),
        alpha=alpha([columns[j] for j in judges], clusters),
        mean_of_medians=sum(medians) / len(medians) if medians else None,
        leanings=tuple(leanings),
        humans=int(np.sum(~np.isnan(people))),
        human_alpha=_among(turns, rated, clusters),
        apart=sum(t.apart >= APART for t in turns),
        mixed=told(differences(t.conditions for t in turns)),
    )


def _pair(a: str, b: str, columns: Mapping[str, Column], clusters: NDArray[np.intp]) -> Pair:
    x, y = columns[a], columns[b]
    return Pair(
        a=a,
        b=b,
        pearson=pearson(x, y, clusters),
        exact=exact_match(x, y, clusters),
        bias=bias(x, y, clusters),
    )


def _among(
    turns: Sequence[PanelTurn],
    rated: Mapping[Key, Mapping[str, float]],
    clusters: NDArray[np.intp],
) -> Figure | None:
    raters = sorted({r for scores in rated.values() for r in scores})
    if len(raters) < 2:
        return None
    return alpha(
        [_column(rated.get((t.attempt, t.turn), {}).get(r) for t in turns) for r in raters],
        clusters,
    )


def _column(values: Iterable[float | None]) -> Column:
    return np.array([math.nan if v is None else v for v in values], dtype=np.float64)


def _mean(scores: Mapping[str, float] | None) -> float | None:
    return sum(scores.values()) / len(scores) if scores else None


def _median(points: Sequence[float]) -> float | None:
    return median(points) if points else None


# ---------------------------------------------------------------- on disk


def disagreements(turns: Sequence[PanelTurn]) -> list[PanelTurn]:
    """The turns for a human to look at, widest apart first."""
    return sorted((t for t in turns if t.apart >= APART), key=lambda t: -t.apart)


def write_agreement(
    run: Path,
    found: Agreement,
    turns: Sequence[PanelTurn],
    humans: Mapping[Key, Mapping[str, float]] | None,
) -> tuple[Path, ...]:
    """`agreement.json` with the figures, `.svg` with the heat map, `.csv` with a row a turn.

    Raises InputError if the run's folder cannot be written.
    """
    from simulator.report.heatmap import heat_map

    figures, table, picture = (run / f"agreement.{kind}" for kind in ("json", "csv", "svg"))
    body: dict[str, Any] = {"version": 1, "scale": FULL, **asdict(found)}
    try:
        put_file(figures, json.dumps(body, indent=1) + "\n")
        put_file(picture, heat_map(found))
        with whole_file(table) as part, part.open("w", newline="", encoding="utf-8") as file:
            out = csv.writer(file)
            out.writerow(
                ["attempt", "scenario", "turn", *found.judges, MEDIAN, "apart", HUMAN, "candidate"]
            )
            for t in turns:
                own = [t.points.get(j) for j in found.judges]
                human = _mean((humans or {}).get((t.attempt, t.turn)))
                cells = [_cell(p) for p in (*own, t.median, t.apart, human)]
                out.writerow([t.attempt, t.scenario, t.turn, *cells, t.candidate])
    except OSError as error:
        raise InputError(f"cannot write to {run}: {error.strerror}") from None
    return figures, table, picture


def _cell(points: float | None) -> str:
    return "" if points is None else f"{points:.3g}"
