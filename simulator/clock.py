"""The one clock: who needs the time, or something done at a time, asks the Clock it was given.

Session time is seconds on a monotonic clock since dialling; a Clock gives the monotonic seconds and
whoever dials subtracts its own start. `WallClock` is the machine's; `ManualClock` stands still
until somebody moves it, which is what tests do and what virtual time will stand on. Nothing else
calls `time.*`, the event loop's clock, or waits by it.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Protocol


class Timer(Protocol):
    """Something that will be called."""

    def cancel(self) -> None:
        """It will not, unless it has been."""
        ...


class Clock(ABC):
    """A monotonic clock, in seconds, of the running event loop's tasks."""

    @abstractmethod
    def now(self) -> float:
        """Monotonic seconds; the zero has no meaning."""

    @abstractmethod
    def call_at(self, when: float, call: Callable[[], object]) -> Timer:
        """Call once `now()` has reached `when`; soon if it has passed. `call` must not raise."""

    async def sleep_until(self, when: float) -> None:
        """Return when `now()` has reached `when`; at once if it has passed."""
        if when <= self.now():
            return
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def wake() -> None:
            if not woken.done():
                woken.set_result(None)

        timer = self.call_at(when, wake)
        try:
            await woken
        finally:
            timer.cancel()

    async def sleep(self, seconds: float) -> None:
        """Return `seconds` from now."""
        await self.sleep_until(self.now() + seconds)

    @asynccontextmanager
    async def until(self, when: float) -> AsyncIterator[Limit]:
        """Do what is inside until `when`, then break it off with TimeoutError."""
        async with asyncio.timeout(None) as timeout:
            limit = Limit(self, timeout)
            limit.move(when)
            try:
                yield limit
            finally:
                limit.move(None)

    @asynccontextmanager
    async def within(self, seconds: float) -> AsyncIterator[Limit]:
        """Do what is inside for at most `seconds`, then break it off with TimeoutError."""
        async with self.until(self.now() + seconds) as limit:
            yield limit


class Limit:
    """When something will be broken off; made by `Clock.until`."""

    def __init__(self, clock: Clock, timeout: asyncio.Timeout) -> None:
        self._clock = clock
        self._timeout = timeout
        self._timer: Timer | None = None

    @property
    def expired(self) -> bool:
        """Whether it has been broken off."""
        return self._timeout.expired()

    def move(self, when: float | None) -> None:
        """At `when` instead; None: not at all."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if when is not None:
            # The loop's own time plays no part: what has expired, expires now.
            self._timer = self._clock.call_at(when, lambda: self._timeout.reschedule(0.0))


class WallClock(Clock):
    """The machine's monotonic clock."""

    now = staticmethod(time.monotonic)

    def call_at(self, when: float, call: Callable[[], object]) -> Timer:
        # By the time that is left on this clock, which may be another one than the loop's.
        return asyncio.get_running_loop().call_later(max(0.0, when - self.now()), call)


WALL = WallClock()
"""The machine's clock, for all who are given none."""


class ManualClock(Clock):
    """A clock that stands still until `advance` moves it."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start
        self._waiting: list[tuple[float, int, _ManualTimer]] = []
        self._order = itertools.count()

    def now(self) -> float:
        return self._now

    def call_at(self, when: float, call: Callable[[], object]) -> Timer:
        timer = _ManualTimer(call)
        heapq.heappush(self._waiting, (when, next(self._order), timer))
        return timer

    @property
    def next_at(self) -> float | None:
        """When something will be called next; None if nothing waits."""
        while self._waiting and self._waiting[0][2].cancelled:
            heapq.heappop(self._waiting)
        return self._waiting[0][0] if self._waiting else None

    async def advance(self, seconds: float) -> None:
        """Move on by `seconds`, stopping at each time that somebody waits for: whoever is ready
        runs until all wait again before time moves, so that nothing ever happens late."""
        if not seconds >= 0:
            raise ValueError(f"a clock goes on, not by {seconds} s")
        until = self._now + seconds
        await settle()
        while (due := self.next_at) is not None and due <= until:
            await self.leap()
        self._now = until

    async def leap(self) -> bool:
        """Move on to the next time that somebody waits for; False if nobody does."""
        await settle()
        if (due := self.next_at) is None:
            return False
        _, _, timer = heapq.heappop(self._waiting)
        self._now = max(self._now, due)
        timer.call()
        await settle()
        return True


class _ManualTimer:
    def __init__(self, call: Callable[[], object]) -> None:
        self.call = call
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


async def settle() -> None:
    """Let every task run that is ready, until all of them wait."""
    ready: object = getattr(asyncio.get_running_loop(), "_ready")  # noqa: B009 - no public name
    await asyncio.sleep(0)
    while ready:  # noqa: ASYNC110 - of other tasks there is no event to wait for
        await asyncio.sleep(0)


def cpu_seconds() -> float:
    """CPU seconds (user + system) that this process has used."""
    return time.process_time()


def utc_now() -> str:
    """The date and time now, UTC, ISO 8601 with milliseconds: for manifests, never for timing."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def unix_now() -> int:
    """Seconds since 1970, for whoever is told a date in them; never for timing."""
    return int(datetime.now(UTC).timestamp())
