"""The tracks of a call: named, so that a second picture or a second voice is another one. Pure.

A track has one name everywhere: in prepared parts, on the schedule, in the log of packets, in what
is said of loss. Counterparts: `simulator.media.packets` holds the packets of each,
`simulator.recording.manifest` lists those of a session.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from simulator.protocol.samples import RATE

Kind = Literal["audio", "video"]

AUDIO_CLOCK = RATE
"""RTP clock of sound, Hz: with Opus that of its samples (RFC 7587)."""
VIDEO_CLOCK = 90_000
"""RTP clock of pictures, Hz."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """One track."""

    id: str
    """Its name, unique in its session."""
    kind: Kind

    @property
    def clock(self) -> int:
        """RTP ticks per second."""
        return AUDIO_CLOCK if self.kind == "audio" else VIDEO_CLOCK


AUDIO = Track(id="audio", kind="audio")
VIDEO = Track(id="video", kind="video")
OURS = (AUDIO, VIDEO)
"""What a user with a microphone and one camera sends, and hears back."""


def named(kinds: Iterable[Kind]) -> tuple[Track, ...]:
    """Tracks of these kinds that have no names of their own: the first of a kind is called like it,
    the next `video-2` and so on."""
    out: list[Track] = []
    for kind in kinds:
        number = 1 + sum(track.kind == kind for track in out)
        out.append(Track(id=kind if number == 1 else f"{kind}-{number}", kind=kind))
    return tuple(out)
