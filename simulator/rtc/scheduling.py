"""Asks the operating system to run us ahead of ordinary programs while packets are paced.

On a busy machine a thread waits its turn for tens of milliseconds, whatever it does itself; one
with real-time scheduling does not, as players of sound know. It is a privilege (root's, that of
CAP_SYS_NICE, or a limit `rtprio` of 1 or more), taken where it is given and done without where it
is not. Only the calling thread has it: agents and other threads are scheduled as ever. Counterpart:
`simulator.rtc.undisturbed` holds it as long as anybody plays.
"""

from __future__ import annotations

import os
import sys

HOW = "`ulimit -r` of 1 or more, CAP_SYS_NICE (docker run --cap-add SYS_NICE), or root"
"""What allows it."""
_LOWEST = 1
"""The priority asked for: ahead of all ordinary threads, behind everything else in real time."""


def allowed() -> bool:
    """Whether it may be had here; nothing is changed."""
    ahead = Ahead()
    taken = ahead.take()
    ahead.give_back()
    return taken


class Ahead:
    """Real-time scheduling for the thread that calls `take`, until the same calls `give_back`."""

    def __init__(self) -> None:
        self.taken = False

    def take(self) -> bool:
        """Whether we have it now, by this call or somebody else's will."""
        if sys.platform != "linux":
            return False
        if os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK != os.SCHED_OTHER:
            # Whoever started us has chosen; let it be.
            return True
        try:
            policy = os.SCHED_RR | os.SCHED_RESET_ON_FORK
            os.sched_setscheduler(0, policy, os.sched_param(_LOWEST))
        except OSError:
            return False
        self.taken = True
        return True

    def give_back(self) -> None:
        """As before `take`."""
        if self.taken and sys.platform == "linux":
            self.taken = False
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
