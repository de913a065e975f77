"""A signalling at work: it gets so much time, and whatever it raises becomes an error of ours.

A signalling may be anybody's code, and talks to anybody's server. Counterparts:
`simulator.rtc.peer` has the offer, `simulator.rtc.dialect` is the contract.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import aiohttp
from aiortc import RTCIceServer

from simulator.clock import Clock, Limit
from simulator.errors import AgentError, OmnistageError
from simulator.rtc.dialect import Signalling

HANG_UP_WITHIN = 3.0
"""Seconds that hanging up may take."""

_Said = TypeVar("_Said")


class Caller:
    """Places one call and ends it; each step that brings it up may take `within` seconds."""

    def __init__(
        self, signalling: Signalling, http: aiohttp.ClientSession, clock: Clock, within: float
    ) -> None:
        self._signalling = signalling
        self._clock = clock
        self._http = http
        self._within = within
        self._placed = False

    async def servers(self) -> Sequence[RTCIceServer]:
        """See `Signalling.servers`. Raises AgentError if they cannot be had."""
        found: object = await self._asked(lambda: self._signalling.servers(self._http))
        if not isinstance(found, list | tuple) or not all(
            isinstance(server, RTCIceServer) for server in found
        ):
            raise AgentError("its dialect's `servers` gave something else than RTCIceServers")
        return found

    async def call(self, offer: str) -> str:
        """The answer to `offer`. Raises AgentError if there is none."""
        self._placed = True
        answer: object = await self._asked(lambda: self._signalling.call(self._http, offer))
        if not isinstance(answer, str):
            raise AgentError(f"its dialect's `call` gave {type(answer).__name__}, no SDP")
        return answer

    async def hang_up(self) -> None:
        """Tell the agent that the call is over, if one was placed. Raises nothing: the attempt is
        over as it is."""
        if not self._placed:
            return
        try:
            async with self._clock.within(HANG_UP_WITHIN):
                await self._signalling.hang_up(self._http)
        except asyncio.CancelledError:
            if _ours():
                raise
        except Exception:  # noqa: BLE001 - other people's code, and nobody is left whom it could trouble
            return

    async def _asked(self, ask: Callable[[], Awaitable[_Said]]) -> _Said:
        limit: Limit | None = None
        try:
            async with self._clock.within(self._within) as limit:
                return await ask()
        except OmnistageError:
            raise
        except asyncio.CancelledError as error:
            if _ours():
                raise
            raise AgentError("its dialect could not place the call: it was cancelled") from error
        except Exception as error:
            if limit is not None and limit.expired:
                what = f"the agent did not answer the call within {self._within:g} s"
                raise AgentError(what) from None
            # As with every plug-in: other people's code may raise anything.
            what = f"its dialect could not place the call: {type(error).__name__}: {error}"
            raise AgentError(what) from error


def _ours() -> bool:
    """Whether somebody has cancelled our own task, and not a dialect itself."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
