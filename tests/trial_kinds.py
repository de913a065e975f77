"""Two kinds of turns that the project does not have, to show what a new one needs: this module.

`choice`: a question with options, of which one or several are right. `telling`: what happens is
told as it happens, and each response counts by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field

from simulator.judging.judge import Question, Verdict, VerdictState
from simulator.protocol.conduct import Wants
from simulator.scenario.expectations.contract import Add, Expectation, Keys
from simulator.scenario.values import Text, Texts, as_list


class ChoiceKeys(Keys):
    """The keys of a choice."""

    choice: Annotated[list[Text], BeforeValidator(as_list)] = Field(
        description="The options, in the order in which they are lettered."
    )
    right: Texts = Field(description="The right options, or the right one.")

    def read(self, add: Add) -> Choice:
        for index, option in enumerate(self.choice):
            if option in self.choice[:index]:
                add(("choice", index), f"{option!r} is an option already")
        for index, option in enumerate(self.right):
            if option not in self.choice:
                allowed = ", ".join(self.choice)
                add(("right", index), f"{option!r} is no option; allowed: {allowed}")
        return Choice(options=tuple(self.choice), gold=tuple(self.right))


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Expectation):
    """The turn asks for one of several options."""

    kind: ClassVar[str] = "choice"
    wants: ClassVar[Wants] = Wants.ANSWER
    keys: ClassVar[type[Keys]] = ChoiceKeys

    options: tuple[str, ...]
    gold: tuple[str, ...]

    @property
    def right(self) -> tuple[str, ...]:
        return self.gold

    @property
    def told(self) -> str:
        return f"choice: {' or '.join(self.gold)}"

    def notes(self) -> Iterator[str]:
        for letter, option in zip("ABCDEFGHIJ", self.options, strict=False):
            yield f"{letter}: {option}"


class ChoiceJudge:
    """Whether the first answer names a right option."""

    name: ClassVar[str] = "choices"
    version: ClassVar[str] = "1"
    summary: ClassVar[str] = "which option was named"
    expects: ClassVar[frozenset[str]] = frozenset({"choice"})

    async def judge(self, question: Question) -> Verdict:
        expect = question.turn.expect
        assert isinstance(expect, Choice)
        score = float(question.candidate.strip() in expect.right)
        return Verdict(
            turn=question.turn.id,
            judge=self.name,
            judge_version=self.version,
            state=VerdictState.SCORED,
            score=score,
            content=score,
        )


class TellingKeys(Keys):
    """The keys of a telling."""

    telling: Texts = Field(description="What happens, in order.")

    def read(self, add: Add) -> Telling:
        return Telling(happens=tuple(self.telling))


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling(Expectation):
    """The turn is to be told while it happens."""

    kind: ClassVar[str] = "telling"
    wants: ClassVar[Wants] = Wants.ANSWER
    keys: ClassVar[type[Keys]] = TellingKeys

    happens: tuple[str, ...]

    @property
    def many(self) -> bool:
        return True

    @property
    def told(self) -> str:
        return f"told as it happens: {'; '.join(self.happens)}"
