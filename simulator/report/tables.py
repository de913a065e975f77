"""A run as tables for other programs: `turns`, `attempts` and `scores`, as CSV or Parquet.

One row for everything that was planned, scored or not. Columns and their meaning are in COLUMNS; an
empty cell (null in Parquet) is a value that does not exist. Counterparts: `simulator.report.rows`
and `simulator.report.summary` have what is in them.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import get_args, get_type_hints

from simulator.errors import InputError, MissingExtra, install
from simulator.protocol.conditions import Conditions
from simulator.report.aggregate import ScoreTable, aggregate, major_of, tier_of
from simulator.report.part import Part, task_units
from simulator.report.paths import Mode, along
from simulator.report.rows import AttemptRow, TurnRow, by_side, read_rows
from simulator.report.statistics import Score
from simulator.report.summary import Summary, summarise
from simulator.whole_file import whole_file

Cell = str | int | float | bool | None
Table = list[dict[str, Cell]]
MODES: tuple[Mode, Mode] = ("strict", "open")

CONDITIONS: Mapping[str, type] = {
    name: next((k for k in (bool, int, float) if k in (kind, *get_args(kind))), str)
    for name, kind in get_type_hints(Conditions).items()
}
"""A column for each condition."""

COLUMNS: Mapping[str, Mapping[str, type]] = {
    "turns": {
        "attempt": str,
        "scenario": str,
        "task": str,
        "major": str,
        "tier": str,
        "agent": str,
        **CONDITIONS,
        "repeat": int,
        "outcome": str,
        "turn": str,
        "index": int,
        "expect": str,
        "state": str,
        "score": float,
        "content": float,
        "path_taken": str,
        "strict": float,
        "open": float,
        "judge": str,
        "judge_version": str,
        "why": str,
        "latency_s": float,
        "latency_uncertainty_s": float,
        "latency_invalid": str,
        "latency_in_writing": bool,
        "missed": bool,
        "late": bool,
        "premature": bool,
        "false_alarms": int,
        "kept_by": str,
        "reply_words": int,
        "overlap_s": float,
        "stalled_s": float,
    },
    "attempts": {
        "attempt": str,
        "scenario": str,
        "task": str,
        "agent": str,
        **CONDITIONS,
        "repeat": int,
        "outcome": str,
        "reason": str,
        "recording": str,
        "seconds": float,
        "tries": int,
        "score": float,
        "coverage": float,
        "latency_p50_s": float,
        "problem": str,
    },
    "scores": {
        "agent": str,
        **CONDITIONS,
        "level": str,
        "name": str,
        "mean": float,
        "strict": float,
        "open": float,
        "ci_low": float,
        "ci_high": float,
        "clustered_by": str,
        "planned": int,
        "scored": int,
        "coverage": float,
        "low": float,
        "high": float,
    },
}
"""`score`, `strict` and `open` of a turn are 0 to 1; of an attempt, and all means and bounds of
`scores`, 0 to 100. An attempt that was played again has one row, of the try that counts; its
`seconds` are those of all `tries`. `strict` counts the path that was fixed, `open` any that the
turn lists."""


def tables(run: Path, judge: str | None = None) -> dict[str, Table]:
    """The three tables of a run, by the verdicts of `judge` first. Errors as `read_rows`."""
    summary = summarise(run, judge)
    _, rows = read_rows(run, judge)
    made = {
        "turns": [_turn(row, turn) for row in rows for turn in row.turns],
        "attempts": _attempts(summary),
        "scores": list(_scores(summary, by_side(rows))),
    }
    return {name: [_typed(name, row) for row in own] for name, own in made.items()}


def _typed(name: str, row: Mapping[str, Cell]) -> dict[str, Cell]:
    """Numbers that may have a fraction as such, also where it is 0."""
    kinds = COLUMNS[name]
    return {k: float(v) if kinds[k] is float and v is not None else v for k, v in row.items()}


def _turn(row: AttemptRow, turn: TurnRow) -> dict[str, Cell]:
    attempt, verdict, task = row.result.attempt, turn.verdict, row.scenario.task
    both = along(turn)
    out: dict[str, Cell] = {
        "attempt": attempt.id,
        "scenario": attempt.scenario,
        "task": task,
        "major": major_of(task),
        "tier": tier_of(task),
        "agent": attempt.agent,
        **_conditions(row.conditions),
        "repeat": attempt.repeat,
        "outcome": str(row.result.outcome),
        "turn": turn.turn.id,
        "index": turn.turn.index,
        "expect": turn.turn.expect,
        "state": turn.state,
        "score": turn.score,
        "content": None if verdict is None else verdict.content,
        "path_taken": None if both is None else both.taken,
        "strict": None if both is None else both.strict,
        "open": None if both is None else both.open,
        "judge": None if verdict is None else verdict.judge,
        "judge_version": None if verdict is None else verdict.judge_version,
        "why": turn.why,
    }
    measured = turn.metrics if row.trusted else None
    names = [n for n in COLUMNS["turns"] if n not in out]
    return out | {n: None if measured is None else getattr(measured, n) for n in names}


def _conditions(conditions: Conditions | None) -> dict[str, Cell]:
    values = {name: getattr(conditions, name, None) for name in CONDITIONS}
    return {n: str(v) if isinstance(v, str) else v for n, v in values.items()}


def _attempts(summary: Summary) -> Table:
    out: Table = []
    for a in summary.attempts:
        known: dict[str, Cell] = {
            "attempt": a.id,
            **_conditions(a.conditions),
            "tries": 1 + len(a.others),
        }
        out.append({n: known[n] if n in known else getattr(a, n) for n in COLUMNS["attempts"]})
    return out


def _scores(
    summary: Summary, rows: Mapping[str, Sequence[AttemptRow]]
) -> Iterator[dict[str, Cell]]:
    for side, part in summary.by_agent.items():
        strict, loose = (_by_path(part, rows[side], mode) for mode in MODES)
        for level, name, score in _levels(part):
            ci = score.ci95 or (None, None)
            yield {
                "agent": part.agent,
                **_conditions(part.conditions),
                "level": level,
                "name": name,
                "mean": score.mean,
                "strict": strict[level, name],
                "open": loose[level, name],
                "ci_low": ci[0],
                "ci_high": ci[1],
                "clustered_by": score.clustered_by,
                "planned": score.planned,
                "scored": score.scored,
                "coverage": score.coverage,
                "low": score.low,
                "high": score.high,
            }


def _by_path(
    part: Part, rows: Sequence[AttemptRow], mode: Mode
) -> dict[tuple[str, str], float | None]:
    """Means at each level by the fixed path, or by any listed one."""
    found: Part | ScoreTable = part
    if part.paths is not None:
        found = aggregate(task_units(rows, mode))
    return {(level, name): score.mean for level, name, score in _levels(found)}


def _levels(part: Part | ScoreTable) -> Iterator[tuple[str, str, Score]]:
    yield "overall", "overall", part.score if isinstance(part, Part) else part.overall
    for level, scores in (("tier", part.by_tier), ("major", part.by_major), ("task", part.by_task)):
        for name, score in scores.items():
            yield level, name, score


def write_csv(run: Path, folder: Path, judge: str | None = None) -> list[Path]:
    """Write `turns.csv`, `attempts.csv` and `scores.csv`. Raises InputError if it cannot."""
    return [_csv(path, name, rows) for name, path, rows in _places(run, folder, "csv", judge)]


def write_parquet(run: Path, folder: Path, judge: str | None = None) -> list[Path]:
    """The same as Parquet. Raises MissingExtra without pyarrow, InputError if it cannot be
    written."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("writing parquet needs pyarrow", hint=install("parquet")) from None
    kinds = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    written = []
    for name, path, rows in _places(run, folder, "parquet", judge):
        schema = pa.schema([(column, kinds[kind]) for column, kind in COLUMNS[name].items()])
        try:
            with whole_file(path) as part:
                pq.write_table(pa.Table.from_pylist(rows, schema=schema), part)
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror or error}") from None
        written.append(path)
    return written


def _places(run: Path, folder: Path, kind: str, judge: str | None) -> list[tuple[str, Path, Table]]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to {folder}: {error.strerror}") from None
    return [(name, folder / f"{name}.{kind}", rows) for name, rows in tables(run, judge).items()]


def _csv(path: Path, name: str, rows: Sequence[Mapping[str, Cell]]) -> Path:
    try:
        with whole_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS[name], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}") from None
    return path
