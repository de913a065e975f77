"""`omnistage judge`: judge again what was recorded, without playing."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

from simulator.cli.benchmark import answers_as_run
from simulator.errors import InputError, OmnistageError
from simulator.judging.by_ear import difference, load_with_ears
from simulator.judging.heard import DEFAULT as RECOGNISER
from simulator.judging.judge import Frugal, Judge, Verdict, VerdictState
from simulator.judging.run import (
    Docket,
    JudgedRun,
    judge_recording,
    judge_run,
    recorded_trace,
    serves_nothing,
)
from simulator.judging.spending import Estimate
from simulator.measuring.stored import TRACE
from simulator.measuring.trace import Trace
from simulator.options import split_words
from simulator.protocol.events import Outcome
from simulator.recording.manifest import MANIFEST
from simulator.recording.reader import Recording
from simulator.report.attempt import print_attempt
from simulator.report.file import write_summary
from simulator.report.plain import plain
from simulator.report.summary import summarise
from simulator.report.terminal import print_status, print_summary
from simulator.run.accounting import read_attempts
from simulator.run.plan import RUN_FILE, read_plan
from simulator.scenario.expectations.answer import PRIOR
from simulator.scenario.expectations.kinds import default_judges
from simulator.scenario.load import load_recorded_scenario, load_scenario
from simulator.scenario.types import Scenario

SHOWN = 3
"""Reasons of failed judgements that are printed; all are in the verdicts."""


def load_judges(words: tuple[str, ...], *, heard: bool = False) -> list[Judge]:
    """The judges as they were named, each maybe with options; `heard`: they judge what a recogniser
    hears as well. Raises InputError."""
    named = [split_words(w, "--judge") for w in words or default_judges()]
    return load_with_ears(named, RECOGNISER if heard else "")


NOTES = 3
"""Notes that are shown: a benchmark has hundreds of scenarios with one turn."""


def judge_again(
    what: Path,
    judges: tuple[str, ...],
    *,
    force: bool,
    retry: bool,
    heard: bool = False,
    scenario: str | None,
    scenarios: Path | None = None,
    out: Path | None = None,
) -> int:
    """Judge a run folder, a single recording, or a CSV of answers. Status 1 if an attempt was not
    completed or a turn has no score."""
    bench = load_judges(judges, heard=heard)
    if os.path.isfile(what):
        if heard:
            raise InputError("--heard goes with recordings: a CSV of answers has no sound")
        what = answers_as_run(what, [judge.name for judge in bench], scenarios, out)
    elif scenarios is not None or out is not None:
        raise InputError("--scenarios and --out go with a CSV of answers, which this is not")
    if not os.path.isdir(what):
        raise InputError(f"{what}: no such folder", hint="name a recording's folder, or a run's")
    given = load_scenario(scenario, rendered=False) if scenario else None
    console = Console()
    again = _Again(bench, console, force=force, retry=retry)
    if (what / RUN_FILE).is_file():
        return again.run(what, given)
    if given is not None:
        _same(given, [Recording.open(what).manifest.scenario.id], what)
    return again.recording(what, given or _recorded_scenario(what))


def _same(given: Scenario, played: Collection[str], what: Path) -> None:
    """Raises InputError where nothing of the scenario that is given was played."""
    if given.id not in played:
        known = ", ".join(sorted(played)[:5]) + (" ..." if len(played) > 5 else "")
        raise InputError(
            f"--scenario: its id is {given.id!r}, but what was played in {what} is {known}",
            hint="name the scenario that was played, or leave --scenario out",
        )


def _recorded_scenario(what: Path) -> Scenario:
    try:
        return load_recorded_scenario(what)
    except OmnistageError:
        if any((what / name).exists() for name in (MANIFEST, TRACE)):
            raise
        raise InputError(
            f"{what} is neither a run nor a recording: it has no {RUN_FILE} and no {MANIFEST}",
            hint="name a recording's folder, or a run's",
        ) from None


class _Again:
    """Judging again: the estimate before, a bar meanwhile, and what it took."""

    def __init__(self, bench: list[Judge], console: Console, *, force: bool, retry: bool) -> None:
        self._bench = bench
        self._console = console
        self._force = force
        self._retry = retry
        self._traces: dict[Path, Trace] = {}

    def recording(self, folder: Path, scenario: Scenario) -> int:
        self._estimate([(folder, scenario)])
        with self._bar(self._count([scenario])) as each:
            verdicts = asyncio.run(
                judge_recording(
                    folder,
                    scenario,
                    self._bench,
                    force=self._force,
                    retry_failed=self._retry,
                    read=self._read,
                    each=each,
                )
            )
        print_attempt(self._read(folder, scenario), verdicts, self._console)
        for judge in self._bench:
            if not any(t.expect.kind in judge.expects for t in scenario.turns):
                note = serves_nothing(judge, scenario)
                self._console.print(plain(note, "yellow"), soft_wrap=True)
        tell_paths(verdicts, self._console)
        tell_heard(verdicts, self._console)
        tell_failures(verdicts, self._console)
        tell_spent(self._bench, self._console)
        return _status(self._read(folder, scenario), verdicts)

    def run(self, run: Path, given: Scenario | None) -> int:
        plan = read_plan(run)
        if given is not None:
            _same(given, {s.id for s in plan.scenarios}, run)
        scenarios = {given.id: given} if given else {}
        recordings: list[tuple[Path, Scenario]] = []
        broken: dict[str, str] = {}
        for played in (t for result in read_attempts(run, plan) for t in result.tries):
            folder, name = played.folder, played.attempt.scenario
            if folder is None:
                continue
            if name not in scenarios and (folder / "scenario.yaml").is_file():
                try:
                    scenarios[name] = load_recorded_scenario(folder)
                except OmnistageError as error:
                    # Another recording's copy of the same scenario may serve.
                    broken[name] = str(error)
            if name in scenarios:
                recordings.append((folder, scenarios[name]))
        self._estimate(recordings)
        with self._bar(self._count([s for _, s in recordings])) as each:
            judged = asyncio.run(
                judge_run(
                    run,
                    scenarios,
                    self._bench,
                    force=self._force,
                    retry_failed=self._retry,
                    read=self._read,
                    each=each,
                )
            )
        for name in broken.keys() - scenarios.keys():
            self._console.print(plain(broken[name], "red"), soft_wrap=True)
        tell_judged(judged, self._bench, self._console)
        summary = summarise(run)
        print_summary(summary, run, self._console)
        write_summary(run, summary)
        return print_status(summary, (), self._console)

    def _read(self, folder: Path, scenario: Scenario) -> Trace:
        if folder not in self._traces:
            self._traces[folder] = recorded_trace(folder, scenario)
        return self._traces[folder]

    def _estimate(self, recordings: list[tuple[Path, Scenario]]) -> None:
        """Print what judges that cost something will take; nothing of those that do not."""
        for judge in self._bench:
            if not isinstance(judge, Frugal):
                continue
            total = Estimate()
            for folder, scenario in recordings:
                with suppress(OmnistageError):  # judging says it
                    docket = Docket(
                        folder,
                        scenario,
                        read=self._read,
                        force=self._force,
                        retry_failed=self._retry,
                    )
                    total += docket.estimate(judge)
            told = total.told(getattr(judge, "prices", None))
            self._console.print(f"{judge.name}: {told}", highlight=False)

    def _count(self, scenarios: list[Scenario]) -> int:
        return sum(
            t.expect.kind in j.expects for s in scenarios for t in s.turns for j in self._bench
        )

    @contextmanager
    def _bar(self, total: int) -> Iterator[Callable[[Verdict], None]]:
        shown = self._console.is_terminal
        columns = ("judging", BarColumn(bar_width=30), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=self._console, transient=True, disable=not shown) as bar:
            task = bar.add_task("", total=total)
            yield lambda _: bar.advance(task)


def tell_judged(judged: JudgedRun, bench: Sequence[Judge], console: Console) -> None:
    """What was not judged and why, what failed, and what was spent."""
    for attempt_id, problem in judged.problems.items():
        console.print(plain(f"{attempt_id}: not judged: {problem}", "red"), soft_wrap=True)
    for note in judged.notes[:NOTES]:
        console.print(plain(note), soft_wrap=True)
    if len(judged.notes) > NOTES:
        console.print(f"and {len(judged.notes) - NOTES} more such notes")
    every = [v for vs in judged.verdicts.values() for v in vs]
    tell_paths(every, console)
    tell_heard(every, console)
    tell_failures(every, console)
    tell_spent(bench, console)


def tell_failures(verdicts: Sequence[Verdict], console: Console) -> None:
    """The reasons of failed judgements, each once with its number."""
    failed = Counter((v.judge, v.why) for v in verdicts if v.state is VerdictState.JUDGE_FAILED)
    for (judge, why), count in failed.most_common(SHOWN):
        turns = f"{count} turn{'' if count == 1 else 's'}"
        console.print(plain(f"{judge}: {turns} not judged: {why}", "red"), soft_wrap=True)
    if len(failed) > SHOWN:
        console.print(f"and {len(failed) - SHOWN} more reasons, in the verdicts", style="red")
    if failed:
        console.print("omnistage judge --retry-failed tries these again")


def tell_paths(verdicts: Sequence[Verdict], console: Console) -> None:
    """Where turns list several paths: each judge's mean by the fixed path, and by the best one."""
    for judge in dict.fromkeys(v.judge for v in verdicts if "paths" in v.details):
        own = [v for v in verdicts if v.judge == judge and v.state is VerdictState.SCORED]
        found = [v.details["paths"] for v in own if "paths" in v.details]
        others = sum(p["taken"] not in (None, PRIOR) for p in found)
        rest = sum(v.content or 0.0 for v in own if "paths" not in v.details)
        strict, loose = (rest + sum(p[m] for p in found) for m in ("strict", "open"))
        console.print(
            f"{judge}: content {100 * strict / len(own):.1f} strict, {100 * loose / len(own):.1f} "
            f"open; {others} of {len(found)} answers took another path",
            highlight=False,
        )


