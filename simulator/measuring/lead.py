"""What leads up to a voice: breath, hiss and hum, and from where on it is the voice. Pure.

A breath has no pitch and lasts longer than a consonant, a hum keeps its level. Counterparts:
`simulator.measuring.speech` finds the sound of which this is asked, `simulator.measuring.onset`
where a voice begins in noise.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from simulator.measuring.edges import STRONG_DB
from simulator.measuring.levels import STEP, Levels, smoothed, stretches
from simulator.protocol.samples import Mono

SMOOTH_STEPS = 20
"""Levels are smoothed over a period of hum before a floor is taken from them,"""
BRIEF_STEPS = 5
"""and over less where an edge is looked for in noise."""
ABOVE_NOISE_DB = 4.0
"""A voice that begins in noise stands out of it by so much."""
LEAD_STEPS = 60
"""A shorter lead is a soft beginning of the voice itself."""
FRICATIVE_STEPS = 200
"""A longer one without a pitch is no consonant,"""
FRICATIVE_DB = 20.0
"""nor is one that is further below the voice."""
BREATH_STEPS = 800
"""A breath is over in so long,"""
UNPITCHED = 0.1
"""and no more of it than this seems to have a pitch."""
STEADY_DB = 1.5
"""A lead with a pitch whose level varies less is a hum."""
STEADY_STEPS = 150
"""So long it has to keep its level to be noise that is as loud as a faint voice."""
PITCH_STEPS = 10
PITCHED = 0.5
"""Autocorrelation at the pitch of a frame that has one."""
GAP_STEPS = 15
"""Out of other sound that leads up to it, a voice stands out but for such gaps,"""
OTHER_STEPS, OTHER_SHARE = 18.4, 0.3
"""and its beginning may be off by so much and by a share of how long it rises."""


def breath(samples: Mono, smooth: Levels, loud: NDArray[np.bool_]) -> int:
    """After how many steps a run goes on after a breath: what has no pitch, swells no more than
    this, is too long for a consonant and ends in a pause before something with a pitch."""
    heard = stretches(loud[:BREATH_STEPS], GAP_STEPS)
    for (_, stop), (voice, _) in itertools.pairwise(heard):
        if stop > FRICATIVE_STEPS:
            swells = float(smooth[:stop].max() - np.median(smooth[:stop]))
            if swells > STRONG_DB or pitched_frames(samples[: stop * STEP]).mean() > UNPITCHED:
                return 0
            rest = samples[voice * STEP : (voice + FRICATIVE_STEPS) * STEP]
            return voice if pitched_frames(rest).mean() >= 0.3 else 0
    return 0


def voice_after(samples: Mono, smooth: Levels, loudness: float) -> int:
    """From which step on a run is surely voice. What leads up to a faint one may be as loud: it is
    told by that it keeps its level."""
    strong = int(np.argmax(smooth >= loudness - STRONG_DB))
    begins = smooth[SMOOTH_STEPS : SMOOTH_STEPS + STEADY_STEPS]
    if len(begins) == STEADY_STEPS and pitched_frames(samples[: STEADY_STEPS * STEP]).mean() < 0.3:
        level = float(np.median(begins))
        if float(np.ptp(begins)) < ABOVE_NOISE_DB and level < smooth.max() - 2 * ABOVE_NOISE_DB:
            strong = max(strong, int(np.argmax(smooth > level + ABOVE_NOISE_DB)))
    if strong <= LEAD_STEPS:
        return strong
    # A voice that begins softly after a breath has a pitch before it is loud.
    pitched = pitched_frames(samples[: strong * STEP])
    whole = pitched[:-2] & pitched[1:-1] & pitched[2:]
    voiced = PITCH_STEPS * (int(np.argmax(whole)) + 1) if whole.any() else 0
    return voiced if voiced > 2 * LEAD_STEPS else strong


def out_of_other(levels: Levels, begin: int, strong: int, background: float) -> tuple[int, int]:
    """Where a voice begins to which other sound leads up, and by how much that may be off: back
    from where it is surely voice for as long as it stands out."""
    brief = smoothed(levels[begin : strong + BRIEF_STEPS], BRIEF_STEPS, ahead=True)
    out = np.flatnonzero(brief[: strong - begin + 1] > background + ABOVE_NOISE_DB)
    breaks = np.flatnonzero(np.diff(out) > GAP_STEPS)
    first = begin + int(out[breaks[-1] + 1 if len(breaks) else 0]) if len(out) else strong
    return (first + BRIEF_STEPS // 2) * STEP, round(
        (OTHER_STEPS + OTHER_SHARE * (strong - first)) * STEP
    )


def speaks(samples: Mono, smooth: Levels, begin: int, strong: int, loudness: float) -> bool:
    """Whether what leads up to the loud part of a run is speech: it has a pitch and moves, or could
    be a consonant."""
    lead = smooth[begin : strong - SMOOTH_STEPS]
    pitched = pitched_frames(samples[begin * STEP : (strong - SMOOTH_STEPS // 2) * STEP])
    if pitched.mean() >= 0.3:
        return bool(lead.std() >= STEADY_DB)
    return len(lead) <= FRICATIVE_STEPS and float(np.median(lead)) > loudness - FRICATIVE_DB


def pitched_frames(samples: Mono) -> NDArray[np.bool_]:
    """Which frames of 40 ms, each 10 ms, have a pitch of a voice."""
    low = samples[: len(samples) // 6 * 6].reshape(-1, 6).mean(axis=1)
    low = np.pad(low, (0, max(0, 320 - len(low))))
    frames = np.lib.stride_tricks.sliding_window_view(low, 320)[::80]
    spectrum = np.fft.rfft(frames - frames.mean(axis=1, keepdims=True), 1024)
    alike = np.fft.irfft(np.abs(spectrum) ** 2)
    best = alike[:, 20:115].max(axis=1)
    return np.asarray(best > PITCHED * np.maximum(alike[:, 0], 1e-12))
