"""A turn that wants an answer: what is right, and what must be said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PRIOR = "prior"
"""Name of the path that the scenario goes on along, fixed beforehand."""

KeyPoint = tuple[str, ...]
"""One thing that an answer must say, with its alternatives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The turn wants an answer."""

    text: str
    """The gold answer."""
    accept: tuple[str, ...] = ()
    """Other right answers."""
    key_points: tuple[KeyPoint, ...] = ()
    """What must be said; if empty, a judge takes it from the gold answer."""
    paths: tuple[AnswerPath, ...] = ()
    """Other reasonable ways to go on, that the fixed path does not take."""

    @property
    def kind(self) -> Literal["answer"]:
        return "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPath:
    """A reasonable way beside the one that the scenario goes on along."""

    name: str
    answer: Answer
    """Without paths of its own."""
