"""A turn that wants an answer: what is right, and what must be said.

Counterparts: `judges/keypoints.py` and `judges/rubric.py` judge it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from simulator.protocol.conduct import Wants
from simulator.scenario.expectations.contract import Add, Expectation, Keys
from simulator.scenario.values import Name, Points, Strict, Text, Texts, as_list

PRIOR = "prior"
"""Name of the path that the scenario goes on along, fixed beforehand."""

KeyPoint = tuple[str, ...]
"""One thing that an answer must say, with its alternatives."""


class WayKeys(Strict):
    """The keys of what is right along one way."""

    answer: Text = Field(
        description="The right answer. Something must ask for it: a `say`, or an `event`."
    )
    accept: Texts = Field(default=[], description="Other right answers.")
    key_points: Points = Field(
        default=[],
        description="What must be said: each a text, or a list of alternatives of which one will "
        "do.",
    )

    def way(self) -> Answer:
        return Answer(
            text=self.answer,
            accept=tuple(self.accept),
            key_points=tuple(tuple(point) for point in self.key_points),
        )


class PathKeys(WayKeys):
    """The keys of another reasonable way to go on."""

    name: Name


class AnswerKeys(WayKeys, Keys):
    """The keys of a turn that wants an answer."""

    paths: Annotated[list[PathKeys], BeforeValidator(as_list)] = Field(default=[])

    def read(self, add: Add) -> Answer:
        return replace(self.way(), paths=tuple(self._paths(add)))

    def _paths(self, add: Add) -> Iterator[AnswerPath]:
        seen = {PRIOR}
        for index, path in enumerate(self.paths):
            if path.name in seen:
                what = (
                    "is what the turn's own answer is called"
                    if path.name == PRIOR
                    else "names another path of this turn already"
                )
                add(("paths", index, "name"), f"{path.name!r} {what}")
            seen.add(path.name)
            yield AnswerPath(name=path.name, answer=path.way())


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Expectation):
    """The turn wants an answer."""

    kind: ClassVar[str] = "answer"
    wants: ClassVar[Wants] = Wants.ANSWER
    keys: ClassVar[type[Keys]] = AnswerKeys
    judge: ClassVar[str] = "keypoints"

    text: str
    """The gold answer."""
    accept: tuple[str, ...] = ()
    """Other right answers."""
    key_points: tuple[KeyPoint, ...] = ()
    """What must be said; if empty, a judge takes it from the gold answer."""
    paths: tuple[AnswerPath, ...] = ()
    """Other reasonable ways to go on, that the fixed path does not take."""

    @property
    def right(self) -> tuple[str, ...]:
        ways = (self, *(path.answer for path in self.paths))
        return tuple(text for way in ways for text in (way.text, *way.accept))

    @property
    def told(self) -> str:
        return f"answer: {self.text}"

    def notes(self) -> Iterator[str]:
        for text in self.accept:
            yield f"or: {text}"
        for point in self.key_points:
            yield f"must say: {' | '.join(point)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPath:
    """A reasonable way beside the one that the scenario goes on along."""

    name: str
    answer: Answer
    """Without paths of its own."""
