"""The one clock. Its counterpart in tests is ManualClock; nothing else calls ``time.*``.

Session time is seconds on a monotonic clock since dialling; a Clock gives the monotonic seconds and
whoever dials subtracts its own start.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """A monotonic clock, in seconds."""

    def now(self) -> float:
        """Monotonic seconds; the zero has no meaning."""
        ...

    async def sleep_until(self, when: float) -> None:
        """Return when `now()` has reached `when`; at once if it has passed."""
        ...


class WallClock:
    """The machine's monotonic clock (the same that asyncio's loop uses)."""

    now = staticmethod(time.monotonic)

    async def sleep_until(self, when: float) -> None:
        delay = when - time.monotonic()
        if delay > 0:
            await asyncio.sleep(delay)


class ManualClock:
    """A clock that tests drive; sleepers wake when `advance` passes their time, in order."""

    def __init__(self, start: float = 0.0) -> None:
        self._now = start
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> float:
        return self._now

    async def sleep_until(self, when: float) -> None:
        if when <= self._now:
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers.append((when, len(self._sleepers), future))
        await future

    def advance(self, seconds: float) -> None:
        """Move time forward by `seconds` and release whoever was waiting for it."""
        self._now += seconds
        due = sorted(s for s in self._sleepers if s[0] <= self._now)
        self._sleepers = [s for s in self._sleepers if s[0] > self._now]
        for _, _, future in due:
            if not future.done():
                future.set_result(None)


def cpu_seconds() -> float:
    """CPU seconds (user + system) that this process has used."""
    return time.process_time()


def utc_now() -> str:
    """The date and time now, UTC, ISO 8601 with milliseconds: for manifests, never for timing."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
