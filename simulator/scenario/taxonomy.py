"""The kinds of task: tiers, major tasks and sub-tasks with their codes, after OmniAssistBench.

A scenario's `task` is one of these codes, `custom`, or `custom:NAME` for a kind of one's
own. Counterparts: `simulator.scenario.load` checks it, `simulator.report` groups by it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType

CUSTOM = "custom"
"""The task of a scenario that fits none of them."""


@dataclass(frozen=True, slots=True)
class Task:
    """A sub-task."""

    code: str
    name: str
    major: str
    """The major task that it belongs to."""
    tier: str
    """basic, advanced, real or custom."""


_TASKS = (
    Task("II", "identity identification", "social perception", "basic"),
    Task("AI", "addressee identification", "social perception", "basic"),
    Task("CE", "complex emotion understanding", "social perception", "basic"),
    Task("ER", "event retrieval", "temporal perception", "basic"),
    Task("AO", "appearance order", "temporal perception", "basic"),
    Task("DC", "dynamic counting", "temporal perception", "basic"),
    Task("AR", "action reference", "referential perception", "basic"),
    Task("LR", "linguistic reference", "referential perception", "basic"),
    Task("GPF", "gesture-based prompt following", "non-audio prompt following", "basic"),
    Task("OPF", "OCR-based prompt following", "non-audio prompt following", "basic"),
    Task("CR", "context-aware response", "context-aware response", "advanced"),
    Task("SER", "single event-triggered response", "proactive response", "advanced"),
    Task("MER", "multi events-triggered response", "proactive response", "advanced"),
    Task("ST", "step tracking", "process tracking", "advanced"),
    Task("CT", "checklist tracking", "process tracking", "advanced"),
    Task("MT", "multitask tracking", "process tracking", "advanced"),
    Task("RC", "real case", "real case", "real"),
    Task("Ms", "real case: meeting", "real case", "real"),
    Task("Ba", "real case: blind assistance", "real case", "real"),
    Task("Ht", "real case: handcraft", "real case", "real"),
)

TASKS = MappingProxyType({task.code: task for task in _TASKS})
"""Every sub-task by its code, in the order of the published tables."""


_OWN = re.compile(rf"{CUSTOM}:([A-Za-z0-9][A-Za-z0-9_.-]{{0,39}})")


def task_of(code: str) -> Task | None:
    """The task that a code names; None if it names none. `custom:NAME` is one of its own."""
    if code in TASKS:
        return TASKS[code]
    if code == CUSTOM:
        return Task(CUSTOM, CUSTOM, CUSTOM, CUSTOM)
    own = _OWN.fullmatch(code)
    return Task(code, own[1], CUSTOM, CUSTOM) if own else None
