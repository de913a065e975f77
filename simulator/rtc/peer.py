"""Our end of a call: dials an agent, sends the playlist, hears what comes back.

    async with dial(target, clock=clock, origin=origin, playlist=playlist, tap=tap) as peer:
        async for t, event in peer.events: ...

Counterparts: a dialect says how the agent's family is called and spoken to, `simulator.rtc.watch`
notices that the other side is gone, the session's engine reads the events.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import aiohttp
from aiortc import (
    RTCBundlePolicy,
    RTCConfiguration,
    RTCIceServer,
    RTCPeerConnection,
    RTCSessionDescription,
)
from aiortc.exceptions import InvalidStateError, OperationError

from simulator.agent import Dial
from simulator.clock import Clock
from simulator.errors import AgentError, NetworkError, OmnistageError
from simulator.protocol.events import Fault, Whose, WireCommand
from simulator.protocol.tap import Direction, Kind, Tap
from simulator.recording.records import HealthRecord
from simulator.rtc import negotiate, taps
from simulator.rtc.dialects import Answer, Dialect, speak
from simulator.rtc.ear import Ear
from simulator.rtc.pacer import pacer
from simulator.rtc.playlist import Playlist
from simulator.rtc.sender import PacedSender
from simulator.rtc.stream import EventStream
from simulator.rtc.undisturbed import UNDISTURBED
from simulator.rtc.vitals import Vitals
from simulator.rtc.watch import watching

MALFORMED_LIMIT = 1_000
"""Malformed messages after which the call is given up."""
BUFFER_LIMIT = 4_000_000
"""Bytes of messages that the agent may leave unread on its data channel."""
_CLOSE_WITHIN = 3.0
"""Seconds that hanging up, and then closing, may take."""


class Peer:
    """A connected call. Made by `dial`."""

    def __init__(
        self,
        connection: RTCPeerConnection,
        dialect: Dialect,
        playlist: Playlist,
        tap: Tap,
        video: str = "h264",
    ) -> None:
        self._video = video
        self.events = EventStream()
        """`(session time, event)`, in order; ends after a fatal Fault or when the call closes."""
        self.negotiated: Mapping[str, Any] = {}
        """Codecs, payload types, clock rates and SSRCs of `audio` and `video`, and the `path`."""
        self.vitals = Vitals(pacer().core)
        self.connection = connection
        self._dialect = dialect
        self._playlist = playlist
        self._tap = tap
        self._ear = Ear()
        self._malformed = 0
        self._over = False
        for kind, direction in (("audio", "sendrecv"), ("video", "sendonly")):
            transceiver = connection.addTransceiver(kind, direction)
            negotiate.prefer_our_codecs(transceiver, video)
            PacedSender(transceiver, playlist, self, self._sender_failed).install()
        self._channel = connection.createDataChannel(dialect.channel)
        self._channel.on("message", self._message)
        self._channel.on("close", self._channel_closed)

    # ------------------------------------------------------------ for the engine

    def now(self) -> float:
        """Session time."""
        return self._playlist.now()

    async def send(self, command: WireCommand) -> str:
        """Send a command; its id. Raises AgentError if the agent takes no messages any more."""
        name, messages = self._dialect.write(command)
        for message in messages:
            await self.send_message(message)
        return name

    async def send_message(self, body: Mapping[str, Any]) -> None:
        """Send a ready-made message as JSON; errors as `send`."""
        raw = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
        if self._channel.bufferedAmount > BUFFER_LIMIT:
            raise AgentError("the agent has stopped reading its data channel")
        try:
            self._channel.send(raw)
        except InvalidStateError:
            raise AgentError("the agent's data channel is closed") from None
        except ValueError as error:
            raise AgentError(f"a message is too long for the agent: {error}") from None
        self.wire(self.now(), "out", raw)

    def health(self) -> HealthRecord:
        """The instrument's health over the last second."""
        return self.vitals.record(self.now(), self.events.dropped)

    def send_p99_ms(self) -> float:
        """99th percentile of the send-time errors of the whole call."""
        return self.vitals.send_p99_ms()

    def held_s(self) -> float:
        """Seconds of the call in which the machine held the sending core back."""
        return self.vitals.held_s

    @property
    def dropped_text(self) -> int:
        """Characters of text that were over the cap of a response."""
        return self._dialect.dropped

    def fail(self, whose: Whose, code: str, message: str) -> None:
        """The call is lost: one fatal Fault, then the events end."""
        if self._over:
            return
        self._over = True
        fault = Fault(whose=whose, code=code, message=message, fatal=True)
        self.events.put(self.now(), fault)
        self.events.close()

    # ------------------------------------------------------------ tap: everything that crosses

    def sent_rtp(self, t: float, kind: Kind, packets: Sequence[bytes], due: float | None) -> None:
        self.vitals.sent_rtp(t, kind, packets, due)
        try:
            self._tap.sent_rtp(t, kind, packets, due)
        except (OmnistageError, OSError) as error:
            self._tap_failed(error)

    def received_rtp(self, t: float, kind: Kind, packet: bytes) -> None:
        self.vitals.received_rtp(t, kind, packet)
        try:
            self._tap.received_rtp(t, kind, packet)
        except (OmnistageError, OSError) as error:
            self._tap_failed(error)
        if kind == "audio":
            for event in self._ear.feed(t, packet):
                self.events.put(t, event)

    def sent_rtcp(self, t: float, packet: bytes) -> None:
        self.vitals.sent_rtcp(t, packet)
        try:
            self._tap.sent_rtcp(t, packet)
        except (OmnistageError, OSError) as error:
            self._tap_failed(error)

    def received_rtcp(self, t: float, packet: bytes) -> None:
        self.vitals.received_rtcp(t, packet)
        try:
            self._tap.received_rtcp(t, packet)
        except (OmnistageError, OSError) as error:
            self._tap_failed(error)

    def wire(self, t: float, dir: Direction, raw: str | bytes) -> None:
        try:
            self._tap.wire(t, dir, raw)
        except (OmnistageError, OSError) as error:
            self._tap_failed(error)

    def _sender_failed(self, message: str) -> None:
        self.fail(Whose.INSTRUMENT, "sender", message)

    def _tap_failed(self, error: OmnistageError | OSError) -> None:
        self.fail(Whose.INSTRUMENT, "tap", str(error))

    # ------------------------------------------------------------ the data channel

    def _message(self, raw: str | bytes) -> None:
        t = self.now()
        self.vitals.heard(t)
        self.wire(t, "in", raw)
        try:
            events = self._dialect.read(raw)
        except (ValueError, OverflowError) as error:
            self._malformed += 1
            excerpt = raw[:200] if isinstance(raw, str) else repr(raw[:200])
            if self._malformed > MALFORMED_LIMIT:
                self.fail(Whose.AGENT, "malformed", f"over {MALFORMED_LIMIT} malformed messages")
                return
            message = f"{error}: {excerpt}"
            self.events.put(
                t, Fault(whose=Whose.AGENT, code="malformed", message=message, fatal=False)
            )
            return
        for event in events:
            self.events.put(t, event)

    def _channel_closed(self) -> None:
        self.fail(Whose.AGENT, "channel_closed", "the agent closed the data channel")

    # ------------------------------------------------------------ for dial

    async def connect(self, http: aiohttp.ClientSession, timeout: float) -> Answer:
        """Offer, wait for the answer, and until media and messages can flow."""
        connection = self.connection
        await connection.setLocalDescription(await connection.createOffer())
        negotiate.check_candidates(connection)
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def on_open() -> None:
            if not opened.done():
                opened.set_result(None)

        self._channel.on("open", on_open)
        connection.on("connectionstatechange", lambda: self._state_changed(opened))
        try:
            async with asyncio.timeout(timeout):
                answer = await self._dialect.call(http, connection.localDescription.sdp)
        except TimeoutError:
            raise AgentError(f"the agent did not answer the call within {timeout:g} s") from None
        parsed = negotiate.check_answer(answer.sdp, self._video)
        try:
            await connection.setRemoteDescription(RTCSessionDescription(answer.sdp, "answer"))
        except (ValueError, OperationError) as error:
            raise AgentError(f"the agent's SDP answer does not fit our offer: {error}") from None
        # Nothing may be awaited between the description and the hooks: media could flow unheard.
        for transceiver in connection.getTransceivers():
            negotiate.put_ours_first(transceiver, self._video)
        taps.hook(connection, self, self.now)
        try:
            async with asyncio.timeout(timeout):
                await opened
        except TimeoutError:
            raise self._why_not(timeout) from None
        self.negotiated = {
            **negotiate.describe(connection, parsed),
            "scheduling": "realtime" if UNDISTURBED.realtime else "ordinary",
        }
        self.vitals.heard(self.now())
        return answer

    def listen(self, t: float) -> None:
        """Time passes, whether packets come or not."""
        for event in self._ear.tick(t):
            self.events.put(t, event)

    def leave(self) -> None:
        """The call ends because we end it: what happens from here on is nobody's fault."""
        self._over = True
        self.events.close()

    async def close(self) -> None:
        """End the connection. Quick, and harmless if it is closed already."""
        self.leave()
        try:
            async with asyncio.timeout(_CLOSE_WITHIN):
                await self.connection.close()
        except TimeoutError:
            return

    def _state_changed(self, opened: asyncio.Future[None]) -> None:
        state = self.connection.connectionState
        if state not in ("failed", "closed") or self._over:
            return
        if not opened.done():
            opened.set_exception(self._why_not(None))
        else:
            self.fail(Whose.AGENT, "connection_closed", "the agent ended the connection")

    def _why_not(self, timeout: float | None) -> OmnistageError:
        """Why the call did not come up."""
        within = f" within {timeout:g} s" if timeout is not None else ""
        if self.connection.iceConnectionState != "completed":
            state = self.connection.iceConnectionState
            return NetworkError(
                f"no path to the agent was found{within} (ICE {state})",
                hint="check that UDP passes between this host and the agent's",
            )
        if self.connection.connectionState != "connected":
            return NetworkError(f"no encrypted connection to the agent came up{within}")
        return AgentError(f"the agent did not open the data channel{within}")


