"""Backgrounds under a clip's own sound: noise all along, or a sound at a time, at a stated level.

The level is in LU against the instructions, which all lie at `loudness.INSTRUCTION` (BS.1770). A
bed without a time loops without a click, and where it is in its loop depends on clip time alone, so
that it runs on over a cut and a changed turn moves no other's. Pure but for `Beds`, which keeps
what it has loaded. Counterparts: `simulator.media.mix` lays speech over it, `simulator.media.build`
asks for it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from simulator.errors import InputError
from simulator.media.loudness import INSTRUCTION, loudness
from simulator.media.sound import load
from simulator.protocol.samples import Stereo
from simulator.protocol.tracks import AUDIO_CLOCK
from simulator.scenario.types import Background

LONGEST = 120.0
"""Seconds of a background's file: it is held in memory as a whole."""
BEDS = 1
"""Raise when beds sound different for the same input; part of the cache key of turns with any."""
_SEAM = AUDIO_CLOCK // 10
"""Samples over which a loop's end runs into its start."""
_FADE = AUDIO_CLOCK // 50
"""Samples over which a sound at a time comes in and goes."""


@dataclass(frozen=True, slots=True)
class Bed:
    """A background ready to be added."""

    samples: Stereo
    """At its level."""
    at: int | None = None
    """Position (clip time × 48000) of its first sample; None for one that loops all along."""

    def part(self, first: int, last: int) -> tuple[int, Stereo]:
        """What it adds from `first` to `last`: from where on, and the samples."""
        if self.at is None:
            where = np.arange(first, last) % len(self.samples)
            return first, self.samples[where]
        begin, end = max(first, self.at), min(last, self.at + len(self.samples))
        return begin, self.samples[max(0, begin - self.at) : max(0, end - self.at)]


class Beds:
    """The backgrounds of a scenario, each loaded once; safe between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[Background, Bed] = {}

    def get(self, background: Background) -> Bed:
        """Raises InputError if the file is missing, broken, silent or too long."""
        with self._lock:
            if background not in self._kept:
                self._kept[background] = _bed(background)
            return self._kept[background]


def _bed(background: Background) -> Bed:
    samples = load(background.sound)
    name = background.sound.name
    if len(samples) > LONGEST * AUDIO_CLOCK:
        raise InputError(
            f"background {name}: {len(samples) / AUDIO_CLOCK:.0f} s is too long "
            f"(at most {LONGEST:.0f} s)",
            hint="cut a part of it; a background without `at` loops",
        )
    found = loudness(samples)
    if found is None:
        raise InputError(f"background {name}: nothing is audible in it")
    samples = samples * np.float32(10.0 ** ((INSTRUCTION + background.level - found) / 20))
    if background.at is None:
        return Bed(_loop(samples))
    if background.until is not None:
        samples = samples[: round((background.until - background.at) * AUDIO_CLOCK)]
    return Bed(_faded(samples), round(background.at * AUDIO_CLOCK))


def _loop(samples: Stereo) -> Stereo:
    """The samples, shorter by a seam in which the end runs into the start."""
    seam = min(_SEAM, len(samples) // 4)
    if seam == 0:
        return samples
    out = samples[:-seam].copy()
    rise = np.sqrt(np.linspace(0, 1, seam, endpoint=False, dtype=np.float32))[:, None]
    out[:seam] = samples[:seam] * rise + samples[-seam:] * rise[::-1]
    return out


def _faded(samples: Stereo) -> Stereo:
    fade = min(_FADE, len(samples) // 2)
    out = samples.copy()
    ramp = np.linspace(0, 1, fade, dtype=np.float32)[:, None]
    out[:fade] *= ramp
    out[len(out) - fade :] *= ramp[::-1]
    return out


def over_beds(blocks: Iterable[Stereo], at: int, beds: Sequence[Bed]) -> Iterator[Stereo]:
    """The sound, whose first sample is at position `at`, with the beds added."""
    for block in blocks:
        out = block
        for bed in beds:
            begin, samples = bed.part(at, at + len(block))
            if len(samples):
                out = block.copy() if out is block else out
                out[begin - at : begin - at + len(samples)] += samples
        yield out
        at += len(block)
