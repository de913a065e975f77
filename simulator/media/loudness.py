"""How loud a sound is, by ITU-R BS.1770, and the gain that makes instructions alike. Pure.

FFmpeg's `ebur128` filter measures (K-weighting, gated blocks of 0.4 s). A sound shorter than that
is measured on itself repeated, so that a single word has a loudness too.
Counterparts: `simulator.media.build` levels instructions with this, `simulator.speech.finish` what
was rendered.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from simulator.media.filters import filtered
from simulator.protocol.samples import Stereo
from simulator.protocol.tracks import AUDIO_CLOCK

INSTRUCTION = -20.0
"""LUFS at which an instruction is spoken."""
ALIKE = 1.0
"""LU by which an instruction may leave that and is left as it is."""
MOST = 30.0
"""LU of gain at most: what needs more is a silent file, and its noise would be brought up."""
_SHORTEST = 2 * AUDIO_CLOCK
"""Samples that are measured at least: a few of the filter's blocks."""


def loudness(samples: Stereo) -> float | None:
    """Integrated loudness in LUFS of samples (n, 2) at 48 kHz; None for silence (under -70)."""
    if not len(samples):
        return None
    if len(samples) < _SHORTEST:
        samples = np.tile(samples, (-(-_SHORTEST // len(samples)), 1))
    return loudness_of((samples,))


def loudness_of(blocks: Iterable[Stereo]) -> float | None:
    """As `loudness`, of a sound of two seconds or more that comes in blocks."""
    found: float | None = None
    for out in filtered(blocks, ("ebur128", "metadata=1:framelog=quiet")):
        value = out.metadata.get("lavfi.r128.I")
        found = found if value is None else float(value)
    return None if found is None or found <= -70.0 else found


def gain(samples: Stereo) -> float:
    """The factor that brings a sound to `INSTRUCTION`; 1 if it is within `ALIKE` of it, and for
    silence."""
    found = loudness(samples)
    if found is None or abs(INSTRUCTION - found) <= ALIKE:
        return 1.0
    return float(10.0 ** (min(MOST, INSTRUCTION - found) / 20))
