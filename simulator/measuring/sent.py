"""What we sent, by the recording: how late each packet left, what never left, what came through.

The same facts as a session knows live of itself, from its packets: so a recording in which the
stream stopped on the way is found out, whatever its session believed. Counterparts:
`simulator.protocol.soundness` judges it, `simulator.measuring.measure` puts it into the trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from simulator.measuring.trace import Pacing
from simulator.media.timeline import PTIME
from simulator.protocol.health import Sending, Sent
from simulator.protocol.rtcp import Arrival, reports
from simulator.recording.reader import Recording, RtpLog

HOLE = 2.5
"""Times the usual distance of two pictures (or pieces of sound) from which one is missing between:
where segments join, two pictures may lie almost twice as far apart as elsewhere."""
MARK = 0.25
"""Seconds between packets that are looked at to tell when those that are reported left."""

Floats = NDArray[np.float64]


class SentTrack:
    """One track that we sent."""

    def __init__(self, name: str, log: RtpLog, due: Floats) -> None:
        """`log`: its packets without resends; `due`: when each was due, session seconds."""
        self.name = name
        self.log = log
        self.due = due
        self.error_ms: Floats = 1000.0 * (log.t - due)
        _, first = np.unique(log.rtp, return_index=True)
        self._times: Floats = due[np.sort(first)]
        """When each picture or piece of sound was due."""
        steps = np.diff(self._times)
        self.step = float(np.median(steps)) if len(steps) else PTIME
        """Seconds from one to the next."""
        holes = steps[steps > HOLE * self.step]
        self.missing = int(np.sum(np.round(holes / self.step) - 1)) if len(holes) else 0
        """Pictures or pieces of sound that were due between two that left."""
        self.ssrcs = {int(s) for s in np.unique(log.ssrc)}

    def state(self, end: float | None, told: Sequence[tuple[float, bytes]]) -> Sent:
        """What became of it. `end`: session time until which it was to be sent, if that is known;
        `told`: the other side's RTCP packets with their times, in order."""
        until = float(self._times[-1]) if len(self._times) else None
        overdue = 0.0 if end is None or until is None else max(0.0, end - until - self.step)
        arrival = self._arrival(told)
        return Sent(
            track=self.name,
            packets=len(self.log),
            unsent=self.missing + int(overdue / self.step),
            overdue_s=overdue,
            left_until=float(self.log.t[-1]) if len(self.log) else None,
            arrived_until=arrival.until,
            reports_apart=arrival.apart,
        )

    def _arrival(self, told: Sequence[tuple[float, bytes]]) -> Arrival:
        arrival = Arrival()
        picked = np.flatnonzero(np.diff(np.floor(self.log.t / MARK), prepend=-1.0))
        marks = [(float(self.log.t[i]), int(self.log.seq[i])) for i in picked.tolist()]
        ours = [
            (t, report.highest)
            for t, packet in told
            for report in reports(packet)
            if report.ssrc in self.ssrcs
        ]
        at = 0
        for t, highest in ours:
            while at < len(marks) and marks[at][0] <= t:
                arrival.left(marks[at][1], marks[at][0])
                at += 1
            arrival.reported(highest, t)
        return arrival


class SentMedia:
    """All that was sent in a recording."""

    def __init__(self, recording: Recording, end: float | None) -> None:
        """`end`: session time until which the stream was to go on; None: nobody knows."""
        self._tracks = [SentTrack(t.id, *recording.due(t.id)) for t in recording.manifest.tracks]
        self._sound = next(t for t in self._tracks if t.name == recording.voice)
        self._told = recording.rtcp(sent=False)
        self._end = end

    @property
    def until(self) -> float | None:
        """Session time up to which sound was sent; None if none was."""
        return float(self._sound.due[-1]) if len(self._sound.due) else None

    def late(self, t: float) -> float:
        """Seconds by which the packet left late that holds the sample spoken at `t`."""
        at = int(np.searchsorted(self._sound.due, t))
        if at == len(self._sound.due):
            return 0.0
        return max(0.0, float(self._sound.error_ms[at]) / 1000)

    def worst_ms(self, start: float, end: float) -> float:
        """The largest send-time error of what was due between two session times."""
        near = [t.error_ms[(t.due >= start) & (t.due <= end)] for t in self._tracks]
        errors = np.concatenate(near)
        return float(np.max(np.abs(errors))) if len(errors) else 0.0

    def pacing(self) -> Pacing:
        errors: Floats = np.concatenate([track.error_ms for track in self._tracks])
        packets = len(errors)
        errors = errors if packets else np.zeros(1)
        return Pacing(
            p50_ms=float(np.percentile(errors, 50)),
            p99_ms=float(np.percentile(np.abs(errors), 99)),
            max_ms=float(np.max(np.abs(errors))),
            packets=packets,
            unsent=sum(sent.unsent for sent in self.sending.tracks),
        )

    @cached_property
    def sending(self) -> Sending:
        """What became of each track, as a live session would tell it at its end."""
        ours = set().union(*(track.ssrcs for track in self._tracks))
        told = [t for t, packet in self._told if any(r.ssrc in ours for r in reports(packet))]
        return Sending(
            reported_at=max(told, default=None),
            tracks=tuple(track.state(self._end, self._told) for track in self._tracks),
        )
