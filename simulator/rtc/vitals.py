"""What a call's packets say of its health: send-time errors, losses, round trip, proof of arrival.

A tap like any other. Counterparts: `simulator.rtc.peer` asks for the health of each second and of
the whole; the recording's own figures are computed again from its packets.
"""

from __future__ import annotations

import math
import os
from array import array
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from simulator.protocol.health import Health, Sending, Sent
from simulator.protocol.rtcp import MARK, SENDER_REPORT, Arrival, reports
from simulator.protocol.tap import NullTap
from simulator.rtc.processor import Core

WINDOW = 1.0
"""Seconds that a health record looks back."""
_BINS_PER_SECOND = 10_000
"""Resolution of the whole call's send-time errors: 0.1 ms, up to a second."""


@dataclass(slots=True)
class _Received:
    """Sequence numbers of one incoming stream."""

    first: int
    highest: int
    count: int = 1

    def add(self, sequence: int) -> None:
        step = (sequence - self.highest) & 0xFFFF
        if step < 0x8000:
            self.highest += step
        self.count += 1

    @property
    def lost(self) -> int:
        return max(0, self.highest - self.first + 1 - self.count)


@dataclass(slots=True)
class _Track:
    """One track that we send."""

    ssrc: int
    arrival: Arrival = field(default_factory=Arrival)
    packets: int = 0
    until: float | None = None
    """When the last packet left."""
    marked: float = -math.inf
    lost: int = 0
    """As the other side counts."""


