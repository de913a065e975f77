"""A run for people: a table with a row for each agent, and what it cannot say.

Plain text where the output is no terminal. Counterparts: `simulator.report.summary` has the
numbers, `simulator.report.attempt` prints a single attempt.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from simulator.protocol.conditions import Conditions, told, words_of, written
from simulator.protocol.events import Outcome
from simulator.protocol.tracks import VIDEO
from simulator.report.file import SUMMARY_FILE
from simulator.report.gates import GateResult
from simulator.report.part import LatencySummary, Part
from simulator.report.plain import clean, plain
from simulator.report.summary import AttemptSummary, Summary
from simulator.run.plan import LOGS, RECORDINGS, log_name
from simulator.run.sides import MIX

WIDTH = 100
"""Columns that everything fits into."""
BUSY = (
    "This machine was too busy to send evenly: close other programs, or play with --concurrency 1."
)
_FOLDERS = re.compile(r"\S*/(?=[^/\s]+\.py\b)")


def print_summary(summary: Summary, run: Path, console: Console) -> None:
    """The run: a row for each agent, what is missing, how latency was measured, where it is."""
    with wide(console):
        console.print(_agents(summary, slim=console.width < WIDTH), width=WIDTH)
        for line in _remarks(summary, _logs(summary, run)):
            console.print(line, width=WIDTH, highlight=False)
        console.print(how_measured(summary.latency_s), width=WIDTH, highlight=False, style="dim")
    for place in (f"recordings: {run / RECORDINGS}", f"summary: {run / SUMMARY_FILE}"):
        console.print(plain(place), soft_wrap=True)


@contextmanager
def wide(console: Console) -> Iterator[None]:
    """Where nobody's window sets the width (a file, a pipe), take what the tables want."""
    width = console.width
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = max(width, WIDTH)
    try:
        yield
    finally:
        console.width = width


def _agents(summary: Summary, *, slim: bool) -> Table:
    """A row for each agent; `slim` leaves out what a narrow window has no room for."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 0), pad_edge=False)
    table.add_column("agent", overflow="fold", max_width=24)
    table.add_column("outcome", no_wrap=True)
    heads = [
        "score",
        "95 %",
        "answers\nright",
        "latency s\np50   p95",
        "quiet\nkept",
        "un-\nproven",
    ]
    heads += ["false\nalarms", "missed", "late", "over-\nlap s"]
    left_out = {"95 %", "over-\nlap s"} if slim else set()
    if not summary.quiet.unproven:
        left_out.add("un-\nproven")
    for head in heads:
        if head not in left_out:
            table.add_column(head, justify="right", no_wrap=True)
    for label, part in summary.by_agent.items():
        cells = [c for h, c in zip(heads, _numbers(part), strict=True) if h not in left_out]
        table.add_row(plain(_short_label(label, summary)), _outcomes(part), *cells)
    return table


def _short_label(label: str, summary: Summary) -> str:
    """A label without the folders of a file in it, where that names no other agent too."""
    short = {x: _FOLDERS.sub("", x) for x in summary.by_agent}
    return short[label] if list(short.values()).count(short[label]) == 1 else label


def _numbers(part: Part) -> list[Text]:
    quiet, answers, score = part.quiet, part.answers, part.score
    if not score.scored and not _trusted(part):
        # Nothing of it can be told, which is not the same as none.
        return [Text("-")] * 10
    return [
        Text("-" if score.mean is None else f"{score.mean:.0f}"),
        Text("-" if score.ci95 is None else f"{score.ci95[0]:.0f}-{score.ci95[1]:.0f}"),
        _good(f"{answers.right}/{answers.expected}", answers.right == answers.expected),
        Text(_latency(part.latency_s)),
        _good(f"{quiet.kept}/{quiet.expected}", quiet.kept == quiet.expected),
        _good(str(quiet.unproven), quiet.unproven == 0),
        _good(str(quiet.false_alarms), quiet.false_alarms == 0),
        _good(str(answers.missed), answers.missed == 0),
        _good(str(answers.late), answers.late == 0),
        Text(f"{answers.overlap_s:.1f}"),
    ]


def _trusted(part: Part) -> bool:
    """Whether an attempt went far enough, with our instrument in order, to count anything."""
    untold = (Outcome.INSTRUMENT_INVALID, Outcome.CANCELLED)
    return part.planned > sum(part.outcomes[o] for o in untold)


def _good(text: str, good: bool) -> Text:
    return Text(text, style="" if good else "yellow")


def _outcomes(part: Part) -> Text:
    if part.outcomes[Outcome.COMPLETED] == part.planned:
        return Text("completed")
    lines = []
    for outcome, n in part.outcomes.items():
        if n:
            words = outcome.replace("_", "\n")
            lines.append(f"{n} {words}" if part.planned > 1 else words)
    return Text("\n".join(lines), style="red")


def _latency(latency: LatencySummary) -> str:
    if latency.p50 is None or latency.p95 is None:
        return "-"
    mark = "*" if latency.shared_host else ""
    return f"{latency.p50:.2f}  {latency.p95:.2f}{mark}"


def _logs(summary: Summary, run: Path) -> dict[str, Path]:
    """The log of each agent's process, by label, where there is one with something in it."""
    places = {a.agent: run / LOGS / log_name(a.agent) for a in summary.attempts}
    return {k: p for k, p in places.items() if os.path.isfile(p) and p.stat().st_size}


