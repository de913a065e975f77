"""Reads a judge model's reply, however it is wrapped, and refuses what is no verdict. Pure.

A reply counts only if it names its case: a number made from all that was put before the judge, so
that no candidate can hold a reply that would pass for the judge's own. Counterparts:
`simulator.judging.rubric` says what is asked for, `simulator.judging.chat` asks.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

DIMENSIONS = (
    "question_understanding",
    "semantic_alignment",
    "polarity_consistency",
    "keypoint_coverage",
    "silence_protocol",
    "redundancy",
    "conversational_tone",
)
LABELS: Mapping[str, int] = {"Yes": 2, "Partly": 1, "No": 0, "Not Applicable": -1}
"""Each label with its number in OmniAssistBench's files."""
FULL = 5
RATIONALE = 600
"""Characters of the rationale that are kept."""
_SPELLINGS = {
    "yes": "Yes",
    "partly": "Partly",
    "partial": "Partly",
    "partially": "Partly",
    "no": "No",
    "notapplicable": "Not Applicable",
    "na": "Not Applicable",
}
_OF = re.compile(r"(\d+(?:\.0+)?)(?:\s*(?:/|out of)\s*(\d+))?")


class Unreadable(ValueError):
    """A reply that is not what was asked for; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """What the model said of one candidate."""

    score: int
    """0 to 5."""
    labels: Mapping[str, str]
    """Each dimension with one of LABELS."""
    rationale: str


def read_grade(text: str, case: str, *, quiet: bool) -> Grade:
    """The grade in a reply. Raises Unreadable, with what is wrong in words for the model.

    `quiet`: the right answer was silence and the candidate is not the token, which is known.
    """
    found = [o for o in objects(text) if "score" in o or "case" in o]
    if not found:
        raise Unreadable("there is no complete JSON object with a score in it")
    own = [o for o in found if str(o.get("case", "")).strip() == case]
    if not own:
        raise Unreadable(f'"case" is not "{case}"')
    body = own[-1]
    if len({repr(o.get("score")) for o in own}) > 1:
        raise Unreadable("there are several objects with different scores")
    grade = Grade(
        score=_score(body.get("score")),
        labels={d: _label(d, body.get(d)) for d in DIMENSIONS},
        rationale=" ".join(str(body.get("rationale", "")).split())[:RATIONALE],
    )
    if why := contradiction(grade, quiet=quiet):
        raise Unreadable(why)
    return grade


def objects(text: str) -> Iterator[dict[str, Any]]:
    """The JSON objects in a text, whatever stands around them; nested ones are not listed."""
    decoder = json.JSONDecoder(parse_constant=lambda _: math.nan)
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            if isinstance(value, dict):
                yield value
        at = text.find("{", end)


def _score(value: Any) -> int:
    if isinstance(value, str) and (found := _OF.fullmatch(value.strip())):
        if found[2] is not None and int(found[2]) != FULL:
            raise Unreadable(f'"score" is {value!r}; it must be a whole number from 0 to 5')
        value = float(found[1])
    fine = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not fine or value != int(value) or not 0 <= value <= FULL:
        raise Unreadable(f'"score" is {str(value)[:20]}; it must be a whole number from 0 to 5')
    return int(value)


def _label(dimension: str, value: Any) -> str:
    if isinstance(value, str):
        known = _SPELLINGS.get(re.sub(r"[^a-z]", "", value.lower()))
        if known is not None:
            return known
    said = "missing" if value is None else str(value)[:20]
    raise Unreadable(f'"{dimension}" is {said}; it must be one of {", ".join(LABELS)}')


def contradiction(grade: Grade, *, quiet: bool) -> str:
    """How the score belies its own labels; empty if it does not."""
    labels, score = grade.labels, grade.score
    if quiet:
        return (
            "the candidate is not the silence token, so its score cannot be 5" if score > 4 else ""
        )
    understood = labels["question_understanding"]
    aligned, covered = labels["semantic_alignment"], labels["keypoint_coverage"]
    if score == FULL and (understood != "Yes" or aligned != "Yes"):
        return "score 5 needs question_understanding and semantic_alignment at Yes"
    if score == FULL and covered in ("No", "Partly"):
        return "score 5 needs every key point, and keypoint_coverage says otherwise"
    if score >= 4 and "No" in (understood, aligned, covered, labels["polarity_consistency"]):
        return f"score {score} does not go with a No among understanding, meaning, polarity, points"
    if score <= 1 and understood == aligned == "Yes":
        return f"score {score} does not go with an answer that is understood and means the same"
    return ""
