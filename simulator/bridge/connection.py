"""One caller's WebRTC connection, from its offer to its end, and the call on it.

Counterparts: `simulator.bridge.host` makes one for each offer and serves it,
`simulator.bridge.call` is what the agent gets of it, `simulator.rtc.peer` is who calls.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import Coroutine, Mapping
from typing import Any

from aiortc import (
    RTCConfiguration,
    RTCDataChannel,
    RTCPeerConnection,
    RTCRtpSender,
    RTCSessionDescription,
)

from simulator.bridge.call import Call
from simulator.bridge.hearing import Hearing
from simulator.bridge.refusal import Refusal
from simulator.bridge.seeing import Seeing
from simulator.bridge.speaking import Speaking
from simulator.bridge.vad import Edge
from simulator.clock import Clock
from simulator.protocol.tap import NullTap
from simulator.protocol.tracks import Kind
from simulator.rtc.taps import hook, tracks_of

CLOSE_WITHIN = 5.0
"""Seconds that closing a connection may take; aiortc can hang there."""
_SEND_TIME = re.compile(r"^a=extmap:[^\n]*abs-send-time[^\n]*\n", re.MULTILINE)
"""The RTP extension from which aiortc estimates bandwidth. That costs more than all else on a call,
for callers whose video is encoded already; so it is not accepted."""
PRIVATE: Mapping[str, tuple[str, ...]] = {
    "RTCRtpTransceiver": ("_codecs",),
    "RTCRtpReceiver": ("_send_rtcp_pli",),
}
"""Names of aiortc that this module reads; a test holds that each exists."""


class Connection(NullTap):
    """One WebRTC connection and the call on it."""

    def __init__(self, call_id: str, clock: Clock, settings: Mapping[str, Any]) -> None:
        self.through = asyncio.Event()
        """Set when the caller has got through, or the call is over before that."""
        self.tasks: asyncio.TaskGroup | None = None
        """Where the call's own work runs, while it is being served."""
        self._clock = clock
        self._pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self._channel: RTCDataChannel | None = None
        self._kinds: Mapping[str, Kind] = {}
        """Of the tracks that the caller sends, by name."""
        self.call = Call(
            call_id,
            clock=clock,
            hearing=Hearing(self._edge),
            seeing=Seeing(self._ask_for_keyframe),
            speaking=Speaking(clock, self._spawn),
            send=self._send,
            spawn=self._spawn,
            settings=settings,
        )
        self._pc.on("datachannel", self._take_channel)
        self._pc.on("connectionstatechange", self._state_changed)

    async def answer(self, offer: str) -> str:
        """Answer an offer. Raises Refusal for one that cannot be."""
        try:
            plain = _SEND_TIME.sub("", offer)
            await self._pc.setRemoteDescription(RTCSessionDescription(sdp=plain, type="offer"))
        # aiortc's parser raises whatever the text made it stumble over.
        except Exception as error:  # noqa: BLE001
            raise Refusal("invalid_offer", f"the SDP cannot be read: {error}") from None
        voices = [t for t in self._pc.getTransceivers() if t.kind == "audio"]
        if not voices:
            raise Refusal("invalid_offer", "the offer has no audio")
        if "\na=fingerprint:" not in offer:
            raise Refusal("invalid_offer", "the offer has no fingerprint to encrypt for")
        opus = [
            c for c in RTCRtpSender.getCapabilities("audio").codecs if c.mimeType == "audio/opus"
        ]
        voices[0].setCodecPreferences(opus)
        self._pc.addTrack(self.call.speaking.track)
        tracks = tracks_of(self._pc)
        self._kinds = {track.id: track.kind for track in tracks.values()}
        hook(self._pc, self, self._clock.now, tracks=tracks)
        self.call.hearing.payload_types = frozenset(
            c.payloadType
            for c in voices[0]._codecs
            if c.mimeType.lower() == "audio/opus" and c.payloadType is not None
        )
        if not self.call.hearing.payload_types:
            raise Refusal("invalid_offer", "the offer has no Opus")
        self.call.seeing.codecs = {
            c.payloadType: c
            for t in self._pc.getTransceivers()
            if t.kind == "video"
            for c in t._codecs
            if c.payloadType is not None
        }
        try:
            await self._pc.setLocalDescription(await self._pc.createAnswer())
        except Exception as error:  # noqa: BLE001
            raise Refusal("invalid_offer", f"the offer cannot be answered: {error}") from None
        return self._pc.localDescription.sdp

    def received_rtp(self, t: float, track: str, packet: bytes) -> None:
        self.call.rtp(t, self._kinds[track], packet)

    def end(self) -> None:
        """The caller has gone, or has to."""
        self.through.set()
        self.call.ended.set()

    async def close(self) -> None:
        self.end()
        # What came up in part only, aiortc cannot close in whole.
        with contextlib.suppress(TimeoutError, AttributeError):
            async with self._clock.within(CLOSE_WITHIN):
                await self._pc.close()

    def _take_channel(self, channel: RTCDataChannel) -> None:
        if self._channel is not None:
            return
        self._channel = channel
        channel.on("message", self.call.receive)
        channel.on("close", self.end)
        self.call.opened()

    def _state_changed(self) -> None:
        state = self._pc.connectionState
        if state == "connected":
            self.through.set()
        elif state in ("failed", "closed"):
            self.end()

    def _send(self, message: str) -> None:
        if self._channel is not None and self._channel.readyState == "open":
            self._channel.send(message)

    def _edge(self, edge: Edge) -> None:
        self.call.edge(edge)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        if self.tasks is None:
            work.close()
            raise RuntimeError("the call is not being served")
        self.tasks.create_task(work)

    def _ask_for_keyframe(self, ssrc: int) -> None:
        for transceiver in self._pc.getTransceivers():
            if transceiver.kind == "video":
                self._spawn(transceiver.receiver._send_rtcp_pli(ssrc))
