"""The conditions of an attempt: what a run imposes on a scenario, and no mean is taken across.

One frozen value travels whole from the command line through plan, manifest, trace and report. What
a scenario says itself (its pace, its canvas) is compared by the scenario's hash, a judge's settings
by its verdicts. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
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


class Video(StrEnum):
    """Codecs of the pictures that are sent."""

    H264 = "h264"
    VP8 = "vp8"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What a run imposes on a scenario."""

    decide: Decide = Decide.AGENT
    """Who decides when the model runs."""
    video: Video = Video.H264
    """Codec of the pictures that are sent."""
    prompt: str = "written"
    """What agents are told in words: the template's name, with a hash if it is not one of ours."""
