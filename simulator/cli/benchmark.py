"""`omnistage import` and `omnistage export`: other people's benchmarks, in and out."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from simulator.errors import InputError
from simulator.omniassistbench.importing import IMPORT_FILE, import_release
from simulator.omniassistbench.release import read_release

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


def _known(benchmark: str) -> None:
    if benchmark != KNOWN:
        raise InputError(f"no benchmark is called {benchmark!r}", hint=f"there is: {KNOWN}")