def _remarks(summary: Summary, logs: Mapping[str, Path]) -> list[Text]:
    """What the table cannot say: what is not scored, how silence was kept, what the interval is."""
    lines: list[Text] = []
    for label, part in summary.by_agent.items():
        turns, score = part.turns, part.score
        if score.scored < score.planned:
            parts = {
                "unproven": turns.unproven,
                "agent error": turns.agent_error,
                "unmeasurable": turns.unmeasurable,
                "judge failed": turns.judge_failed,
                "no verdict": turns.missing,
            }
            rest = ", ".join(f"{n} {name}" for name, n in parts.items() if n)
            lines.append(
                plain(
                    f"{label}: {score.scored} of {score.planned} planned turns scored ({rest}); "
                    f"with those the score lies from {score.low:.0f} to {score.high:.0f}",
                    "yellow",
                )
            )
        if 0 < part.latency_s.n < part.answers.expected:
            n, of = part.latency_s.n, part.answers.expected
            lines.append(plain(f"{label}: latency is of {n} of {of} answers", "dim"))
        if part.unreported:
            lines.append(
                plain(
                    f"{label}: in {part.unreported} of {part.planned} attempts its side never "
                    "reported on our media, or stopped to: that they arrived is known by its "
                    "answers alone",
                    "yellow",
                )
            )
        for track, count in part.unread.items():
            cure = " (--no-video sends none)" if track.startswith(VIDEO.id) else ""
            lines.append(
                plain(
                    f"{label}: in {count} of {part.planned} attempts its side never reported on "
                    f"our {track}: it may not read it{cure}",
                    "yellow",
                )
            )
        if part.detecting:
            lines.append(
                plain(
                    f"{label}: in {part.detecting} of {part.planned} attempts it still told when "
                    "we began and ended to speak: its turn detection, which it was asked to give "
                    "up, was at work",
                    "yellow",
                )
            )
        if part.misheard:
            lines.append(
                plain(
                    f"{label}: in {part.misheard} of {part.planned} attempts its voice was not "
                    "followed rightly while it spoke (noise, or a faint voice): turns may have "
                    "gone on, or interruptions begun, at a wrong moment",
                    "yellow",
                )
            )
        if part.disputed:
            lines.append(
                plain(
                    f"{label}: {part.disputed} latencies are of onsets that were heard live at "
                    "another time than measured: listen before you trust them",
                    "yellow",
                )
            )
        if part.unheard:
            lines.append(
                plain(
                    f"{label}: in {part.unheard} of {part.turns.planned} turns its answer is known "
                    "by its transcript alone, and no voice was heard: there is no latency of it",
                    "yellow",
                )
            )
        if part.measured_again:
            lines.append(
                plain(
                    f"{label}: {part.measured_again} of {part.planned} attempts were measured "
                    "again: an older version had done it by other rules, so that times and "
                    "verdicts may differ from what it said",
                    "dim",
                )
            )
        if part.stalled:
            lines.append(
                plain(
                    f"{label}: in {part.stalled} of {part.turns.planned} turns its stream stood "
                    "still for over a second: what it said there came late, or was broken off",
                    "yellow",
                )
            )
        if part.quiet.kept_by.get("spoken_token"):
            lines.append(plain(f"{label}: said the silence token aloud"))
        if part.paths is not None:
            p = part.paths
            lines.append(
                plain(
                    f"{label}: {p.strict:.0f} strict (by the fixed path), {p.open:.0f} open (by "
                    f"any listed one); {p.other} of {p.turns} answers took another path"
                )
            )
    for attempt in summary.attempts:
        if attempt.outcome != Outcome.COMPLETED or attempt.problem:
            why = attempt.problem or attempt.reason
            outcome = attempt.outcome.replace("_", " ")
            if attempt.outcome == Outcome.AGENT_FAILED:
                log = logs.get(attempt.agent)
                why += f"; its log: {log}" if log is not None else ""
            lines.append(plain(f"{attempt.id}: {outcome}: {why}", "red"))
        if attempt.damaged:
            lines.append(plain(damaged(attempt.id, attempt.damaged), "yellow"))
        if attempt.unread:
            lines.append(plain(unread(attempt.id, attempt.unread), "yellow"))
        if attempt.others:
            lines.append(plain(_tries(attempt), "yellow"))
    invalid = [a.reason for a in summary.attempts if a.outcome == Outcome.INSTRUMENT_INVALID]
    if any("send-time error" in reason for reason in invalid):
        lines.append(plain(BUSY, "red"))
    lines += _conditions(summary)
    lines += _judged_by(summary)
    by = {p.score.clustered_by for p in summary.by_agent.values()} - {None}
    if by == {"turn"}:
        lines.append(Text("Intervals are over the turns of the one scenario.", style="dim"))
    return lines


