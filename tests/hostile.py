"""Agents that misbehave, one way each; played to by tests/test_hostile_agents.py."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator

from simulator.agent import Dial, Launch, Traits
from simulator.bridge.babble import babble
from simulator.bridge.call import Call
from simulator.bridge.events import SpeechEnded
from simulator.bridge.local import LocalAgent
from simulator.clock import WallClock


class Malformed(LocalAgent):
    """Sends events that are no JSON, no objects, or of no known type, and answers all the same."""

    traits = Traits(summary="malformed events")

    async def call(self, call: Call) -> None:
        await call.start()
        for raw in ("{", "[]", '"x"', "\x00\xff", '{"type": 7}', '{"type": "no.such.event"}'):
            call._wire._send(raw)
        async for event in call:
            if isinstance(event, SpeechEnded):
                await call.say("Three windows.")


class Flood(LocalAgent):
    """Answers with megabytes of text."""

    traits = Traits(summary="megabytes of text")

    async def call(self, call: Call) -> None:
        await call.start()
        async for event in call:
            if isinstance(event, SpeechEnded):
                reply = call.reply(spoken=False)
                place = {"response_id": reply.id, "item_id": "i", "output_index": 0}
                for _ in range(300):
                    text = "three windows " * 1_000
                    call._wire.emit("response.output_text.delta", **place, delta=text)
                    await WallClock().sleep_until(call.clock.now() + 0.005)
                reply.finish()


class Endless(LocalAgent):
    """Begins to talk and never ends."""

    traits = Traits(summary="never finishes")

    async def call(self, call: Call) -> None:
        await call.start()
        async for event in call:
            if isinstance(event, SpeechEnded):
                reply = call.reply()
                while True:
                    await reply.say(babble("and so on and so on and so on")).done.wait()


class Leaver(LocalAgent):
    """Dies in the middle of the session."""

    traits = Traits(summary="dies mid-session")

    async def call(self, call: Call) -> None:
        await call.start()
        async for event in call:
            if isinstance(event, SpeechEnded):
                os._exit(3)


class Refuser(LocalAgent):
    """Turns every call away: we come with the wrong token."""

    traits = Traits(summary="refuses the call")

    async def call(self, call: Call) -> None:
        raise AssertionError("never reached")

    @contextlib.asynccontextmanager
    async def open(self, launch: Launch) -> AsyncIterator[Dial]:
        async with super().open(launch) as dial:
            yield Dial(url=dial.url, headers={"Authorization": "Bearer wrong-token-0123456789"})


class Raises(LocalAgent):
    """Its own code fails as soon as it is called."""

    traits = Traits(summary="raises")

    async def call(self, call: Call) -> None:
        await call.start()
        raise RuntimeError("the model could not be loaded")


class Unreachable:
    """Names an address where nobody listens."""

    traits = Traits(summary="nobody there")

    def secrets(self) -> tuple[str, ...]:
        return ()

    @contextlib.asynccontextmanager
    async def open(self, launch: Launch) -> AsyncIterator[Dial]:
        yield Dial(url="http://127.0.0.1:9/v1/realtime/calls")
