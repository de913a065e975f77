"""`omnistage preview`: see and hear what the agent will get."""

from __future__ import annotations

import os
from pathlib import Path

from rich.console import Console

from simulator.authoring.preview import make_preview, may_write
from simulator.cli.progress import PrepareProgress
from simulator.media.cache import Cache
from simulator.media.prepare import prepare
from simulator.scenario.load import load_scenario


def preview_scenario(name: str, out: Path | None, *, force: bool) -> int:
    scenario = load_scenario(name)
    folder = out or Path(f"{scenario.id}-preview")
    may_write(folder, force=force)
    console = Console()
    with PrepareProgress(console) as progress:
        tell = progress.for_scenario(scenario.id)
        prepared = prepare(
            scenario, cache=Cache(), progress=tell, workers=max(1, os.cpu_count() or 1)
        )
        made = make_preview(
            prepared, folder, force=force, progress=lambda share: tell("film", share)
        )
    console.print(f"{made.film}: {made.duration:.1f} s", soft_wrap=True)
    console.print(f"{made.sheet}", soft_wrap=True)
    console.print(f"{made.transcript}", soft_wrap=True)
    return 0
