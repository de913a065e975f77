"""Plays the bundled scenarios to three baselines: who knows the answers gets all, others do not.

    python tests/bench/bench_starter.py [--quick] [--only ID ...] [--jobs N] [--out RUN] [--json]

The alternatives in the same run: `silent`, which is right wherever quiet is wanted and proves
nothing by it, and `talkative`, which knows every answer and does not know when to be quiet. A
scenario that gives either of them full marks measures nothing. Scores are those of the verdicts,
also where the machine was too busy to send evenly (the outcome says so). Exits with 1 if a scenario
is not what it should be.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from simulator.cli.run import RunOrder, run_order
from simulator.errors import OmnistageError
from simulator.report.rows import AttemptRow, read_rows
from simulator.scenario.load import bundled_scenarios, find_scenario, load_scenario
from simulator.scenario.taxonomy import task_of
from simulator.scenario.types import Scenario

AGENTS = ("oracle", "silent", "talkative")
STARTER = "starter"
"""The folder of the starter set."""
FEW = 6
FULL = 99.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What came of one scenario."""

    scenario: str
    task: str
    seconds: float
    """Of stream, without holds."""
    turns: int
    scores: Mapping[str, float]
    """By agent, 0 to 100; a turn that could not be scored counts as 0."""
    outcomes: Mapping[str, str]
    wrong: tuple[str, ...] = ()
    """The turns in which the oracle did not do what was wanted, and why."""

    @property
    def ok(self) -> bool:
        others = (score for agent, score in self.scores.items() if agent != "oracle")
        return self.scores.get("oracle", 0.0) >= FULL and all(s < FULL for s in others)


def stream_of(scenario: Scenario) -> float:
    """Seconds of stream."""
    return sum(turn.duration for turn in scenario.turns)


def starter_set() -> list[Path]:
    """The scenario files of the starter set."""
    return [file for file in bundled_scenarios() if file.parent.parent.name == STARTER]


def few(count: int = FEW) -> list[Scenario]:
    """The shortest of the starter set that need no clips of others, of as many major tasks as there
    can be."""
    own = [
        scenario
        for scenario in map(load_scenario, starter_set())
        if not any(clip.url for clip in scenario.clips.values())
    ]
    ordered = sorted(own, key=lambda s: (stream_of(s), s.id))
    chosen: list[Scenario] = []
    while ordered and len(chosen) < count:
        taken = [task_of(s.task) for s in chosen]
        majors = [task.major for task in taken if task is not None]

        def often(scenario: Scenario, majors: Sequence[str] = majors) -> int:
            task = task_of(scenario.task)
            return majors.count(task.major) if task is not None else 0

        chosen.append(min(ordered, key=often))
        ordered.remove(chosen[-1])
    return chosen


def play(scenarios: Sequence[Scenario], out: Path, *, jobs: int, quiet: bool) -> list[Played]:
    """Play them all in one run, `jobs` attempts side by side."""
    run_order(
        RunOrder(
            scenarios=tuple(str(s.path) for s in scenarios),
            agents=AGENTS,
            concurrency=jobs,
            out=out,
        ),
        Console(quiet=quiet, stderr=True),
    )
    return results(out, scenarios)


def results(run: Path, scenarios: Iterable[Scenario]) -> list[Played]:
    """What a run's verdicts say."""
    _, rows = read_rows(run)
    played = []
    for scenario in scenarios:
        mine = {r.result.attempt.agent: r for r in rows if r.scenario.id == scenario.id}
        played.append(
            Played(
                scenario=scenario.id,
                task=scenario.task,
                seconds=round(stream_of(scenario), 1),
                turns=len(scenario.turns),
                scores={agent: round(_score(row), 1) for agent, row in mine.items()},
                outcomes={agent: str(row.result.outcome) for agent, row in mine.items()},
                wrong=tuple(_wrong(mine["oracle"])) if "oracle" in mine else ("not played",),
            )
        )
    return played


def _score(row: AttemptRow) -> float:
    scores = [(t.verdict.score if t.verdict is not None else None) or 0.0 for t in row.turns]
    return 100 * sum(scores) / len(scores) if scores else 0.0


def _wrong(row: AttemptRow) -> Iterable[str]:
    for turn in row.turns:
        if turn.verdict is None:
            yield f"{turn.turn.id}: {row.result.reason or 'no verdict'}"
        elif turn.verdict.score is None or turn.verdict.score < FULL / 100:
            yield f"{turn.turn.id}: {turn.verdict.why}"


def told(played: Sequence[Played]) -> str:
    """The table."""
    lines = [
        f"{'scenario':24} {'task':8} {'stream s':>8} {'turns':>5}"
        + "".join(f" {agent:>9}" for agent in AGENTS)
        + "  outcomes"
    ]
    for one in played:
        outcomes = sorted(set(one.outcomes.values()))
        scores = "".join(f" {one.scores.get(agent, 0.0):9.1f}" for agent in AGENTS)
        lines.append(
            f"{one.scenario:24} {one.task:8} {one.seconds:8.1f} {one.turns:5}{scores}  "
            + ", ".join(outcomes)
            + ("" if one.ok else "   <- not as it should be")
        )
        lines += [f"    oracle, {why}" for why in one.wrong]
    good = sum(one.ok for one in played)
    return "\n".join([*lines, f"{good} of {len(played)} scenarios are as they should be"])


def figures(played: Sequence[Played]) -> dict[str, Any]:
    """For a machine."""
    rows = [
        {
            "scenario": one.scenario,
            "task": one.task,
            "seconds": one.seconds,
            "turns": one.turns,
            **{f"score_{agent}": one.scores.get(agent) for agent in AGENTS},
            "outcomes": dict(one.outcomes),
            "ok": one.ok,
        }
        for one in played
    ]
    return {"bench": "starter", "target": "oracle 100, others below", "rows": rows}


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help=f"{FEW} short ones")
    parser.add_argument("--only", nargs="+", metavar="ID", help="ids or files of scenarios")
    parser.add_argument("--jobs", type=int, default=2 * (os.cpu_count() or 1), metavar="N")
    parser.add_argument("--out", type=Path, help="keep the run in this folder")
    args = parser.parse_args(arguments)
    if args.only:
        files = [find_scenario(name) for name in args.only]
    else:
        files = [*starter_set(), find_scenario("demo"), find_scenario("bottles")]
    scenarios = few() if args.quick and not args.only else [load_scenario(f) for f in files]
    with tempfile.TemporaryDirectory() as folder:
        out = args.out or Path(folder) / "run"
        played = play(scenarios, out, jobs=args.jobs, quiet=args.json)
    print(told(played), file=sys.stderr if args.json else sys.stdout)
    if args.json:
        print(json.dumps(figures(played)))
    return 0 if all(one.ok for one in played) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except OmnistageError as error:
        sys.exit(f"error: {error}")
