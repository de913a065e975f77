"""The shortest ways of a packet between a socket and us, past what aiortc puts between.

Per packet it allocates, checks, and passes through coroutines and queues, which is most of what a
packet costs. The way out (`Outlet`) encrypts in place and hands to the socket; the way in
(`short_cut`) decrypts sound where it arrives, which also gives it its time before it has waited for
anything. Counterparts: `simulator.rtc.sender` and `simulator.rtc.taps`.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from pylibsrtp import Error
from pylibsrtp._binding import ffi, lib


class Outlet:
    """The way out of a DTLS transport: encrypts a packet and sends it on the nominated path."""

    def __init__(self, transport: Any) -> None:
        session = transport._tx_srtp
        self._ice = transport.transport._connection
        self._srtp = session._srtp[0]
        self._cells = session._cdata
        self._room = len(session._cdata) - 144
        """The largest packet; libsrtp wants that much behind it."""
        self._buffer = session._buffer
        self._view = memoryview(session._buffer)
        self._size = ffi.new("int *")
        self._session = session
        """Kept, as it owns the memory."""
        self._pair: Any = None
        self._socket: socket.socket | None = None
        self._address: Any = None

    def sender(self) -> Callable[[bytes], None]:
        """How to send now. Raises ConnectionError when there is no path."""
        pair = self._ice._nominated.get(1)
        if pair is None:
            raise ConnectionError("no path")
        if pair is not self._pair:
            self._pair = pair
            self._address = pair.remote_addr
            # None where the transport is not asyncio's own for UDP, as for a relay.
            self._socket = getattr(pair.protocol.transport, "_sock", None)
        return self._send if self._socket is not None else self._send_through

    def _protect(self, packet: bytes) -> memoryview:
        size = len(packet)
        if size > self._room:
            raise ValueError(f"a packet of {size} bytes is too long")
        self._buffer[0:size] = packet
        self._size[0] = size
        status = lib.srtp_protect(self._srtp, self._cells, self._size)
        if status:
            raise ConnectionError(str(Error(status)))
        return self._view[: self._size[0]]

    def _send(self, packet: bytes) -> None:
        assert self._socket is not None
        data = self._protect(packet)
        try:
            self._socket.sendto(data, self._address)
        except BlockingIOError:
            self._pair.protocol.transport.sendto(bytes(data), self._address)
        except OSError as error:
            # As asyncio's transport has it: a datagram that could not be sent is a lost one.
            self._pair.protocol.error_received(error)

    def _send_through(self, packet: bytes) -> None:
        self._pair.protocol.transport.sendto(bytes(self._protect(packet)), self._address)


def short_cut(
    transport: Any,
    wanted: Callable[[bytes], bool],
    receive: Callable[[bytes], None],
) -> None:
    """Give the RTP packets of a DTLS transport that are `wanted` (by their header, which is in
    clear) to `receive`, decrypted, straight from the socket. All else goes the usual way."""
    for protocol in transport.transport._connection._protocols:
        _shorten(protocol, transport, wanted, receive)


def _shorten(
    protocol: Any,
    transport: Any,
    wanted: Callable[[bytes], bool],
    receive: Callable[[bytes], None],
) -> None:
    usual = protocol.datagram_received

    def datagram_received(data: bytes, address: Any) -> None:
        if len(data) < 12 or not 127 < data[0] < 192 or not wanted(data):
            usual(data, address)
            return
        try:
            packet = transport._rx_srtp.unprotect(data)
        except Error:
            # Not what the other side sent, or sent before: aiortc drops it as well.
            return
        receive(packet)

    protocol.datagram_received = datagram_received