class Vitals(NullTap):
    """Counts on what crosses; `health` sums up the last second, `sending` the whole call."""

    def __init__(self, core: Core | None = None) -> None:
        """`core`: that of the thread that sends; None: nothing is known of it."""
        self._core = core
        self._held_before = core.held if core is not None else 0.0
        self._held_since = 0.0
        self._errors: deque[tuple[float, float, int]] = deque(maxlen=1_000)
        """Time, error in seconds, how many packets had it."""
        self._histogram = array("L", bytes(_BINS_PER_SECOND * array("L").itemsize))
        self._streams: dict[int, _Received] = {}
        self._sent_reports: dict[int, float] = {}
        self._tracks: dict[str, _Track] = {}
        """Those that we send."""
        self._lags: deque[tuple[float, float]] = deque(maxlen=200)
        self.reported = 0
        """Receiver reports on streams of ours so far."""
        self.reported_at: float | None = None
        """Session time of the last one; None: there was none."""
        self.rtt: float | None = None
        """Last round trip in seconds."""
        self.last_heard = 0.0
        """Session time of the last packet from the other side."""
        self.received = 0
        self._groups: list[tuple[float, str, float | None, int]] = []
        """What has left since we looked last: when, of what, when it should have, how many packets.
        """

    # ------------------------------------------------------------ tap

    def sent_rtp(self, t: float, track: str, packets: Sequence[bytes], due: float | None) -> None:
        # Between packets of a session that plays there is time for no more than this.
        self._groups.append((t, track, due, len(packets)))
        known = self._tracks.get(track)
        if due is not None and (known is None or t - known.marked >= MARK):
            if known is None:
                known = self._tracks[track] = _Track(int.from_bytes(packets[0][8:12]))
            known.marked = t
            known.arrival.left(int.from_bytes(packets[-1][2:4]), t)

    def received_rtp(self, t: float, track: str, packet: bytes) -> None:
        self.last_heard = t
        self.received += 1
        ssrc = int.from_bytes(packet[8:12])
        sequence = int.from_bytes(packet[2:4])
        stream = self._streams.get(ssrc)
        if stream is not None:
            stream.add(sequence)
        elif len(self._streams) < 64:
            self._streams[ssrc] = _Received(sequence, sequence)

    def sent_rtcp(self, t: float, packet: bytes) -> None:
        if len(packet) >= 20 and packet[1] == SENDER_REPORT:
            self._sent_reports[int.from_bytes(packet[10:14])] = t
            if len(self._sent_reports) > 32:
                del self._sent_reports[next(iter(self._sent_reports))]

    def received_rtcp(self, t: float, packet: bytes) -> None:
        self.last_heard = t
        for report in reports(packet):
            for track in self._tracks.values():
                if track.ssrc == report.ssrc:
                    self.reported += 1
                    self.reported_at = t
                    track.lost = report.lost
                    track.arrival.reported(report.highest, t)
            sent = self._sent_reports.get(report.since) if report.since else None
            if sent is not None:
                self.rtt = max(0.0, t - sent - report.delay)

    # ------------------------------------------------------------ summing up

    def heard(self, t: float) -> None:
        """Something else proved that the other side lives."""
        self.last_heard = max(self.last_heard, t)

    def lag(self, t: float, seconds: float) -> None:
        """The event loop came `seconds` late to something."""
        self._lags.append((t, seconds))

    @property
    def lost(self) -> int:
        """Packets of the other side that did not arrive."""
        return sum(stream.lost for stream in self._streams.values())

    @property
    def lost_there(self) -> int:
        """Packets of ours that did not arrive, by the other side's reports."""
        return sum(track.lost for track in self._tracks.values())

    @property
    def sent(self) -> int:
        """Packets that have left."""
        self._look()
        return sum(track.packets for track in self._tracks.values())

    def _look(self) -> None:
        """Take in what has left since the last look."""
        groups, self._groups = self._groups, []
        for t, name, due, count in groups:
            track = self._tracks.get(name)
            if track is not None:
                track.packets += count
                track.until = t
            if due is not None:
                error = abs(t - due)
                self._errors.append((t, error, count))
                self._histogram[min(int(error * _BINS_PER_SECOND), _BINS_PER_SECOND - 1)] += count

    def send_p99_ms(self) -> float:
        """99th percentile of the send-time errors of the whole call, to 0.1 ms; 0 if none."""
        self._look()
        left = sum(self._histogram) * 0.01
        for index in range(_BINS_PER_SECOND - 1, -1, -1):
            left -= self._histogram[index]
            if left < 0:
                return (index + 1) * 1e3 / _BINS_PER_SECOND
        return 0.0

    @property
    def held_s(self) -> float:
        """Seconds of the call, so far, in which the core ran at half its usual speed or less."""
        return 0.0 if self._core is None else self._core.held - self._held_before

    def health(self, t: float, *, drops: int) -> Health:
        """The last second before session time `t`. Ask now and then: what has left waits for it."""
        self._look()
        held, self._held_since = self._held_since, self.held_s
        late = [(error, count) for at, error, count in self._errors if at > t - WINDOW]
        errors = sorted(error for error, count in late for _ in range(count))
        lags = [lag for at, lag in self._lags if at > t - WINDOW]
        p99 = errors[min(len(errors) - 1, int(len(errors) * 0.99))] if errors else 0.0
        return Health(
            send_p99_ms=p99 * 1e3,
            send_max_ms=(errors[-1] if errors else 0.0) * 1e3,
            loop_lag_ms=max(lags, default=0.0) * 1e3,
            lost=self.lost,
            rtt_ms=None if self.rtt is None else self.rtt * 1e3,
            drops=drops,
            host_load=os.getloadavg()[0] / (os.cpu_count() or 1),
            reported=self.reported,
            core_held_ms=(self._held_since - held) * 1e3,
        )

    def sending(self) -> Sending:
        """The whole call so far, as packets tell it."""
        p99_ms = self.send_p99_ms()
        return Sending(
            p99_ms=p99_ms,
            held_s=self.held_s,
            reported_at=self.reported_at,
            tracks=tuple(
                Sent(
                    track=name,
                    packets=track.packets,
                    left_until=track.until,
                    arrived_until=track.arrival.until,
                    reports_apart=track.arrival.apart,
                    lost=track.lost,
                )
                for name, track in self._tracks.items()
            ),
        )
