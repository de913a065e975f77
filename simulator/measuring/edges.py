"""Where sound out of silence begins and ends, to a millisecond, and how surely. Pure.

What a codec lets out ahead of an abrupt beginning is no part of it; what begins faintly or slowly
may have begun before it is audible. Counterparts: `simulator.measuring.speech` says where there is
sound; in noise `simulator.measuring.onset` finds where it begins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simulator.measuring.levels import STEP, Levels, smoothed
from simulator.protocol.samples import Mono

BELOW_PEAK_DB = 23.0
"""At its beginning, sound this far below the first peak is what a codec lets out ahead of it;"""
PEAK_STEPS = 10
JUMP_DB = 18.0
"""and so is what a step stands out of by as much, which is before it,"""
AHEAD_STEPS = 25
"""for so long at most."""
STRONG_DB = 12.0
"""What is no further below the loud parts of a run is voice, not what leads up to it."""
SURE_STEPS, RISE_SHARE = 3.9, 0.05
"""An onset may be off by so much, and by a share of how long it rises."""
AUDIBLE_DB = -36.0
GROWS_DB, GROWS_SHARE, GROWS_STEPS = 11.0, 1.5, 16.0
"""What grows by more in the twentieth of a second after its beginning may have begun below what is
audible, the rather the fainter it begins: so many steps before for each dB, and at most."""
COMES_DB, COMES_STEPS = 15.0, 40
"""A fade-in began when it was so far below where it is found, at most so long before,"""
AT_ONCE_STEPS = 3
"""and takes longer than what begins at once, out of a codec."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Island:
    """A stretch of speech (or of any sound), in samples."""

    first: int
    """Its first audible sample."""
    stop: int
    """One past its last."""
    unsure: int = 0
    """By how many samples `first` may be off."""
    sound: int | None = None
    """Where other sound begins that leads up to it without a pause."""


def edged(samples: Mono, levels: Levels, gate: Levels, start: int, stop: int) -> Island:
    first, last = _edges(samples, levels, gate, start, stop)
    # How long it rises says how well a beginning can be told, and how long it took to come out of
    # what is hardly there that it was before.
    step = first // STEP
    rise = levels[step : min(step + 80, max(stop, step + 1))]
    rises = int(np.argmax(rise >= rise.max() - STRONG_DB))
    steps = SURE_STEPS + max(RISE_SHARE * rises, _grows(levels[step : min(step + 60, stop)]))
    came = smoothed(levels[max(0, step - COMES_STEPS) : step + 3], 2)
    faint = np.flatnonzero(came < came[-1] - COMES_DB)
    comes = len(came) - 3 - int(faint[-1]) if len(faint) else 0
    early = comes if comes > AT_ONCE_STEPS else 0
    # What was taken for the codec's may have been a soft beginning.
    unsure = round((steps + early) * STEP) + max(0, first - (start + 2) * STEP)
    return Island(first=max(0, first - early * STEP), stop=last, unsure=unsure)


def _grows(head: Levels) -> float:
    """By how many steps a beginning may be earlier for how much it grows."""
    if len(head) < 40:
        return 0.0
    power = 10 ** (head / 10)
    most = max(power[20:35].mean(), power[35:].mean())
    growth = 10 * float(np.log10(most / power[:8].mean()))
    growth -= 10 * float(np.log10(power[:4].mean())) - AUDIBLE_DB
    return min(max(0.0, GROWS_SHARE * (growth - GROWS_DB)), GROWS_STEPS)


def _edges(
    samples: Mono,
    levels: Levels,
    gate: Levels,
    start: int,
    stop: int,
) -> tuple[int, int]:
    """The first audible sample of an island of steps, and one past the last."""
    begin = start + _ahead(levels[start : min(stop, start + AHEAD_STEPS)])
    head = levels[begin : min(stop, begin + PEAK_STEPS)]
    floor = max(float(gate[start]), float(head.max()) - BELOW_PEAK_DB)
    step = begin + int(np.argmax(head > floor))
    near = np.abs(samples[max(0, step - 1) * STEP : (step + 1) * STEP])
    first = max(0, step - 1) * STEP + int(np.argmax(near > 10 ** (floor / 20)))
    # At the end a voice fades: what is audible counts.
    floor, step = float(gate[stop - 1]), stop
    near = np.abs(samples[(step - 1) * STEP : (step + 1) * STEP])[::-1]
    last = min((step + 1) * STEP, len(samples)) - int(np.argmax(near > 10 ** (floor / 20)))
    return first, max(last, first + 1)


def _ahead(head: Levels) -> int:
    """How many of the first steps are what a codec lets out ahead of an abrupt beginning."""
    if len(head) < 3:
        return 0
    before = np.maximum.accumulate(head)[:-2]
    jumps = np.maximum(head[1:-1], head[2:]) - before > JUMP_DB
    quiet = before < head.max() - JUMP_DB
    found = np.flatnonzero(jumps & quiet)
    return int(found[0]) + 1 if len(found) else 0
