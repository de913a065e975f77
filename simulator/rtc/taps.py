"""Taps on a connection: every RTP and RTCP packet in clear, with its time, on its way in or out.

Times must not be read where aiortc hands out decoded frames (its jitter buffer adds 80 ms to sound
and more after a loss), so packets are taken where they leave or arrive. That needs private names of
aiortc: all of them are in `PRIVATE`, and a test holds that each still exists. Counterpart:
`simulator.protocol.tap` is what hears them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from aioice.stun import TransactionError
from aiortc import RTCConfiguration, RTCPeerConnection
from pylibsrtp import Session

from simulator.protocol.rtcp import is_rtcp
from simulator.protocol.rtp import extension
from simulator.protocol.tap import Tap
from simulator.protocol.tracks import Kind, Track, named
from simulator.rtc.secure import short_cut

SENDER_LOOP: Mapping[str, str] = {
    "run": "_run_rtp",
    "resend": "_retransmit",
    "started": "_RTCRtpSender__rtp_started",
    "exited": "_RTCRtpSender__rtp_exited",
    "report": "_send_rtcp",
}
"""What `simulator.rtc.sender` replaces in aiortc's sender, or tells it."""

MID = "urn:ietf:params:rtp-hdrext:sdes:mid"
"""The header extension in which a packet names its section."""

RECEIVED_STREAMS = "_RTCRtpReceiver__remote_streams"
"""Statistics of each source that aiortc's receiver reports on."""

PRIVATE: Mapping[str, tuple[str, ...]] = {
    "RTCDtlsTransport": (
        "_send_rtp",
        "_handle_rtp_data",
        "_handle_rtcp_data",
        "_tx_srtp",
        "_rx_srtp",
    ),
    "RTCRtpReceiver": ("_handle_disconnect", RECEIVED_STREAMS),
    "RTCRtpSender": ("_ssrc", "_rtx_ssrc", *SENDER_LOOP.values()),
    "RTCRtpTransceiver": ("_codecs", "_headerExtensions"),
    "RTCIceTransport": ("_connection",),
    "Connection": ("_nominated", "_protocols", "build_request", "remote_password"),
    "StunProtocol": ("request", "transport", "datagram_received"),
    "Session": ("_srtp",),
}
"""Names of aiortc, aioice and pylibsrtp that `simulator.rtc` hooks or reads and that are not their
public interface."""

_Streams = Mapping[int, Any]
_SOURCES = 64
"""Sources that are remembered: a peer that makes up new ones is looked at anew each time."""

_SEND, _RTP_IN, _RTCP_IN = PRIVATE["RTCDtlsTransport"][:3]


def tracks_of(connection: RTCPeerConnection) -> Mapping[str, Track]:
    """The tracks of a connection whose sections have no names of their own, by `mid`."""
    sections = connection.getTransceivers()
    kinds: list[Kind] = ["audio" if t.kind == "audio" else "video" for t in sections]
    return {str(t.mid): track for t, track in zip(sections, named(kinds), strict=True)}


@dataclass(frozen=True, slots=True)
class _Section:
    """One section of the session description, as what is received in it is known."""

    track: str
    mid: str
    payload_types: frozenset[int]
    streams: _Streams
    """aiortc's statistics of its sources, where nobody decodes them."""


def hook(
    connection: RTCPeerConnection,
    tap: Tap,
    now: Callable[[], float],
    *,
    tracks: Mapping[str, Track] | None = None,
    decode: bool = False,
) -> None:
    """Let `tap` hear everything on `connection`.

    Call it right after `setRemoteDescription`, before anything else is awaited: bundling replaces
    transports there (one hooked earlier hears nothing), and media may flow soon after.

    `now` gives session time; `tracks` names the tracks by the `mid` of their section, both ways.
    Packets that aiortc sends have no due time; a `simulator.rtc.sender.PacedSender` tells the tap
    of its own, with theirs. Unless `decode` is set, aiortc's decoders are ended, so that its tracks
    get no frames and nothing queues for a reader that does not exist. Statistics, receiver reports
    and NACK work on.
    """
    known = tracks_of(connection) if tracks is None else tracks
    senders: dict[int, str] = {}
    sections: list[_Section] = []
    transports: dict[int, Any] = {}
    mid_id = 0
    for transceiver in connection.getTransceivers():
        track = known[str(transceiver.mid)]
        sender: Any = transceiver.sender
        senders[sender._ssrc] = senders[sender._rtx_ssrc] = track.id
        ids = {ext.uri: ext.id for ext in transceiver._headerExtensions}
        mid_id = ids.get(MID, mid_id)
        short = track.kind == "audio" and not decode
        sections.append(
            _Section(
                track.id,
                str(transceiver.mid),
                frozenset(c.payloadType for c in transceiver._codecs if c.payloadType is not None),
                getattr(transceiver.receiver, RECEIVED_STREAMS) if short else {},
            )
        )
        transport = transceiver.receiver.transport
        transports[id(transport)] = transport
        if not decode:
            _end_decoder(transceiver.receiver)
    for transport in transports.values():
        _hook_sending(transport, tap, now, senders)
        _hook_receiving(transport, tap, now, _Sections(sections, mid_id))


def _hook_sending(
    transport: Any, tap: Tap, now: Callable[[], float], senders: Mapping[int, str]
) -> None:
    send = getattr(transport, _SEND)

    async def tapped_send(data: bytes) -> None:
        t = now()
        await send(data)
        if is_rtcp(data):
            tap.sent_rtcp(t, data)
            return
        track = senders.get(int.from_bytes(data[8:12]))
        if track is not None:
            tap.sent_rtp(t, track, (data,), None)

    setattr(transport, _SEND, tapped_send)


