"""The contract of a dialect: the words of one family of agents, and how they are called. Pure.

A dialect is two parts, each made anew for every call. The codec turns what is said on the data
channels into our vocabulary, and our commands into what is said there; it cannot wait, opens
nothing and asks no clock. The signalling takes our offer to the agent, brings its answer back and
hangs up; it may wait, and use the network as it needs.

Bundled dialects are packages in `simulator.rtc.dialects`, other people's are files with a class
that has the two parts (agents/README.md). Counterparts: `simulator.rtc.interpreter` has a codec at
work, `simulator.rtc.caller` a signalling; `simulator.protocol.events` is the vocabulary.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from simulator.agent import Dial
from simulator.protocol.events import WireCommand, WireEvent

if TYPE_CHECKING:
    from aiohttp import ClientSession
    from aiortc import RTCIceServer


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A whole message of a data channel."""

    channel: str
    """The channel's label."""
    body: str | bytes
    """As it crosses: text or binary."""


Step = WireEvent | Message
"""What follows: an event is for us, a message is to be sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A command in the family's words."""

    messages: Sequence[Message]
    """To be sent in this order; one for a channel that is not open yet waits for it."""
    command: str = ""
    """The id by which `Acknowledged` names it; empty where nothing acknowledges it."""


class Codec(Protocol):
    """The words of one call. Subclass it: then `read` and `write` are all that must be written."""

    channels: Sequence[str] = ()
    """Labels of the data channels that we open: one, several or none. What the agent says on
    channels that it opens itself is read as well."""

    def connected(self) -> Sequence[Step]:
        """What follows when media can flow and our channels are open; something may have been read
        before. A family that greets nobody is `Ready` here."""
        return ()

    @abstractmethod
    def read(self, message: Message) -> Sequence[Step]:
        """What follows from what the agent said. Raises ValueError for what cannot be read."""
        ...

    def tick(self, now: float) -> Sequence[Step]:
        """What follows from time alone, in seconds of the session; asked some ten times a second.
        Keep-alives are said here, and the end of what has no last word is found."""
        return ()

    @abstractmethod
    def write(self, command: WireCommand) -> Written:
        """How a command is said. Raises InputError if the family has no words for it and the
        attempt makes no sense without: it ends as unsupported."""
        ...


class Signalling(Protocol):
    """How one call is placed and ended. Subclass it: then `call` is all that must be written."""

    async def servers(self, http: ClientSession) -> Sequence[RTCIceServer]:
        """STUN and TURN servers by which the agent is reached, asked before an offer is made."""
        return ()

    @abstractmethod
    async def call(self, http: ClientSession, offer: str) -> str:
        """The agent's SDP answer to our offer, which holds all of our candidates already.

        Raises AgentError if nobody answers or the call is refused.
        """
        ...

    async def hang_up(self, http: ClientSession) -> None:
        """Tell the agent that the call is over; one that does not listen is no error. Also asked
        after a call that did not come up, whatever `call` raised: it may stand at the other end."""


class Dialect(Protocol):
    """The two parts. A class with their classes as attributes is one."""

    @abstractmethod
    def codec(self, settings: Mapping[str, object]) -> Codec:
        """The codec for one call; `settings` are `Dial.session`. Raises InputError for settings
        that cannot be."""
        ...

    @abstractmethod
    def signalling(self, target: Dial) -> Signalling:
        """The signalling for one call to `target`."""
        ...
