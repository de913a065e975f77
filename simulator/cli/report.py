"""`omnistage report`: a run's summary, computed again from what was recorded."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from simulator.errors import OmnistageError
from simulator.judging.verdicts import read_verdicts
from simulator.report.attempt import print_attempt
from simulator.report.breakdown import print_breakdown
from simulator.report.file import write_summary
from simulator.report.gates import check_gates, parse_gates
from simulator.report.plain import plain
from simulator.report.rows import find_trace
from simulator.report.summary import summarise
from simulator.report.tables import write_csv, write_parquet
from simulator.report.terminal import print_gates, print_status, print_summary
from simulator.run.accounting import read_attempts
from simulator.run.plan import read_plan


def show_report(
    run: Path,
    gates: tuple[str, ...],
    min_coverage: float,
    *,
    judge: str | None = None,
    turns: bool = False,
    as_csv: Path | None = None,
    as_parquet: Path | None = None,
    mix: bool = False,
) -> int:
    """Print the summary, by the verdicts of `judge` first; status 1 if something was not completed
    and scored, or a gate failed. `mix`: the whole run's means also across unlike conditions."""
    limits = parse_gates(gates)
    console = Console()
    summary = summarise(run, judge, mix=mix)
    print_summary(summary, run, console)
    print_breakdown(summary, console)
    write_summary(run, summary)
    if turns:
        for result in (t for r in read_attempts(run, read_plan(run)) for t in r.tries):
            if result.folder is None:
                continue
            console.rule(plain(result.name))
            try:
                trace = find_trace(result.folder)
                files = read_verdicts(result.folder)
            except (OmnistageError, OSError) as error:
                console.print(plain(str(error), "red"), soft_wrap=True)
                continue
            verdicts = [j.verdict for f in files.values() for j in f.turns]
            print_attempt(trace, verdicts, console)
    written = [] if as_csv is None else write_csv(run, as_csv, judge)
    written += [] if as_parquet is None else write_parquet(run, as_parquet, judge)
    if written:
        console.print(plain(f"tables: {', '.join(str(p) for p in written)}"), soft_wrap=True)
    results = check_gates(limits, summary, min_coverage=min_coverage)
    print_gates(results, console)
    return print_status(summary, results, console)
