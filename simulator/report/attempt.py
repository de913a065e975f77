"""One attempt for people: a table with a row for each turn.

Counterparts: `simulator.measuring.trace` has what was measured, `simulator.report.terminal` prints
a whole run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from simulator.judging.judge import Verdict, VerdictState
from simulator.measuring.metrics.turns import TurnMetrics, turn_metrics
from simulator.measuring.trace import Trace
from simulator.protocol.events import Outcome
from simulator.report.part import LatencySummary
from simulator.report.plain import clean, plain
from simulator.report.rows import RIGHT
from simulator.report.terminal import WIDTH, damaged, how_measured, unread, wide

ERRORS = 3
"""Errors beside answers that are shown."""
SAID = 44
"""Characters of an answer that are shown."""


def print_attempt(trace: Trace, verdicts: Sequence[Verdict], console: Console) -> None:
    """One attempt: a row for each turn with what was due, what was said, and the verdicts."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("turn", overflow="fold", max_width=14)
    table.add_column("expect")
    table.add_column("due", justify="right", no_wrap=True)
    table.add_column("onset", justify="right", no_wrap=True)
    table.add_column("latency", justify="right", no_wrap=True)
    table.add_column("said", overflow="fold", ratio=2)
    table.add_column("verdict", overflow="fold", ratio=3)
    start = trace.play_at or 0.0
    for span in trace.turns:
        row = turn_metrics(trace, span)
        own = [v for v in verdicts if v.turn == span.id]
        said = " ".join(r.text for r, _ in trace.responses_of(span.id) if r.text)
        table.add_row(
            plain(span.id),
            span.expect,
            _time(None if span.due is None else span.due - start),
            _time(None if row.onset is None else row.onset - start),
            _turn_latency(row),
            plain(_short(said)),
            _verdicts(own),
        )
    latency = LatencySummary(
        n=0,
        p50=None,
        p95=None,
        written=sum(turn_metrics(trace, span).latency_in_writing for span in trace.turns),
        shared_host=trace.shared_host,
        packet_s=trace.codec.packet_s,
        codec_s=trace.codec.codec_s,
    )
    with wide(console):
        console.print(table, width=WIDTH)
        if trace.outcome != Outcome.COMPLETED:
            outcome = trace.outcome.replace("_", " ")
            console.print(plain(f"{outcome}: {trace.reason}", "red"), width=WIDTH)
        for line in _remarks(trace):
            console.print(plain(line, "yellow"), width=WIDTH)
        console.print(how_measured(latency), width=WIDTH, highlight=False, style="dim")


def _remarks(trace: Trace) -> Iterator[str]:
    """What neither the table nor a verdict says."""
    told = trace.told_besides
    for failure in told[:ERRORS]:
        where = "before the first turn" if failure.turn is None else f"in {failure.turn}"
        yield f"{where} it told of an error, and answered all the same: {failure.told}"
    if len(told) > ERRORS:
        yield f"and of {len(told) - ERRORS} more"
    if trace.damaged:
        yield damaged("the recording", trace.damaged)
    if trace.unread:
        yield unread("the recording", trace.unread)


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:.2f}"


def _turn_latency(row: TurnMetrics) -> str:
    stalled = f"\nstalled\n{row.stalled_s:.1f} s" if row.stalled_s else ""
    return _own_latency(row) + stalled


def _own_latency(row: TurnMetrics) -> str:
    if row.latency_s is not None:
        return f"{row.latency_s:.3f}"
    if row.latency_invalid == "send_error":
        return f"invalid:\nwe sent\n{row.send_error_ms:.0f} ms off"
    said = {"premature": "early", "overlapped": "overlap", "unheard": "unheard"}
    return said.get(row.latency_invalid or "", "-")


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SAID else text[: SAID - 1].rstrip() + "…"


def _verdicts(verdicts: Sequence[Verdict]) -> Text:
    out = Text()
    for n, verdict in enumerate(verdicts):
        if n:
            out.append("\n")
        if verdict.state is VerdictState.SCORED and verdict.score is not None:
            style = "green" if verdict.score >= RIGHT else "red" if verdict.score == 0 else "yellow"
            out.append(f"{100 * verdict.score:.0f}", style=style)
        else:
            out.append(verdict.state.value.replace("_", " "), style="magenta")
        out.append(clean(f" {verdict.why}"))
        heard = verdict.details.get("heard")
        if isinstance(heard, Mapping):
            out.append(clean(_by_ear(heard)), style="dim")
    return out


def _by_ear(heard: Mapping[str, Any]) -> str:
    """The verdict on what was heard, as a line below the one on what was said."""
    content, score = heard.get("content"), heard.get("score")
    worth = score if content is None else content
    if not isinstance(worth, int | float):
        return f"\nby ear: {str(heard.get('state', '')).replace('_', ' ')}: {heard.get('why', '')}"
    return f'\nby ear {100 * worth:.0f}: "{_short(str(heard.get("text", "")))}"'
