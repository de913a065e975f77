"""`omnistage compare`: B against A on the same turns, with what flipped."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import TypeAdapter
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from simulator.cli.power import spread_of_pairs
from simulator.errors import InputError
from simulator.report.compare import Comparison, compare, side_of
from simulator.report.paired import Difference
from simulator.report.power import Spread, difference_shown
from simulator.report.terminal import wide

FLIPS = 20
"""Flipped turns that are shown of each kind; `--json` has all."""
_NONE = ("0", *"--------")
"""The cells of a score that no turn has on both sides."""


def show_comparison(
    run_a: Path,
    run_b: Path,
    *,
    agents: tuple[str | None, str | None],
    as_json: bool,
    mix: bool = False,
) -> int:
    """Print how B differs from A; `mix` takes unlike conditions within one of them together. Raises
    InputError if there is nothing to compare."""
    found = compare(side_of(run_a, agents[0], mix=mix), side_of(run_b, agents[1], mix=mix))
    counted = found.score or found.charged
    if counted is None:
        raise InputError(
            f"{run_a} and {run_b} have no scored turn in common",
            hint=f"turns only in A: {found.only_a}, only in B: {found.only_b}, in both but not "
            f"scored: {found.unscored}",
        )
    if as_json:
        print(json.dumps(TypeAdapter(Comparison).dump_python(found, mode="json"), indent=1))
        return 0
    _print(found, counted, Console(soft_wrap=True, highlight=False))
    return 0


def _print(found: Comparison, counted: Difference, console: Console) -> None:
    """`counted`: the difference that tells by how many turns, of which and how."""
    console.print(Text(f"A: {found.a}\nB: {found.b}"))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("", no_wrap=True)
    for head in ("turns", "A", "B", "B - A", "95 %", "p", "better", "worse", "same"):
        table.add_column(head, justify="right", no_wrap=True)
    table.add_row("score", *(_NONE if found.score is None else _cells(found.score, 1)))
    if found.charged is not None:
        table.add_row("  agent errors at 0", *_cells(found.charged, 1))
    if len(found.by_task) > 1:
        for task, part in found.by_task.items():
            table.add_row(f"  {task}", *_cells(part, 1))
    if found.latency is not None:
        table.add_row("latency, s", *_cells(found.latency, 3, better_is_less=True))
    with wide(console):
        console.print(table)
    said = f"Interval and p over {counted.clusters} {counted.clustered_by}s, paired turn by turn."
    spread: Spread = spread_of_pairs(found.pairs)
    shown = difference_shown(counted.n, spread)
    if shown is not None and spread.sd > 0:
        said += f" So many turns would show a true difference of {shown:.1f} (power 0.8)."
    console.print(said, style="dim")
    if found.only_a or found.only_b or found.unscored:
        console.print(
            f"Not compared: {found.only_a} turns only in A, {found.only_b} only in B, "
            f"{found.unscored} without a score in one of them.",
            style="yellow",
        )
    for note in found.notes:
        console.print(Text(f"Mind: {note}.", style="yellow"))
    for gained, head in ((False, "Right in A, wrong in B"), (True, "Wrong in A, right in B")):
        own = [f for f in found.flips if f.gained is gained]
        console.print(f"{head}: {len(own)}")
        for flip in own[:FLIPS]:
            why = flip.a_why if gained else flip.b_why
            console.print(Text(f"  {flip.scenario} / {flip.turn}: {why}"))
        if len(own) > FLIPS:
            console.print(f"  and {len(own) - FLIPS} more (--json)")


def _cells(d: Difference, digits: int, *, better_is_less: bool = False) -> list[str]:
    interval = "-" if d.ci95 is None else f"{d.ci95[0]:+.{digits}f} .. {d.ci95[1]:+.{digits}f}"
    better, worse = (d.losses, d.wins) if better_is_less else (d.wins, d.losses)
    return [
        str(d.n),
        f"{d.a:.{digits}f}",
        f"{d.b:.{digits}f}",
        f"{d.difference:+.{digits}f}",
        interval,
        "-" if d.p is None else "<0.001" if d.p < 0.001 else f"{d.p:.3f}",
        str(better),
        str(worse),
        str(d.ties),
    ]
