"""A clip's sound slower or faster at the same pitch: FFmpeg's `atempo`, piece by piece.

What that filter gives depends on all that it was fed. So that a turn's bytes depend on the turn
alone, wherever reading began, sound is stretched in pieces on a fixed grid, each with a run-in of
its own, and each fades over into the next. Counterparts: `simulator.media.sound` gives the sound,
`simulator.media.played` asks for this where a clip has a `speed`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simulator.media.filters import filtered, samples_of
from simulator.media.sound import SoundReader, silence
from simulator.protocol.samples import Stereo
from simulator.protocol.tracks import AUDIO_CLOCK

PIECE = 10 * AUDIO_CLOCK
"""Samples in a piece, as it plays."""
_RUN_IN = AUDIO_CLOCK // 2
_SEAM = AUDIO_CLOCK // 50
"""Samples over which a piece fades into the next."""
_EARLY = 0.0105 * AUDIO_CLOCK
"""Samples of what is slowed by which `atempo` is early, at its middle; tests measure it."""


def tempos(speed: float) -> list[float]:
    """The speed as a product of what the filter does well at a time: 0.5 to 2."""
    steps = []
    while not 0.5 <= speed <= 2.0:
        step = 0.5 if speed < 1 else 2.0
        steps.append(step)
        speed /= step
    return [*steps, speed]


def early(speed: float) -> int:
    """Samples by which sound comes too early out of the filters for `speed`, as it plays."""
    total = 0.0
    for tempo in tempos(speed):
        total = total / tempo + _EARLY / min(tempo, 1.0)
    return round(total)


class Stretched:
    """A clip's sound at sample positions of the clip as it plays. Cheap going forwards."""

    def __init__(self, reader: SoundReader, speed: float) -> None:
        self._reader = reader
        self._speed = speed
        self._filters = [("atempo", f"{tempo:.6f}") for tempo in tempos(speed)]
        self._early = early(speed)
        self._kept: dict[int, Stereo] = {}

    def read(self, first: int, last: int) -> Iterator[Stereo]:
        """Samples `first` to `last`; silence where there are none."""
        if first < 0:
            yield silence(min(-first, last - first))
            first = min(0, last)
        while first < last:
            number, begin = divmod(first, PIECE)
            end = min(PIECE, begin + last - first)
            yield self._piece(number)[begin:end]
            first += end - begin

    def _piece(self, number: int) -> Stereo:
        samples = self._raw(number)[:PIECE]
        if number > 0:
            samples = samples.copy()
            rise = np.linspace(0, 1, _SEAM, endpoint=False, dtype=np.float32)[:, None]
            samples[:_SEAM] *= rise
            samples[:_SEAM] += self._raw(number - 1)[PIECE:] * (1 - rise)
        return samples

    def _raw(self, number: int) -> Stereo:
        """A piece as stretched by itself, with what it goes on to behind it."""
        if number not in self._kept:
            self._kept = {n: s for n, s in self._kept.items() if n == number - 1}
            self._kept[number] = self._made(number)
        return self._kept[number]

    def _made(self, number: int) -> Stereo:
        lead = min(_RUN_IN, number * PIECE)
        # What comes too early is put later, so the piece begins within what it was run in with.
        first, wanted = number * PIECE - lead, lead + PIECE + _SEAM - self._early
        # A little more than is needed, as the filter keeps the last of it to itself.
        source = self._reader.read(
            round(first * self._speed), round((first + wanted + _RUN_IN) * self._speed)
        )
        out, count = [], 0
        for frame in filtered(source, *self._filters):
            out.append(samples_of(frame))
            count += len(out[-1])
            if count >= wanted:
                break
        out.append(silence(max(0, wanted - count)))
        made = np.concatenate((silence(max(0, self._early - lead)), *out))
        return made[max(0, lead - self._early) :][: PIECE + _SEAM]
