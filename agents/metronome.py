"""metronome: answers a sound with a sound, a set time after it began. For `omnistage calibrate`.

It gets no message about what comes and sends none about what it does: a latency put in here must
come out of the measuring end, plus what packets and codecs add.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.agent import Traits
from simulator.bridge.babble import babble
from simulator.bridge.events import SpeechStarted
from simulator.bridge.local import LocalAgent, seconds
from simulator.protocol.samples import RATE

if TYPE_CHECKING:
    from simulator.bridge.call import Call

_LENGTH = 0.12
"""Seconds that its answer sounds."""


class Metronome(LocalAgent):
    """Answers `delay` seconds after the onset of whatever it hears: clicks and tones will do."""

    traits = Traits(summary="answers any sound after a set time; for calibration")

    def __init__(self, *, delay: str = "0.3") -> None:
        super().__init__(delay=delay)
        self._delay = seconds("delay", delay, least=0.05)

    async def call(self, call: Call) -> None:
        from simulator.bridge.vad import SpeechDetector

        call.hearing.detect(SpeechDetector(kind="sound", hangover=0.1))
        answer = babble("tick")[: round(_LENGTH * RATE)]
        await call.start()
        async for event in call:
            if isinstance(event, SpeechStarted):
                call.speaking.say(answer, at=event.time + self._delay)
