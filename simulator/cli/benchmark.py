"""`omnistage import` and `omnistage export`: other people's benchmarks, in and out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from simulator.benchmarks.omniassistbench.answers import (
    export,
    load_scenarios,
    read_answers,
    run_of,
)
from simulator.benchmarks.omniassistbench.importing import IMPORT_FILE, import_release
from simulator.benchmarks.omniassistbench.release import read_release
from simulator.errors import InputError

KNOWN = "omniassistbench"
NOTES = 10
"""Notes that are shown; the file has all."""


def import_benchmark(benchmark: str, source: Path, dest: Path, clips: Path | None) -> int:
    """Import a release. Status 1 if some rows could not be imported."""
    _known(benchmark)
    console = Console(soft_wrap=True, highlight=False)
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("reading", total=None)
        done = import_release(
            read_release(source),
            dest,
            clips=clips,
            progress=lambda name: progress.update(task, description=f"reading {name}"),
        )
    console.print(
        f"{done.rows} rows: {done.turns} turns in {done.scenarios} scenarios, {done.answers} want "
        f"an answer, {done.quiet} silence, {done.unscored} are in no mean."
    )
    for line in done.notes[:NOTES]:
        console.print(Text(line, style="dim"))
    if len(done.notes) > NOTES:
        console.print(f"and {len(done.notes) - NOTES} more notes in {dest / IMPORT_FILE}")
    for line in done.failed:
        console.print(Text(f"not imported: {line}", style="red"))
    where = clips or "the folder of its videos"
    console.print(f"To play them, let OMNISTAGE_MEDIA name {where}.")
    return 1 if done.failed else 0


def export_benchmark(benchmark: str, run: Path, out: Path, agent: str | None, repeat: int) -> int:
    """Export a run's answers. Status 1 if some turns had to be left out."""
    _known(benchmark)
    done = export(run, out, agent=agent, repeat=repeat)
    console = Console(soft_wrap=True, highlight=False)
    console.print(f"{out}: {done.rows} rows, {done.silent} of them silence.")
    if done.left_out:
        first = done.left_out[0]
        console.print(
            Text(
                f"{len(done.left_out)} turns left out, not played or without transcript: "
                f"{first}{' ...' if len(done.left_out) > 1 else ''}",
                style="red",
            )
        )
    return 1 if done.left_out else 0


def answers_as_run(
    path: Path, judges: Sequence[str], scenarios: Path | None, out: Path | None
) -> Path:
    """The run folder made of a CSV of answers. Raises InputError for a name that is no turn's."""
    if scenarios is None:
        raise InputError(
            f"{path}: is a file: a CSV of answers needs --scenarios",
            hint="make them: omnistage import omniassistbench RELEASE FOLDER",
        )
    loaded = load_scenarios(scenarios)
    answers = read_answers(path, loaded)
    run = out or Path("runs") / path.stem
    run_of(answers, loaded, run, label=path.stem, judges=judges)
    console = Console(soft_wrap=True, highlight=False)
    console.print(
        f"{len(answers.texts)} turns answered in {path}, {answers.missing} have no row. Words "
        "only: a CSV says nothing of when."
    )
    for line in answers.unknown[:NOTES]:
        console.print(Text(f"left: {line}", style="red"))
    if len(answers.unknown) > NOTES:
        console.print(f"and {len(answers.unknown) - NOTES} more unknown names")
    return run


def _known(benchmark: str) -> None:
    if benchmark != KNOWN:
        raise InputError(f"no benchmark is called {benchmark!r}", hint=f"there is: {KNOWN}")
