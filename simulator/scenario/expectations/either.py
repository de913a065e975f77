"""A turn in which the agent may say something or not: no judge looks at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field

from simulator.protocol.conduct import Wants
from simulator.scenario.expectations.contract import Add, Expectation, Keys
from simulator.scenario.values import Flag


class EitherKeys(Keys):
    """The key of a turn that is not scored."""

    either: Flag = Field(description="The agent may say something or not; the turn is not scored.")

    def read(self, add: Add) -> Either:
        return Either()


@dataclass(frozen=True, slots=True, kw_only=True)
class Either(Expectation):
    """The agent may say something or not; it is not scored."""

    kind: ClassVar[str] = "either"
    wants: ClassVar[Wants] = Wants.NOTHING
    keys: ClassVar[type[Keys]] = EitherKeys

    @property
    def told(self) -> str:
        return "quiet or an acknowledgement"
