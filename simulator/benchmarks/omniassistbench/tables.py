"""CSV files as people have them: from a script, from Excel, with a semicolon, with long cells.

Counterparts: `.release` and `.answers` beside it say which columns they want.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulator.errors import InputError

LONGEST_CELL = 10_000_000
"""Characters; Python's own limit of 131,072 is less than some answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CsvRow:
    """One row of a file, by its columns."""

    number: int
    """Line of the file on which it ends."""
    cells: Mapping[str, str]


def read_table(path: Path, columns: Sequence[str]) -> list[CsvRow]:
    """The rows, by column, names of columns without case and space around them.

    Reads UTF-8 with or without a byte order mark and UTF-16 with one; any line ending; comma,
    semicolon or tab. Raises InputError with the line for what is wrong.
    """
    try:
        text = _decode(path, path.read_bytes())
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if not text.strip():
        raise InputError(f"{path}: is empty", hint=f"its first line names {', '.join(columns)}")
    head = text.lstrip("\r\n").splitlines()[0]
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(head), strict=True)
    names: list[str] = []
    rows: list[CsvRow] = []
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if not names:
                names = [cell.strip().lower() for cell in row]
                _complete(path, names, columns)
                continue
            if len(row) > len(names):
                raise InputError(
                    f"{path}:{reader.line_num}: {len(row)} cells, and {len(names)} columns",
                    hint="put text that has the separator in it in double quotes",
                )
            filled = [*row, *[""] * (len(names) - len(row))]
            cells = dict(zip(names, filled, strict=True))
            rows.append(CsvRow(number=reader.line_num, cells=cells))
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: not CSV: {error}") from None
    if not rows:
        raise InputError(f"{path}: has a head and no rows")
    return rows


def _decode(path: Path, data: bytes) -> str:
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding).replace("\0", "")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(
            f"{path}:{line}: is not UTF-8 text",
            hint="save it as 'CSV UTF-8' (Excel has that in Save As)",
        ) from None


def _delimiter(head: str) -> str:
    return max(",;\t", key=head.count)


def _complete(path: Path, names: Sequence[str], columns: Sequence[str]) -> None:
    missing = [c for c in columns if c not in names]
    if missing:
        raise InputError(
            f"{path}: has no column {' and no column '.join(missing)}",
            hint=f"its columns are: {', '.join(names)[:200]}",
        )
    double = next((n for n in names if n and names.count(n) > 1), None)
    if double is not None:
        raise InputError(f"{path}: column {double!r} is there twice")
