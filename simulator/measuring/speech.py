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
from simulator.measuring.levels import STEP, Levels, levels_db, smoothed
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
SMOOTH_STEPS = 20
"""Levels are smoothed over a period of hum before a floor is taken from them,"""
BRIEF_STEPS = 5
"""and over less where an edge is looked for in noise."""
ABOVE_NOISE_DB = 4.0
"""A voice that begins in noise stands out of it by so much."""
BRIDGE_STEPS = 40
"""Steps below the gate that do not interrupt an island: a pause within a word."""
LOUD_DB = 14.0
"""The loud parts of a run are no further below the loudest."""
LEAD_SURE_STEPS = 8
"""What leads up to a voice began no more than so long before it is audible."""
LEAD_STEPS = 60
"""A shorter lead is a soft beginning of the voice itself."""
FRICATIVE_STEPS = 200
"""A longer one without a pitch is no consonant,"""
FRICATIVE_DB = 20.0
"""nor is one that is further below the voice."""
STEADY_DB = 1.5
"""A lead with a pitch whose level varies less is a hum."""
UNLIKE_DB = 14.0
"""What leads up to a voice and is nearer to it may be voice."""
STEADY_STEPS = 150
"""So long it has to keep its level to be noise that is as loud as a faint voice."""
PITCH_STEPS = 10
PITCHED = 0.5
"""Autocorrelation at the pitch of a frame that has one."""
BACK_STEPS = 200
"""How far before a run its voice is looked for in noise."""
NOISE_STEPS = 2_000
"""How far before a voice the noise is looked for that it is in, and half as far after it began;"""
LEAST_NOISE = 10
"""fewer frames of it say nothing: then the quietest are taken."""
BAND_STEPS = HOP // STEP
GAP_STEPS = 15
"""Out of other sound that leads up to it, a voice stands out but for such gaps,"""
OTHER_STEPS, OTHER_SHARE = 18.4, 0.3
"""and its beginning may be off by so much and by a share of how long it rises."""
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
    found = _stretches(loud, BRIDGE_STEPS)
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
    strong = begin + _loud(samples[begin * STEP : end * STEP], heard, loudness)
    leads = strong - begin > LEAD_STEPS and not _speaks(samples, smooth, begin, strong, loudness)
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
        _out_of_other(levels, begin, strong, background)
        if leads
        else _out_of_noise(samples, smooth, (begin, strong), after, background, loudness)
    )
    if leads and (strong - begin <= FRICATIVE_STEPS or background > loudness - UNLIKE_DB):
        # So short a lead may have been a weak consonant after all, and one as loud a voice.
        unsure = max(unsure, first - (begin - LEAD_SURE_STEPS) * STEP)
    run = [(a, b) for a, b in run if b * STEP > first + SHORTEST_STEPS * STEP] or run[-1:]
    islands = [edged(samples, levels, gate, a, b) for a, b in run]
    islands[0] = replace(
        islands[0],
        first=min(first, islands[0].stop - 1),
        unsure=unsure,
        sound=begin * STEP if leads and begin * STEP < first - BRIEF_STEPS * STEP else None,
    )
    return islands


def _loud(samples: Mono, smooth: Levels, loudness: float) -> int:
    """From which step on a run is surely voice. What leads up to a faint one may be as loud: it is
    told by that it keeps its level."""
    strong = int(np.argmax(smooth >= loudness - STRONG_DB))
    begins = smooth[SMOOTH_STEPS : SMOOTH_STEPS + STEADY_STEPS]
    if len(begins) == STEADY_STEPS and _pitched(samples[: STEADY_STEPS * STEP]).mean() < 0.3:
        level = float(np.median(begins))
        if float(np.ptp(begins)) < ABOVE_NOISE_DB and level < loudness - ABOVE_NOISE_DB:
            strong = max(strong, int(np.argmax(smooth > level + ABOVE_NOISE_DB)))
    if strong <= LEAD_STEPS:
        return strong
    # A voice that begins softly after a breath has a pitch before it is loud.
    pitched = _pitched(samples[: strong * STEP])
    whole = pitched[:-2] & pitched[1:-1] & pitched[2:]
    voiced = PITCH_STEPS * (int(np.argmax(whole)) + 1) if whole.any() else 0
    return voiced if voiced > 2 * LEAD_STEPS else strong


def _out_of_other(levels: Levels, begin: int, strong: int, background: float) -> tuple[int, int]:
    """Where a voice begins to which other sound leads up, and by how much that may be off: back
    from where it is surely voice for as long as it stands out."""
    brief = smoothed(levels[begin : strong + BRIEF_STEPS], BRIEF_STEPS, ahead=True)
    out = np.flatnonzero(brief[: strong - begin + 1] > background + ABOVE_NOISE_DB)
    breaks = np.flatnonzero(np.diff(out) > GAP_STEPS)
    first = begin + int(out[breaks[-1] + 1 if len(breaks) else 0]) if len(out) else strong
    return (first + BRIEF_STEPS // 2) * STEP, round(
        (OTHER_STEPS + OTHER_SHARE * (strong - first)) * STEP
    )


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


def _speaks(samples: Mono, smooth: Levels, begin: int, strong: int, loudness: float) -> bool:
    """Whether what leads up to the loud part of a run is speech: it has a pitch and moves, or could
    be a consonant."""
    lead = smooth[begin : strong - SMOOTH_STEPS]
    pitched = _pitched(samples[begin * STEP : (strong - SMOOTH_STEPS // 2) * STEP])
    if pitched.mean() >= 0.3:
        return bool(lead.std() >= STEADY_DB)
    return len(lead) <= FRICATIVE_STEPS and float(np.median(lead)) > loudness - FRICATIVE_DB


def _pitched(samples: Mono) -> NDArray[np.bool_]:
    """Which frames of 40 ms, each 10 ms, have a pitch of a voice."""
    low = samples[: len(samples) // 6 * 6].reshape(-1, 6).mean(axis=1)
    low = np.pad(low, (0, max(0, 320 - len(low))))
    frames = np.lib.stride_tricks.sliding_window_view(low, 320)[::80]
    spectrum = np.fft.rfft(frames - frames.mean(axis=1, keepdims=True), 1024)
    alike = np.fft.irfft(np.abs(spectrum) ** 2)
    best = alike[:, 20:115].max(axis=1)
    return np.asarray(best > PITCHED * np.maximum(alike[:, 0], 1e-12))


def _floor(smooth: Levels) -> Levels:
    """For each step the level of what is there when nobody speaks."""
    block = int(FLOOR_SECONDS * 1000 / 8)
    count = -(-len(smooth) // block)
    floors = np.empty(count)
    for i in range(count):
        around = smooth[max(0, (i - 4) * block) : (i + 5) * block]
        floors[i] = np.percentile(around, FLOOR_SHARE)
    return np.repeat(floors, block)[: len(smooth)]


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
