"""`omnistage agents`, `judges` and `scenarios`: what can be named."""

from __future__ import annotations

from typing import Literal

from rich.console import Console
from rich.table import Table

from simulator.errors import OmnistageError
from simulator.plugins import available


def list_plugins(kind: Literal["agents", "judges"]) -> int:
    console = Console()
    table = Table("name", "what it is", box=None, pad_edge=False)
    for item in available(kind):
        table.add_row(item.name, item.summary)
    console.print(table)
    console.print(f"\nYour own: path/to/file.py[:Class]; how to write one: {kind}/README.md")
    return 0


def list_scenarios() -> int:
    from simulator.scenario.load import bundled_scenarios, load_scenario

    console = Console()
    table = Table("id", "task", "turns", "seconds", "title", box=None, pad_edge=False)
    for path in bundled_scenarios():
        try:
            s = load_scenario(path)
        except OmnistageError as error:
            table.add_row(path.stem, "", "", "", f"[red]broken: {error.message.splitlines()[0]}")
            continue
        seconds = sum(t.duration for t in s.turns)
        table.add_row(s.id, s.task, str(len(s.turns)), f"{seconds:.0f}", s.title)
    console.print(table)
    console.print("\nYour own: the path of its YAML file; the format: scenarios/README.md")
    return 0
