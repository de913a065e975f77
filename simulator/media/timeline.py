"""Prepared media as values, and the arithmetic between clip time and segment time. Pure.

Three time lines, never mixed: clip time (what an author writes), segment and stream time (segments
joined, no holds) and session time (monotonic seconds since dialling; holds are in it).
Counterparts: `simulator.media.prepare` makes a `Prepared`, `simulator.media.packets` opens an
`Asset`, `simulator.session.script` decides when each part plays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from simulator.protocol.conditions import Decide
from simulator.protocol.due import Due, Said, due
from simulator.protocol.tracks import OURS, Track
from simulator.scenario.types import Scenario, Turn

PTIME = 0.020
"""Seconds of sound in a packet; all parts last a whole number of these."""

GROUP = 8
"""Packets of a frame that leave at once."""
GROUP_GAP = 0.001
"""Seconds until the next of a frame's groups leaves."""
SPREAD = 0.016
"""Seconds in which a frame has left, however many packets it has: half of 33 ms."""


def spread(index: int, count: int) -> float:
    """When packet `index` of a frame's `count` is due, in seconds after the frame itself.

    A keyframe sent in one go would keep the packets of all other sessions of the process waiting,
    and overrun the socket of a peer that is slow for a moment; so, as from a paced camera, it
    leaves in groups.
    """
    return index // group_size(count) * GROUP_GAP


def group_size(count: int) -> int:
    """How many of a frame's `count` packets leave at once."""
    return max(GROUP, -(-count // round(SPREAD / GROUP_GAP)))


def segment_time(start: float, clip_time: float) -> float:
    """A clip time as seconds into a segment that was cut at `start`: cuts lie between packets."""
    return clip_time - on_grid(start)


def on_grid(seconds: float) -> float:
    """`seconds` rounded to the nearest whole packet of sound (20 ms)."""
    return round(seconds / PTIME) * PTIME


@dataclass(frozen=True, slots=True, kw_only=True)
class Asset:
    """Encoded picture and sound of one part, in the cache."""

    key: str
    """Content address: sha256 over everything that decides its bytes."""
    path: Path
    """A packet file (`simulator.media.packets`)."""
    duration: float
    """Seconds; a whole number of 20 ms packets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """One instruction as it lies in the prepared sound, measured on the samples; or in the prepared
    pictures: one that is written or signed is given with its last new picture."""

    index: int
    """Which of the turn's instructions."""
    start: float
    """Segment time of its first audible sample, or of its first picture."""
    end: float
    """Segment time just after its last audible sample, or of its last new picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedTurn:
    """A turn with everything that playing it needs."""

    turn: Turn
    segment: Asset
    """What plays once."""
    hold: Asset
    """What loops afterwards while we wait: the last picture and room tone."""
    spoken: tuple[Spoken, ...] = ()
    stream_start: float = 0.0
    """Stream time at which the segment begins (segments before it, joined)."""

    @property
    def duration(self) -> float:
        return self.segment.duration

    @property
    def speech_end(self) -> float | None:
        """Segment time at which the last speech of any voice ends; None if nobody speaks."""
        return max((s.end for s in self.spoken), default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A scenario ready to play."""

    scenario: Scenario
    turns: tuple[PreparedTurn, ...]
    codec: str = "h264"
    """Of its pictures: h264 or vp8."""
    tracks: tuple[Track, ...] = OURS
    """What is sent of each of its parts."""

    @property
    def without_pictures(self) -> Prepared:
        """The same, of which the sound alone is sent."""
        return replace(self, tracks=tuple(t for t in self.tracks if t.kind == "audio"))

    @property
    def assets(self) -> tuple[Asset, ...]:
        """All parts that may be played."""
        return tuple(part for turn in self.turns for part in (turn.segment, turn.hold))

    @property
    def duration(self) -> float:
        """Seconds of stream, without holds."""
        return sum(t.duration for t in self.turns)


def falls_due(prepared: PreparedTurn, decide: Decide = Decide.AGENT) -> Due:
    """When a turn falls due, in segment time."""
    turn = prepared.turn
    return due(
        turn.expect.conduct,
        [Said(turn.instructions[s.index].voice, s.start, s.end) for s in prepared.spoken],
        event=None if turn.event is None else segment_time(turn.start, turn.event),
        decided_at=prepared.duration if decide is Decide.TURN_END else None,
    )
