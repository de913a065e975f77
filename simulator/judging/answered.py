"""What was given in answer to a turn, and whether in time: alike for all judges of answers. Pure.

Counterparts: `simulator.session.attribution` set the flags; `judges/keypoints.py` and
`judges/rubric.py` say what the words are worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.judging.judge import Question
from simulator.recording.trace import Attributed, Response

Given = tuple[Response, Attributed]


def answers_of(responses: Sequence[Given]) -> list[Given]:
    """The first answer and those that are joined to it."""
    real = [(r, a) for r, a in responses if a.by != "token" and "greeting" not in a.flags]
    return [(r, a) for n, (r, a) in enumerate(real) if n == 0 or "joined" in a.flags]


def text_of(given: Sequence[Given]) -> str:
    """All of their words, joined; empty if there is no transcript."""
    return " ".join(r.text.strip() for r, _ in given if r.text.strip())


def asked(question: Question) -> str:
    """The words of the instruction that asks, from this turn or the one it stands in."""
    ids = {question.turn.id, question.turn.asked_in}
    return " ".join(i.text for t in question.scenario.turns if t.id in ids for i in t.instructions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When an answer began, against when it should have."""

    waited: float | None
    """Seconds from the due time to its onset; None if either is unknown."""
    within: float
    late: bool
    premature: bool
    maybe_previous: bool

    def told(self, why: str) -> str:
        """`why` with what there is to say of the time."""
        if self.late:
            after = "" if self.waited is None else f" {self.waited:.1f} s after it fell due"
            return f"late: it began{after}, allowed {self.within:g} s; content: {why}"
        if self.premature:
            before = "" if self.waited is None else f" {-self.waited:.1f} s"
            why = f"premature: it began{before} before it fell due; {why}"
        if self.maybe_previous:
            why += "; it may answer the turn before"
        return why


def timing(question: Question, given: Sequence[Given]) -> Timing:
    """The timing of an answer that was given; `given` is not empty."""
    first, attributed = given[0]
    span = question.span
    waited = None
    if first.onset is not None and span.due is not None:
        waited = first.onset - span.due
    overdue = waited is not None and waited > span.within
    return Timing(
        waited=waited,
        within=span.within,
        late="late" in attributed.flags or overdue,
        premature="premature" in attributed.flags,
        maybe_previous="maybe_previous" in attributed.flags,
    )
