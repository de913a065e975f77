"""Subtitles of a recording: what was asked and answered, and which turn plays. Pure.

Counterpart: `simulator.report.film` puts them into the film.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from simulator.measuring.trace import Trace
from simulator.recording.manifest import Manifest

SHORTEST = 1.0
"""Seconds that a line stays at least."""
LONGEST_TEXT = 400
"""Characters of a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One subtitle; session time."""

    start: float
    end: float
    text: str


def lines(trace: Trace, manifest: Manifest) -> tuple[Line, ...]:
    """What there is to read, in pieces of time that do not overlap: some players show only one
    line at a time, so all that holds at a time is in one."""
    spans = [*_turns(trace), *_instructions(trace, manifest), *_replies(trace)]
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


def _turns(trace: Trace) -> list[Line]:
    return [
        Line(start=t.start, end=t.done, text=f"[{t.id}: {t.expect}]")
        for t in trace.turns
        if t.reached and t.done > t.start
    ]


def _instructions(trace: Trace, manifest: Manifest) -> list[Line]:
    said = {f"{t.id}/{s.index}": s.text for t in manifest.turns for s in t.spoken}
    return [
        Line(start=h.start, end=h.end, text=f"{h.voice}: {said.get(h.id, '')}")
        for h in trace.heard
        if h.end > h.start
    ]


def _replies(trace: Trace) -> list[Line]:
    out = []
    for response in trace.responses:
        start, end = response.onset, response.end
        if start is None or end is None:
            continue
        text = " ".join(response.text.split()) or "(no transcript)"
        if len(text) > LONGEST_TEXT:
            text = text[: LONGEST_TEXT - 1] + "…"
        out.append(Line(start=start, end=max(end, start + SHORTEST), text=f"agent: {text}"))
    return out
