"""`omnistage judge`: judge again what was recorded, without playing."""

from __future__ import annotations

import asyncio
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from simulator.errors import InputError
from simulator.judging.judge import Judge, Verdict, VerdictState
from simulator.judging.run import DEFAULT_JUDGES, judge_recording, judge_run
from simulator.plugins import load_judge
from simulator.recording.measure import load_trace
from simulator.report.summary import summarise, write_summary
from simulator.report.terminal import print_attempt, print_summary
from simulator.run.plan import RUN_FILE, read_plan
from simulator.scenario.load import load_recorded_scenario, load_scenario
from simulator.scenario.types import Scenario


def judge_again(
    what: Path, judges: tuple[str, ...], *, force: bool, retry: bool, scenario: str | None
) -> int:
    """Judge a run folder or a single recording. Status 1 if some judgement failed."""
    if not what.is_dir():
        raise InputError(f"{what}: no such folder", hint="name a recording's folder, or a run's")
    bench = [load_judge(r) for r in judges or DEFAULT_JUDGES]
    given = load_scenario(scenario, rendered=False) if scenario else None
    console = Console()
    if (what / RUN_FILE).is_file():
        return _judge_run(what, bench, given, console, force=force, retry=retry)
    played = given or load_recorded_scenario(what)
    verdicts = asyncio.run(judge_recording(what, played, bench, force=force, retry_failed=retry))
    print_attempt(load_trace(what, played), verdicts, console)
    return _status(verdicts)


def _judge_run(
    run: Path,
    bench: list[Judge],
    given: Scenario | None,
    console: Console,
    *,
    force: bool,
    retry: bool,
) -> int:
    plan = read_plan(run)
    scenarios = {given.id: given} if given else {}
    for attempt in plan.attempts:
        folder = run / "recordings" / attempt.id
        if attempt.scenario not in scenarios and (folder / "manifest.json").is_file():
            scenarios[attempt.scenario] = load_recorded_scenario(folder)
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("judging", total=len(plan.attempts))
        judged = asyncio.run(
            judge_run(
                run,
                scenarios,
                bench,
                force=force,
                retry_failed=retry,
                progress=lambda _: progress.advance(task),
            )
        )
    for attempt_id, problem in judged.problems.items():
        console.print(f"[red]{attempt_id}: not judged: {problem}")
    for note in judged.notes:
        console.print(note)
    summary = summarise(run)
    write_summary(run, summary)
    print_summary(summary, run, console)
    return _status([v for vs in judged.verdicts.values() for v in vs])


def _status(verdicts: list[Verdict]) -> int:
    return 1 if any(v.state is VerdictState.JUDGE_FAILED for v in verdicts) else 0
