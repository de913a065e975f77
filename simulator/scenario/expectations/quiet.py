"""A turn that wants silence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """The turn wants silence."""

    @property
    def kind(self) -> Literal["quiet"]:
        return "quiet"
