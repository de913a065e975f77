"""Subtitles of a recording: what was asked and answered, and which turn plays. Pure.

Counterparts: `simulator.report.timeline` says what was when, `simulator.report.film` puts the lines
into the film.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from simulator.report.timeline.lanes import Timeline

SHORTEST = 1.0
"""Seconds that a line stays at least."""
LONGEST_TEXT = 400
"""Characters of a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One subtitle; times as on the timeline."""

    start: float
    end: float
    text: str


def lines(timeline: Timeline) -> tuple[Line, ...]:
    """What there is to read, in pieces of time that do not overlap: some players show only one
    line at a time, so all that holds at a time is in one."""
    spans = [*_turns(timeline), *_instructions(timeline), *_replies(timeline)]
    borders = sorted({s.start for s in spans} | {s.end for s in spans})
    out: list[Line] = []
    for start, end in pairwise(borders):
        texts = [s.text for s in spans if s.start <= start and s.end >= end]
        if not texts or end - start < 1e-3:
            continue
        text = "\n".join(texts)
        if out and out[-1].text == text and abs(out[-1].end - start) < 1e-6:
            out[-1] = Line(start=out[-1].start, end=end, text=text)
        else:
            out.append(Line(start=start, end=end, text=text))
    return tuple(out)


def _turns(timeline: Timeline) -> list[Line]:
    return [
        Line(start=turn.start, end=turn.end, text=f"[{turn.turn}: {turn.kind}]")
        for turn in timeline.spans("turns")
        if turn.end > turn.start
    ]


def _instructions(timeline: Timeline) -> list[Line]:
    return [
        Line(start=given.start, end=given.end, text=f"{given.by}: {given.text}")
        for given in timeline.spans("instructions")
        if given.end > given.start
    ]


def _replies(timeline: Timeline) -> list[Line]:
    out = []
    for reply in timeline.spans("responses"):
        if reply.kind not in ("speech", "text"):
            continue
        text = " ".join(reply.text.split()) or "(no transcript)"
        if len(text) > LONGEST_TEXT:
            text = text[: LONGEST_TEXT - 1] + "…"
        end = max(reply.end, reply.start + SHORTEST)
        out.append(Line(start=reply.start, end=end, text=f"agent: {text}"))
    return out
