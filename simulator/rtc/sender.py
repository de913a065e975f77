"""Sends one track of a playlist, each packet at its time: the lean loop of a paced sender.

It takes the place of the loop in which aiortc's sender pulls frames from a track. That one costs
several times the CPU, for objects and tasks made for each packet; here a packet is joined from
bytes, encrypted and handed to the socket. Reports, NACK handling and everything else stay aiortc's,
on counters and a history that are kept for it. Counterparts: `simulator.rtc.playlist` says what is
due when, `simulator.rtc.secure` encrypts and sends, `simulator.rtc.peer` installs one a track.
"""

from __future__ import annotations

import asyncio
import random
import struct
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from aiortc import RTCRtpTransceiver
from aiortc.clock import current_ntp_time
from aiortc.rtcrtpparameters import RTCRtpCodecParameters
from aiortc.rtp import RtcpSrPacket

from simulator.clock import Clock
from simulator.errors import InstrumentError
from simulator.media.packets import PacketTrack
from simulator.media.timeline import GROUP_GAP, PTIME, group_size
from simulator.protocol.events import Whose
from simulator.protocol.health import Sent
from simulator.protocol.tap import Tap
from simulator.protocol.tracks import Track
from simulator.rtc.pacer import pacer
from simulator.rtc.packetise import Packetised, Piece, packetised
from simulator.rtc.playlist import Playlist, Scheduled
from simulator.rtc.secure import Outlet
from simulator.rtc.taps import MID, SENDER_LOOP

HISTORY = 128
"""Groups of packets that can be sent again: more than a second of either kind."""
_SEND_TIME = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"
_EARLY = 0.0005
"""Seconds by which an alarm may come before its time."""
_HEADER = struct.Struct(">BBHII")
_BEGINS = struct.Struct(">BBH")
"""The part of a header that is each packet's own."""
_SHARED = struct.Struct(">II")
"""The part that is a picture's."""
_VERSION_2 = 0x80
_EXTENDED = 0x10


@dataclass(frozen=True, slots=True)
class _Extensions:
    """Header extensions around the one that changes with each packet, the send time."""

    before: bytes = b""
    timed: bool = False
    after: bytes = b""

    @property
    def size(self) -> int:
        return len(self.before) + 3 * self.timed + len(self.after)

    def at(self, t: float) -> bytes:
        """Those of a packet that leaves at session time `t`."""
        if not self.timed:
            return self.before + self.after
        return b"".join((self.before, (int(t * 262_144) & 0xFFFFFF).to_bytes(3), self.after))


@dataclass(slots=True)
class _Frame:
    """A picture (or a piece of sound) on its way out, in groups of packets."""

    scheduled: Scheduled
    data: bytes
    pieces: Sequence[Piece]
    shared: bytes
    """Stamp and SSRC."""
    due: float
    """When the next group should leave."""
    group: int
    """Packets in a group."""
    next: int = 0
    """The first packet that has not left."""


class _Group(NamedTuple):
    """What it takes to make the packets of a group once more, bit by bit as they were.

    The packets themselves are not kept: a second or two of them are 0.3 MB a session, for what is
    hardly ever asked for.
    """

    sequence: int
    """Of its first packet."""
    shared: bytes
    """Stamp, SSRC and extensions."""
    track: PacketTrack
    number: int
    pieces: Sequence[Piece]
    """All of the picture."""
    begin: int
    end: int


