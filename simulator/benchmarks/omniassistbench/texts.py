"""What stands in the cells of the release: alternatives, silence, key points, names of tasks.

The quirks are those of the published data: silence in three spellings, alternatives as lists or
joined by `<OR>`, key points parted by a real or a written `\\n` or only by their numbers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from simulator.protocol.silence import is_silence_token
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.expectations.contract import Expectation
from simulator.scenario.expectations.either import Either
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.taxonomy import TASKS

NEXT_STEP = "What is the next step?"
"""The question where the release has none: the published scoring takes it for this."""
NO_GOLD = "no right answer is given"
MIXED = "silence and an answer are both right"

_OR = re.compile(r"\s*<\s*or\s*>\s*", re.IGNORECASE)
_LINE = re.compile(r"(?:\\n|\n)+")
_NUMBER = re.compile(r"^\s*\d{1,2}\s*[.)、:]\s*")
_INLINE = re.compile(r"(?:^|(?<=[\s.;,\]\"'”]))(\d{1,2})\s*[.)]\s*(?=[^\d\s]|\s+\S)")
_ALIASES = {
    "ceu": "CE",
    "complexemotion": "CE",
    "gesturepromptfollowing": "GPF",
    "ocrpromptfollowing": "OPF",
    "realcases": "RC",
    "meeting": "RC",
    "blindassistance": "RC",
    "handcraft": "RC",
}


def clean(cell: object) -> str:
    """A cell's text; empty for nothing, NaN and the like."""
    text = "" if cell is None else str(cell).strip()
    return "" if text.lower() in ("nan", "null") else text


def task_of(cell: str) -> str | None:
    """The code of a sub-task by its code or name, however spelt; None if it is none."""
    key = _letters(cell)
    for task in TASKS.values():
        if key in (_letters(task.code), _letters(task.name)):
            return task.code
    return _ALIASES.get(key)


def _letters(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())


def alternatives(text: str) -> tuple[str, ...]:
    """The texts of which any one will do, without doubles; a text that is no list is one."""
    found = _listed(text) or [text]
    split = [part.strip() for item in found for part in _OR.split(item)]
    return tuple(dict.fromkeys(p for p in split if p))


def _listed(text: str) -> list[str] | None:
    """The items of a list in brackets; None if it is none (`[KEEP QUIET]` is not)."""
    if not (text.startswith("[") and text.endswith("]")) or is_silence_token(text):
        return None
    try:
        found = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return [clean(f) for f in found] if isinstance(found, list) else None


def steps(text: str) -> tuple[str, ...]:
    """Lines or numbered items, without their numbers: key points, or the steps of an example."""
    lines = [line.strip() for line in _LINE.split(text) if line.strip()]
    if len(lines) == 1:
        lines = _inline(lines[0])
    return tuple(stripped for line in lines if (stripped := _NUMBER.sub("", line).strip()))


def _inline(line: str) -> list[str]:
    """`1. a 2. b` on one line: cut where the numbers count up from 1."""
    cuts, want = [], 1
    for match in _INLINE.finditer(line):
        if int(match[1]) == want:
            cuts.append(match.start())
            want += 1
    if len(cuts) < 2 or cuts[0] != 0:
        return [line]
    return [line[a:b].strip() for a, b in zip(cuts, [*cuts[1:], len(line)], strict=True)]


def key_points(text: str) -> tuple[tuple[str, ...], ...]:
    """Each point with its alternatives."""
    listed = _listed(text)
    points = tuple(listed) if listed is not None else steps(text)
    return tuple(found for p in points if (found := alternatives(p)))


def expectation(gold: str, points: str) -> tuple[Expectation, str]:
    """What a turn wants, and what there is to say of it (empty if nothing)."""
    if not gold:
        return Either(), NO_GOLD
    golds = alternatives(_numbered(gold))
    silent = [is_silence_token(g) for g in golds]
    if all(silent):
        return Quiet(), ""
    if any(silent):
        return Either(), MIXED
    return Answer(text=golds[0], accept=golds[1:], key_points=key_points(points)), ""


def _numbered(gold: str) -> str:
    """A numbered text with lists in it is one answer: each list is told by its first item."""
    lines = [line for line in _LINE.split(gold) if line.strip()]
    if len(lines) < 2 or not all(_NUMBER.match(line) for line in lines):
        return gold
    return "\n".join(_first_of(line) for line in lines)


def _first_of(line: str) -> str:
    number = _NUMBER.match(line)
    assert number is not None
    listed: Sequence[str] = _listed(line[number.end() :].strip()) or ()
    return f"{number[0]}{listed[0]}" if listed else line