def tell_heard(verdicts: Sequence[Verdict], console: Console) -> None:
    """Where a recogniser was asked as well: each judge's mean by what was said and by what was
    heard."""
    for judge in dict.fromkeys(v.judge for v in verdicts):
        found = difference([v for v in verdicts if v.judge == judge])
        if found is not None:
            said, heard, differ, of = found
            console.print(
                f"{judge}: content {100 * said:.1f} as said, {100 * heard:.1f} as heard; {differ} "
                f"of {of} turns differ",
                highlight=False,
            )
        elif unheard := [v for v in verdicts if v.judge == judge and "heard" in v.details]:
            console.print(
                f"{judge}: no words could be made out in {len(unheard)} answers "
                "(speech-like sound, as of the baselines, has none)",
                highlight=False,
            )


def tell_spent(bench: Sequence[Judge], console: Console) -> None:
    """What the judges that cost something have cost."""
    for judge in bench:
        if isinstance(judge, Frugal):
            console.print(judge.spent(), highlight=False)


def _status(trace: Trace, verdicts: Sequence[Verdict]) -> int:
    """As of a run: 0 if the attempt was completed and each turn that was judged has a score."""
    scored = {v.turn for v in verdicts if v.state is VerdictState.SCORED}
    unscored = {v.turn for v in verdicts} - scored
    failed = any(v.state is VerdictState.JUDGE_FAILED for v in verdicts)
    return 1 if trace.outcome != Outcome.COMPLETED or unscored or failed else 0
