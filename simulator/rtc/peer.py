"""Our end of a call: dials an agent, sends the playlist, hears what comes back.

    async with dial(target, clock=clock, origin=origin, tap=tap, parts=assets) as peer:
        async for t, event in peer.events: ...

A `Peer` is the Link over WebRTC. Counterparts: a dialect says how the agent's family is called and
spoken to, `simulator.rtc.watch` notices that the other side is gone, `simulator.session.engine`
takes it as a `simulator.session.link.Link`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

import aiohttp
from aiortc import (
    RTCBundlePolicy,
    RTCConfiguration,
    RTCIceServer,
    RTCPeerConnection,
    RTCSessionDescription,
)
from aiortc.exceptions import OperationError

from simulator.agent import Dial
from simulator.clock import Clock
from simulator.errors import AgentError, InstrumentError, NetworkError, OmnistageError
from simulator.media.packets import PacketFile
from simulator.media.timeline import Asset
from simulator.protocol.events import Fault, Whose, WireCommand
from simulator.protocol.health import Health, Sending, Sent
from simulator.protocol.soundness import stood_still
from simulator.protocol.tap import Direction, Tap
from simulator.protocol.tracks import OURS, Track
from simulator.rtc import negotiate, taps
from simulator.rtc.caller import Caller
from simulator.rtc.channels import Channels
from simulator.rtc.dialect import Codec
from simulator.rtc.dialects import speak
from simulator.rtc.ear import Ear
from simulator.rtc.pacer import pacer
from simulator.rtc.playlist import Playlist
from simulator.rtc.sender import PacedSender
from simulator.rtc.stream import EventStream
from simulator.rtc.undisturbed import UNDISTURBED
from simulator.rtc.vitals import Vitals
from simulator.rtc.watch import watching

_CLOSE_WITHIN = 3.0
"""Seconds that closing may take."""
_HANGING_UP = 0.5
"""Seconds in which a path that is lost may turn out to be a call that was ended."""


class Peer:
    """A connected call. Made by `dial`."""

    def __init__(
        self,
        connection: RTCPeerConnection,
        codec: Codec,
        playlist: Playlist,
        tap: Tap,
        clock: Clock,
        parts: Mapping[str, PacketFile],
        tracks: Sequence[Track],
        video: str = "h264",
    ) -> None:
        self._video = video
        self._clock = clock
        self._parts = parts
        self.events = EventStream()
        """`(session time, event)`, in order; ends after a fatal Fault or when the call closes."""
        self.negotiated: Mapping[str, Any] = {}
        """Codec, payload types, clock and SSRCs of each of the `tracks`, and the `path`."""
        self.vitals = Vitals(pacer(clock).core)
        self.connection = connection
        self.playlist = playlist
        self._tap = tap
        self._ear = Ear()
        self._voice = next(t.id for t in tracks if t.kind == "audio")
        """The track in which the agent speaks."""
        self._over = False
        self.next_look: float | None = None
        """The clock's time at which somebody will see to us; None: it is under way."""
        self._senders: list[PacedSender] = []
        self._tracks = tracks
        for track in tracks:
            # The agent's voice comes back in the section of ours.
            direction = "sendrecv" if track.id == self._voice else "sendonly"
            transceiver = connection.addTransceiver(track.kind, direction)
            negotiate.prefer_our_codecs(transceiver, video)
            sender = PacedSender(transceiver, track, playlist, self, clock, self._sender_failed)
            sender.install()
            self._senders.append(sender)
        self.channels = Channels(connection, codec, self)

    # ------------------------------------------------------------ for the engine

    def now(self) -> float:
        """Session time."""
        return self.playlist.now()

    def send(self, command: WireCommand) -> str:
        """Say a command; its id. Raises as `Channels.send`."""
        return self.channels.send(command)

    def play(self, asset: Asset, at: float, *, loop: bool = False) -> None:
        """Play a part from session time `at`. Raises InstrumentError as `Playlist.play`."""
        self.playlist.play(self._parts[asset.key], at, loop=loop)

    def health(self) -> Health:
        """The instrument's health over the last second."""
        health = self.vitals.health(self.now(), drops=self.events.dropped)
        return replace(health, tracks=self.sending().tracks)

    def sending(self) -> Sending:
        """What has become of everything that was scheduled, so far."""
        told = self.vitals.sending()
        by_packets = {sent.track: sent for sent in told.tracks}
        return replace(told, tracks=tuple(_whole(s.state(), by_packets) for s in self._senders))

    def fail(self, whose: Whose, code: str, message: str) -> None:
        """The call is lost: one fatal Fault, then the events end. It is ours, whatever is said, if
        we have just stood still."""
        if not self.blame_us():
            self._end(Fault(whose=whose, code=code, message=message, fatal=True))

    def blame_us(self) -> bool:
        """End the call by our own fault if we have stood still; whether we have."""
        late = 0.0 if self.next_look is None else self._clock.now() - self.next_look
        fault = stood_still(late)
        if fault is not None:
            self._end(fault)
        return fault is not None

    def _end(self, fault: Fault) -> None:
        if self._over:
            return
        self._over = True
        self.events.put(self.now(), fault)
        self.events.close()

    def closed(self, code: str, message: str) -> None:
        """Something of the call is closed, and not by us: by the agent, as `message` says, unless
        there is no path to it any more."""
        if taps.candidate_pair(self.connection) is None:
            self.fail(Whose.NETWORK, "no_path", "the path to the agent is lost")
        else:
            self.fail(Whose.AGENT, code, message)

    # ------------------------------------------------------------ tap: everything that crosses

    def sent_rtp(self, t: float, track: str, packets: Sequence[bytes], due: float | None) -> None:
        self.vitals.sent_rtp(t, track, packets, due)
        try:
            self._tap.sent_rtp(t, track, packets, due)
        except (OmnistageError, OSError) as error:
            self._tap_failed(error)

    def received_rtp(self, t: float, track: str, packet: bytes) -> None:
        self.vitals.received_rtp(t, track, packet)
        try:
            self._tap.received_rtp(t, track, packet)
        except (OmnistageError, OSError) as error:
            self._tap_failed(error)
        if track == self._voice:
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

    def _sender_failed(self, whose: Whose, message: str) -> None:
        if whose is not Whose.NETWORK:
            self.fail(whose, "not_sent", message)
            return
        # An agent that hangs up takes the path with it: that is told in a moment, as its fault.
        later = self._clock.now() + _HANGING_UP
        self._clock.call_at(later, lambda: self.fail(whose, "no_path", message))

    def _tap_failed(self, error: OmnistageError | OSError) -> None:
        self.fail(Whose.INSTRUMENT, "tap", str(error))

    # ------------------------------------------------------------ for dial

    async def connect(self, caller: Caller, timeout: float) -> None:
        """Offer, wait for the answer, and until media and messages can flow."""
        connection = self.connection
        await connection.setLocalDescription(await connection.createOffer())
        negotiate.check_candidates(connection)
        opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def look() -> None:
            up = self.channels.ours or connection.connectionState == "connected"
            if up and self.channels.open and not opened.done():
                opened.set_result(None)

        self.channels.on_open(look)
        connection.on("connectionstatechange", look)
        connection.on("connectionstatechange", lambda: self._state_changed(opened))
        answer = await caller.call(connection.localDescription.sdp)
        parsed = negotiate.check_answer(
            answer,
            self._video,
            channels=bool(self.channels.ours),
            pictures=sum(track.kind == "video" for track in self._tracks),
        )
        try:
            await connection.setRemoteDescription(RTCSessionDescription(answer, "answer"))
        except (ValueError, OperationError) as error:
            raise AgentError(f"the agent's SDP answer does not fit our offer: {error}") from None
        # Nothing may be awaited between the description and the hooks: media could flow unheard.
        for transceiver in connection.getTransceivers():
            negotiate.put_ours_first(transceiver, self._video)
        tracks = {
            str(transceiver.mid): track
            for transceiver, track in zip(connection.getTransceivers(), self._tracks, strict=True)
        }
        taps.hook(connection, self, self.now, tracks=tracks)
        try:
            async with self._clock.within(timeout):
                await opened
        except TimeoutError:
            raise self._why_not(timeout) from None
        self.negotiated = {
            **negotiate.describe(connection, parsed, tracks),
            "scheduling": "realtime" if UNDISTURBED.realtime else "ordinary",
        }
        self.vitals.heard(self.now())
        self.channels.connected()

    def listen(self, t: float) -> None:
        """Time passes, whether packets come or not."""
        for event in self._ear.tick(t):
            self.events.put(t, event)
        self.channels.tick(t)

    def leave(self) -> None:
        """The call ends because we end it: what happens from here on is nobody's fault."""
        self._over = True
        self.events.close()

    async def close(self) -> None:
        """End the connection. Quick, and harmless if it is closed already."""
        self.leave()
        try:
            async with self._clock.within(_CLOSE_WITHIN):
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
            self.closed("connection_closed", "the agent ended the connection")

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
    tap: Tap,
    parts: Iterable[Asset] = (),
    tracks: Sequence[Track] | None = None,
    http: aiohttp.ClientSession | None = None,
    connect_timeout: float = 10.0,
    stun: str | None = None,
    video: str = "h264",
) -> AsyncIterator[Peer]:
    """Call an agent; hang up on exit. `origin` is the clock's time at dialling.

    Yields once media and messages can flow. `parts` are what may be played; they are opened before
    anybody is called. `tracks` are those of the parts that are sent; None: all of them. `stun` is a
    STUN server's URL; without one only this host's own addresses are offered. `video` is the codec
    of the parts' pictures, h264 or vp8. Raises AgentError if nobody answers, the call is refused or
    the answer lacks something, NetworkError if there is no path, InputError for an unknown dialect
    and for an agent that does not take our pictures, InstrumentError for a part that cannot be
    opened.
    """
    codec, signalling = speak(target)
    files = {asset.key: PacketFile.open(asset.path) for asset in parts}
    held = _tracks(files.values())
    tracks = held if tracks is None else tracks
    async with AsyncExitStack() as stack:
        stack.enter_context(UNDISTURBED)
        if http is None:
            http = await stack.enter_async_context(aiohttp.ClientSession())
        caller = Caller(signalling, http, clock, connect_timeout)
        servers = [RTCIceServer(stun)] if stun else []
        configuration = RTCConfiguration(
            # An empty list: None would mean a public server, and 5 s of waiting where it is silent.
            iceServers=[*servers, *await caller.servers()],
            bundlePolicy=RTCBundlePolicy.MAX_BUNDLE,
        )
        playlist = Playlist(clock, origin, tracks)
        connection = RTCPeerConnection(configuration)
        peer = Peer(connection, codec, playlist, tap, clock, files, tracks, video)
        stack.push_async_callback(peer.close)
        # Also if it does not come up: an agent that has answered is busy with us until it hears.
        stack.push_async_callback(caller.hang_up)
        stack.callback(peer.leave)
        await peer.connect(caller, connect_timeout)
        async with watching(peer, target.url, http, clock):
            yield peer


def _tracks(files: Iterable[PacketFile]) -> Sequence[Track]:
    """What the parts hold, one like the other; what is usual where there are none."""
    found: Sequence[Track] = OURS
    for number, file in enumerate(files):
        own = tuple(packets.track for packets in file.tracks.values())
        if number and own != found:
            raise InstrumentError(f"{file.path} has other tracks than the parts before it")
        found = own
    return found


def _whole(state: Sent, told: Mapping[str, Sent]) -> Sent:
    """A track's state by its sender and by its packets, together."""
    packets = told.get(state.track)
    if packets is None:
        return state
    return replace(
        packets,
        unsent=state.unsent,
        refused_since=state.refused_since,
        overdue_s=state.overdue_s,
    )
