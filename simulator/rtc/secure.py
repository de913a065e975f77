"""The shortest ways of a packet between a socket and us, past what aiortc puts between.

Per packet it allocates, checks, and passes through coroutines and queues, which is most of what a
packet costs. The way out (`Outlet`) encrypts in place and hands to the socket; the way in
(`short_cut`) decrypts sound where it arrives, which also gives it its time before it has waited for
anything. Counterparts: `simulator.rtc.sender` and `simulator.rtc.taps`.
"""

from __future__ import annotations

import socket
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from pylibsrtp import Error
from pylibsrtp._binding import ffi, lib

from simulator.errors import InstrumentError
from simulator.protocol.rtcp import is_rtcp

_UDP_SEGMENT = 103
"""Linux's option for a buffer that the kernel cuts into datagrams (udp(7))."""
_SEGMENT = struct.Struct("=H")
_LONGEST = 65_000
"""Bytes in one such buffer: no more than one datagram could have."""
_TRAILER = 144
"""Bytes behind a packet that libsrtp may use."""
_CELLS = ffi.new("char[]", 1 << 16)
_ROOM = memoryview(ffi.buffer(_CELLS))
"""Where packets are encrypted, one after the other; emptied before anybody else's turn comes."""


class Outlet:
    """The way out of a DTLS transport: encrypts packets and sends them on the nominated path."""

    def __init__(self, transport: Any) -> None:
        self._ice = transport.transport._connection
        self._session = transport._tx_srtp
        """Kept, as it owns the next."""
        self._srtp = self._session._srtp[0]
        self._size = ffi.new("int *")
        self._pair: Any = None
        self._socket: socket.socket | None = None
        self._address: Any = None
        self._cuts = sys.platform == "linux"
        """Whether the kernel cuts groups into datagrams for us."""
        self.refused = 0
        """Packets that this host's network would not take: they have not left."""

    def send(self, packets: Sequence[bytes]) -> Sequence[bytes]:
        """Send packets that belong together; those that left. Raises ConnectionError when there is
        no path, and InstrumentError where one cannot be encrypted."""
        pair = self._ice._nominated.get(1)
        if pair is None:
            raise ConnectionError("no path")
        if pair is not self._pair:
            self._pair = pair
            self._address = pair.remote_addr
            # None where the transport is not asyncio's own for UDP, as for a relay.
            self._socket = getattr(pair.protocol.transport, "_sock", None)
        ends = self._protect(packets)
        if len(packets) > 1 and self._socket is not None and self._cuts and self._cut(ends):
            return packets
        spans = zip(packets, pairwise(ends), strict=True)
        left = [packet for packet, (begin, end) in spans if self._send(_ROOM[begin:end])]
        self.refused += len(packets) - len(left)
        return left

    def _protect(self, packets: Sequence[bytes]) -> list[int]:
        """Encrypt packets into the room, one behind the other; returns where each begins and the
        last one ends."""
        at, ends, length, room = 0, [0], self._size, _ROOM
        for packet in packets:
            size = len(packet)
            if at + size + _TRAILER > len(room):
                raise ValueError(f"{len(packets)} packets of {size} bytes are too much at once")
            room[at : at + size] = packet
            length[0] = size
            if status := lib.srtp_protect(self._srtp, _CELLS + at, length):
                raise InstrumentError(f"a packet could not be encrypted: {Error(status)}")
            at += length[0]
            ends.append(at)
        return ends

    def _cut(self, ends: Sequence[int]) -> bool:
        """Send all in one call, if their sizes allow it: all alike, the last one maybe shorter."""
        size, last = ends[1], ends[-1]
        alike = [*range(0, size * (len(ends) - 1), size)]
        if last > _LONGEST or ends[:-1] != alike or last - ends[-2] > size:
            return False
        assert self._socket is not None
        ancillary = ((socket.IPPROTO_UDP, _UDP_SEGMENT, _SEGMENT.pack(size)),)
        try:
            self._socket.sendmsg((_ROOM[: ends[-1]],), ancillary, 0, self._address)
        except BlockingIOError:
            return False
        except OSError:
            # The kernel, the network device or a narrow path does not do it: nothing has left.
            self._cuts = False
            return False
        return True

    def _send(self, data: memoryview) -> bool:
        """Send one packet; False where this host's network would not take it."""
        if self._socket is None:
            self._pair.protocol.transport.sendto(bytes(data), self._address)
            return True
        try:
            self._socket.sendto(data, self._address)
        except BlockingIOError:
            self._pair.protocol.transport.sendto(bytes(data), self._address)
        except OSError as error:
            # As asyncio's transport has it: a datagram that could not be sent is a lost one.
            self._pair.protocol.error_received(error)
            return False
        return True


def short_cut(
    transport: Any,
    streams: Mapping[bytes, Any],
    receive: Callable[[bytes], None],
) -> None:
    """Give the RTP packets of a DTLS transport whose SSRC is among `streams` (it is in clear) to
    `receive`, decrypted, straight from the socket. All else goes the usual way."""
    for protocol in transport.transport._connection._protocols:
        _shorten(protocol, transport, streams, receive)


def _shorten(
    protocol: Any,
    transport: Any,
    streams: Mapping[bytes, Any],
    receive: Callable[[bytes], None],
) -> None:
    usual = protocol.datagram_received
    session = transport._rx_srtp
    srtp, cells, room = session._srtp[0], _CELLS, _ROOM
    length = ffi.new("int *")

    def datagram_received(data: bytes, address: Any) -> None:
        size = len(data)
        if data[8:12] not in streams or not 127 < data[0] < 192 or is_rtcp(data):
            usual(data, address)
            return
        room[:size] = data
        length[0] = size
        if lib.srtp_unprotect(srtp, cells, length):
            # Not what the other side sent, or sent before: aiortc drops it as well.
            return
        receive(bytes(room[: length[0]]))

    protocol.datagram_received = datagram_received
