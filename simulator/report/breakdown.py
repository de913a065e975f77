"""A run's scores by tier, major task and sub-task, and over repeats, for people.

Counterpart: `simulator.report.aggregate` has the numbers, `simulator.report.terminal` the rest of a
report.
"""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.table import Table

from simulator.report.aggregate import major_of, tier_of
from simulator.report.part import Part
from simulator.report.statistics import Score
from simulator.report.summary import Summary


def print_breakdown(summary: Summary, console: Console) -> None:
    """For each agent the levels, if there are several tasks, and pass@k, if there are repeats."""
    for label, part in summary.by_agent.items():
        if len(part.by_task) > 1:
            console.print(_levels(label, part))
        for rate in part.repeats:
            left = f", {rate.left_out} with fewer scored tries left out" if rate.left_out else ""
            console.print(
                f"{label}: pass@{rate.k} {100 * rate.at:.1f}  pass^{rate.k} {100 * rate.all:.1f}  "
                f"({rate.counted} turns{left})",
                highlight=False,
            )
    for why, count in summary.excluded.items():
        console.print(f"In no mean: {count} turns ({why}).", highlight=False)


def _levels(label: str, part: Part) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(label, overflow="fold", max_width=34)
    for head in ("score", "95 %", "turns", "bounds"):
        table.add_column(head, justify="right", no_wrap=True)
    for tier, whole in part.by_tier.items():
        _row(table, tier, whole)
        majors = [m for m in part.by_major if any(tier_of(t) == tier for t in _of(part, m))]
        for major in majors:
            if major not in (tier, *_of(part, major)):
                _row(table, f"  {major}", part.by_major[major])
            for task in _of(part, major):
                if task != tier:
                    _row(table, f"    {task}", part.by_task[task])
    return table


def _of(part: Part, major: str) -> list[str]:
    return [t for t in part.by_task if major_of(t) == major]


def _row(table: Table, name: str, score: Score) -> None:
    interval = "-" if score.ci95 is None else f"{score.ci95[0]:.1f} .. {score.ci95[1]:.1f}"
    bounds = "-" if score.coverage == 1 else f"{score.low:.1f} .. {score.high:.1f}"
    mean = "-" if score.mean is None else f"{score.mean:.1f}"
    table.add_row(name, mean, interval, f"{score.scored}/{score.planned}", bounds)
