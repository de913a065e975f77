"""Where in a run of sound a voice begins, and how surely. Pure.

Breath, hiss, hum, music and tones may lead up to it, noise may hide it; each has its own way of
being told from a voice. Counterparts: `simulator.measuring.speech` finds the runs in which somebody
speaks, `simulator.measuring.lead` and `simulator.measuring.onset` look at what comes before and at
noise.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simulator.measuring.edges import STRONG_DB, Island
from simulator.measuring.heard import ABOVE_FLOOR_DB, LOWEST_DB, Heard
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
from simulator.measuring.levels import STEP, Levels
from simulator.measuring.onset import HOP, beginning
from simulator.measuring.tones import few_lines, sung

LOUD_DB = 14.0
"""The loud parts of a run are no further below the loudest."""
LEAD_SURE_STEPS = 8
"""What leads up to a voice began no more than so long before it is audible."""
UNLIKE_DB = 14.0
"""What leads up to a voice and is nearer to it may be voice."""
BACK_STEPS = 400
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
LEADS_STEPS = 1_000
"""So long before a voice ends, at most, what leads up to it."""
BRIEF_WORD_STEPS, PAUSE_STEPS = 90, 100
"""What is as short, and so long before the rest of a voice, may be no part of it but a beep."""
HUMMED_STEPS = 600
"""A deep tone that is shorter may be hummed by the voice that follows."""
CLICK_STEPS = 30
"""What is shorter is a click, if there is no speech in it."""
CUT_STEPS = 25
"""How well the border is known between a tone and the voice that follows at once."""
RUN_STEPS = 250
"""Steps of silence across which islands are one run to the detector."""
SHORTEST_STEPS = 8
"""An island of fewer audible steps is a crackle, not speech."""


def begun(sound: Heard, run: list[tuple[int, int]], after: int) -> list[Island]:
    """The islands of a run from where its voice begins, which is no earlier than step `after`."""
    samples, smooth, floor = sound.samples, sound.smooth, sound.floor
    begin, end = run[0][0], run[-1][1]
    heard = smooth[begin:end]
    voiced_db = loudness(heard)
    gone = breath(samples[begin * STEP : end * STEP], heard, sound.loud[begin:end])
    if gone and floor[begin] + ABOVE_FLOOR_DB <= LOWEST_DB:
        voice = begin + gone
        rest = [(max(a, voice), b) for a, b in run if b > voice]
        islands = begun(sound, rest, voice)
        unsure = islands[0].unsure
        if float(np.median(smooth[begin:voice])) > voiced_db - UNLIKE_DB:
            unsure = max(unsure, islands[0].first - (begin - LEAD_SURE_STEPS) * STEP)
        islands[0] = replace(islands[0], unsure=unsure, sound=begin * STEP)
        return islands
    strong = begin + voice_after(samples[begin * STEP : end * STEP], heard, voiced_db)
    leads = strong - begin > LEAD_STEPS and not speaks(samples, smooth, begin, strong, voiced_db)
    background = float(floor[strong])
    if leads:
        last = LEAD_STEPS if strong - begin > 2 * LEAD_STEPS else LEAD_STEPS // 2
        lead = smooth[begin : strong - last]
        background = max(background, float(np.percentile(lead, 80)))
    quiet = voiced_db < QUIET_DB
    noisy = background + ABOVE_NOISE_DB > LOWEST_DB
    if not (noisy or quiet):
        return [sound.edged(a, b) for a, b in run]
    first, unsure = (
        out_of_other(sound.levels, begin, strong, background)
        if leads
        else _out_of_noise(sound, (begin, strong), after, background, voiced_db)
    )
    if leads and (strong - begin <= FRICATIVE_STEPS or background > voiced_db - UNLIKE_DB):
        # So short a lead may have been a weak consonant after all, and one as loud a voice.
        unsure = max(unsure, first - (begin - LEAD_SURE_STEPS) * STEP)
    loud = begin + int(np.argmax(heard >= voiced_db - STRONG_DB))
    if leads and loud - strong > FRICATIVE_STEPS:
        # What has a pitch for so long before it is loud may be music.
        unsure = max(unsure, (loud + SMOOTH_STEPS) * STEP - first)
    run = [(a, b) for a, b in run if b * STEP > first + SHORTEST_STEPS * STEP] or run[-1:]
    islands = [sound.edged(a, b) for a, b in run]
    islands[0] = replace(
        islands[0],
        first=min(first, islands[0].stop - 1),
        unsure=unsure,
        sound=begin * STEP if leads and begin * STEP < first - BRIEF_STEPS * STEP else None,
    )
    return islands


def _out_of_noise(
    sound: Heard, voice: tuple[int, int], after: int, background: float, voiced_db: float
) -> tuple[int, int]:
    """Where a voice begins in noise or in what is hardly audible, and by how much that may be off.
    `voice`: where it stands out of it, and where it is loud."""
    begin, strong = voice
    back, ahead = max(0, begin - NOISE_STEPS), strong + NOISE_STEPS // 2
    there = sound.smooth[back:ahead:BAND_STEPS]
    noise = there <= max(background, LOWEST_DB - ABOVE_FLOOR_DB) + ABOVE_NOISE_DB
    if noise.sum() < LEAST_NOISE:
        noise = there <= np.percentile(there, 10)
    found = beginning(
        sound.samples[back * STEP : ahead * STEP],
        noise,
        ((max(back, after, begin - BACK_STEPS) - back) * STEP, (strong - back) * STEP),
        audible_db=min(voiced_db - QUIET_BELOW_DB, LOWEST_DB),
    )
    return max(0, back * STEP + found.first), found.unsure


def led_up(
    sound: Heard,
    islands: list[Island],
    leads: list[tuple[int, int]],
    border: tuple[int, int] | None,
) -> Island:
    """The first island of a voice, to which other sound leads up; `border`: the steps between which
    the last of that, a tone, goes over into it."""
    first, unsure = islands[0], islands[0].unsure
    if border is not None:
        unsure = max(unsure, first.first - border[0] * STEP, border[1] * STEP - first.first)
    near = [(a, b) for a, b in leads if first.first // STEP - b < LEADS_STEPS]
    if near and first.first // STEP - near[-1][1] < RUN_STEPS:
        # What is not loud yet may still be of the other sound.
        heard = sound.smooth[first.first // STEP : islands[-1].stop // STEP + 1]
        loud = int(np.argmax(heard >= loudness(heard) - STRONG_DB))
        unsure = max(unsure, (loud + SMOOTH_STEPS) * STEP if loud > LEAD_STEPS else 0)
    for a, b in near:
        if CLICK_STEPS < b - a < HUMMED_STEPS and sung(sound.samples[a * STEP : b * STEP]):
            unsure = max(unsure, first.first - a * STEP)
    brief = first.stop - first.first < BRIEF_WORD_STEPS * STEP
    if brief and len(islands) > 1 and islands[1].first - first.stop > PAUSE_STEPS * STEP:
        beeps = few_lines(sound.samples[first.first : first.stop])
        unsure = max(unsure, islands[1].first - first.first + islands[1].unsure if beeps else 0)
    return replace(first, unsure=unsure, sound=near[0][0] * STEP if near else first.sound)


def loudness(heard: Levels) -> float:
    """Of the loud parts of a run."""
    return float(np.percentile(heard[heard > heard.max() - LOUD_DB], 75))
