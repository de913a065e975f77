"""Finds sound in samples: where speech begins and ends, to about a millisecond.

A level gate that follows the noise floor and webrtcvad together say that there is speech; then its
edges are looked for in the level of single milliseconds, because a detector's frames are ten times
too coarse for a latency. Counterparts: `simulator.measuring.sound` decodes the agent's sound for
it, `simulator.measuring.measure` puts the result on session time, `simulator.rtc.ear` is the live
detector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import webrtcvad
from numpy.typing import NDArray

from simulator.protocol.samples import RATE, Mono

Detector = Literal["speech", "level"]
"""speech: level and webrtcvad, for agents; level: any sound that stands out, for calibration."""


VAD_MODE = 2
FRAME = RATE // 100
"""webrtcvad's frame: 10 ms."""
STEP = RATE // 1000
"""Edges are looked for in steps of 1 ms."""
LOWEST_DB = -50.0
"""Below this nothing is audible."""
HIGHEST_DB = -26.0
"""Above this everything is, however loud the floor."""
ABOVE_FLOOR_DB = 10.0
FLOOR_SECONDS = 4.0
FLOOR_SHARE = 15
"""The floor is this percentile of the levels in FLOOR_SECONDS around."""
BELOW_PEAK_DB = 20.0
"""At its beginning, sound this far below the first peak is what a codec lets out ahead of it."""
PEAK_STEPS = 30
BRIDGE_STEPS = 40
"""Steps below the gate that do not interrupt an island: a pause within a word."""
VOICED_FRAMES = 5
"""Frames of 10 ms that webrtcvad must call speech in a run of islands."""
RUN_STEPS = 250
"""Steps of silence across which islands are one run to the detector."""
SHORTEST_STEPS = 8
"""An island of fewer audible steps is a crackle, not speech."""
SHORTEST_RUN_STEPS = 60
"""A run of fewer audible steps is a beep or a click; the shortest word is longer."""
CLICK_STEPS = 30
"""A shorter island at either end of a run, in which there is no speech, is a click beside it."""
_SILENT_DB = -100.0


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


def islands(samples: Mono, detector: Detector = "speech") -> list[tuple[int, int]]:
    """Where `find` finds something: the first sample, and one past the last."""
    return [(island.first, island.stop) for island in find(samples, detector)]


def find(samples: Mono, detector: Detector = "speech") -> list[Island]:
    """Stretches of speech (or of any sound), in order, not joined across pauses over 40 ms."""
    levels = levels_db(samples, STEP)
    if not len(levels) or float(levels.max()) <= LOWEST_DB:
        return []
    gate = _gate(levels)
    loud = levels > gate
    found = _stretches(loud, BRIDGE_STEPS)
    if detector == "speech":
        audible = np.concatenate([[0], np.cumsum(loud)])
        found = [(a, b) for a, b in found if audible[b] - audible[a] >= SHORTEST_STEPS]
        found = _spoken(found, audible, _voiced(samples, levels))
    edges = [_edges(samples, levels, gate, a, b) for a, b in found]
    return [Island(first=first, stop=stop) for first, stop in edges]


def _spoken(
    found: list[tuple[int, int]], audible: NDArray[np.int64], voiced: NDArray[np.bool_]
) -> list[tuple[int, int]]:
    """Those of the islands that lie in runs in which there is speech."""
    count = [int(voiced[a * STEP // FRAME : -(-b * STEP // FRAME)].sum()) for a, b in found]
    out: list[tuple[int, int]] = []
    first = 0
    for i in range(1, len(found) + 1):
        if i < len(found) and found[i][0] - found[i - 1][1] < RUN_STEPS:
            continue
        run = range(first, i)
        first = i
        steps = sum(int(audible[found[k][1]] - audible[found[k][0]]) for k in run)
        if steps < SHORTEST_RUN_STEPS or sum(count[k] for k in run) < VOICED_FRAMES:
            continue
        sure = [k for k in run if count[k] or found[k][1] - found[k][0] >= CLICK_STEPS]
        out += [found[k] for k in run if sure[0] <= k <= sure[-1]]
    return out


def levels_db(samples: Mono, step: int) -> NDArray[np.float64]:
    """Level of each whole step and of the rest, in dB of full scale."""
    whole = -(-len(samples) // step)
    padded = np.zeros(whole * step, np.float64)
    padded[: len(samples)] = samples
    power = np.mean(np.square(padded).reshape(whole, step), axis=1)
    return np.asarray(10.0 * np.log10(np.maximum(power, 10 ** (_SILENT_DB / 10))), np.float64)


def _gate(levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """For each step the level above which it is audible."""
    block = int(FLOOR_SECONDS * 1000 / 4)
    count = -(-len(levels) // block)
    gates = np.empty(count)
    for i in range(count):
        around = levels[max(0, (i - 2) * block) : (i + 3) * block]
        gates[i] = np.percentile(around, FLOOR_SHARE) + ABOVE_FLOOR_DB
    clipped = np.clip(gates, LOWEST_DB, HIGHEST_DB)
    return np.repeat(clipped, block)[: len(levels)]


def _stretches(loud: NDArray[np.bool_], bridge: int) -> list[tuple[int, int]]:
    """Runs of true steps, joined across up to `bridge` others."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], loud, [False]]).astype(np.int8)))
    out: list[tuple[int, int]] = []
    for a, b in edges.reshape(-1, 2).tolist():
        if out and a - out[-1][1] <= bridge:
            out[-1] = (out[-1][0], b)
        else:
            out.append((a, b))
    return out


def _edges(
    samples: Mono,
    levels: NDArray[np.float64],
    gate: NDArray[np.float64],
    start: int,
    stop: int,
) -> tuple[int, int]:
    """The first audible sample of an island of steps, and one past the last."""
    head = levels[start : min(stop, start + PEAK_STEPS)]
    floor = max(float(gate[start]), float(head.max()) - BELOW_PEAK_DB)
    step = start + int(np.argmax(head > floor))
    near = np.abs(samples[max(0, step - 1) * STEP : (step + 1) * STEP])
    first = max(0, step - 1) * STEP + int(np.argmax(near > 10 ** (floor / 20)))
    # At the end a voice fades: what is audible counts.
    floor, step = float(gate[stop - 1]), stop
    near = np.abs(samples[(step - 1) * STEP : (step + 1) * STEP])[::-1]
    last = min((step + 1) * STEP, len(samples)) - int(np.argmax(near > 10 ** (floor / 20)))
    return first, max(last, first + 1)


def _voiced(samples: Mono, levels: NDArray[np.float64]) -> NDArray[np.bool_]:
    """What webrtcvad calls speech, by frames of 10 ms; it is not asked in long silence."""
    count = -(-len(samples) // FRAME)
    pcm = np.zeros(count * FRAME, np.int16)
    pcm[: len(samples)] = np.clip(samples * 32768.0, -32768, 32767).astype(np.int16)
    data = pcm.tobytes()
    loud = np.flatnonzero(levels > LOWEST_DB) * STEP // FRAME
    near = np.zeros(count + 101, np.int64)
    np.add.at(near, np.maximum(loud - 50, 0), 1)
    np.add.at(near, np.minimum(loud + 50, count), -1)
    asked = np.flatnonzero(np.cumsum(near[:count]) > 0)
    vad = webrtcvad.Vad(VAD_MODE)
    voiced = np.zeros(count, np.bool_)
    size = FRAME * 2
    for i in asked.tolist():
        voiced[i] = vad.is_speech(data[i * size : (i + 1) * size], RATE)
    return voiced
