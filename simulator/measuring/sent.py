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
from simulator.protocol.rtcp import MARK, Arrival, Report, reports
from simulator.recording.manifest import TrackInfo
from simulator.recording.reader import Recording, RtpLog

HOLE = 2.5
"""Times the usual distance of two pictures (or pieces of sound) from which one is missing between:
where segments join, two pictures may lie almost twice as far apart as elsewhere."""

Floats = NDArray[np.float64]


class SentTrack:
    """One track that we sent."""

    def __init__(self, track: TrackInfo, log: RtpLog, due: Floats, step: float) -> None:
        """`log`: its packets without resends; `due`: when each was due, session seconds; `step`:
        seconds from one picture or piece of sound to the next."""
        self.name = track.id
        self.log = log
        self.due = due
        self.step = step
        self.error_ms: Floats = 1000.0 * (log.t - due)
        _, first = np.unique(log.rtp, return_index=True)
        self._times: Floats = due[np.sort(first)]
        """When each picture or piece of sound was due."""
        self._lasts = PTIME if track.kind == "audio" else 0.0
        """Sound is due when it is over, a picture when it begins."""
        self.ssrcs = {int(s) for s in np.unique(log.ssrc)}

    def state(
        self, begin: float | None, end: float | None, told: Sequence[tuple[float, Report]]
    ) -> Sent:
        """What became of it. `begin`, `end`: session times between which it was to be sent, if they
        are known; `told`: the other side's reports with their times, in order."""
        times = self._times
        until = float(times[-1]) + self.step - self._lasts if len(times) else begin
        overdue = 0.0 if end is None or until is None else max(0.0, end - until)
        arrival = self._arrival(told)
        return Sent(
            track=self.name,
            packets=len(self.log),
            unsent=self._missing(begin) + int(overdue / self.step),
            overdue_s=overdue,
            left_until=float(self.log.t[-1]) if len(self.log) else None,
            arrived_until=arrival.until,
            reports_apart=arrival.apart,
        )

    def _missing(self, begin: float | None) -> int:
        """Pictures or pieces of sound that were due before the last one that left, and did not.

        Where segments join there may be one more than the time has room for, never one less.
        """
        times = self._times
        if not len(times):
            return 0
        first = float(times[0]) - self._lasts
        head = 0.0 if begin is None else max(0.0, first - begin)
        room = head + float(times[-1] - times[0])
        by_count = int(room / self.step + 0.5) + 1 - len(times)
        steps = np.diff(times)
        holes = steps[steps > HOLE * self.step]
        by_holes = int(head / self.step) + int(np.sum(np.round(holes / self.step) - 1))
        return max(0, by_count - 1, by_holes)

    def _arrival(self, told: Sequence[tuple[float, Report]]) -> Arrival:
        arrival = Arrival()
        picked = np.flatnonzero(np.diff(np.floor(self.log.t / MARK), prepend=-1.0))
        marks = [(float(self.log.t[i]), int(self.log.seq[i])) for i in picked.tolist()]
        at = 0
        for t, report in told:
            if report.ssrc not in self.ssrcs:
                continue
            while at < len(marks) and marks[at][0] <= t:
                arrival.left(marks[at][1], marks[at][0])
                at += 1
            arrival.reported(report.highest, t)
        return arrival


class SentMedia:
    """All that was sent in a recording."""

    def __init__(
        self, recording: Recording, *, fps: float, begin: float | None, end: float | None
    ) -> None:
        """`fps`: pictures a second; `begin`, `end`: session times between which the stream was to
        play; None: nothing was to, or nobody knows."""
        steps = {"audio": PTIME, "video": 1 / fps}
        self._tracks = [
            SentTrack(t, *recording.due(t.id), steps[t.kind]) for t in recording.manifest.tracks
        ]
        self._sound = next(t for t in self._tracks if t.name == recording.voice)
        self._told = [(t, r) for t, packet in recording.rtcp(sent=False) for r in reports(packet)]
        self._begin, self._end = begin, end

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
        return Sending(
            reported_at=max((t for t, report in self._told if report.ssrc in ours), default=None),
            tracks=tuple(track.state(self._begin, self._end, self._told) for track in self._tracks),
        )
