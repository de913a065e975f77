"""What is heard of some sound: the level of each millisecond, and which is audible. Pure.

The gate follows the noise floor, within bounds: what is far below full scale is not audible however
silent all else is. Counterparts: `simulator.measuring.levels` measures levels,
`simulator.measuring.speech` and `simulator.measuring.voice` look for a voice in what is audible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.measuring.edges import Island, edged
from simulator.measuring.lead import SMOOTH_STEPS
from simulator.measuring.levels import STEP, Levels, levels_db, smoothed
from simulator.protocol.samples import Mono

LOWEST_DB = -50.0
"""Below this nothing is audible."""
HIGHEST_DB = -26.0
"""Above this everything is, however loud the floor."""
ABOVE_FLOOR_DB = 10.0
FLOOR_SECONDS = 8.0
FLOOR_SHARE = 2
"""The floor is this percentile of the levels in FLOOR_SECONDS around: even who speaks without a
pause is quiet for so long between words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Some sound, and of each step of it:"""

    samples: Mono
    levels: Levels
    """its level in dB of full scale,"""
    smooth: Levels
    """the same over some steps,"""
    floor: Levels
    """the level of what is there when nobody speaks,"""
    gate: Levels
    """and that above which it is audible."""

    @classmethod
    def of(cls, samples: Mono) -> Heard:
        levels = levels_db(samples, STEP)
        smooth = smoothed(levels, SMOOTH_STEPS)
        floor = _floor(smooth)
        gate = np.clip(floor + ABOVE_FLOOR_DB, LOWEST_DB, HIGHEST_DB)
        return cls(samples=samples, levels=levels, smooth=smooth, floor=floor, gate=gate)

    @property
    def loud(self) -> NDArray[np.bool_]:
        """Whether a step is audible."""
        return self.levels > self.gate

    def edged(self, first: int, stop: int) -> Island:
        """What is audible between two steps, to the sample."""
        return edged(self.samples, self.levels, self.gate, first, stop)


def _floor(smooth: Levels) -> Levels:
    block = int(FLOOR_SECONDS * 1000 / 8)
    count = -(-len(smooth) // block)
    floors = np.empty(count)
    for i in range(count):
        around = smooth[max(0, (i - 4) * block) : (i + 5) * block]
        floors[i] = np.percentile(around, FLOOR_SHARE)
    return np.repeat(floors, block)[: len(smooth)]
