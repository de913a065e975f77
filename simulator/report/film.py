"""Makes `session.mkv`: the session as somebody present would have seen and heard it.

Picture: the prepared packets that were sent, copied. Sound: three tracks, both voices mixed (the
default), the user's (the packets that were sent, copied) and the agent's (decoded, placed on
session time, encoded). Subtitles: turns, instructions, answers. Counterparts:
`simulator.report.timeline` says what was shown when, `simulator.measuring.sound` places the agent's
sound, `simulator.report.subtitles` writes the lines; nothing reads the film but people.
"""

from __future__ import annotations

import heapq
import io
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.packet import Packet
from av.stream import Disposition

from simulator.errors import RecordingError
from simulator.measuring.sound import Sound, agent_sound, opus_samples
from simulator.media.cache import Cache, key_of
from simulator.media.encode import LOOKAHEAD
from simulator.media.packets import BrokenPartError, PacketFile, PacketTrack
from simulator.media.timeline import PTIME
from simulator.protocol.samples import PACKET, Mono, MonoInt16
from simulator.protocol.tracks import AUDIO_CLOCK, VIDEO_CLOCK
from simulator.recording.manifest import PartInfo
from simulator.recording.reader import Recording
from simulator.report.subtitles import lines
from simulator.report.timeline.lanes import Timeline
from simulator.whole_file import whole_file

FILM = "session.mkv"
_BITRATE = 64_000
_ENCODING = {"application": "audio", "compression_level": "0"}
"""A film is wanted now: coding it well would take longer than all the rest."""
_SLICE = 250
"""Packets of sound that are mixed and encoded at a time (5 s)."""
_MILLI = Fraction(1, 1000)

