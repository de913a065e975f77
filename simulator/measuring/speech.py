"""Finds sound in samples: where speech begins and ends, to about a millisecond.

A level gate that follows the noise floor and webrtcvad together say that there is speech; then its
edges are looked for in the level of single milliseconds, because a detector's frames are ten times
too coarse for a latency. Breath, hiss and hum that lead up to a voice are told from it by pitch and
level, and each onset comes with how far it may be off. Counterparts: `simulator.measuring.sound`
decodes the agent's sound for it, `simulator.measuring.measure` puts the result on session time,
`simulator.rtc.ear` is the live detector.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import webrtcvad
from numpy.typing import NDArray

from simulator.measuring.edges import STRONG_DB, Island, edged
from simulator.measuring.lead import (
    ABOVE_NOISE_DB,
    BRIEF_STEPS,
    FRICATIVE_STEPS,
    LEAD_STEPS,
    SMOOTH_STEPS,
    breath,
    out_of_other,
    speaks,
    voice_after,
)
from simulator.measuring.levels import STEP, Levels, levels_db, smoothed, stretches
from simulator.measuring.onset import HOP, beginning
from simulator.protocol.samples import RATE, Mono

Detector = Literal["speech", "level"]
"""speech: level and webrtcvad, for agents; level: any sound that stands out, for calibration."""


VAD_MODE = 2
FRAME = RATE // 100
"""webrtcvad's frame: 10 ms."""
LOWEST_DB = -50.0
"""Below this nothing is audible."""
HIGHEST_DB = -26.0
"""Above this everything is, however loud the floor."""
ABOVE_FLOOR_DB = 10.0
FLOOR_SECONDS = 8.0
FLOOR_SHARE = 2
"""The floor is this percentile of the levels in FLOOR_SECONDS around: even who speaks without a
pause is quiet for so long between words."""
BRIDGE_STEPS = 40
"""Steps below the gate that do not interrupt an island: a pause within a word."""
LOUD_DB = 14.0
"""The loud parts of a run are no further below the loudest."""
LEAD_SURE_STEPS = 8
"""What leads up to a voice began no more than so long before it is audible."""
UNLIKE_DB = 14.0
"""What leads up to a voice and is nearer to it may be voice."""
BACK_STEPS = 200
"""How far before a run its voice is looked for in noise."""
NOISE_STEPS = 2_000
"""How far before a voice the noise is looked for that it is in, and half as far after it began;"""
LEAST_NOISE = 10
"""fewer frames of it say nothing: then the quietest are taken."""
BAND_STEPS = HOP // STEP
QUIET_DB = -35.0
"""The beginning of a voice below this may be below what else is audible;"""
QUIET_BELOW_DB = 26.0
"""of such a one all counts that is less than so much below its loud parts."""
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


def islands(samples: Mono, detector: Detector = "speech") -> list[tuple[int, int]]:
    """Where `find` finds something: the first sample, and one past the last."""
    return [(island.first, island.stop) for island in find(samples, detector)]


def find(samples: Mono, detector: Detector = "speech") -> list[Island]:
    """Stretches of speech (or of any sound), in order, not joined across pauses over 40 ms."""
    levels = levels_db(samples, STEP)
    if not len(levels) or float(levels.max()) <= LOWEST_DB:
        return []
    smooth = smoothed(levels, SMOOTH_STEPS)
    floor = _floor(smooth)
    gate = np.clip(floor + ABOVE_FLOOR_DB, LOWEST_DB, HIGHEST_DB)
    loud = levels > gate
    found = stretches(loud, BRIDGE_STEPS)
    if detector == "level":
        return [edged(samples, levels, gate, a, b) for a, b in found]
    audible = np.concatenate([[0], np.cumsum(loud)])
    found = [(a, b) for a, b in found if audible[b] - audible[a] >= SHORTEST_STEPS]
    out: list[Island] = []
    for run in _spoken(found, audible, _voiced(samples, levels)):
        after = out[-1].stop // STEP + 1 if out else 0
        out += _voice(samples, levels, smooth, floor, gate, run, after)
    return out


