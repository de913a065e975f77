"""Where a voice begins in noise, and how surely: the most likely change point of ten bands. Pure.

In noise the first sound of a word may not stand out at all, so no threshold tells when it began. A
voice stands out in some bands first: each frame is held against how the noise of each band varies,
and the interval is that of all beginnings that remain likely. Before what stands out it is as wide
as speech that is buried usually lasts. Counterpart: `simulator.measuring.speech` says that there is
speech and which sound is noise.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.protocol.samples import RATE, Mono

Levels = NDArray[np.float64]

HOP = RATE // 500
"""A frame each 2 ms,"""
WINDOW = RATE // 125
"""of 8 ms."""
BANDS_HZ = (80, 330, 580, 830, 1_200, 1_700, 2_400, 3_400, 4_800, 7_000, 11_000)
LEAST_DB = 0.5
"""Noise varies by no less."""
AHEAD_DB = 25.0
"""So far below a band of a voice a codec lets it out ahead."""
SPREAD_DB = 40.0
"""How far a band of a voice may stand out."""
SILENT_BANDS = 0.85
"""Share of the bands of a voice in which it does not stand out."""
PIECES = (2, 4, 8, 16, 32)
"""Frames over which a voice keeps its level: the more, the less of it is enough to stand out."""
BURIED_FRAMES, BURIED_LESS, BURIED_LEAST = 7.5, 0.25, 1.5
"""Frames for which a voice's beginning stands out in no band: so many on the average, so many less
for each dB by which the voice is above the noise, and at least."""
SURPRISE = 8.0
"""What one piece can say, at most (a logarithm): none is proof."""
ALIKE = HOP / WINDOW
"""Share of a frame that the one before has not told."""
DOUBT = 0.07
"""What is left out of the interval, both sides together. Pieces overlap, so that these are not
chances; by voices it was found how much leaves two of a hundred out."""
LIKELY = 0.55
"""Where in the interval a beginning is as likely before as after."""
TRACES = (10, 20, 35, 50)
"""So many frames together may tell of a soft beginning before what stands out,"""
LOUDEST = 2.5
"""no single one of them, by more than so many standard deviations,"""
TRACE = 1.7
"""if in some band they are by so many standard errors above the noise:"""
HIDDEN = 90 * RATE // 1000
"""that may be so long."""
REST = 16
"""Frames that are looked at beyond where there surely is a voice."""
BLUR = RATE // 120
"""How long after its middle a frame may hear what begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """When a voice begins, in samples."""

    first: int
    """The likeliest, near the middle of the interval."""
    unsure: int
    """By how much it may be off: so far it is to the farther end."""


