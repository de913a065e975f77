"""The kinds of task: tiers, major tasks and sub-tasks with their codes, after OmniAssistBench.

A scenario's `task` is one of these codes, or `custom`. Counterparts: `simulator.scenario.load`
checks it, `simulator.report` groups by it.
"""

from __future__ import annotations

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
    """basic, advanced or real."""


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
)

TASKS = MappingProxyType({task.code: task for task in _TASKS})
"""Every sub-task by its code, in the order of the published tables."""
