"""What each kind of plug-in has to have, and what is said of one that lacks it.

Counterpart: `simulator.plugins` finds and makes what is held against it. The contracts themselves:
`simulator.agent`, `simulator.judging.judge`, `simulator.rtc.dialect`, `simulator.bridge.call`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal

from simulator.agent import Traits

Kind = Literal["agents", "judges", "dialects", "responders", "recognisers"]
"""What can be loaded; dialects are the words of families of agents, responders the classes that
answer calls in a bridge process, recognisers turn recorded speech into words for judges."""

_SAID: Mapping[Any, str] = {
    str: "text",
    Set: "a set of words",
    Sequence: "a sequence",
    Callable: "a method",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """The members of one kind of thing."""

    one: str
    """What one of the kind is called."""
    members: Mapping[str, Any]
    """Their names, and of which type they have to be."""

    @property
    def needs(self) -> str:
        """The members in words."""
        return ", ".join(self.members)

    def lacking(self, cls: type[Any]) -> list[str]:
        """The members that a class does not have, or only promises."""
        declared: set[str] = set()
        for base in cls.__mro__:
            declared.update(vars(base).get("__annotations__", ()))
        promised: frozenset[str] = getattr(cls, "__abstractmethods__", frozenset())
        return [m for m in self.members if m in promised or not (hasattr(cls, m) or m in declared)]

    def unlike(self, made: object) -> str:
        """What of an instance is not there or of another type than it has to be; or empty."""
        for member, wanted in self.members.items():
            value = getattr(made, member, None)
            # Text is a sequence, of letters, which is never what is meant.
            if not isinstance(value, wanted) or (wanted is Sequence and isinstance(value, str)):
                return f"`{member}` must be {_SAID.get(wanted, wanted.__name__)}"
        return ""


CONTRACTS: Mapping[Kind, Contract] = {
    "agents": Contract(
        one="agent", members={"traits": Traits, "secrets": Callable, "open": Callable}
    ),
    "judges": Contract(
        one="judge",
        members={"name": str, "version": str, "summary": str, "expects": Set, "judge": Callable},
    ),
    "dialects": Contract(one="dialect", members={"codec": Callable, "signalling": Callable}),
    "responders": Contract(one="responder", members={"call": Callable}),
    "recognisers": Contract(
        one="recogniser", members={"name": str, "version": str, "transcribe": Callable}
    ),
}
