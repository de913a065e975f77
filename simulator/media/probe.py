"""What a media file holds, found out once: streams, length, and where its clip time 0 lies.

Counterparts: `simulator.media.picture` and `simulator.media.sound` read by what this says.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import av
from av.container import InputContainer
from av.stream import Disposition

from simulator.errors import InputError

_PRIMING = 0.05
"""Sound may begin this much before the picture without moving clip time 0: it is the coder's
run-in, and players show the first picture at 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A media file as found."""

    path: Path
    zero: float
    """Time stamp, in seconds, of clip time 0."""
    duration: float
    """Seconds of clip time."""
    picture: bool
    """Whether there is a moving picture (an album's cover is none)."""
    sound: bool
    picture_index: int = 0
    """Which of the file's picture streams."""
    sound_index: int = 0
    rate: float = 0.0
    """Average pictures a second; 0 if unknown."""
    seekable: bool = True
    """Whether positions in the file can be trusted; bare streams of sound have no index."""
    speed: float = 1.0
    """How many times as fast it is played; `duration` is that of the clip as it plays."""
    repeat: int = 1
    """How many times over it is played."""
    gain: float = 1.0
    """Factor by which its sound is made louder."""

    @property
    def plain(self) -> bool:
        """Whether it plays just as it is."""
        return (self.speed, self.repeat, self.gain) == (1.0, 1, 1.0)

    @property
    def told(self) -> str:
        """How it is played, for messages that tell how long it lasts; empty for as it is."""
        speed = f" at speed {self.speed:g}" if self.speed != 1 else ""
        return speed + (f" {self.repeat} times over" if self.repeat > 1 else "")

    @property
    def once(self) -> float:
        """Seconds that one copy of it lasts."""
        return self.duration / self.repeat


def probe(path: Path) -> Probe:
    """Look into a media file. Raises InputError if it is missing, empty, broken or neither picture
    nor sound."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    try:
        with av.open(str(path)) as container:
            return _probe(path, container)
    except av.FFmpegError as error:
        raise InputError(
            f"{path}: not a media file that can be read: {error}",
            hint="play it in a video player to see whether it is whole",
        ) from error


def _probe(path: Path, container: InputContainer) -> Probe:
    pictures = [
        i
        for i, s in enumerate(container.streams.video)
        if not s.disposition & Disposition.attached_pic and s.codec_context is not None
    ]
    sounds = [i for i, s in enumerate(container.streams.audio) if s.codec_context is not None]
    if not pictures and not sounds:
        raise InputError(f"{path}: holds neither picture nor sound that can be decoded")
    zero = (container.start_time or 0) / av.time_base
    rate = 0.0
    if pictures:
        stream = container.streams.video[pictures[0]]
        rate = float(stream.average_rate or stream.guessed_rate or 0)
        if stream.start_time is not None and stream.time_base is not None:
            first = float(stream.start_time * stream.time_base)
            if 0 < first - zero <= _PRIMING:
                zero = first
    if container.duration is not None:
        end = (container.start_time or 0) / av.time_base + container.duration / av.time_base
    else:
        end = _last_stamp(container)
    return Probe(
        path=path,
        zero=zero,
        duration=max(0.0, end - zero),
        picture=bool(pictures),
        sound=bool(sounds),
        picture_index=pictures[0] if pictures else 0,
        sound_index=sounds[0] if sounds else 0,
        rate=rate,
        seekable=not set(container.format.name.split(",")) & {"mp3", "aac", "ac3", "eac3", "amr"},
    )


def _last_stamp(container: InputContainer) -> float:
    """Where the last packet ends, for containers that do not say (live recordings)."""
    end = 0.0
    for packet in container.demux():
        if packet.pts is not None and packet.time_base is not None:
            end = max(end, float((packet.pts + (packet.duration or 0)) * packet.time_base))
    return end
