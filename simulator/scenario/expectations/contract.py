"""What a kind of turn answers for itself: its keys in a scenario, and how it is treated and told.

A kind is a module in this folder with a frozen value (`Expectation`) and the keys that an author
writes it with (`Keys`), and a line in `simulator.scenario.expectations.kinds`; its judge lies in
`judges/`. Nothing else asks which kind it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar

from simulator.protocol.conduct import Conduct, Wants
from simulator.scenario.values import Strict

Add = Callable[[Sequence[str | int], str], None]
"""Takes a problem: where it is below the turn, and what is wrong and allowed."""


class Keys(Strict):
    """The keys of a turn that belong to one kind, with the types of their values.

    One of them is called as the kind is; it is there where a turn is of that kind. A field's
    `description` is what editors say of the key.
    """

    @abstractmethod
    def read(self, add: Add) -> Expectation:
        """What they say; `add` is told what is wrong beyond the types of the values."""


class Expectation(ABC):
    """What a turn expects of the agent. Kinds are frozen dataclasses; no field of theirs is called
    as a property here is, since it would have that for its default."""

    __slots__ = ()

    kind: ClassVar[str]
    """Its name: the key that it is written with, and what recordings, plans and tables call it."""
    wants: ClassVar[Wants]
    keys: ClassVar[type[Keys]]
    judge: ClassVar[str] = ""
    """The bundled judge that is asked where none is named; empty for none."""

    @property
    def many(self) -> bool:
        """Whether each response counts by itself."""
        return False

    @property
    def conduct(self) -> Conduct:
        return Conduct(wants=self.wants, many=self.many)

    @property
    def right(self) -> tuple[str, ...]:
        """Texts that are right, first the one that a baseline which is right says."""
        return ()

    @property
    @abstractmethod
    def told(self) -> str:
        """What is expected, in a few words for people."""

    def notes(self) -> Iterator[str]:
        """What else there is to tell people, a line each."""
        yield from ()
