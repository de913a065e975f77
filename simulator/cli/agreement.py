"""`omnistage judge-agreement`: how far a run's judges agree, with each other and with people."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from simulator.errors import InputError
from simulator.report.agreement import Figure
from simulator.report.humans import read_humans
from simulator.report.panel import (
    Agreement,
    PanelTurn,
    agreement,
    disagreements,
    read_panel,
    write_agreement,
)

LISTED = 10


def show_agreement(
    run: Path, judges: tuple[str, ...], human: Path | None, *, mix: bool = False
) -> int:
    """Print it and write it into the run's folder; `mix` takes unlike conditions together."""
    console = Console()
    chosen, turns = read_panel(run, judges, mix=mix)
    if not turns:
        raise InputError(f"{run}: no judge has judged words there", hint=f"omnistage judge {run}")
    if len(chosen) < 2 and human is None:
        raise InputError(
            f"{run}: only {chosen[0]} has judged it",
            hint="judge it with another as well, or give --human scores.csv",
        )
    humans = read_humans(human, [(t.attempt, t.turn) for t in turns]) if human else None
    found = agreement(chosen, turns, humans)
    files = write_agreement(run, found, turns, humans)
    _print(found, console)
    if found.mixed:
        console.print(Text(f"Conditions mixed as asked for: {found.mixed}.", style="yellow"))
    _print_disagreements(disagreements(turns), console)
    console.print(Text(f"-> {', '.join(map(str, files))}"))
    return 0


def _print(found: Agreement, console: Console) -> None:
    heat = Table(title="Pearson's correlation", title_justify="left")
    names = list(dict.fromkeys(n for p in found.pairs for n in (p.a, p.b)))
    heat.add_column("")
    by_pair = {frozenset((p.a, p.b)): p for p in found.pairs}
    for name in names:
        heat.add_column(name)
    for a in names:
        cells = [
            Text("1") if a == b else _hot(by_pair[frozenset((a, b))].pearson.value) for b in names
        ]
        heat.add_row(a, *cells)
    console.print(heat)
    pairs = Table(title="pairs", title_justify="left")
    for column in ("", "Pearson", "same points", "difference", "turns"):
        pairs.add_column(column)
    for p in found.pairs:
        pairs.add_row(
            f"{p.a} - {p.b}",
            shown(p.pearson),
            shown(p.exact),
            shown(p.bias),
            str(p.pearson.turns),
        )
    console.print(pairs)
    if found.leanings:
        against = found.leanings[0].against
        what = "people" if against == "human" else "the median of the others"
        lean = Table(title=f"each judge against {what}", title_justify="left")
        for column in ("", "bias", "Pearson", "with length", "per doubling", "failed"):
            lean.add_column(column)
        for each in found.leanings:
            lean.add_row(
                each.judge,
                shown(each.bias),
                shown(each.pearson),
                shown(each.verbosity),
                shown(each.per_doubling),
                str(each.failed),
            )
        console.print(lean)
    console.print(f"Krippendorff's alpha (interval): {shown(found.alpha)}", highlight=False)
    if found.human_alpha is not None:
        console.print(f"alpha among the people: {shown(found.human_alpha)}", highlight=False)
    if found.mean_of_medians is not None:
        console.print(
            f"mean of median scores: {found.mean_of_medians:.2f} of 5 over {found.turns} turns "
            "with words to judge",
            highlight=False,
        )


def _print_disagreements(turns: list[PanelTurn], console: Console) -> None:
    if not turns:
        return
    console.print(f"{len(turns)} turns for a human to look at:", highlight=False)
    for t in turns[:LISTED]:
        points = ", ".join(f"{j} {p:.3g}" for j, p in t.points.items())
        said = " ".join(t.candidate.split())
        said = said if len(said) <= 80 else said[:79] + "…"
        console.print(Text(f"  {t.attempt} {t.turn}: {points}: {said}"))


def shown(figure: Figure) -> str:
    """`0.82 [0.74, 0.88]`."""
    if figure.value is None:
        return "-"
    if figure.low is None or figure.high is None:
        return f"{figure.value:.2f}"
    return f"{figure.value:.2f} [{figure.low:.2f}, {figure.high:.2f}]"


def _hot(value: float | None) -> Text:
    """A cell of the heat map: the darker, the closer."""
    if value is None:
        return Text("-")
    shade = round(255 * (1 - max(0.0, min(1.0, value))))
    ink = "black" if shade > 110 else "white"
    return Text(f"{value:.2f}", style=f"{ink} on rgb({shade},{shade},255)")
