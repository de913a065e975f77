"""silent: connected, protocol in order, never a word. Its quiet proves nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simulator.agent import Traits
from simulator.bridge.events import ResponseAsked
from simulator.bridge.local import LocalAgent

if TYPE_CHECKING:
    from simulator.bridge.call import Call


class Silent(LocalAgent):
    """Says that it has heard speech, as any server does, and nothing else; a response that it is
    asked for is empty."""

    traits = Traits(summary="listens, keeps the protocol, never says anything")

    async def call(self, call: Call) -> None:
        await call.start()
        async for event in call:
            if isinstance(event, ResponseAsked):
                call.reply(spoken=False).finish()
