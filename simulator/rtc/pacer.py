"""One alarm for all senders that go by one clock.

Thousands of packets fall due each second in a process full of sessions. A timer of asyncio for each
would cost as much as sending; here they wait in one heap behind one timer, and all that are due are
sent in one go. Counterpart: `simulator.rtc.sender`.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import Callable
from weakref import WeakKeyDictionary

from simulator.clock import Clock, Timer
from simulator.rtc.processor import Core
from simulator.rtc.undisturbed import UNDISTURBED


class Pacer:
    """Calls back at times of a clock. Callbacks must not raise."""

    def __init__(self, clock: Clock) -> None:
        self._time = clock.now
        self._call_at = clock.call_at
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._timer: Timer | None = None
        self._firing = False
        self.core = Core(clock.now)
        """How fast the core runs while packets are sent."""

    def at(self, when: float, call: Callable[[], None]) -> None:
        """Call at `when`. There is no taking back: who has changed its mind ignores the call."""
        heapq.heappush(self._heap, (when, next(self._order), call))
        if not self._firing and self._heap[0][0] == when:
            self._set(when)

    def _set(self, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._call_at(when, self._fire)

    def _fire(self) -> None:
        self._timer = None
        self._firing = True
        heap, time, core = self._heap, self._time, self.core
        try:
            now = time()
            while heap and heap[0][0] <= now:
                heapq.heappop(heap)[2]()
                now = time()
                if now >= core.next:
                    core.sample(now)
        finally:
            self._firing = False
        if heap:
            # Nobody has anything to send until then.
            UNDISTURBED.pause(now, heap[0][0])
            self._set(heap[0][0])


_PACERS: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Clock, Pacer]] = WeakKeyDictionary()


def pacer(clock: Clock) -> Pacer:
    """That of the running event loop for this clock, which all its sessions share."""
    pacers = _PACERS.setdefault(asyncio.get_running_loop(), {})
    if clock not in pacers:
        pacers[clock] = Pacer(clock)
    return pacers[clock]
