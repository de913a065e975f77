"""Whether an attempt is played again, and how long is waited before. Pure.

A retry plays the whole attempt, never single turns: what an agent says depends on what came before.
Counterparts: `simulator.run.accounting` says what its tries came to and which of them counts,
`simulator.run.pool` plays the next.
"""

from __future__ import annotations

import re

from simulator.protocol.events import Outcome
from simulator.run.accounting import AttemptResult

RETRIED = frozenset({Outcome.AGENT_FAILED, Outcome.NETWORK_FAILED, Outcome.INSTRUMENT_INVALID})
"""What another try may end otherwise. What is not supported, or was completed, stays so."""
LONGEST_WAIT = 300.0
"""Seconds that are waited at most, whatever a provider asks for."""

_ASKED = re.compile(
    r"\b(?:try again|retry)[\s_-]*(?:in|after)[\s:=\"]*"
    r"((?:\d+(?:\.\d+)?\s*(?:milliseconds?|ms|months?|weeks?|w|days?|d|hours?|h|minutes?|min|m|seconds?|sec|s)?(?![a-z])\s*)+)",
    re.IGNORECASE,
)
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)", re.IGNORECASE)
_SECONDS = {"w": 604_800.0, "d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "": 1.0}


def next_try(result: AttemptResult, retries: int) -> int | None:
    """The number of the try of an attempt that is to be played now; None if none is.

    One that was cut short by ourselves is made up for and takes nothing from the `retries`, so that
    a run that was killed and goes on plays all that it had not finished and nothing twice.
    """
    tries = result.tries
    last = tries[-1]
    if not last.begun:
        return last.number
    if not last.ended or last.outcome is Outcome.CANCELLED:
        return last.number + 1
    failed = sum(t.ended and t.outcome in RETRIED for t in tries)
    again = last.outcome in RETRIED and failed <= retries
    return last.number + 1 if again else None


def wait_asked(words: str) -> float:
    """Seconds after which a provider wants to be asked again, by its words: `Please try again in
    1m30.5s`, `retry after 20 seconds`. 0 if it does not say."""
    found = _ASKED.search(words)
    if found is None:
        return 0.0
    wait = sum(float(n) * _unit(name.lower()) for n, name in _PART.findall(found[1]))
    return min(wait, LONGEST_WAIT)


def _unit(name: str) -> float:
    if name.startswith("month"):
        return 30 * _SECONDS["d"]
    return 0.001 if name.startswith(("ms", "milli")) else _SECONDS[name[:1]]
