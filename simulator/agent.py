"""The contract of an agent: how to reach a model. Plug-ins in `agents/` implement it.

An agent does not answer anything itself: it starts whatever has to run, in a process that is not
ours, and says where to dial. Counterpart: `simulator.rtc` dials; `simulator.bridge` is the library
for writing the other end.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True, kw_only=True)
class Dial:
    """Where and how to call."""

    url: str
    """The signalling endpoint, e.g. ``http://127.0.0.1:8710/v1/realtime/calls``."""
    dialect: str = "openai"
    """The words it is spoken to in: a bundled or installed one by name, or a file, seen from the
    agent's own, as in `words.py` or `words.py:Mine`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with the offer; values are secrets and never recorded."""
    session: Mapping[str, object] = field(default_factory=dict)
    """Extra settings for the dialect's configure message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What the simulator has to know of an agent before it plays to it."""

    summary: str
    """One line for `omnistage agents`."""
    model: str = ""
    """The model behind it, if it has one."""
    computes_here: bool = False
    """It does real computing on this machine: it runs alone, else its latencies are marked."""
    cued: bool = False
    """It is told by messages which turn plays and what the right answer is (baselines only)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What an agent gets when it is opened."""

    log: Path
    """Where its process may write what it prints."""
    secrets: tuple[str, ...] = ()
    """Values that must never be recorded; the agent's own are added through `Agent.secrets`."""


@runtime_checkable
class Agent(Protocol):
    """A way to reach a model. The constructor takes the reference's options as keyword strings, and
    raises InputError for a missing key or a wrong option: it runs before media are prepared."""

    traits: Traits

    def secrets(self) -> tuple[str, ...]:
        """Values (keys, tokens) to remove wherever they appear in a recording."""
        ...

    def open(self, launch: Launch) -> AbstractAsyncContextManager[Dial]:
        """Start what has to run; yields where to dial; ends it on exit. Open once for a whole run.

        An agent may also have `alive() -> bool`: after a failed attempt it is opened anew unless
        that says it still serves.

        Raises InputError for what only shows here, before anything starts, and AgentError if what
        it starts does not come up.
        """
        ...
