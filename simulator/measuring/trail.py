"""What goes on when a voice is silent: hiss and noise that came with it. Pure.

It is too faint and too long to be a consonant, has no pitch, and keeps what was said from ending.
Counterparts: `simulator.measuring.lead` tells what comes before a voice,
`simulator.measuring.speech` asks this of every sound that it finds.
"""

from __future__ import annotations

import numpy as np

from simulator.measuring.edges import STRONG_DB
from simulator.measuring.heard import Heard
from simulator.measuring.lead import ABOVE_NOISE_DB, FRICATIVE_DB, STEADY_DB, pitched_frames
from simulator.measuring.levels import STEP, stretches

REST_STEPS = 400
"""So long no part of a voice is as faint and without a pitch."""
DIP_STEPS = 15
"""Louder moments in it that are still its own."""
PITCHED = 0.2
"""Share of it that may seem to have a pitch."""
BEFORE_STEPS = 300
"""So much of it is left before the voice that comes after, which is told from it."""


def voices(sound: Heard, span: tuple[int, int], loudness: float) -> list[tuple[int, int]]:
    """The parts of a sound, between two steps, that are not only what goes on without a voice.

    `loudness`: of its voice, in dB of full scale.
    """
    first, stop = span
    smooth = sound.smooth
    out: list[tuple[int, int]] = []
    for a, b in stretches(smooth[first:stop] < loudness - STRONG_DB, DIP_STEPS):
        begin, end = first + a, first + b
        if a == 0 or b - a < REST_STEPS:
            continue
        if pitched_frames(sound.samples[begin * STEP : end * STEP]).mean() > PITCHED:
            continue
        rest = smooth[begin + REST_STEPS // 4 : end - REST_STEPS // 4]
        # Nearer to the voice it is told by that it keeps its level.
        if np.median(rest) > loudness - FRICATIVE_DB and rest.std() > STEADY_DB:
            continue
        faint = smooth[begin:end] <= float(np.percentile(rest, 80)) + ABOVE_NOISE_DB
        silent, speaks = max(stretches(faint, DIP_STEPS), key=lambda each: each[1] - each[0])
        out.append((span[0], begin + silent))
        span = (max(begin + silent, begin + speaks - BEFORE_STEPS), stop)
        if end == stop and speaks == end - begin:
            return out
    return [*out, span]
