"""The data channels of a call: commands out, what the agent says in, whoever has opened them.

Counterparts: `simulator.rtc.interpreter` knows the words, `simulator.rtc.peer` the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from aiortc import RTCDataChannel, RTCPeerConnection
from aiortc.exceptions import InvalidStateError

from simulator.errors import AgentError
from simulator.protocol.events import Fault, Whose, WireCommand
from simulator.rtc.dialect import Codec, Message, Step
from simulator.rtc.interpreter import Interpreter

if TYPE_CHECKING:
    from simulator.rtc.peer import Peer

BUFFER_LIMIT = 4_000_000
"""Bytes of messages that the agent may leave unread, or wait for a channel that it has to open."""


class Channels:
    """The channels of `peer`'s connection; ours are made at once, so that the offer has them."""

    def __init__(self, connection: RTCPeerConnection, codec: Codec, peer: Peer) -> None:
        self._peer = peer
        self._words = Interpreter(codec)
        self._by_label: dict[str, RTCDataChannel] = {}
        self._held: list[Message] = []
        """Messages for channels that are not open yet."""
        self.ours = tuple(connection.createDataChannel(label) for label in codec.channels)
        for channel in self.ours:
            channel.on("close", self._closed)
            self._join(channel)
        connection.on("datachannel", self._join)

    @property
    def open(self) -> bool:
        """Whether all of ours are."""
        return all(channel.readyState == "open" for channel in self.ours)

    def on_open(self, look: Callable[[], None]) -> None:
        """Call `look` whenever one of ours opens."""
        for channel in self.ours:
            channel.on("open", look)

    def send(self, command: WireCommand) -> str:
        """Say a command; its id. Raises AgentError if the agent takes no messages any more, and
        InputError if its family has no words for this one."""
        written = self._words.write(command)
        for message in written.messages:
            self.post(message)
        return written.command

    def connected(self) -> None:
        """Media can flow and ours are open."""
        self._follow(self._words.connected())

    def tick(self, t: float) -> None:
        """Time passes."""
        self._follow(self._words.tick(t))

    def _join(self, channel: RTCDataChannel) -> None:
        """Hear a channel, whoever has opened it."""
        label = channel.label
        self._by_label.setdefault(label, channel)
        channel.on("message", lambda raw: self._message(Message(channel=label, body=raw)))
        channel.on("open", self._post_held)
        self._post_held()

    def _message(self, message: Message) -> None:
        t = self._peer.now()
        self._peer.vitals.heard(t)
        self._peer.wire(t, "in", message.body)
        self._follow(self._words.read(message))

    def _follow(self, steps: Sequence[Step]) -> None:
        t = self._peer.now()
        for step in steps:
            if isinstance(step, Message):
                try:
                    self.post(step)
                except AgentError as error:
                    self._peer.fail(Whose.AGENT, "unsaid", error.message)
            elif isinstance(step, Fault) and step.fatal:
                self._peer.fail(step.whose, step.code, step.message)
            else:
                self._peer.events.put(t, step)

    def post(self, message: Message) -> None:
        """Send a message, or keep it until its channel opens. Raises AgentError."""
        channel = self._by_label.get(message.channel)
        if channel is None or channel.readyState == "connecting":
            self._held.append(message)
            if sum(len(held.body) for held in self._held) > BUFFER_LIMIT:
                raise AgentError(f"the agent has not opened the data channel {message.channel!r}")
            return
        if channel.bufferedAmount > BUFFER_LIMIT:
            raise AgentError("the agent has stopped reading its data channel")
        try:
            channel.send(message.body)
        except InvalidStateError:
            raise AgentError("the agent's data channel is closed") from None
        except ValueError as error:
            raise AgentError(f"a message is too long for the agent: {error}") from None
        self._peer.wire(self._peer.now(), "out", message.body)

    def _post_held(self) -> None:
        held, self._held = self._held, []
        self._follow(held)

    def _closed(self) -> None:
        self._peer.closed("channel_closed", "the agent closed the data channel")
