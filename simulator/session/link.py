"""What the engine needs of a call: events in, commands out, parts to play, and how sending goes.

WebRTC is one link (`simulator.rtc.peer`), one in memory on a manual clock another
(`simulator.testing`): the engine knows neither. Counterpart: `simulator.session.engine`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from simulator.clock import Clock
from simulator.media.timeline import Asset
from simulator.protocol.events import LinkEvent, WireCommand
from simulator.protocol.health import Health, Sending
from simulator.protocol.tap import Tap


class Link(Protocol):
    """A call that stands. It is left, not closed: whoever connected it hangs up."""

    @property
    def events(self) -> AsyncIterator[tuple[float, LinkEvent]]:
        """`(session time, event)` in order, to be iterated over once. They end after a fatal Fault
        or when the call is left, and at no other time."""
        ...

    @property
    def negotiated(self) -> Mapping[str, Any]:
        """What the two sides agreed on, for the recording."""
        ...

    def send(self, command: WireCommand) -> str:
        """Send a command now; its id on the wire. Raises AgentError if the agent takes no messages
        any more, InputError if it is of a kind that knows no such command."""
        ...

    def play(self, asset: Asset, at: float, *, loop: bool = False) -> None:
        """Play a part from session time `at`, in place of everything scheduled from there on.

        A looping part repeats until something replaces it. Raises InstrumentError if that cannot
        be, as packets from that time on have left already.
        """
        ...

    def health(self) -> Health:
        """How the last second was."""
        ...

    def sending(self) -> Sending:
        """What has become of everything that was scheduled, so far."""
        ...


class Connect(Protocol):
    """How a link comes about."""

    def __call__(
        self, *, clock: Clock, origin: float, tap: Tap
    ) -> AbstractAsyncContextManager[Link]:
        """Call the agent on entering, hang up on leaving. `origin` is the clock's time at dialling,
        `tap` hears everything that crosses.

        Entering returns once media and messages can flow. It raises AgentError if nobody answers
        or the call is refused, NetworkError if there is no path, InputError for what the user can
        mend, InstrumentError for what is ours.
        """
        ...
