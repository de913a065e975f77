"""parrot: says back what it heard. Needs no cue, has no words of its own and so no transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.agent import Traits
from simulator.bridge.baseline import LEAST_DELAY
from simulator.bridge.events import ResponseAsked, SpeechEnded
from simulator.bridge.local import LocalAgent, seconds

if TYPE_CHECKING:
    from simulator.bridge.call import Call
    from simulator.protocol.samples import MonoInt16

_KEEP = 30.0
"""Seconds of sound that it remembers."""
_ASKED = 3.0
"""Seconds of sound that it says back when it is asked to say something."""


class Parrot(LocalAgent):
    """Repeats the user's last utterance, `delay` seconds after it ended."""

    traits = Traits(summary="says back what it hears, without a transcript")

    def __init__(self, *, delay: str = "0.6") -> None:
        super().__init__(delay=delay)
        self._delay = seconds("delay", delay, least=LEAST_DELAY)

    async def call(self, call: Call) -> None:
        call.hearing.keep(_KEEP)
        await call.start()
        async for event in call:
            if isinstance(event, ResponseAsked):
                now = call.clock.now()
                heard = call.hearing.between(now - _ASKED, now)
                call.later(self._repeat(call, heard, now + self._delay))
            elif isinstance(event, SpeechEnded):
                heard = call.hearing.between(event.start, event.time)
                call.later(self._repeat(call, heard, event.time + self._delay))

    async def _repeat(self, call: Call, heard: MonoInt16, at: float) -> None:
        await call.say("", samples=heard, at=at)
