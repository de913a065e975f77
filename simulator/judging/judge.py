"""The contract of a judge: from what a turn asked and what was answered to a verdict.

Judges are plug-ins in `judges/`; they read recordings (through the trace), never a live session.
Counterpart: `simulator.judging.run` calls them over recordings and stores their verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

from simulator.judging.spending import Estimate
from simulator.measuring.trace import Attributed, Response, Trace, TurnSpan
from simulator.scenario.types import Scenario, Turn


class VerdictState(StrEnum):
    """What a verdict is."""

    SCORED = "scored"
    JUDGE_FAILED = "judge_failed"
    """No judgement came of it: never a score."""
    UNMEASURABLE = "unmeasurable"
    """It cannot be judged; `why` says what is missing (no transcript, no sound)."""
    UNPROVEN = "unproven"
    """Silence without proof of life: neither kept nor broken."""
    AGENT_ERROR = "agent_error"
    """The provider said that it could not answer: neither a miss nor silence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one judge says of one turn."""

    turn: str
    judge: str
    judge_version: str
    state: VerdictState
    score: float | None = None
    """0 to 1, with the conduct counted (a late answer is not full marks); None unless scored."""
    content: float | None = None
    """0 to 1 for what was said, whenever it was said; None where it has no meaning."""
    why: str = ""
    """The reason, in a line a person can check."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """The judge's own: points met and missed, how quiet was kept, a raw reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One turn put before a judge."""

    scenario: Scenario
    turn: Turn
    span: TurnSpan
    responses: tuple[tuple[Response, Attributed], ...]
    """What was attributed to the turn, in order of onset."""
    trace: Trace
    recording: Path
    """The recording's folder."""

    @property
    def candidate(self) -> str:
        """All that was said in answer, joined; empty if nothing was."""
        return " ".join(
            r.text.strip()
            for r, a in self.responses
            if r.text.strip() and "silence_token" not in a.flags and "spoken_token" not in a.flags
        )


@runtime_checkable
class Judge(Protocol):
    """A judge. The constructor takes the reference's options as keyword strings.

    It may have more: `settings` (a mapping) goes into the hash of its verdicts, `at_once` says how
    many turns it takes at one time, `async with` is entered around all judging, and `estimate` and
    `spent` are shown before and after (`Frugal`).
    """

    @property
    def name(self) -> str:
        """Names its file of verdicts; two of one run have two names. A class attribute will do."""
        ...

    version: ClassVar[str]
    """Changes whenever the same input could get another verdict."""
    summary: ClassVar[str]
    """One line for `omnistage judges`."""
    expects: ClassVar[frozenset[str]]
    """The kinds of expectation that it serves (answer, quiet, ...)."""

    async def judge(self, question: Question) -> Verdict:
        """The verdict. Raises JudgeError (or returns JUDGE_FAILED) where none can be made."""
        ...


@runtime_checkable
class Frugal(Protocol):
    """A judge that costs something."""

    def estimate(self, question: Question) -> Estimate:
        """What a verdict on this turn would take."""
        ...

    def spent(self) -> str:
        """What was spent so far, in a line."""
        ...
