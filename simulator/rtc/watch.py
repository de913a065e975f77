"""Notices within seconds that the other side of a call is gone, and whose fault it is.

aiortc itself takes half a minute. Whoever is silent for a while is asked for a sign of life; if
none comes, the signalling host is asked, and if that is gone too the agent died, else the path did.
Who comes late to its own look has stood still itself, and nobody else is to blame.
Counterpart: `simulator.rtc.peer`, for whose life this runs.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import aiohttp

from simulator.clock import Clock
from simulator.protocol.events import Whose
from simulator.rtc import taps

if TYPE_CHECKING:
    from simulator.rtc.peer import Peer

TICK = 0.1
"""Seconds between looks."""
ASK_AFTER = 1.5
"""Seconds of silence after which we ask for a sign of life."""
LOST_AFTER = 5.0
"""Seconds of silence after which the call is lost."""
_HOST_WITHIN = 2.0
"""Seconds that the signalling host has to answer anything at all."""


@asynccontextmanager
async def watching(
    peer: Peer, url: str, http: aiohttp.ClientSession, clock: Clock
) -> AsyncIterator[None]:
    """Watch `peer` meanwhile."""
    tasks = [
        asyncio.create_task(_watch(peer, url, http, clock)),
        asyncio.create_task(_ask(peer, clock)),
    ]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        for result in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(result, Exception):
                raise result


async def _watch(peer: Peer, url: str, http: aiohttp.ClientSession, clock: Clock) -> None:
    due = clock.now()
    while True:
        due = max(due + TICK, clock.now())
        peer.next_look = due
        await clock.sleep_until(due)
        t = peer.now()
        peer.vitals.lag(t, clock.now() - due)
        if peer.blame_us():
            return
        peer.next_look = None
        peer.listen(t)
        silence = t - peer.vitals.last_heard
        if silence > LOST_AFTER:
            if await _answers(url, http, clock):
                peer.fail(Whose.NETWORK, "silence", f"nothing from the agent for {silence:.0f} s")
            else:
                message = f"nothing from the agent for {silence:.0f} s, and its host is gone"
                peer.fail(Whose.AGENT, "gone", message)
            return


async def _ask(peer: Peer, clock: Clock) -> None:
    while True:
        quiet_at = clock.now() - peer.now() + peer.vitals.last_heard + ASK_AFTER
        if quiet_at > clock.now():
            await clock.sleep_until(quiet_at)
        elif await taps.probe(peer.connection):
            peer.vitals.heard(peer.now())
        else:
            await clock.sleep_until(clock.now() + TICK)


async def _answers(url: str, http: aiohttp.ClientSession, clock: Clock) -> bool:
    """Whether anybody speaks HTTP at the signalling URL."""
    try:
        async with clock.within(_HOST_WITHIN), http.options(url):
            return True
    except (aiohttp.ClientError, TimeoutError):
        return False
