"""What was given in answer to a turn, and whether in time: alike for all judges of answers. Pure.

Counterparts: `simulator.measuring.attribution` set the flags; `judges/keypoints.py` and
`judges/rubric.py` say what the words are worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from simulator.judging.judge import Question
from simulator.measuring.trace import Attributed, Response
from simulator.protocol.conduct import Wants
from simulator.scenario.expectations.answer import PRIOR, Answer

Given = tuple[Response, Attributed]
Mode = Literal["strict", "open"]
"""Whether the fixed path alone counts, or whichever of a turn's paths was taken."""


def answers_of(responses: Sequence[Given], *, many: bool = False) -> list[Given]:
    """The first answer and those that are joined to it; all, if each counts by itself."""
    real = [(r, a) for r, a in responses if a.by != "token" and "greeting" not in a.flags]
    return [(r, a) for n, (r, a) in enumerate(real) if many or n == 0 or "joined" in a.flags]


def counted(question: Question) -> list[Response]:
    """The responses that a verdict is on: what `answers_of` gives, or false alarms."""
    if question.turn.expect.wants is Wants.SILENCE:
        return [r for r, a in question.responses if "false_alarm" in a.flags]
    many = question.turn.expect.many
    return [r for r, _ in answers_of(question.responses, many=many)]


def text_of(given: Sequence[Given]) -> str:
    """All of their words, joined; empty if there is no transcript."""
    return " ".join(r.text.strip() for r, _ in given if r.text.strip())


def asked(question: Question) -> str:
    """The words of the instruction that asks, from this turn or the one it stands in."""
    ids = {question.turn.id, question.turn.asked_in}
    return " ".join(i.text for t in question.scenario.turns if t.id in ids for i in t.instructions)


def standing(question: Question) -> str:
    """What the user has last asked for by the time of a quiet turn."""
    turns = [t for t in question.scenario.turns if t.index <= question.turn.index and t.asked]
    if not turns:
        return "(nothing was asked)"
    return " ".join(i.text for i in turns[-1].instructions if i.voice == "user")


def ways(expect: Answer) -> list[tuple[str, Answer]]:
    """The paths by name: first the one that the scenario goes on along."""
    return [(PRIOR, expect), *((p.name, p.answer) for p in expect.paths)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Along:
    """What an answer is worth along each of a turn's paths."""

    worth: Mapping[str, float]
    """0 to 1 by path, the fixed one first; paths after one with full marks may be left out."""

    @property
    def strict(self) -> float:
        """By the fixed path alone."""
        return self.worth[PRIOR]

    @property
    def open(self) -> float:
        """By whichever path suits it best."""
        return max(self.worth.values())

    @property
    def taken(self) -> str | None:
        """The path that suits it best, the fixed one if no other is better; None if none does."""
        best = max(self.worth, key=lambda name: self.worth[name])
        return best if self.worth[best] > 0 else None

    def score(self, mode: Mode) -> float:
        return self.open if mode == "open" else self.strict

    def details(self) -> dict[str, Any]:
        return {
            "taken": self.taken,
            "strict": self.strict,
            "open": self.open,
            "worth": dict(self.worth),
        }

    def told(self, why: str) -> str:
        """`why` with the path that was taken, if it was another one."""
        if self.taken in (None, PRIOR):
            return why
        return f"path {self.taken} (strict {self.strict:.2f}, open {self.open:.2f}): {why}"


def mode_of(text: str) -> Mode:
    """Raises ValueError for a mode that there is not."""
    modes: Mapping[str, Mode] = {"strict": "strict", "open": "open"}
    if text not in modes:
        raise ValueError(f"mode={text} must be strict or open")
    return modes[text]


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """When an answer began, against when it should have."""

    waited: float | None
    """Seconds from the due time to its onset; None if either is unknown."""
    within: float
    late: bool
    premature: bool
    maybe_previous: bool
    cut: str = ""
    """Why the provider cut it off; empty if it was not."""

    def told(self, why: str) -> str:
        """`why` with what there is to say of the time, and of its end."""
        if self.cut:
            why += f"; it was cut off ({self.cut})"
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
    first, attributed = next((pair for pair in given if not pair[0].unheard), given[0])
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
        cut=next((r.reason or r.status or "" for r, a in given if "cut" in a.flags), ""),
    )
