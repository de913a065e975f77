"""What plays when: encoded parts on one absolute schedule, as packets with due times. No I/O.

All tracks of a session follow one Playlist, so picture and sound cannot drift apart, and RTP ticks
stay continuous over every border and hold. Sound is due at the END of its 20 ms, as a microphone's
packet would be; a picture is due at its own time. Counterparts: `simulator.media.packets` holds the
packets, `simulator.rtc.sender` sends them, the engine calls `play`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from simulator.clock import Clock
from simulator.errors import InstrumentError
from simulator.media.packets import PacketFile, PacketTrack
from simulator.media.timeline import PTIME
from simulator.protocol.tracks import OURS, Track


class Scheduled(NamedTuple):
    """A packet and when it leaves. (A tuple: one is made for each packet of each session.)"""

    due: float
    """Session time at which it should leave."""
    ticks: int
    """RTP ticks since the first part began; not wrapped."""
    track: PacketTrack
    number: int
    """Which packet of it."""

    @property
    def payload(self) -> bytes:
        """An Opus packet, or an access unit in Annex-B."""
        return self.track.payload(self.number)


@dataclass(slots=True)
class _Entry:
    """A part on the schedule; times in slots of 20 ms."""

    part: PacketFile
    at: int
    length: int
    loop: bool
    end: int | None
    """Where something else replaces it; None: it plays to its end, or for ever."""


@dataclass(slots=True)
class _Cursor:
    """The next packet of one track."""

    track: Track
    slot: int
    """RTP ticks in a slot of 20 ms, the unit of the schedule."""
    entry: int = 0
    round: int = 0
    index: int = 0
    sent: int = -1
    """Ticks of the last packet that left, from session time zero."""
    next: Scheduled | None = None
    """What `peek` found; kept until it leaves or the schedule changes."""
    ticks: int = 0
    """Its ticks, from session time zero."""


class Playlist:
    """Parts on the session's time line; the tracks pull packets, the engine schedules parts.

    Nothing is invented: after a finite part with nothing behind it the tracks send nothing, until
    something is scheduled.
    """

    def __init__(self, clock: Clock, origin: float, tracks: Sequence[Track] = OURS) -> None:
        self._clock_now = clock.now
        self._origin = origin
        self._entries: list[_Entry] = []
        self._base: int | None = None
        self._cursors = {t.id: _Cursor(t, round(PTIME * t.clock)) for t in tracks}
        self._listeners: list[Callable[[], None]] = []

    def now(self) -> float:
        """Session time."""
        return self._clock_now() - self._origin

    def clock_time(self, t: float) -> float:
        """The clock's time at session time `t`."""
        return t + self._origin

    @property
    def end(self) -> float | None:
        """Session time at which the schedule runs dry; None while a loop goes on for ever."""
        if not self._entries:
            return 0.0
        last = self._entries[-1]
        if last.end is not None:
            return last.end * PTIME
        return None if last.loop else (last.at + last.length) * PTIME

    def play(self, part: PacketFile, at: float, *, loop: bool = False) -> None:
        """Play `part` from session time `at`, in place of everything scheduled from there on.

        `at` lies on the 20 ms grid. A looping part repeats until something replaces it; parts
        before are cut at `at`. Raises InstrumentError if `at` is off the grid, if packets from that
        time on have left already (what was sent cannot be replaced), or if the part lacks a track.
        """
        slot = round(at / PTIME)
        if abs(slot * PTIME - at) > 1e-6:
            raise InstrumentError(f"a part cannot begin at {at:.6f} s: not on the 20 ms grid")
        for name, cursor in self._cursors.items():
            if cursor.sent >= slot * cursor.slot:
                raise InstrumentError(
                    f"a part cannot begin at {at:.3f} s: {name} has left up to "
                    f"{cursor.sent / cursor.track.clock:.3f} s"
                )
            if name not in part.tracks:
                raise InstrumentError(f"{part.path} has no track {name!r}")
        if self._base is None:
            self._base = slot
        while self._entries and self._entries[-1].at >= slot:
            self._entries.pop()
        if self._entries:
            last = self._entries[-1]
            last.end = slot if last.end is None else min(last.end, slot)
        for cursor in self._cursors.values():
            cursor.next = None
            if cursor.entry >= len(self._entries):
                cursor.entry, cursor.round, cursor.index = len(self._entries), 0, 0
        length = round(part.duration / PTIME)
        self._entries.append(_Entry(part, slot, length, loop, None))
        for listener in self._listeners:
            listener()

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call `listener` whenever the schedule has changed: what was next may not be any more."""
        self._listeners.append(listener)

    def peek(self, track: str) -> Scheduled | None:
        """The next packet of a track, until `advance`; None if nothing is scheduled."""
        cursor = self._cursors[track]
        if cursor.next is None:
            cursor.next = self._following(cursor)
        return cursor.next

    def advance(self, track: str) -> None:
        """The packet that `peek` gave has left (or is leaving)."""
        cursor = self._cursors[track]
        cursor.sent = cursor.ticks
        cursor.index += 1
        cursor.next = None

    def _following(self, cursor: _Cursor) -> Scheduled | None:
        name, slot, clock = cursor.track.id, cursor.slot, cursor.track.clock
        # Sound has been heard when its 20 ms are over.
        lasts = slot if cursor.track.kind == "audio" else 0
        while cursor.entry < len(self._entries):
            entry = self._entries[cursor.entry]
            track = entry.part.tracks[name]
            count, index = len(track.pts), cursor.index
            if index >= count and entry.loop and count:
                cursor.round, cursor.index = cursor.round + 1, 0
                index = 0
            if index < count:
                ticks = (entry.at + cursor.round * entry.length) * slot + track.ticks(index)
                if entry.end is None or ticks < entry.end * slot:
                    cursor.ticks = ticks
                    due = (ticks + lasts) / clock
                    return Scheduled(due, ticks - (self._base or 0) * slot, track, index)
            cursor.entry, cursor.round, cursor.index = cursor.entry + 1, 0, 0
        return None