def _tries(attempt: AttemptSummary) -> str:
    """An attempt that was played again: the try that counts, and what the others came to."""
    told = []
    for other in attempt.others:
        score = "" if other.score is None else f", score {other.score:.0f}"
        told.append(f"try {other.number} {other.outcome.replace('_', ' ')}{score}")
    count = 1 + len(attempt.others)
    return (
        f"{attempt.id}: played {count} times; try {attempt.number} counts, and no other: "
        f"{'; '.join(told)}"
    )


def _conditions(summary: Summary) -> list[Text]:
    """What was imposed on the scenarios, where it is not as by default or not alike."""
    lines = [
        plain(f"{f.name}: {written(value)}. {words_of(f)}.")
        for attempt in summary.attempts[:1]
        for f in fields(Conditions)
        if f.name not in summary.apart
        and (value := getattr(attempt.conditions, f.name)) != f.default
    ]
    if summary.mixed:
        mean = "-" if summary.score.mean is None else f"{summary.score.mean:.0f}"
        lines.append(
            plain(
                f"{MIX}: {told(summary.apart)}, taken together in the whole run's score "
                f"({mean}), latency and gates.",
                "yellow",
            )
        )
    elif summary.apart:
        lines.append(
            plain(
                f"Unlike conditions: {told(summary.apart)}. The whole run has no score or latency "
                f"(`omnistage report {MIX}` gives them all the same).",
                "yellow",
            )
        )
    return lines


def _judged_by(summary: Summary) -> list[Text]:
    """Whose verdicts the scores are, where one was chosen or there are others as well."""
    if not summary.other_judges and summary.chosen_judge is None:
        return []
    mine = ", ".join(f"{name} ({n} turns)" for name, n in summary.judged_by.items())
    said = f"Scores are by {mine or 'nobody'}."
    if summary.other_judges:
        said += f" By others: `omnistage report --judge` {' or '.join(summary.other_judges)}."
    return [plain(said, "dim")]


def damaged(what: str, lines: int) -> str:
    """What is said of a recording whose events could not all be read."""
    some = "1 line" if lines == 1 else f"{lines} lines"
    return f"{what}: {some} of its events could not be read (cut off or damaged), and are not in it"


def unread(whose: str, messages: int) -> str:
    """What is said where an agent's messages could not all be read."""
    some = "1 message" if messages == 1 else f"{messages} messages"
    return (
        f"{whose}: {some} of the agent's could not be read and say nothing here; the recording's "
        "`fault` events with code malformed have them"
    )


def how_measured(latency: LatencySummary) -> str:
    said = (
        "Latency: from the end of the instruction (or the event) to the first sample of the "
        "answer's speech. "
        f"Packets ({latency.packet_s * 1000:.0f} ms) and the agent's codec "
        f"({latency.codec_s * 1000:.1f} ms) are in it, not subtracted."
    )
    if latency.written:
        some = f"{latency.written} of {latency.n}" if latency.n else str(latency.written)
        said += f" {some}: to the first text of an answer without a voice, which no codec delays."
    if latency.shared_host:
        said += " * The agent computed on this machine beside others."
    return said


def print_status(summary: Summary, gates: Sequence[GateResult], console: Console) -> int:
    """The exit status of a run, with a line that says why if it is not 0."""
    failed = summary.planned - summary.outcomes[Outcome.COMPLETED]
    unscored = summary.score.planned - summary.score.scored
    unmet = sum(not g.met for g in gates)
    why = [
        f"{n} of {total} {what}"
        for n, total, what in (
            (failed, summary.planned, "attempts were not completed"),
            (unscored, summary.score.planned, "planned turns were not scored"),
            (unmet, len(gates), "gates were not met"),
        )
        if n
    ]
    if why:
        console.print(Text(f"exit status 1: {'; '.join(why)}"), soft_wrap=True)
    return 1 if why else 0


def print_gates(results: Sequence[GateResult], console: Console) -> None:
    """Each gate in a line."""
    for result in results:
        word = Text("met    ", "green") if result.met else Text("NOT met", "bold red")
        console.print(Text.assemble(word, clean(f" {result.gate}: {result.why}")), soft_wrap=True)
