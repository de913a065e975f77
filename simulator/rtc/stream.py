"""The events of a call with their times, in a queue that is bounded and counts what it drops.

Counterparts: `simulator.rtc.peer` and `simulator.rtc.ear` put in, the session's engine iterates.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator

from simulator.protocol.events import Fault, LinkEvent, Ready, Text

LIMIT = 10_000
"""Events that may wait. Texts are dropped from here on, everything from twice as many."""


class EventStream:
    """One reader's queue of `(session time, event)`. Iteration ends when it is closed and empty."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._limit = limit
        self._waiting: deque[tuple[float, LinkEvent]] = deque()
        self._reader: asyncio.Future[None] | None = None
        self._closed = False
        self.dropped = 0
        """Events dropped because nobody took them in time."""

    def put(self, t: float, event: LinkEvent) -> None:
        """Add an event; never blocks. What is put after `close` is lost."""
        if self._closed:
            return
        waiting = len(self._waiting)
        spare = isinstance(event, Text)
        vital = isinstance(event, Ready) or (isinstance(event, Fault) and event.fatal)
        if not vital and waiting >= (self._limit if spare else 2 * self._limit):
            self.dropped += 1
            return
        self._waiting.append((t, event))
        self._wake()

    def close(self) -> None:
        """No more events: the reader gets what waits, then the end."""
        self._closed = True
        self._wake()

    def __len__(self) -> int:
        return len(self._waiting)

    def __aiter__(self) -> AsyncIterator[tuple[float, LinkEvent]]:
        return self

    async def __anext__(self) -> tuple[float, LinkEvent]:
        while not self._waiting:
            if self._closed:
                raise StopAsyncIteration
            self._reader = asyncio.get_running_loop().create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        return self._waiting.popleft()

    def _wake(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)
