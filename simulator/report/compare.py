"""Two runs (or two agents of one) on the same turns.

What can be paired is compared, what cannot is counted, and what would make the comparison unfair
(another scenario, another judge, another condition) is said. Counterparts: `simulator.report.rows`
reads the runs, `simulator.report.paired` has the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean

from simulator.judging.judge import VerdictState
from simulator.protocol.conditions import differences, told, written
from simulator.report.paired import Difference, Pair, difference
from simulator.report.rows import RIGHT, AttemptRow, TurnRow, read_rows
from simulator.run.plan import Plan
from simulator.run.sides import pick
from simulator.scenario.taxonomy import CUSTOM, TASKS

Key = tuple[str, str]
"""(scenario, turn)."""
Values = tuple[list[float], list[float]]
"""Those of a turn in A, and in B."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """A turn that one of the two always gets right and the other never."""

    scenario: str
    turn: str
    gained: bool
    """B gets it right; False: A does."""
    a_why: str
    b_why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """B against A."""

    a: str
    """Who A is: run and agent."""
    b: str
    score: Difference | None
    """In points of 100, over the turns that both have scores of; None if there are none."""
    charged: Difference | None
    """The same with 0 for what a provider failed at; None where neither's did."""
    by_task: Mapping[str, Difference]
    latency: Difference | None
    """Seconds, over the turns of which both have a valid latency."""
    pairs: tuple[Pair, ...]
    """Scores in points of 100."""
    flips: tuple[Flip, ...]
    only_a: int
    """Planned turns that B's run does not have."""
    only_b: int
    unscored: int
    """Turns in both plans that one or both have no score of."""
    notes: tuple[str, ...]
    """What to know before believing it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One agent's attempts in one run, under one set of conditions but if they were to be mixed."""

    name: str
    plan: Plan
    rows: tuple[AttemptRow, ...]

    def turns(self) -> dict[Key, list[TurnRow]]:
        """The repeats of each planned turn that is scored."""
        out: dict[Key, list[TurnRow]] = {}
        for row in self.rows:
            for turn in row.turns:
                out.setdefault((row.scenario.id, turn.turn.id), []).append(turn)
        return out


def side_of(run: Path, agent: str | None, *, mix: bool = False) -> Side:
    """One side of a comparison: an agent's label, or with its conditions as the tables name it; may
    be left out where the run has but one. `mix` takes unlike conditions of an agent together.

    Raises InputError for a side that the run does not have or that is left open, RecordingError for
    no run folder.
    """
    plan, rows = read_rows(run)
    name, attempts = pick(plan, run, agent, options="--agent-a LABEL --agent-b LABEL", mix=mix)
    ids = {a.id for a in attempts}
    own = tuple(r for r in rows if r.result.attempt.id in ids)
    apart = differences(r.conditions for r in own)
    mixed = f", conditions mixed as asked for ({told(apart)})" if apart else ""
    return Side(name=f"{name} in {run}{mixed}", plan=plan, rows=own)


def compare(a: Side, b: Side) -> Comparison:
    """What B does otherwise than A."""
    turns_a, turns_b = a.turns(), b.turns()
    both = [k for k in turns_a if k in turns_b]

    def each(of: Callable[[Sequence[TurnRow]], list[float]]) -> dict[Key, Values]:
        return {k: (of(turns_a[k]), of(turns_b[k])) for k in both}

    scored = each(_scores)
    pairs = _pairs(scored, times=100)
    failed = any(t.state == VerdictState.AGENT_ERROR for k in both for t in turns_a[k] + turns_b[k])
    aloud, in_writing = (_pairs(each(partial(_latencies, written=w))) for w in (False, True))
    # A voice is paired with a voice, a text with a text.
    alike = {**in_writing, **aloud}
    unlike = len(_pairs(each(_all_latencies)).keys() - alike.keys())
    task = {s.id: s.task for s in (*a.plan.scenarios, *b.plan.scenarios)}
    by_task = {
        code: difference([p for k, p in pairs.items() if task[k[0]] == code])
        for code in (*TASKS, *sorted({t for t in task.values() if t not in TASKS} | {CUSTOM}))
    }
    return Comparison(
        a=a.name,
        b=b.name,
        score=_difference(pairs),
        charged=_difference(_pairs(each(_charged), times=100)) if failed else None,
        by_task={code: d for code, d in by_task.items() if d is not None},
        latency=_difference(alike),
        pairs=tuple(pairs.values()),
        flips=tuple(
            Flip(
                scenario=k[0],
                turn=k[1],
                gained=min(scored[k][1]) >= RIGHT,
                a_why=_why(turns_a[k]),
                b_why=_why(turns_b[k]),
            )
            for k in pairs
            if _flipped(*scored[k])
        ),
        only_a=len(turns_a) - len(both),
        only_b=len(turns_b) - len(both),
        unscored=len(both) - len(pairs),
        notes=(*_notes(a, b), *_told_unlike(unlike)),
    )


