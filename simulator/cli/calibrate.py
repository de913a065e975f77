"""`omnistage calibrate`: how far a latency that is put in differs from the one that comes out."""

from __future__ import annotations

import asyncio
import json

from rich.console import Console
from rich.table import Table

from simulator.run.calibrate import BIAS_MS, SPREAD_MS, CalibrationReport, calibrate


def show_calibration(*, as_json: bool, repeats: int) -> int:
    """Measure and print; status 1 if this machine's error is over the bounds now."""
    console = Console(stderr=as_json)
    with console.status("calibrating") as status:
        report = asyncio.run(calibrate(repeats=repeats, progress=status.update))
    _print(report, console)
    if as_json:
        print(json.dumps(report.to_json()))
    return 0 if report.passed else 1


def _print(report: CalibrationReport, console: Console) -> None:
    table = Table("put in ms", "n", "missed", "bias ms", "spread ms", "worst ms", "", box=None)
    for row in report.rows:
        table.add_row(
            f"{row.delay_s * 1e3:.0f}",
            str(row.n),
            str(row.missed),
            f"{row.bias_ms:+.2f}",
            f"{row.sd_ms:.2f}",
            f"{row.worst_ms:+.2f}",
            "[green]ok" if row.passed else "[red]over",
        )
    console.print(table)
    console.print(
        f"Bias and spread are what is left after one packet ({report.packet_ms:.0f} ms) and the "
        f"agent's codec ({report.codec_ms:.1f} ms), which are in every latency.\n"
        f"Bounds: bias {BIAS_MS:g} ms, spread {SPREAD_MS:g} ms. "
        f"Send-time error meanwhile: p99 {report.send_p99_ms:.1f} ms."
    )
