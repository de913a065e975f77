"""The scripted baselines' common body: the calls of `agents/oracle.py` and its kin.

They need no model. What they say comes from cues that only they get, when they say it from what
they hear (`simulator.bridge.conduct`), and how it sounds from `simulator.bridge.babble`.
"""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Literal

from simulator.bridge.babble import babble
from simulator.bridge.conduct import OKAY, Conduct, Saying
from simulator.bridge.events import CallEvent, SpeechStarted
from simulator.bridge.local import LocalAgent, seconds, yes
from simulator.errors import InputError

if TYPE_CHECKING:
    from simulator.bridge.call import Call

Mode = Literal["speech", "text"]
LEAST_DELAY = 0.35
"""Seconds: that speech has ended is known a quarter of a second and a packet or two later."""


class Cued(LocalAgent):
    """A baseline that is told which turn plays. `delay` in seconds; `mode` is speech or text;
    `yields` lets it fall silent when the user speaks over it."""

    answers = True
    talkative = False

    def __init__(self, *, delay: str = "0.6", mode: str = "speech", yields: str = "no") -> None:
        super().__init__(delay=delay, mode=mode, yields=yields)
        self._delay = seconds("delay", delay, least=LEAST_DELAY)
        if mode not in ("speech", "text"):
            raise InputError(f"option 'mode' is {mode!r}, but has to be speech or text")
        self._mode = mode
        self._yields = yes("yields", yields)

    async def call(self, call: Call) -> None:
        babble(OKAY)  # the first sound of a process takes longest to make
        await call.start()
        conduct = Conduct(delay=self._delay, answers=self.answers, talkative=self.talkative)
        while True:
            event = await self._next(call, conduct.wake())
            now = call.clock.now()
            conduct.asked_only = call.asked_only
            sayings = conduct.time(now) if event is None else conduct.handle(event, now)
            if self._yields and isinstance(event, SpeechStarted):
                call.interrupt()
            for saying in sayings:
                if saying.by == "cue":
                    print(f"{call.id}: {saying.turn}: goes by its cue", file=sys.stderr)
                call.later(self._deliver(call, saying))

    async def _next(self, call: Call, wake: float | None) -> CallEvent | None:
        """The next event, or None when it is time to look at the clock."""
        if wake is None:
            return await anext(call)
        with contextlib.suppress(TimeoutError):
            async with call.clock.until(wake):
                return await anext(call)
        return None

    async def _deliver(self, call: Call, saying: Saying) -> None:
        if self._mode == "text" or saying.written:
            await call.write(saying.text, at=saying.at)
        else:
            await call.say(saying.text, at=saying.at)
