"""Signalling that hangs, raises or says something else than an answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from simulator.clock import WALL
from simulator.errors import AgentError
from simulator.rtc import caller
from simulator.rtc.caller import Caller
from simulator.rtc.dialect import Signalling


class Says(Signalling):
    """Does `said` whatever it is asked."""

    def __init__(self, said: Any) -> None:
        self._said = said

    async def call(self, http: Any, offer: str) -> str:
        if isinstance(self._said, BaseException):
            raise self._said
        if self._said is None:
            await asyncio.Event().wait()
        return self._said  # type: ignore[no-any-return]

    async def servers(self, http: Any) -> Any:
        return await self.call(http, "")

    async def hang_up(self, http: Any) -> None:
        await self.call(http, "")


def calls(said: Any) -> Caller:
    http: Any = None
    return Caller(Says(said), http, WALL, 0.05)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (None, "^the agent did not answer the call within 0.05 s$"),
        (AgentError("it is busy"), "^it is busy$"),
        (KeyError("sdp"), "^its dialect could not place the call: KeyError: 'sdp'$"),
        (TimeoutError("late"), "^its dialect could not place the call: TimeoutError: late$"),
        (b"v=0", "^its dialect's `call` gave bytes, no SDP$"),
    ],
)
async def test_no_answer_is_the_agents_failure(said: Any, why: str) -> None:
    with pytest.raises(AgentError, match=why):
        await calls(said).call("v=0")


async def test_servers_that_cannot_be_had_are_the_agents_failure() -> None:
    with pytest.raises(AgentError, match=r"within 0\.05 s"):
        await calls(None).servers()


@pytest.mark.parametrize("said", [None, KeyError("id")])
async def test_hanging_up_does_not_hold_up_what_is_over(
    said: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caller, "HANG_UP_WITHIN", 0.05)
    async with asyncio.timeout(2):
        await calls(said).hang_up()


@pytest.mark.parametrize("servers", [5, ["stun:x"], "stun:x"])
async def test_servers_are_servers(servers: Any) -> None:
    with pytest.raises(AgentError, match="`servers` gave something else than RTCIceServers"):
        await calls(servers).servers()


async def test_a_signalling_that_cancels_itself_cancels_nothing_of_ours() -> None:
    with pytest.raises(AgentError, match="could not place the call: it was cancelled"):
        await calls(asyncio.CancelledError()).call("v=0")
    placed = calls(asyncio.CancelledError())
    placed._placed = True
    await placed.hang_up()


async def test_a_call_that_is_no_coroutine_is_the_agents_failure() -> None:
    class Plain(Signalling):
        def call(self, http: Any) -> str:  # type: ignore[override]
            return ""

        async def hang_up(self, http: Any) -> None:
            return

    http: Any = None
    with pytest.raises(AgentError, match="could not place the call: TypeError"):
        await Caller(Plain(), http, WALL, 1.0).call("v=0")
