"""A turn in which the agent may say something or not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Either:
    """The agent may say something or not; it is not scored."""

    @property
    def kind(self) -> Literal["either"]:
        return "either"