Timed = tuple[float, int, "Packet[Any]"]
"""Film time in seconds, number of the track, packet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """What was made."""

    path: Path
    duration: float
    """Seconds."""
    origin: float
    """Session time of its first moment."""
    missing: tuple[str, ...] = ()
    """Prepared parts that are not in the cache any more: their picture is not in the film."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """One part as it was shown."""

    part: PacketFile
    at: float
    until: float
    loop: bool


def from_cache(cache: Cache | None = None) -> Callable[[PartInfo], Path | None]:
    """Finds prepared parts in a cache."""
    root = (cache or Cache()).root

    def find(part: PartInfo) -> Path | None:
        place = Path(part.file)
        if not part.file or ".." in place.parts or place.is_absolute():
            return None
        path = root / place
        same = key_of(path.parent.name, path.name) == part.asset
        return path if same and path.is_file() else None

    return find


def make_film(
    recording: Recording,
    timeline: Timeline,
    *,
    path: Path | None = None,
    find: Callable[[PartInfo], Path | None] | None = None,
) -> Film:
    """Write the film of a recording with this timeline, by default as session.mkv in its folder.

    `find` gives the packet file of a prepared part; by default the user's cache is looked through.
    What it does not find is named in `missing`. Raises RecordingError if nothing was played.
    """
    path = path or recording.folder / FILM
    origin = timeline.origin
    if origin is None:
        raise RecordingError(f"{recording.folder}: nothing was played; there is no film")
    if os.path.isdir(path):
        raise RecordingError(f"{path} is a folder", hint="name the file that the film is to be")
    shown, missing = _shown(recording, timeline, find or from_cache())
    end = max(recording.end, origin + PTIME)
    try:
        with (
            whole_file(path) as part,
            ExitStack() as stack,
            av.open(str(part), "w", format="matroska") as out,
            tempfile.TemporaryFile() as user_file,
            tempfile.TemporaryFile() as agent_file,
        ):
            count = round((end - origin) / PTIME) + 1
            user = _user(recording, origin, np.memmap(user_file, np.int16, shape=count * PACKET))
            agent = np.memmap(agent_file, np.int16, shape=count * PACKET)
            _lay(agent_sound(recording), origin, agent)
            tracks: list[Iterator[Timed]] = []
            for name in recording.tracks("video") if shown else ():
                tracks.append(_Picture(out, name, shown, origin, stack).packets())
            both = _Voices(out, "user and agent", default=True)
            sent = _Voices(out, "user as sent")
            heard = _Voices(out, "agent as heard")
            text = out.add_mux_stream("subrip", time_base=_MILLI)
            text.metadata["title"] = "turns and words"
            text.disposition = Disposition.default
            out.metadata["title"] = f"{timeline.scenario} / {timeline.agent}"
            tracks += [
                both.encoded((user, agent), count),
                sent.copied(_sent(recording, origin)),
                heard.encoded((agent,), count),
                _texts(timeline, text, origin),
            ]
            for _, _, packet in heapq.merge(*tracks, key=lambda timed: timed[:2]):
                out.mux_one(packet)
    except OSError as error:
        raise RecordingError(f"{path}: the film cannot be written: {error.strerror}") from None
    return Film(path=path, duration=end - origin, origin=origin, missing=missing)


# ---------------------------------------------------------------- picture


def _shown(
    recording: Recording, timeline: Timeline, find: Callable[[PartInfo], Path | None]
) -> tuple[list[_Shown], tuple[str, ...]]:
    """The parts in the order in which they were shown, and those that are gone."""
    parts = {
        (turn.id, kind): (info, loop)
        for turn in recording.manifest.turns
        for kind, info, loop in (("play", turn.segment, False), ("hold", turn.hold, True))
    }
    dues = [recording.due(track)[1] for track in recording.tracks("video")]
    last = max((float(due[-1]) + 1e-3 for due in dues if len(due)), default=recording.end)
    spans = [s for s in timeline.spans("video") if (s.turn, s.kind) in parts and s.start <= last]
    shown: list[_Shown] = []
    missing: dict[str, None] = {}
    for i, span in enumerate(spans):
        info, loop = parts[span.turn, span.kind]
        until = min(spans[i + 1].start if i + 1 < len(spans) else last, last)
        place = find(info)
        try:
            part = PacketFile.open(place) if place is not None else None
        except (BrokenPartError, OSError):
            part = None
        if part is None:
            missing[info.asset] = None
        elif until > span.start:
            shown.append(_Shown(part, span.start, until, loop))
    return shown, tuple(missing)


class _Picture:
    """A track of pictures."""

    def __init__(
        self, out: Any, track: str, shown: list[_Shown], origin: float, stack: ExitStack
    ) -> None:
        self._track = track
        self._shown = shown
        self._origin = origin
        part = shown[0].part
        packets = part.tracks[track]
        if packets.codec == "vp8":
            self._stream = out.add_stream("libvpx", rate=part.info["fps"])
            self._stream.width, self._stream.height = part.info["width"], part.info["height"]
        else:
            # A track for packets that are encoded already takes its parameters from a stream that
            # was read: the first key frame by itself is one.
            first = io.BytesIO(packets.payload(0))
            probe: Any = stack.enter_context(av.open(first, format="h264"))
            self._stream = out.add_stream_from_template(probe.streams.video[0])
        self._stream.time_base = Fraction(1, VIDEO_CLOCK)
        self._stream.metadata["title"] = f"{track}, as sent"

    def packets(self) -> Iterator[Timed]:
        for shown in self._shown:
            track = shown.part.tracks[self._track]
            for ticks, index in _frames(shown, track):
                at = shown.at - self._origin + ticks / VIDEO_CLOCK
                packet = Packet(track.payload(index))
                packet.pts = packet.dts = round(at * VIDEO_CLOCK)
                packet.time_base = Fraction(1, VIDEO_CLOCK)
                packet.is_keyframe = bool(track.key[index])
                packet.stream = self._stream
                yield at, self._stream.index, packet


def _frames(shown: _Shown, track: PacketTrack) -> Iterator[tuple[int, int]]:
    """Ticks since the part began, and number of the frame; round and round for a loop."""
    pts = track.pts.tolist()
    length = round(shown.part.duration * VIDEO_CLOCK)
    limit = (shown.until - shown.at) * VIDEO_CLOCK - 1
    base = 0
    while length and base < limit:
        for index, ticks in enumerate(pts):
            if base + ticks >= limit:
                return
            yield base + ticks, index
        if not shown.loop:
            return
        base += length


# ---------------------------------------------------------------- sound


class _Voices:
    """A track of sound, copied or encoded."""

    def __init__(self, out: Any, title: str, *, default: bool = False) -> None:
        self._stream = out.add_stream("libopus", rate=AUDIO_CLOCK, layout="mono", options=_ENCODING)
        self._stream.bit_rate = _BITRATE
        self._stream.metadata["title"] = title
        self._stream.disposition = Disposition.default if default else Disposition(0)
        self._index = int(self._stream.index)

    def encoded(self, voices: tuple[MonoInt16, ...], count: int) -> Iterator[Timed]:
        """The sum of `voices`, `count` packets long."""
        for first in range(0, count, _SLICE):
            span = slice(first * PACKET, min(first + _SLICE, count) * PACKET)
            mixed = np.zeros(span.stop - span.start, np.int32)
            for voice in voices:
                mixed += voice[span]
            pcm = np.clip(mixed, -32768, 32767).astype(np.int16)
            frame = av.AudioFrame.from_ndarray(pcm[None, :], format="s16", layout="mono")
            frame.sample_rate = AUDIO_CLOCK
            frame.pts = span.start
            frame.time_base = Fraction(1, AUDIO_CLOCK)
            yield from self._timed(self._stream.encode(frame))
        yield from self._timed(self._stream.encode(None))

    def _timed(self, packets: Sequence[Packet[Any]]) -> Iterator[Timed]:
        for packet in packets:
            base = packet.time_base or Fraction(1, AUDIO_CLOCK)
            yield float((packet.pts or 0) * base), self._index, packet

    def copied(self, packets: Iterator[tuple[float, bytes]]) -> Iterator[Timed]:
        """Packets as they were sent, with the film times of the sound in them."""
        for at, data in packets:
            packet = Packet(data)
            packet.pts = packet.dts = round(at * AUDIO_CLOCK) - LOOKAHEAD
            packet.duration = PACKET
            packet.time_base = Fraction(1, AUDIO_CLOCK)
            packet.stream = self._stream
            yield at, self._index, packet


def _sent(recording: Recording, origin: float) -> Iterator[tuple[float, bytes]]:
    """Our packets of sound with the film time at which each was begun to be spoken."""
    log, due = recording.due(recording.voice)
    for i, at in enumerate((due - PTIME - origin).tolist()):
        if at > -PTIME:
            yield max(at, 0.0), log.payload(i)


def _user(recording: Recording, origin: float, track: MonoInt16) -> MonoInt16:
    """Our sound, decoded, on film time."""
    decode = opus_samples()
    for at, data in _sent(recording, origin):
        samples = decode(data)
        if samples is not None:
            _add(track, round(at * AUDIO_CLOCK) - LOOKAHEAD, samples)
    return track


def _lay(sound: Sound, origin: float, track: MonoInt16) -> None:
    """The agent's sound on film time. A drifting clock is followed second by second."""
    for stretch in sound:
        for first in range(0, len(stretch.samples), AUDIO_CLOCK):
            at = round((stretch.at(first) - origin) * AUDIO_CLOCK)
            _add(track, at, stretch.samples[first : first + AUDIO_CLOCK])


def _add(track: MonoInt16, at: int, samples: Mono) -> None:
    """Put samples into a track, as far as they lie in it."""
    skip = max(0, -at)
    room = max(0, len(track) - max(at, 0))
    samples = samples[skip : skip + room]
    if len(samples):
        place = slice(max(at, 0), max(at, 0) + len(samples))
        track[place] = np.clip(samples * 32767.0, -32768, 32767).astype(np.int16)


def _texts(timeline: Timeline, stream: Any, origin: float) -> Iterator[Timed]:
    for line in lines(timeline):
        start = max(0.0, line.start - origin)
        if line.end - origin <= start:
            continue
        packet = Packet(line.text.encode(errors="replace"))
        packet.pts = packet.dts = round(start * 1000)
        packet.duration = round((line.end - origin) * 1000) - round(start * 1000)
        packet.time_base = _MILLI
        packet.stream = stream
        yield start, int(stream.index), packet
