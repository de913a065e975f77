"""Finds sound in samples: where speech begins and ends, to about a millisecond.

A level gate that follows the noise floor and webrtcvad together say that there is speech; then its
edges are looked for in the level of single milliseconds, because a detector's frames are ten times
too coarse for a latency. Tones and music, and what goes on when a voice is silent, are no speech.
Counterparts: `simulator.measuring.voice` tells where in a run a voice begins,
`simulator.measuring.sound` decodes the agent's sound for it, `simulator.measuring.measure` puts the
result on session time, `simulator.rtc.ear` is the live detector.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import webrtcvad
from numpy.typing import NDArray

from simulator.measuring.edges import Island
from simulator.measuring.heard import LOWEST_DB, Heard
from simulator.measuring.levels import STEP, Levels, stretches
from simulator.measuring.tones import FRAME, Tones, sung, tones
from simulator.measuring.trail import voices
from simulator.measuring.voice import (
    CLICK_STEPS,
    CUT_STEPS,
    RUN_STEPS,
    SHORTEST_STEPS,
    begun,
    led_up,
    loudness,
)
from simulator.protocol.samples import RATE, Mono

Detector = Literal["speech", "level"]
"""speech: level and webrtcvad, for agents; level: any sound that stands out, for calibration."""


VAD_MODE = 2
BRIDGE_STEPS = 40
"""Steps below the gate that do not interrupt an island: a pause within a word."""
VOICED_FRAMES = 5
"""Frames of 10 ms that webrtcvad must call speech in a run of islands."""
FAINT_TONE_DB = 24.0
"""A tone that is further below a voice may go on under it."""
SHORTEST_RUN_STEPS = 60
"""A run of fewer audible steps is a beep or a click; the shortest word is longer."""
BEEP_STEPS, BEEP_DB = 80, 15.0
"""So is one sound alone that is shorter and stands out by more: of a word that is as loud more is
heard."""


def islands(samples: Mono, detector: Detector = "speech") -> list[tuple[int, int]]:
    """Where `find` finds something: the first sample, and one past the last."""
    return [(island.first, island.stop) for island in find(samples, detector)]


def find(samples: Mono, detector: Detector = "speech") -> list[Island]:
    """Stretches of speech (or of any sound), in order, not joined across pauses over 40 ms."""
    if not len(samples):
        return []
    heard = Heard.of(samples)
    loud = heard.loud
    found = stretches(loud, BRIDGE_STEPS)
    if detector == "level":
        return [heard.edged(a, b) for a, b in found]
    audible = np.concatenate([[0], np.cumsum(loud)])
    found = [(a, b) for a, b in found if audible[b] - audible[a] >= SHORTEST_STEPS]
    asked = _asked(heard)
    toned = tones(samples, asked)
    found, borders = _cut(found, toned, heard)
    voiced = _voiced(samples, asked) & ~toned.steady
    sounds = [
        part
        for a, b in found
        if not toned.through(a, b)
        for part in voices(heard, (a, b), loudness(heard.smooth[a:b]))
    ]
    out: list[Island] = []
    for run in _spoken(sounds, audible, voiced, heard.smooth - heard.gate):
        after = out[-1].stop // STEP + 1 if out else 0
        islands = begun(heard, run, after)
        leads = [(a, b) for a, b in found if after <= a < b <= run[0][0]]
        islands[0] = led_up(heard, islands, leads, borders.get(run[0][0]))
        out += islands
    return out


def _cut(
    found: list[tuple[int, int]], toned: Tones, heard: Heard
) -> tuple[list[tuple[int, int]], dict[int, tuple[int, int]]]:
    """The islands, those that begin with a tone parted from it; and for such a one, by its first
    step, between which its voice may begin."""
    smooth = heard.smooth
    out: list[tuple[int, int]] = []
    borders = {}
    for first, stop in found:
        ends = toned.until(first, stop)
        if ends is None:
            out.append((first, stop))
        elif np.median(smooth[first:ends]) < smooth[ends:stop].max() - FAINT_TONE_DB:
            # What is so faint may go on under the voice: `begun` tells where that begins.
            out.append((first, stop))
            borders[first] = first, ends + CUT_STEPS
        else:
            near = max(first + 1, ends - CUT_STEPS)
            cut = near + int(np.argmin(smooth[near : min(ends + CUT_STEPS, stop)]))
            out += [(first, cut), (cut, stop)]
            may_be = sung(heard.samples[first * STEP : cut * STEP])
            borders[cut] = first if may_be else cut - 2 * CUT_STEPS, cut
    return out, borders


def _spoken(
    found: list[tuple[int, int]],
    audible: NDArray[np.int64],
    voiced: NDArray[np.bool_],
    above: Levels,
) -> list[list[tuple[int, int]]]:
    """The islands that lie in runs in which there is speech, run by run."""
    count = [int(voiced[a * STEP // FRAME : -(-b * STEP // FRAME)].sum()) for a, b in found]
    out: list[list[tuple[int, int]]] = []
    first = 0
    for i in range(1, len(found) + 1):
        if i < len(found) and found[i][0] - found[i - 1][1] < RUN_STEPS:
            continue
        run = range(first, i)
        first = i
        steps = sum(int(audible[found[k][1]] - audible[found[k][0]]) for k in run)
        if steps < SHORTEST_RUN_STEPS or sum(count[k] for k in run) < VOICED_FRAMES:
            continue
        if (
            steps < BEEP_STEPS
            and len(run) == 1
            and float(above[found[run[0]][0] : found[run[0]][1]].max()) > BEEP_DB
        ):
            continue
        sure = [k for k in run if count[k] or found[k][1] - found[k][0] >= CLICK_STEPS]
        out.append([found[k] for k in run if sure[0] <= k <= sure[-1]])
    return out


def _asked(heard: Heard) -> NDArray[np.bool_]:
    """Which frames of 10 ms are looked at: not long silence."""
    count = -(-len(heard.samples) // FRAME)
    loud = np.flatnonzero(heard.levels > LOWEST_DB) * STEP // FRAME
    near = np.zeros(count + 101, np.int64)
    np.add.at(near, np.maximum(loud - 50, 0), 1)
    np.add.at(near, np.minimum(loud + 50, count), -1)
    return np.asarray(np.cumsum(near[:count]) > 0)


def _voiced(samples: Mono, asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which frames that are asked about webrtcvad calls speech."""
    count = len(asked)
    pcm = np.zeros(count * FRAME, np.int16)
    pcm[: len(samples)] = np.clip(samples * 32768.0, -32768, 32767).astype(np.int16)
    data = pcm.tobytes()
    vad = webrtcvad.Vad(VAD_MODE)
    voiced = np.zeros(count, np.bool_)
    size = FRAME * 2
    for i in np.flatnonzero(asked).tolist():
        voiced[i] = vad.is_speech(data[i * size : (i + 1) * size], RATE)
    return voiced