class _Numbers(NamedTuple):
    """What aiortc's statistics read of a packet."""

    sequence_number: int
    timestamp: int


class _Sections:
    """Tells to which section a packet belongs, looking at each source once."""

    def __init__(self, sections: Sequence[_Section], mid_id: int) -> None:
        self._sections = sections
        self._mid_id = mid_id
        self._known: dict[bytes, _Section | None] = {}

    def of(self, packet: bytes) -> _Section | None:
        """The section of an RTP packet in clear; None if it is of none."""
        source = packet[8:12]
        if source not in self._known and len(packet) >= 12:
            if len(self._known) >= _SOURCES:
                return self._find(packet)
            self._known[source] = self._find(packet)
        return self._known.get(source)

    def _find(self, packet: bytes) -> _Section | None:
        kind = packet[1] & 0x7F
        fitting = [s for s in self._sections if kind in s.payload_types]
        if len(fitting) > 1:
            # Sections of one kind share their payload types: the packet names its own (RFC 8843).
            mid = extension(packet, self._mid_id) if self._mid_id else None
            fitting = [s for s in fitting if s.mid.encode() == mid] or fitting
        return fitting[0] if fitting else None


def _hook_receiving(
    transport: Any,
    tap: Tap,
    now: Callable[[], float],
    sections: _Sections,
) -> None:
    rtp_in = getattr(transport, _RTP_IN)
    rtcp_in = getattr(transport, _RTCP_IN)

    short: dict[bytes, tuple[str, Any]] = {}
    """Sources of sound that have been heard before and that nobody decodes, by SSRC: the track, and
    aiortc's statistics."""

    def hear(data: bytes) -> None:
        """What there is to do for their packets, without parsing, routing and jitter buffer."""
        track, stream = short[data[8:12]]
        tap.received_rtp(now(), track, data)
        stream.add(_Numbers(int.from_bytes(data[2:4]), int.from_bytes(data[4:8])))

    async def tapped_rtp(data: bytes, arrival_time_ms: int) -> None:
        source = data[8:12]
        if source in short:
            hear(data)
            return
        section = sections.of(data)
        if section is not None:
            stream = section.streams.get(int.from_bytes(source))
            if stream is not None:
                if not short:
                    short_cut(transport, short, hear)
                short[source] = (section.track, stream)
                hear(data)
                return
            tap.received_rtp(now(), section.track, data)
        await rtp_in(data, arrival_time_ms=arrival_time_ms)

    async def tapped_rtcp(data: bytes) -> None:
        tap.received_rtcp(now(), data)
        await rtcp_in(data)

    setattr(transport, _RTP_IN, tapped_rtp)
    setattr(transport, _RTCP_IN, tapped_rtcp)


async def probe(connection: RTCPeerConnection) -> bool:
    """Ask the other side for a sign of life: a STUN check on the pair in use, up to 1.5 s."""
    ice = connection.getTransceivers()[0].receiver.transport.transport._connection
    for pair in list(ice._nominated.values()):
        check = ice.build_request(pair, nominate=False)
        key = (ice.remote_password or "").encode()
        try:
            await pair.protocol.request(
                check, pair.remote_addr, integrity_key=key, retransmissions=1
            )
        except TransactionError:
            continue
        return True
    return False


def candidate_pair(connection: RTCPeerConnection) -> tuple[str, str] | None:
    """The two ends of the path in use, as `type address:port`; None before there is one."""
    ice = connection.getTransceivers()[0].receiver.transport.transport._connection
    for pair in ice._nominated.values():
        ends = (pair.local_candidate, pair.remote_candidate)
        local, remote = (f"{end.type} {end.host}:{end.port}" for end in ends)
        return local, remote
    return None


def _end_decoder(receiver: Any) -> None:
    """Let `receiver` start as usual, then end its decoding thread: without it nothing queues."""
    start = receiver.receive

    async def receive(parameters: Any) -> None:
        await start(parameters)
        receiver._handle_disconnect()

    receiver.receive = receive


def missing_names() -> tuple[str, ...]:
    """Names of `PRIVATE` that the installed aiortc and aioice lack; starts an event loop."""
    return asyncio.run(find_missing_names())


async def find_missing_names() -> tuple[str, ...]:
    """As `missing_names`, within a running event loop."""
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    try:
        transceiver = connection.addTransceiver("audio")
        await connection.setLocalDescription(await connection.createOffer())
        transport = transceiver.receiver.transport
        ice = getattr(transport.transport, "_connection", None)
        # The classes whose names are set in their constructors are looked at as instances.
        found: Mapping[str, Any] = {
            "RTCDtlsTransport": transport,
            "RTCRtpReceiver": transceiver.receiver,
            "RTCRtpSender": transceiver.sender,
            "RTCRtpTransceiver": transceiver,
            "RTCIceTransport": transport.transport,
            "Connection": ice,
            "Session": Session(),
            # A host with no address but loopback has none: then nothing can be said of it.
            "StunProtocol": next(iter(getattr(ice, "_protocols", ())), None),
        }
    finally:
        await connection.close()
    return tuple(
        f"{owner}.{name}"
        for owner, names in PRIVATE.items()
        for name in names
        if found[owner] is not None and not hasattr(found[owner], name)
    )
