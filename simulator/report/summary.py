"""What a run came to, as `summary.json`: every planned attempt and turn is in it.

It is computed from the run folder alone, so that it can be made again later. Counterparts:
`simulator.report.rows` reads the folder, `simulator.report.part` adds up,
`simulator.report.terminal` prints it, `simulator.report.file` writes it down,
`simulator.report.gates` holds it against limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from simulator import __version__
from simulator.protocol.conditions import Conditions, differences
from simulator.report.aggregate import aggregate
from simulator.report.part import Part, latency_of, part_of, task_units
from simulator.report.rows import AttemptRow, by_side, judges_of, read_rows

SUMMARY_VERSION = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptSummary:
    """One attempt in a line."""

    id: str
    scenario: str
    task: str
    agent: str
    conditions: Conditions
    repeat: int
    outcome: str
    reason: str
    recording: str | None
    """Its folder in `recordings/`."""
    seconds: float
    """Wall-clock seconds of playing, of all its tries."""
    score: float | None
    """Mean over its scored turns, 0 to 100."""
    coverage: float
    latency_p50_s: float | None
    problem: str = ""
    damaged: int = 0
    """Lines of its recording's events that could not be read."""
    unread: int = 0
    """Messages of its agent that could not be read."""
    number: int = 1
    """Which try this is."""
    others: tuple[AttemptSummary, ...] = ()
    """Its other tries, each by itself; they count in no mean, gate or comparison."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary(Part):
    """The whole of `summary.json`."""

    version: int = SUMMARY_VERSION
    omnistage: str = __version__
    created: str
    """When the run was planned, UTC."""
    apart: Mapping[str, tuple[str, ...]]
    """The conditions in which attempts are unlike, with their values; empty if they are alike."""
    mixed: bool
    """The whole run's means were asked for across unlike conditions (`--mix-conditions`)."""
    judges: tuple[str, ...]
    """As they were named; the first that serves a turn gives its score, unless one was chosen."""
    chosen_judge: str | None
    """Whose verdicts were asked for first (`omnistage report --judge`)."""
    other_judges: tuple[str, ...]
    """Those that have verdicts in the run, of which none counts here."""
    by_agent: Mapping[str, Part]
    """Each side's: an agent by its label, with what marks its conditions if they are unlike."""
    attempts: tuple[AttemptSummary, ...]


def summarise(run: Path, judge: str | None = None, *, mix: bool = False) -> Summary:
    """Add a run folder up, by the verdicts of `judge` first; `mix` gives the whole run's means also
    where conditions are unlike. Errors as `read_rows`."""
    plan, rows = read_rows(run, judge)
    apart = differences(r.conditions for r in rows)
    whole = part_of(rows, mix=mix)
    return Summary(
        created=plan.created,
        apart=apart,
        mixed=bool(apart) and mix,
        judges=plan.judges,
        chosen_judge=judge,
        other_judges=tuple(j for j in judges_of(run) if j not in whole.judged_by),
        **{f.name: getattr(whole, f.name) for f in fields(Part)},
        by_agent={name: part_of(own) for name, own in by_side(rows).items()},
        attempts=tuple(_attempt(r) for r in rows),
    )


def _attempt(row: AttemptRow) -> AttemptSummary:
    result, attempt = row.result, row.result.attempt
    score = aggregate(task_units([row])).overall
    return AttemptSummary(
        id=attempt.id,
        scenario=attempt.scenario,
        task=row.scenario.task,
        agent=attempt.agent,
        conditions=attempt.conditions,
        repeat=attempt.repeat,
        outcome=str(result.outcome),
        reason=result.reason,
        recording=result.folder.name if result.folder is not None else None,
        seconds=sum(t.seconds for t in result.tries),
        score=score.mean,
        coverage=score.coverage,
        latency_p50_s=latency_of([row]).p50,
        problem=row.problem,
        damaged=0 if row.trace is None else row.trace.damaged,
        unread=0 if row.trace is None else row.trace.unread,
        number=result.number,
        others=tuple(_attempt(other) for other in row.others),
    )
