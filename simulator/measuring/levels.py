"""How loud sound is, step by step. Pure.

Counterparts: `simulator.measuring.speech` finds speech by it, `simulator.measuring.edges` its
beginning, `simulator.measuring.lead` what leads up to a voice.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simulator.protocol.samples import RATE, Mono

Levels = NDArray[np.float64]

STEP = RATE // 1000
"""Samples of a step: edges are looked for in steps of 1 ms."""
_SILENT_DB = -100.0


def levels_db(samples: Mono, step: int) -> Levels:
    """Level of each whole step and of the rest, in dB of full scale."""
    whole = -(-len(samples) // step)
    padded = np.zeros(whole * step, np.float64)
    padded[: len(samples)] = samples
    power = np.mean(np.square(padded).reshape(whole, step), axis=1)
    return np.asarray(10.0 * np.log10(np.maximum(power, 10 ** (_SILENT_DB / 10))), np.float64)


def smoothed(levels: Levels, steps: int, *, ahead: bool = False) -> Levels:
    """Levels of the power over `steps` around each, or from each one on."""
    power = 10 ** (levels / 10)
    before = 0 if ahead else steps // 2
    total = np.concatenate([[0.0], np.cumsum(power)])
    at = np.arange(len(levels))
    first, last = np.maximum(at - before, 0), np.minimum(at - before + steps, len(levels))
    mean = np.maximum((total[last] - total[first]) / (last - first), 10 ** (_SILENT_DB / 10))
    return np.asarray(10 * np.log10(mean))


def stretches(loud: NDArray[np.bool_], bridge: int) -> list[tuple[int, int]]:
    """Runs of true steps, joined across up to `bridge` others."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], loud, [False]]).astype(np.int8)))
    out: list[tuple[int, int]] = []
    for a, b in edges.reshape(-1, 2).tolist():
        if out and a - out[-1][1] <= bridge:
            out[-1] = (out[-1][0], b)
        else:
            out.append((a, b))
    return out
