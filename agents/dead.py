"""dead: the connection comes up, and then nothing. A session with it has failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.agent import Traits
from simulator.bridge.local import LocalAgent

if TYPE_CHECKING:
    from simulator.bridge.call import Call


class Dead(LocalAgent):
    """Never starts the call: no message and no sound ever leaves."""

    traits = Traits(summary="connects, then nothing: no messages, no media")

    async def call(self, call: Call) -> None:
        await call.ended.wait()