def beginning(
    sound: Mono, noise: NDArray[np.bool_], between: tuple[int, int], *, audible_db: float
) -> Beginning:
    """Where in `sound` a voice begins: at neither of two samples, but `between`; at the second one
    there surely is one.

    `noise`: for each frame of it, whether it is known to hold no voice. `audible_db`: the level
    below which nothing counts, in dB of full scale.
    """
    frames = bands_db(sound, audible_db)
    voice = np.percentile(frames[between[1] // HOP :], 75, axis=0)
    known = frames[: len(noise)][noise[: len(frames)]]
    level = np.median(known, axis=0)
    above = np.percentile(known, 84, axis=0) - level
    spread = np.maximum(np.maximum(above, known.std(axis=0)), LEAST_DB)
    buried = max(BURIED_LEAST, BURIED_FRAMES - BURIED_LESS * float(np.median(voice - level)))
    level = np.maximum(level, voice - AHEAD_DB)
    first, last = between[0] // HOP, between[1] // HOP
    found = _interval(
        likelihoods(frames[first : last + REST], level, spread, buried)[: last + 1 - first]
    )
    at = found.first // HOP + first
    above = (frames[:at] - known.mean(axis=0)) / np.maximum(known.std(axis=0), LEAST_DB)
    traces = _traces(np.minimum(above, LOUDEST))
    unsure = max(found.unsure, HIDDEN) if traces > TRACE else found.unsure
    return Beginning(first=found.first + first * HOP, unsure=unsure)


def bands_db(samples: Mono, audible_db: float = -80.0) -> Levels:
    """Level of each band in each frame over what is not audible; frames are centred on multiples
    of HOP."""
    padded = np.pad(samples.astype(np.float64), (WINDOW // 2, WINDOW // 2))
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP]
    window = np.hanning(WINDOW)
    power = np.abs(np.fft.rfft(frames * window, 2 * WINDOW)) ** 2
    power += np.sum(window**2) * 10 ** (audible_db / 10)
    hz = np.fft.rfftfreq(2 * WINDOW, 1 / RATE)
    edges = np.searchsorted(hz, BANDS_HZ)
    sums = np.stack([power[:, a:b].mean(axis=1) for a, b in itertools.pairwise(edges)])
    return np.asarray(10 * np.log10(sums.T))


def likelihoods(frames: Levels, level: Levels, spread: Levels, buried: float) -> Levels:
    """For each frame, of all that comes, how much likelier it is (a logarithm) if a voice begins
    there than if none does. `buried`: for how many frames it stands out nowhere as a rule."""
    count = len(frames)
    total = np.concatenate([np.zeros((1, frames.shape[1])), np.cumsum(frames - level, axis=0)])
    says: list[Levels] = []
    sharp = np.zeros(0, np.bool_)
    for length in PIECES:
        mean = (total[length:] - total[:-length]) / length
        sure = spread * min(1.0, (length * ALIKE) ** -0.5)
        z = np.maximum(mean / sure, -1.0)
        # The density of noise is normal; of a voice it is even, and as blurred below.
        noise = -0.5 * z**2 - np.log(sure * np.sqrt(2 * np.pi))
        voice = np.log(_below(z) / SPREAD_DB + 1e-12)
        stands_out = np.exp(np.clip(voice - noise, -30, 30))
        # In some band it stands out: that it does in none is what `buried` is about.
        likelier = np.log(SILENT_BANDS + (1 - SILENT_BANDS) * stands_out).sum(axis=1)
        nowhere = len(spread) * np.log(SILENT_BANDS)
        likelier = likelier + np.log(-np.expm1(nowhere - likelier))
        if says:
            # A piece does not reach over the edge of something that stands out by itself.
            edges = np.concatenate([[0], np.cumsum(sharp)])
            reach = np.minimum(np.arange(len(likelier)) + length - PIECES[0] + 1, len(sharp))
            likelier[edges[reach] > edges[: len(likelier)]] = -np.inf
        else:
            sharp = likelier > SURPRISE
        audible = np.minimum(likelier, SURPRISE) + np.log(-np.expm1(-length / buried))
        says.append(np.logaddexp(-length / buried, audible) - np.log(len(PIECES)))
    out = np.zeros(count + 1)
    for k in range(count - 1, -1, -1):
        ways = [says[i][k] + out[k + n] for i, n in enumerate(PIECES) if k + n <= count]
        out[k] = np.logaddexp.reduce(ways) if ways else out[k + 1]
    return out[:count]


def _traces(above: Levels) -> float:
    """By how many standard errors frames that end where a voice stands out are above noise."""
    found = [
        float(above[-n:].mean(axis=0).max()) / min(1.0, (n * ALIKE) ** -0.5)
        for n in TRACES
        if len(above) >= n
    ]
    return max(found, default=0.0)


def _below(z: Levels) -> Levels:
    """Share of a normal distribution below."""
    return np.asarray(1 / (1 + np.exp(-1.702 * z)))


def _interval(score: Levels) -> Beginning:
    """The interval of the likely beginnings, given how likely each is."""
    share = np.exp(score - score.max())
    total = np.cumsum(share) / share.sum()
    low = int(np.searchsorted(total, DOUBT / 2)) * HOP
    high = int(np.searchsorted(total, 1 - DOUBT / 2)) * HOP + BLUR
    first = low + round(LIKELY * (high - low))
    return Beginning(first=first, unsure=max(first - low, high - first))
