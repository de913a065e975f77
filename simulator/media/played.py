"""Clips as a scenario has them played: slower or faster, several times over, at a stated loudness.

All clip times are those of the clip as it plays; nothing outside of this module knows others. Its
pictures are those of the moment in the file, its sound is stretched without a change of pitch and
brought to its `level`, measured (ITU-R BS.1770) once over the whole of it as it streams by.
Counterparts: `simulator.media.picture` and `.sound` read files, `simulator.media.prepare` and
`simulator.authoring.material` ask here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Protocol, Self

import av
import numpy as np

from simulator.errors import InputError
from simulator.media.cache import Cache, key_of
from simulator.media.clips import Located
from simulator.media.loudness import INSTRUCTION, loudness, loudness_of
from simulator.media.picture import PictureReader
from simulator.media.probe import Probe, probe
from simulator.media.sound import SoundReader
from simulator.media.stretch import Stretched
from simulator.protocol.samples import Stereo
from simulator.protocol.tracks import AUDIO_CLOCK
from simulator.scenario.types import Clip

PLAYED = 2
"""Raise when a clip with a speed, copies or a level comes out different; part of its cache keys."""
SLOWEST_HEARD = 0.25
"""The lowest speed at which a clip is heard: below, a sound would be smeared over a tenth of a
second and more, and break up."""
_SEAM = AUDIO_CLOCK // 200
"""Samples over which a copy's end goes and the next one's start comes in, so that none clicks."""
_EPSILON = 1e-6
"""Seconds by which a time may miss the border of two copies by arithmetic alone."""


class Pictures(Protocol):
    """The pictures of a clip as it plays."""

    @property
    def aspect(self) -> Fraction: ...

    def at(self, time: float) -> av.VideoFrame:
        """The picture shown at clip time `time`: the same object as long as it stands."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class Sounds(Protocol):
    """The sound of a clip as it plays."""

    @property
    def ended_at(self) -> int | None:
        """Position after the last sample, once reading has come there."""

    def read(self, first: int, last: int) -> Iterator[Stereo]:
        """Samples `first` to `last` (clip time × 48000), in blocks."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


def key(clip: Clip, *, heard: bool = True) -> tuple[object, ...]:
    """What decides the clip's bytes besides its file: nothing for one that plays as it is."""
    made = (clip.speed, clip.repeat, clip.level if heard else None)
    return () if made == (1.0, 1, None) else ("played", PLAYED, *made)


def look(clip: Clip, located: Located, cache: Cache) -> Probe:
    """A clip as it will play. Its loudness is measured if it has a `level`, and remembered.

    Raises InputError if it cannot be read, or has a `level` and no sound.
    """
    source = probe(located.path)
    once = replace(
        source,
        duration=source.duration / clip.speed,
        speed=clip.speed,
        sound=source.sound and clip.speed >= SLOWEST_HEARD,
    )
    gain = 1.0 if clip.level is None else _gain(clip, clip.level, once, located, cache)
    return replace(once, duration=once.duration * clip.repeat, repeat=clip.repeat, gain=gain)


def pictures_of(source: Probe, passing: Callable[[], None] | None = None) -> Pictures:
    """A reader of the clip's pictures; `passing` as for `PictureReader`."""
    return (PictureReader if source.plain else _PlayedPictures)(source, passing)


def sounds_of(source: Probe) -> Sounds:
    """A reader of the clip's sound."""
    return SoundReader(source) if source.plain else _PlayedSounds(source)


def _gain(clip: Clip, level: float, source: Probe, located: Located, cache: Cache) -> float:
    """The factor that brings a clip's sound to its level."""

    def read(folder: Path) -> float | None:
        found = json.loads((folder / "loudness.json").read_text())
        return None if found is None else float(found)

    def build(folder: Path) -> None:
        (folder / "loudness.json").write_text(json.dumps(_measured(source)))

    found = None
    if source.sound:
        found = cache.entry(key_of("loudness", PLAYED, located.sha256, source.speed), read, build)
    if found is None:
        raise InputError(
            f"clip {clip.name}: level: nothing is audible in {source.path.name}",
            hint="take `level` away",
        )
    return float(10.0 ** ((INSTRUCTION + level - found) / 20))


def _measured(source: Probe) -> float | None:
    end = round(source.duration * AUDIO_CLOCK)
    with sounds_of(source) as reader:
        if source.duration < 2:
            whole = [block.copy() for block in reader.read(0, end)]
            return loudness(np.concatenate(whole)) if whole else None
        return loudness_of(reader.read(0, end))


class _PlayedPictures:
    """Pictures of a clip with a speed or copies."""

    def __init__(self, source: Probe, passing: Callable[[], None] | None) -> None:
        self._source = source
        self._reader = PictureReader(source, passing)

    @property
    def aspect(self) -> Fraction:
        return self._reader.aspect

    def at(self, time: float) -> av.VideoFrame:
        source = self._source
        copy = min(source.repeat - 1, int((time + _EPSILON) / source.once))
        return self._reader.at(max(0.0, time - copy * source.once) * source.speed)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._reader.close()


class _PlayedSounds:
    """Sound of a clip with a speed, copies or a level."""

    def __init__(self, source: Probe) -> None:
        self._source = source
        self._file = SoundReader(source)
        self._once = self._file if source.speed == 1 else Stretched(self._file, source.speed)
        self._length = max(1, round(source.once * AUDIO_CLOCK))

    @property
    def ended_at(self) -> int | None:
        ended = self._file.ended_at
        if ended is None:
            return None
        return round(ended / self._source.speed) + (self._source.repeat - 1) * self._length

    def read(self, first: int, last: int) -> Iterator[Stereo]:
        while first < last:
            copy = min(max(0, first // self._length), self._source.repeat - 1)
            begin, stop = copy * self._length, last
            if copy + 1 < self._source.repeat:
                stop = min(last, begin + self._length)
            for block in self._once.read(first - begin, stop - begin):
                yield self._faded(block, first, copy) * np.float32(self._source.gain)
                first += len(block)

    def _faded(self, block: Stereo, at: int, copy: int) -> Stereo:
        """A copy's samples from position `at` on, softened where another copy lies beside it."""
        left = at - copy * self._length
        right = self._length - left - len(block)
        after, before = copy > 0 and left < _SEAM, copy + 1 < self._source.repeat and right < _SEAM
        if not after and not before:
            return block
        where = np.arange(len(block), dtype=np.float32)
        ramp = np.ones(len(block), np.float32)
        if after:
            ramp = np.minimum(ramp, (where + left) / np.float32(_SEAM))
        if before:
            ramp = np.minimum(ramp, (where[::-1] + right) / np.float32(_SEAM))
        return block * ramp[:, None]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