def _told_unlike(turns: int) -> list[str]:
    if not turns:
        return []
    some = "1 turn are" if turns == 1 else f"{turns} turns are"
    return [f"the latencies of {some} not compared: aloud on one side, in writing on the other"]


def _scores(turns: Sequence[TurnRow]) -> list[float]:
    return [t.score for t in turns if t.state == VerdictState.SCORED and t.score is not None]


def _charged(turns: Sequence[TurnRow]) -> list[float]:
    return [s for t in turns if (s := t.charged) is not None]


def _latencies(turns: Sequence[TurnRow], *, written: bool) -> list[float]:
    """Of answers with a voice, or `written` ones without."""
    measured = [t.metrics for t in turns if t.state == VerdictState.SCORED and t.metrics]
    own = (m for m in measured if m.latency_in_writing == written)
    return [m.latency_s for m in own if m.latency_s is not None]


def _all_latencies(turns: Sequence[TurnRow]) -> list[float]:
    return _latencies(turns, written=False) + _latencies(turns, written=True)


def _pairs(values: Mapping[Key, Values], *, times: float = 1) -> dict[Key, Pair]:
    """The means of each side, of the turns that both have values of."""
    return {
        k: Pair(scenario=k[0], turn=k[1], a=times * fmean(x), b=times * fmean(y))
        for k, (x, y) in values.items()
        if x and y
    }


def _difference(pairs: Mapping[Key, Pair]) -> Difference | None:
    return difference(list(pairs.values()))


def _why(turns: Sequence[TurnRow]) -> str:
    return next((t.why for t in turns if t.score is not None), "")


def _flipped(a: Sequence[float], b: Sequence[float]) -> bool:
    """One is right in each repeat, the other in none."""
    return (min(a) >= RIGHT and max(b) < RIGHT) or (min(b) >= RIGHT and max(a) < RIGHT)


def _notes(a: Side, b: Side) -> list[str]:
    notes = []
    hashes = {s.id: s.sha256 for s in a.plan.scenarios}
    changed = [s.id for s in b.plan.scenarios if hashes.get(s.id, s.sha256) != s.sha256]
    if changed:
        shown = ", ".join(changed[:5]) + (" ..." if len(changed) > 5 else "")
        notes.append(f"{len(changed)} scenarios are not the same file in both runs: {shown}")
    judges_a, judges_b = _judges(a), _judges(b)
    if judges_a and judges_b and judges_a != judges_b:
        notes.append(f"judged differently: A by {_and(judges_a)}, B by {_and(judges_b)}")
    for name in differences(r.conditions for r in (*a.rows, *b.rows)):
        x, y = _values(a, name), _values(b, name)
        if x != y:
            notes.append(f"other conditions: {name} is {_and(x)} in A and {_and(y)} in B")
    for side in (a, b):
        out = [r for r in side.rows if r.problem or not r.trusted]
        if out:
            why = out[0].problem or out[0].result.reason
            notes.append(
                f"{len(out)} of {len(side.rows)} attempts of {side.name} count for nothing: {why}"
            )
    if any(r.trace is not None and r.trace.shared_host for r in (*a.rows, *b.rows)):
        notes.append("some latencies were measured on a host that agents shared")
    return notes


def _judges(side: Side) -> set[str]:
    verdicts = [t.verdict for r in side.rows for t in r.turns if t.verdict is not None]
    return {f"{v.judge} {v.judge_version}" for v in verdicts}


def _values(side: Side, condition: str) -> set[str]:
    return {written(getattr(r.conditions, condition)) for r in side.rows}


def _and(words: set[str]) -> str:
    return ", ".join(sorted(words))
