"""Keeps the process quiet while packets are paced: no garbage collection, and ahead of others.

A collection in the middle of a call stops every session of the process for tens of milliseconds.
So while anybody plays it is off; on long calls young garbage is collected in a pause between
packets, and everything when somebody who knows that nothing is measured asks for it. Other programs
disturb as much, so the thread is run ahead of them where that is allowed. Counterparts:
`simulator.rtc.peer` enters it for each call, `simulator.rtc.pacer` offers the pauses.
"""

from __future__ import annotations

import gc
from typing import Self

from simulator.rtc.scheduling import Ahead

SWEEP_EVERY = 60.0
"""Seconds between collections of young garbage."""
PAUSE = 0.010
"""Seconds until the next packet that make a pause worth using."""


class Undisturbed:
    """A counted hold: the first one silences the collector, the last one lets go.

    One event loop's sessions share one instance (`UNDISTURBED`).
    """

    def __init__(self) -> None:
        self._holders = 0
        self._was_enabled = False
        self._swept = 0.0
        self._ahead = Ahead()
        self.realtime = False
        """Whether the thread runs ahead of ordinary programs."""
        self.sweeps = 0
        """Collections made in pauses so far."""

    def __enter__(self) -> Self:
        if self._holders == 0:
            self._was_enabled = gc.isenabled()
            # Without a collection, which would take as long as the rest of setting up a call: what
            # is garbage now waits until the last session is over.
            gc.freeze()
            gc.disable()
            self.realtime = self._ahead.take()
        self._holders += 1
        return self

    def __exit__(self, *_: object) -> None:
        self._holders -= 1
        if self._holders == 0:
            self._ahead.give_back()
            self.realtime = False
            gc.unfreeze()
            if self._was_enabled:
                gc.enable()

    def pause(self, now: float, until: float) -> None:
        """Nothing is due from `now` until `until` (any one clock): collect if it is time to."""
        if now - self._swept < SWEEP_EVERY or until - now < PAUSE or self._holders == 0:
            return
        if self._swept:
            self.sweep(generation=1)
        self._swept = now

    def sweep(self, *, generation: int = 2) -> None:
        """Collect now; what survives is put out of sight of the next collection.

        The default collects everything, finished calls among it (about 0.4 MB each), and may take
        a hundred milliseconds: only for a moment at which nothing is measured in any session.
        """
        if self._holders == 0:
            return
        if generation == 2:
            gc.unfreeze()
        gc.collect(generation)
        gc.freeze()
        self.sweeps += 1


UNDISTURBED = Undisturbed()
"""The process's own."""
