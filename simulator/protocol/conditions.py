"""The conditions of an attempt: what a run imposes on a scenario, and numbers are not mixed across.

Pure.
"""

from __future__ import annotations

from enum import StrEnum


class Decide(StrEnum):
    """Who decides when the model runs: what it does when it is asked says nothing of when it would
    have spoken."""

    AGENT = "agent"
    TURN_END = "turn-end"

    @property
    def commits(self) -> str:
        """Who says that the user's sound so far is one item."""
        return "agent" if self is Decide.AGENT else "simulator"
