"""How a turn is treated, whatever it expects: all that ownership, numbers and reports ask of it.

A recording states it beside the name of what was expected, so that it can be measured and reported
again by somebody who does not know that kind of turn. Pure. Counterpart: what is expected, as an
author writes it, is in `simulator.scenario.expectations`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from simulator.errors import RecordingError


class Wants(StrEnum):
    """What is wanted of the agent. Reports count by it and pictures are coloured by it."""

    ANSWER = "answer"
    """Something is owed once it falls due: the stream waits for it, and without it it is missed."""
    SILENCE = "silence"
    """Whatever is said with nothing owed is a false alarm."""
    NOTHING = "nothing"
    """Something may be said, such as an acknowledgement, or not; it is not scored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conduct:
    """How a turn is treated."""

    wants: Wants
    many: bool = False
    """Each response counts by itself for as long as the turn lasts; else the first is the answer,
    and what is said after it is joined to it."""

    @property
    def owed(self) -> bool:
        return self.wants is Wants.ANSWER

    @property
    def silent(self) -> bool:
        return self.wants is Wants.SILENCE

    @property
    def scored(self) -> bool:
        return self.wants is not Wants.NOTHING


BY_NAME = Conduct(wants=Wants.NOTHING)
"""Stands for the conduct of a kind that has always been there, where a record states none."""

_NAMED: Mapping[str, Conduct] = {
    "answer": Conduct(wants=Wants.ANSWER),
    "quiet": Conduct(wants=Wants.SILENCE),
    "either": Conduct(wants=Wants.NOTHING),
}
"""The kinds that there were before conduct was recorded."""


def stated(conduct: Conduct, expect: str) -> Conduct:
    """What a record of a turn states, or by the name of what it expects what it left unsaid.

    Raises RecordingError for a name that says nothing.
    """
    if conduct is not BY_NAME:
        return conduct
    if expect not in _NAMED:
        raise RecordingError(
            f"a turn expects {expect!r}, and it is not recorded what that wants of the agent",
            hint=f"kinds that need no `conduct` beside them: {', '.join(_NAMED)}",
        )
    return _NAMED[expect]