def _spoken(
    found: list[tuple[int, int]], audible: NDArray[np.int64], voiced: NDArray[np.bool_]
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
        sure = [k for k in run if count[k] or found[k][1] - found[k][0] >= CLICK_STEPS]
        out.append([found[k] for k in run if sure[0] <= k <= sure[-1]])
    return out


def _voice(
    samples: Mono,
    levels: Levels,
    smooth: Levels,
    floor: Levels,
    gate: Levels,
    run: list[tuple[int, int]],
    after: int,
) -> list[Island]:
    """The islands of a run from where its voice begins, which is no earlier than step `after`."""
    begin, end = run[0][0], run[-1][1]
    heard = smooth[begin:end]
    loudness = float(np.percentile(heard[heard > heard.max() - LOUD_DB], 75))
    gone = breath(samples[begin * STEP : end * STEP], heard, levels[begin:end] > gate[begin:end])
    if gone and floor[begin] + ABOVE_FLOOR_DB <= LOWEST_DB:
        voice = begin + gone
        rest = [(max(a, voice), b) for a, b in run if b > voice]
        islands = _voice(samples, levels, smooth, floor, gate, rest, voice)
        unsure = islands[0].unsure
        if float(np.median(smooth[begin:voice])) > loudness - UNLIKE_DB:
            unsure = max(unsure, islands[0].first - (begin - LEAD_SURE_STEPS) * STEP)
        islands[0] = replace(islands[0], unsure=unsure, sound=begin * STEP)
        return islands
    strong = begin + voice_after(samples[begin * STEP : end * STEP], heard, loudness)
    leads = strong - begin > LEAD_STEPS and not speaks(samples, smooth, begin, strong, loudness)
    background = float(floor[strong])
    if leads:
        last = LEAD_STEPS if strong - begin > 2 * LEAD_STEPS else LEAD_STEPS // 2
        lead = smooth[begin : strong - last]
        background = max(background, float(np.percentile(lead, 80)))
    quiet = loudness < QUIET_DB
    noisy = background + ABOVE_NOISE_DB > LOWEST_DB
    if not (noisy or quiet):
        return [edged(samples, levels, gate, a, b) for a, b in run]
    first, unsure = (
        out_of_other(levels, begin, strong, background)
        if leads
        else _out_of_noise(samples, smooth, (begin, strong), after, background, loudness)
    )
    if leads and (strong - begin <= FRICATIVE_STEPS or background > loudness - UNLIKE_DB):
        # So short a lead may have been a weak consonant after all, and one as loud a voice.
        unsure = max(unsure, first - (begin - LEAD_SURE_STEPS) * STEP)
    loud = begin + int(np.argmax(heard >= loudness - STRONG_DB))
    if leads and loud - strong > FRICATIVE_STEPS:
        # What has a pitch for so long before it is loud may be music.
        unsure = max(unsure, (loud + SMOOTH_STEPS) * STEP - first)
    run = [(a, b) for a, b in run if b * STEP > first + SHORTEST_STEPS * STEP] or run[-1:]
    islands = [edged(samples, levels, gate, a, b) for a, b in run]
    islands[0] = replace(
        islands[0],
        first=min(first, islands[0].stop - 1),
        unsure=unsure,
        sound=begin * STEP if leads and begin * STEP < first - BRIEF_STEPS * STEP else None,
    )
    return islands


def _out_of_noise(
    samples: Mono,
    smooth: Levels,
    voice: tuple[int, int],
    after: int,
    background: float,
    loudness: float,
) -> tuple[int, int]:
    """Where a voice begins in noise or in what is hardly audible, and by how much that may be off.
    `voice`: where it stands out of it, and where it is loud."""
    begin, strong = voice
    back, ahead = max(0, begin - NOISE_STEPS), strong + NOISE_STEPS // 2
    there = smooth[back:ahead:BAND_STEPS]
    noise = there <= max(background, LOWEST_DB - ABOVE_FLOOR_DB) + ABOVE_NOISE_DB
    if noise.sum() < LEAST_NOISE:
        noise = there <= np.percentile(there, 10)
    found = beginning(
        samples[back * STEP : ahead * STEP],
        noise,
        ((max(back, after, begin - BACK_STEPS) - back) * STEP, (strong - back) * STEP),
        audible_db=min(loudness - QUIET_BELOW_DB, LOWEST_DB),
    )
    return max(0, back * STEP + found.first), found.unsure


def _floor(smooth: Levels) -> Levels:
    """For each step the level of what is there when nobody speaks."""
    block = int(FLOOR_SECONDS * 1000 / 8)
    count = -(-len(smooth) // block)
    floors = np.empty(count)
    for i in range(count):
        around = smooth[max(0, (i - 4) * block) : (i + 5) * block]
        floors[i] = np.percentile(around, FLOOR_SHARE)
    return np.repeat(floors, block)[: len(smooth)]


def _voiced(samples: Mono, levels: Levels) -> NDArray[np.bool_]:
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
