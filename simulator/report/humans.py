"""Scores that people gave, from a CSV: `attempt, turn, score` and maybe `rater`.

Any spreadsheet's CSV will do: commas, semicolons or tabs, a byte order mark, CRLF, 3,5 for 3.5.
Scores are the rubric's, from 0 to 5. Counterpart: `simulator.report.panel` puts judges beside them.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from simulator.errors import InputError

Key = tuple[str, str]
"""Attempt and turn."""
SHOWN = 8
"""Problems that are listed."""
_NEEDED = ("attempt", "turn", "score")


def read_humans(path: Path, known: Iterable[Key]) -> Mapping[Key, Mapping[str, float]]:
    """Points of each rater by attempt and turn. Raises InputError with every problem's line.

    `known`: the turns there are. The same rater with two scores for one turn is an error; several
    raters are several scores.
    """
    rows = csv.reader(io.StringIO(_text(path), newline=""), delimiter=_delimiter(path))
    numbered = [(rows.line_num, r) for r in rows if any(c.strip() for c in r)]
    if not numbered:
        raise InputError(f"{path}: is empty", hint="its first line must be attempt,turn,score")
    header = [c.strip().lower() for c in numbered[0][1]]
    missing = [n for n in _NEEDED if n not in header]
    if missing:
        raise InputError(
            f"{path}: has no column {missing[0]!r}; it has {', '.join(header)}",
            hint="its first line must be attempt,turn,score and maybe rater",
        )
    if len(numbered) == 1:
        raise InputError(f"{path}: has a header and no scores")
    there, problems = set(known), list[str]()
    attempts = {a for a, _ in there}
    found: dict[Key, dict[str, float]] = {}
    lines: dict[tuple[Key, str], int] = {}
    for line, cells in numbered[1:]:
        row = dict(zip(header, (c.strip() for c in cells), strict=False))
        key, rater = (row.get("attempt", ""), row.get("turn", "")), row.get("rater", "")
        points = _points(row.get("score", ""))
        if key not in there:
            what = f"turn {key[1]!r} in {key[0]}" if key[0] in attempts else f"attempt {key[0]!r}"
            problems.append(f"{path}:{line}: there is no {what}")
        elif points is None:
            problems.append(f"{path}:{line}: score {row.get('score', '')!r} is not from 0 to 5")
        elif found.get(key, {}).get(rater, points) != points:
            who = f" by {rater}" if rater else ""
            problems.append(
                f"{path}:{line}: {key[0]} {key[1]} has score {points:g}{who}, "
                f"and {found[key][rater]:g} in line {lines[key, rater]}"
            )
        else:
            found.setdefault(key, {})[rater] = points
            lines.setdefault((key, rater), line)
    if problems:
        more = [f"and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else []
        raise InputError(
            "\n".join([*problems[:SHOWN], *more]),
            hint="two people who differ are two raters: name them in a column `rater`"
            if any(" and " in p and " in line " in p for p in problems)
            else "",
        )
    return found


def _points(text: str) -> float | None:
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        return None
    return points if math.isfinite(points) and 0 <= points <= 5 else None


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeError:
        raise InputError(
            f"{path}: is not UTF-8", hint="save it as CSV UTF-8 in your spreadsheet"
        ) from None


def _delimiter(path: Path) -> str:
    lines = _text(path).lstrip().splitlines()
    return max(",;\t", key=lines[0].count) if lines else ","
