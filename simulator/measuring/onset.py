"""Where a voice begins in noise, and how surely: the most likely change point of ten bands. Pure.

In noise the first sound of a word may not stand out at all, so no threshold tells when it began.
The power of noise varies as chance has it (as the sum of so many squares as it has freedom); a
voice adds to it, in some bands, for a while. How likely each frame is as the first of a voice is
added up over all ways in which the voice may go on from there, and the interval is that of all
beginnings that remain likely. Where the noise may hide a soft beginning, it is as wide as these
are. Counterpart: `simulator.measuring.speech` says that there is speech and which sound is noise.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.protocol.samples import RATE, Mono

Powers = NDArray[np.float64]

HOP = RATE // 500
"""A frame each 2 ms,"""
WINDOW = RATE // 125
"""of 8 ms."""
BANDS_HZ = (80, 330, 580, 830, 1_200, 1_700, 2_400, 3_400, 4_800, 7_000, 11_000)
FREEDOM = 2 * np.diff(BANDS_HZ) * HOP / RATE
"""By so many squares a frame the power of a band of noise is told, at most: by two a hertz and
second."""
AT_ONCE = 8
"""Frames together of which it is seen how the noise varies."""
AHEAD_DB = 25.0
"""So far below a band of a voice a codec lets it out ahead."""
PIECES = (2, 4, 8, 16, 32)
"""Frames over which a voice keeps its level: the more, the less of it is enough to stand out."""
ADDED = 10 ** (np.arange(-3, 36, 3) / 10)
"""What a band of a voice adds, as a share of the noise: each as likely."""
SILENT_BANDS = 0.8
"""Share of the bands to which a voice adds nothing."""
BURIED_FRAMES = 3.0
"""For so many a voice's beginning stands out in no band, on the average."""
OTHER = 1e-5
"""As often a piece of what is before the voice is neither it nor noise: a crackle."""
DOUBT = 0.05
"""What is left out of the interval, both sides together. Pieces overlap, so that these are not
chances; by voices it was found how much leaves two of a hundred out."""
LIKELY = 0.55
"""Where in the interval a beginning is as likely before as after."""
NEAR = RATE // 50
"""A beginning is said to be there, or else where as much of what is likely is so near as can be,"""
AS_MUCH = 0.02
"""but for such a share."""
HIDES = (
    (0, 1), (0, 3), (0, 5), (3, 7), (5, 10), (7, 10), (8, 10), (9, 10), (0, 10),
)  # fmt: skip
"""Bands from, and to, to which a soft beginning (a nasal, an f, an s) may add the same,"""
FAINT = 10 ** (np.arange(-9, 4, 3) / 10)
"""so much,"""
TRACES = (10, 20, 35, 50)
"""for so many frames before what stands out."""
LOUDEST = 6.0
"""Of no frame more is counted,"""
SQUARES = 0.5
"""and of what frames together tell, this share: they overlap."""
TRACE = 0.1
"""How likely there is such a one for the interval to reach over it (a logarithm):"""
HIDDEN = 90 * RATE // 1000
"""that may be so long."""
NOISY_DB = 20.0
"""In noise that is no further below the voice"""
SOFT = 24 * RATE // 1000
"""it may be so long anyhow: the softest sounds leave no trace at all."""
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
    frames = bands(sound, audible_db)
    together = _means(frames, AT_ONCE)
    low, high = np.percentile(together[noise[: len(together)]], [16, 84], axis=0)
    level = (low + high) / 2
    # The mean of n squares varies by the root of 2 / n.
    varies = np.maximum((high - low) / 2 / level, 1e-3)
    freedom = np.minimum(2 / varies**2 / AT_ONCE, FREEDOM)
    voice = np.percentile(frames[between[1] // HOP :], 75, axis=0)
    frames /= np.maximum(level, voice * 10 ** (-AHEAD_DB / 10))
    first, last = between[0] // HOP, between[1] // HOP
    score = likelihoods(frames[first : last + REST], freedom)[: last + 1 - first]
    share = np.exp(score - score.max())
    share /= share.sum()
    found = _interval(share)
    middle = first + int(np.searchsorted(np.cumsum(share), 0.5))
    hides = _traces(frames[: max(0, middle - 2)], freedom) > TRACE
    silent = bands(np.zeros(WINDOW, np.float32), audible_db)[0]
    noisy = np.median(voice / level) < 10 ** (NOISY_DB / 10) and np.median(level / silent) > 2
    least = HIDDEN if hides else SOFT if noisy else 0
    return Beginning(first=found.first + first * HOP, unsure=max(found.unsure, least))


def bands(samples: Mono, audible_db: float = -80.0) -> Powers:
    """Power of each band in each frame over what is not audible; frames are centred on multiples
    of HOP."""
    padded = np.pad(samples.astype(np.float64), (WINDOW // 2, WINDOW // 2))
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP]
    window = np.hanning(WINDOW)
    power = np.abs(np.fft.rfft(frames * window, 2 * WINDOW)) ** 2
    power += np.sum(window**2) * 10 ** (audible_db / 10)
    hz = np.fft.rfftfreq(2 * WINDOW, 1 / RATE)
    edges = np.searchsorted(hz, BANDS_HZ)
    return np.stack([power[:, a:b].mean(axis=1) for a, b in itertools.pairwise(edges)], axis=1)


def likelihoods(frames: Powers, freedom: Powers) -> Powers:
    """For each frame, of all there is, how likely it is (a logarithm) if a voice begins there.

    `frames`: the power in each band, as a multiple of the noise's mean. `freedom`: by how many
    squares a frame it is told in each band.
    """
    count = len(frames)
    pieces = [_stands_out(frames, length, freedom) for length in PIECES]
    voice = np.full(count + 1, -np.inf)
    voice[count] = 0.0
    for k in range(count - 1, -1, -1):
        ways = [
            np.logaddexp(-n / BURIED_FRAMES, np.log(-np.expm1(-n / BURIED_FRAMES)) + piece[k])
            + voice[k + n]
            for n, piece in zip(PIECES, pieces, strict=True)
            if k + n <= count
        ]
        voice[k] = np.logaddexp.reduce(ways) - np.log(len(PIECES)) if ways else voice[k + 1]
    before = np.zeros(count)
    for k in range(1, count):
        crackles = [
            before[k - n] + np.log(OTHER) + piece[k - n]
            for n, piece in zip(PIECES, pieces, strict=True)
            if n <= k
        ]
        before[k] = np.logaddexp.reduce([before[k - 1], *crackles])
    return np.asarray(before + voice[:count])


def _stands_out(frames: Powers, length: int, freedom: Powers) -> Powers:
    """How much likelier (a logarithm) each piece of so many frames is if something adds to some of
    its bands than if it is noise."""
    added = np.logaddexp.reduce(_likelier(_means(frames, length), length * freedom, ADDED), axis=2)
    some = np.log1p(-SILENT_BANDS) - np.log(len(ADDED)) + added
    likelier = np.logaddexp(np.log(SILENT_BANDS), some).sum(axis=1)
    # Less that it adds to none.
    none = len(freedom) * np.log(SILENT_BANDS)
    return np.asarray(likelier + np.log(-np.expm1(none - likelier)) - np.log(-np.expm1(none)))


def _likelier(mean: Powers, squares: Powers, added: Powers) -> Powers:
    """How much likelier (a logarithm) a mean of so many squares is if so much is added to them."""
    return 0.5 * squares[:, None] * (mean[..., None] * (added / (1 + added)) - np.log1p(added))


def _traces(frames: Powers, freedom: Powers) -> float:
    """How likely something faint ends with these frames (a logarithm)."""
    found = [-np.inf]
    for n in (n for n in TRACES if n <= len(frames)):
        mean = np.minimum(frames[-n:], LOUDEST).mean(axis=0)
        each = _likelier(mean, SQUARES * n * freedom, FAINT)
        found += [float(np.logaddexp.reduce(each[a:b].sum(axis=0))) for a, b in HIDES]
    return max(found) - float(np.log(len(FAINT)))


def _means(frames: Powers, length: int) -> Powers:
    """Means of so many frames from each one on."""
    total = np.concatenate([np.zeros((1, frames.shape[1])), np.cumsum(frames, axis=0)])
    return np.asarray((total[length:] - total[:-length]) / length)


def _interval(share: Powers) -> Beginning:
    """The interval of the likely beginnings, given how likely each frame is."""
    total = np.cumsum(share)
    low = int(np.searchsorted(total, DOUBT / 2)) * HOP
    high = int(np.searchsorted(total, 1 - DOUBT / 2)) * HOP + BLUR
    near = np.convolve(share, np.ones(2 * NEAR // HOP + 1), "same")
    as_good = np.flatnonzero(near >= near.max() - AS_MUCH) * HOP + BLUR // 2
    middle = low + LIKELY * (high - low)
    first = min(max(int(as_good[np.argmin(np.abs(as_good - middle))]), low), high)
    return Beginning(first=first, unsure=max(first - low, high - first))