@asynccontextmanager
async def dial(
    target: Dial,
    *,
    clock: Clock,
    origin: float,
    playlist: Playlist,
    tap: Tap,
    http: aiohttp.ClientSession | None = None,
    connect_timeout: float = 10.0,
    stun: str | None = None,
    video: str = "h264",
) -> AsyncIterator[Peer]:
    """Call an agent; hang up on exit. `origin` is the clock's time at dialling.

    Yields once media and messages can flow; the playlist plays from when its first part is
    scheduled. Raises AgentError if nobody answers, the call is refused or the answer lacks
    something, NetworkError if there is no path, InputError for an unknown dialect. `stun` is a
    STUN server's URL; without one only this host's own addresses are offered. `video` is the codec
    of the playlist's pictures, h264 or vp8.
    """
    dialect = speak(target)
    configuration = RTCConfiguration(
        # An empty list: None would mean a public server, and 5 s of waiting where it is silent.
        iceServers=[RTCIceServer(stun)] if stun else [],
        bundlePolicy=RTCBundlePolicy.MAX_BUNDLE,
    )
    async with AsyncExitStack() as stack:
        stack.enter_context(UNDISTURBED)
        if http is None:
            http = await stack.enter_async_context(aiohttp.ClientSession())
        peer = Peer(RTCPeerConnection(configuration), dialect, playlist, tap, video)
        stack.push_async_callback(peer.close)
        answer = await peer.connect(http, connect_timeout)
        stack.push_async_callback(_hang_up, dialect, http, answer)
        stack.callback(peer.leave)
        async with watching(peer, target.url, http, clock):
            yield peer


async def _hang_up(dialect: Dialect, http: aiohttp.ClientSession, answer: Answer) -> None:
    try:
        async with asyncio.timeout(_CLOSE_WITHIN):
            await dialect.hang_up(http, answer)
    except TimeoutError:
        return