class PacedSender:
    """Feeds the sender of `transceiver` from `playlist`, telling `tap` of every packet."""

    def __init__(
        self,
        transceiver: RTCRtpTransceiver,
        track: Track,
        playlist: Playlist,
        tap: Tap,
        clock: Clock,
        failed: Callable[[Whose, str], None],
    ) -> None:
        """`failed` hears it if sending has to end before the call does: whose fault, and why."""
        self._track = track
        self._name = track.id
        self._transceiver = transceiver
        self._sender: Any = transceiver.sender
        self._playlist = playlist
        self._tap = tap
        self._failed = failed
        self._over: asyncio.Future[None] | None = None
        self._alarm: float | None = None
        """Session time for which the pacer has been set; None: for none."""
        self._pacer = pacer(clock)
        self._outlet: Outlet | None = None
        # The lower half: a wrap soon after the start would confuse SRTP where packets are lost.
        self._sequence = random.randrange(1, 0x8000)
        self._resend_sequence = random.randrange(1, 0x8000)
        self._first_stamp = random.getrandbits(32)
        self._history: deque[_Group] = deque(maxlen=HISTORY)
        self._ssrc: int = self._sender._ssrc
        self._payload_type = 0
        self._resend_type: int | None = None
        self._extensions = _Extensions()
        self._first_byte = _VERSION_2
        self._frame: _Frame | None = None
        """What has begun to leave."""
        self._packetised: tuple[PacketTrack, Packetised] | None = None
        """Of the track that the last picture came from."""
        self._ntp_zero = 0
        self._last: tuple[int, float] = (0, 0.0)
        self._packets = 0
        self._octets = 0
        self._refused_since: float | None = None
        self._report = getattr(self._sender, SENDER_LOOP["report"])
        playlist.on_change(self._changed)

    def install(self) -> None:
        """Take the place of the stock loop; before the connection starts to send."""
        setattr(self._sender, SENDER_LOOP["run"], self._run)
        setattr(self._sender, SENDER_LOOP["resend"], self._resend)
        setattr(self._sender, SENDER_LOOP["report"], self._send_report)

    # ------------------------------------------------------------ the loop

    async def _run(self, codec: RTCRtpCodecParameters) -> None:
        """In place of the stock loop: lasts until it is cancelled or there is no path any more."""
        started: asyncio.Event = getattr(self._sender, SENDER_LOOP["started"])
        exited: asyncio.Event = getattr(self._sender, SENDER_LOOP["exited"])
        started.set()
        self._over = asyncio.get_running_loop().create_future()
        try:
            self._negotiated(codec)
            self._changed()
            await self._over
        except asyncio.CancelledError:
            # As in the loop replaced: whoever stops the sender waits for `exited` instead.
            return
        finally:
            self._over.cancel()
            exited.set()

    def _changed(self) -> None:
        """Look what is next: the schedule has changed, or we have just begun."""
        if self._over is not None and not self._over.done() and self._frame is None:
            scheduled = self._playlist.peek(self._name)
            self._wait(None if scheduled is None else scheduled.due)

    def _wait(self, due: float | None) -> None:
        """Have ourselves called at session time `due`; None: nothing is scheduled."""
        if self._alarm != due:
            self._alarm = due
            if due is not None:
                self._pacer.at(self._playlist.clock_time(due), self._fire)

    def _fire(self) -> None:
        """Send what is due, and ask to come back when the next is."""
        playlist, name = self._playlist, self._name
        if self._over is None or self._over.done():
            return
        now = playlist.now()
        if self._alarm is None or self._alarm > now + _EARLY:
            return  # set before the schedule changed
        self._alarm = None
        try:
            while True:
                frame = self._frame
                if frame is None:
                    scheduled = playlist.peek(name)
                    if scheduled is None:
                        return
                    if scheduled.due > now:
                        self._wait(scheduled.due)
                        return
                    playlist.advance(name)
                    frame = self._take(scheduled)
                elif frame.due > now:
                    self._wait(frame.due)
                    return
                self._send(frame)
                self._frame = frame if frame.next < len(frame.pieces) else None
        # Nobody awaits an alarm: without a word the session would go on with a frozen picture, and
        # its recording would look like the agent's silence.
        except ConnectionError as error:
            self._end(Whose.NETWORK, str(error))
        except InstrumentError as error:
            self._end(Whose.INSTRUMENT, error.message)
        except Exception as error:  # noqa: BLE001 - whatever it is, it has stopped the stream
            self._end(Whose.INSTRUMENT, repr(error))

    def _end(self, whose: Whose, why: str) -> None:
        if self._over is not None and not self._over.done():
            self._over.set_result(None)
        self._failed(whose, f"{self._name} is not sent any more: {why}")

    def state(self) -> Sent:
        """What has become of the track so far, as far as sending it goes."""
        frame, scheduled = self._frame, self._playlist.peek(self._name)
        due = frame.due if frame is not None else scheduled.due if scheduled is not None else None
        return Sent(
            track=self._name,
            unsent=0 if self._outlet is None else self._outlet.refused,
            refused_since=self._refused_since,
            overdue_s=0.0 if due is None else max(0.0, self._playlist.now() - due),
        )

    # ------------------------------------------------------------ packets

    def _negotiated(self, codec: RTCRtpCodecParameters) -> None:
        self._payload_type = int(codec.payloadType or 0)
        self._resend_type = next(
            (
                c.payloadType
                for c in self._transceiver._codecs
                if c.name.lower() == "rtx" and c.parameters.get("apt") == codec.payloadType
            ),
            None,
        )
        ids = {ext.uri: ext.id for ext in self._transceiver._headerExtensions}
        self._extensions = _header_extensions(
            ids.get(MID), str(self._transceiver.mid), ids.get(_SEND_TIME)
        )
        self._first_byte = _VERSION_2 | (_EXTENDED if self._extensions.size else 0)
        self._ntp_zero = current_ntp_time() - int(self._playlist.now() * 2**32)
        self._outlet = Outlet(self._sender.transport)

    def _take(self, scheduled: Scheduled) -> _Frame:
        """The next packet of sound, or picture in packets."""
        due, ticks, track, index = scheduled
        data = track.payload(index)
        stamp = (self._first_stamp + ticks) & 0xFFFFFFFF
        self._last = (stamp, due)
        shared = _SHARED.pack(stamp, self._ssrc)
        if self._track.kind == "audio":
            return _Frame(scheduled, data, ((b"", 0, len(data)),), shared, due, 1)
        if self._packetised is None or self._packetised[0] is not track:
            self._packetised = (track, packetised(track))
        pieces = self._packetised[1].of(index, data)
        return _Frame(scheduled, data, pieces, shared, due, group_size(len(pieces)))

    def _send(self, frame: _Frame) -> None:
        """The group of a frame's packets that is next. Raises ConnectionError without a path."""
        assert self._outlet is not None
        t = self._playlist.now()
        scheduled, due, begin = frame.scheduled, frame.due, frame.next
        shared = frame.shared + self._extensions.at(t)
        group = _Group(
            self._sequence,
            shared,
            scheduled.track,
            scheduled.number,
            frame.pieces,
            begin,
            begin + frame.group,
        )
        packets = self._packets_of(group, frame.data)
        left = self._outlet.send(packets)
        count = len(packets)
        if left:
            self._refused_since = None
        elif self._refused_since is None:
            self._refused_since = t
        self._history.append(group)
        self._sequence = (self._sequence + count) & 0xFFFF
        self._packets += count
        self._octets += sum(map(len, packets)) - count * (_BEGINS.size + len(shared))
        frame.next, frame.due = group.end, due + GROUP_GAP
        if left:
            self._tap.sent_rtp(t, self._name, left, due)

    def _packets_of(self, group: _Group, data: bytes) -> list[bytes]:
        """The packets of a group, in clear; `data` is the whole picture."""
        sequence, shared, _, _, pieces, begin, end = group
        pack, join, first, kind = _BEGINS.pack, b"".join, self._first_byte, self._payload_type
        mark = len(pieces) - 1
        packets = []
        for index, (head, start, stop) in enumerate(pieces[begin:end], begin):
            own = pack(first, kind if index < mark else kind | 0x80, sequence)
            packets.append(join((own, shared, head, data[start:stop])))
            sequence = (sequence + 1) & 0xFFFF
        return packets

    def _find(self, sequence: int) -> bytes | None:
        """The packet that left with this sequence number; None if that is too long ago."""
        for group in reversed(self._history):
            index = (sequence - group.sequence) & 0xFFFF
            if index < min(group.end, len(group.pieces)) - group.begin:
                return self._packets_of(group, group.track.payload(group.number))[index]
        return None

    async def _send_report(self, packets: list[Any]) -> None:
        """A sender report goes out: fill in the stamp and time of the media, and the counts."""
        for report in packets:
            if isinstance(report, RtcpSrPacket):
                stamp, due = self._last
                media = due - PTIME if self._track.kind == "audio" else due
                report.sender_info.ntp_timestamp = self._ntp_zero + int(media * 2**32)
                report.sender_info.rtp_timestamp = stamp
                report.sender_info.packet_count = self._packets & 0xFFFFFFFF
                report.sender_info.octet_count = self._octets & 0xFFFFFFFF
        await self._report(packets)

    async def _resend(self, sequence: int) -> None:
        """A packet was reported lost: send it again, as RTX where that was negotiated."""
        packet = self._find(sequence)
        if self._outlet is None or packet is None:
            return
        if self._resend_type is not None:
            body = _HEADER.size + self._extensions.size
            packet = b"".join(
                (
                    packet[:1],
                    bytes((self._resend_type | packet[1] & 0x80,)),
                    self._resend_sequence.to_bytes(2),
                    packet[4:8],
                    self._sender._rtx_ssrc.to_bytes(4),
                    packet[12:body],
                    packet[2:4],
                    packet[body:],
                )
            )
            self._resend_sequence = (self._resend_sequence + 1) & 0xFFFF
        t = self._playlist.now()
        try:
            left = self._outlet.send((packet,))
        except (ConnectionError, InstrumentError):
            # The next packet of the stream meets with the same, and tells.
            return
        if left:
            self._tap.sent_rtp(t, self._name, left, None)


def _header_extensions(mid_id: int | None, mid: str, time_id: int | None) -> _Extensions:
    """One-byte header extensions (RFC 8285): the section's id, and a place for the send time."""
    elements = b""
    if mid_id is not None:
        name = mid.encode()
        elements += bytes((mid_id << 4 | len(name) - 1,)) + name
    if time_id is not None:
        elements += bytes((time_id << 4 | 2,))
    if not elements:
        return _Extensions()
    size = len(elements) + (3 if time_id is not None else 0)
    padding = -size % 4
    words = (size + padding) // 4
    before = struct.pack(">HH", 0xBEDE, words) + elements
    return _Extensions(before, time_id is not None, bytes(padding))
