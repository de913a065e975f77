"""`omnistage agents`, `judges` and `scenarios`: what can be named."""

from __future__ import annotations

from typing import Literal

from rich.console import Console
from rich.table import Table

from simulator.errors import OmnistageError
from simulator.plugins import available, content_root
from simulator.report.plain import plain


def list_plugins(kind: Literal["agents", "judges"]) -> int:
    console = Console()
    table = Table("name", "what it is", box=None, pad_edge=False)
    for item in available(kind):
        table.add_row(plain(item.name), plain(item.summary or item.error))
    console.print(table)
    how = content_root(kind) / "README.md"
    line = f"\nYour own: path/to/file.py[:Class]; how to write one: {how}"
    console.print(plain(line), soft_wrap=True)
    return 0


def list_scenarios() -> int:
    from simulator.scenario.load import bundled_scenarios, load_scenario

    console = Console()
    table = Table("id", "task", "turns", "seconds", "title", box=None, pad_edge=False)
    for path in bundled_scenarios():
        try:
            s = load_scenario(path)
        except OmnistageError as error:
            broken = plain(f"broken: {error.message.splitlines()[0]}", "red")
            table.add_row(plain(path.stem), "", "", "", broken)
            continue
        seconds = sum(t.duration for t in s.turns)
        table.add_row(s.id, plain(s.task), str(len(s.turns)), f"{seconds:.0f}", plain(s.title))
    console.print(table)
    how = content_root("scenarios") / "README.md"
    console.print(
        plain(f"\nYour own: the path of its YAML file; the format: {how}"), soft_wrap=True
    )
    return 0
