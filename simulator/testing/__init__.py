"""Public fakes, for tests of the session's behaviour and for people who write agents and judges.

`scenario` and `prepared` build a scenario without any media; `Rehearsal` drives a script on made-up
time, `MemoryLink` a whole session of the engine, without a wire.
"""

from simulator.testing.memory import MemoryLink, Performance, perform
from simulator.testing.rehearsal import (
    Rehearsal,
    Sketch,
    asks,
    cuts_in,
    event,
    prepared,
    quiet,
    standing,
)

__all__ = [
    "MemoryLink",
    "Performance",
    "Rehearsal",
    "Sketch",
    "asks",
    "cuts_in",
    "event",
    "perform",
    "prepared",
    "quiet",
    "standing",
]
