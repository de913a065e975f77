"""The contract of a tap: hears every packet and message of a call, in clear, with its time. Pure.

Counterparts: `simulator.rtc.taps` hooks one into a connection, `simulator.recording.writer` is the
one that keeps everything, `simulator.rtc.ear` and `simulator.bridge` hear from one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

Direction = Literal["in", "out"]


class Tap(Protocol):
    """Hears everything that crosses a connection. `t` is session time in seconds.

    Called in the event loop between packets: it must be quick and must not raise for what a peer
    may send.
    """

    def sent_rtp(self, t: float, track: str, packets: Sequence[bytes], due: float | None) -> None:
        """RTP packets in clear of the track of that name left together at `t`; `due` is when they
        should have, None for resends."""
        ...

    def received_rtp(self, t: float, track: str, packet: bytes) -> None:
        """An RTP packet in clear arrived at `t` (resends come with their own SSRC, as RTX)."""
        ...

    def sent_rtcp(self, t: float, packet: bytes) -> None:
        """A compound RTCP packet in clear left."""
        ...

    def received_rtcp(self, t: float, packet: bytes) -> None:
        """A compound RTCP packet in clear arrived."""
        ...

    def wire(self, t: float, dir: Direction, raw: str | bytes) -> None:
        """A whole message of the data channel."""
        ...


class NullTap:
    """Hears nothing; also the base of taps that want only some of it."""

    def sent_rtp(self, t: float, track: str, packets: Sequence[bytes], due: float | None) -> None:
        pass

    def received_rtp(self, t: float, track: str, packet: bytes) -> None:
        pass

    def sent_rtcp(self, t: float, packet: bytes) -> None:
        pass

    def received_rtcp(self, t: float, packet: bytes) -> None:
        pass

    def wire(self, t: float, dir: Direction, raw: str | bytes) -> None:
        pass
