"""A turn that wants silence. Counterpart: `judges/quiet.py` judges it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pydantic import Field

from simulator.protocol.conduct import Wants
from simulator.scenario.expectations.contract import Add, Expectation, Keys
from simulator.scenario.values import Flag


class QuietKeys(Keys):
    """The key of a turn that wants silence."""

    quiet: Flag = Field(description="The agent should keep quiet in this turn.")

    def read(self, add: Add) -> Quiet:
        return Quiet()


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet(Expectation):
    """The turn wants silence."""

    kind: ClassVar[str] = "quiet"
    wants: ClassVar[Wants] = Wants.SILENCE
    keys: ClassVar[type[Keys]] = QuietKeys
    judge: ClassVar[str] = "quiet"

    @property
    def told(self) -> str:
        return "quiet"
