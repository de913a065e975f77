"""Sound that keeps its pitch as no voice does: beeps, bells, ringing, chords. Pure.

A detector of speech calls them speech, for they are as periodic. But the pitch of a voice moves:
what its spectrum was some hundredths of a second ago does not say what it is now, where a tone's,
or a chord's, goes on turning at the same rates. And what slides is a tone if it is nothing but one
line. Counterparts: `simulator.measuring.speech` counts none of it as speech,
`simulator.measuring.lead` tells breath, hiss and hum from a voice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.measuring.levels import STEP, Levels, levels_db
from simulator.protocol.samples import RATE, Mono

FRAME = RATE // 100
"""Frames of 10 ms, as of the detector of speech."""
LOW = 6
"""Voices and tones are looked at below 4 kHz: samples are averaged by so many."""
WINDOWS, OF_MUSIC = (256, 512), 1_024
"""Averaged samples of a window: a short one fits into a short beep, a long one tells the notes of a
chord apart, and the longest those of music."""
APART, FAR = 2, 4
"""Frames from one window to the next out of which it is told; for LONG frames also from afar: the
pitch of a voice may keep still for a moment."""
LONG, STILL = 18, 0.5
FORETOLD = 0.04
"""Share of the power of a tone, at most, that could not have been foretold."""
LINE_BINS, LINE = 8, 0.985
"""One line holds so much of the power, within so many bins around its peak,"""
LINE_HZ = 400
"""which is no lower: of a hummed m little more is left than its pitch."""
LASTS, LINES_LAST = 4, 3
"""Frames in a row that are foretold, or one line, at least, to be a tone: an hour of voices
has a few."""
MUSIC_FRAMES, MUSIC = 60, 0.3
"""Where so great a share of the frames before, and of those after, is foretold it is music,"""
LOUDER_DB = 6.0
"""but for what stands out of it."""
THROUGH = 0.8
"""What is a tone in so much of it is nothing else."""
RAMP, LEAST = 2, 6
"""A tone may take so many frames to come, and with which a voice begins is no tone if it is over in
fewer."""
SUNG, SUNG_HZ, ALIKE, DEEP = 400, 400, 0.7, 0.03
"""Averaged samples, at most, of which it is seen whether they are alike after one period of no more
Hz, and have such a share of their power below that."""
FEW, LINE_WIDE_HZ = 4, 40
"""Lines of something brief, each as wide to either side."""
_SILENT = 1e-20


@dataclass(frozen=True, slots=True, kw_only=True)
class Tones:
    """Which frames of some sound are tones."""

    steady: NDArray[np.bool_]
    """Those of a tone that goes on, or of music."""
    line: NDArray[np.bool_]
    """Those that are but one line."""

    def through(self, first: int, stop: int) -> bool:
        """Whether the sound between two steps of 1 ms is a tone all through."""
        here = slice(first * STEP // FRAME, -(-stop * STEP // FRAME))
        return float(self._any[here].mean()) >= THROUGH

    def until(self, first: int, stop: int) -> int | None:
        """The step at which a tone ends with which the sound between two steps begins; None if
        it does not begin with one, or is nothing else."""
        here = self._any[first * STEP // FRAME : -(-stop * STEP // FRAME)]
        rests = np.flatnonzero(~here[RAMP:])
        if not len(rests) or rests[0] + RAMP < LEAST or not here[RAMP:LEAST].all():
            return None
        return (first * STEP // FRAME + RAMP + int(rests[0])) * FRAME // STEP

    @property
    def _any(self) -> NDArray[np.bool_]:
        return self.steady | self.line


def tones(samples: Mono, asked: NDArray[np.bool_]) -> Tones:
    """Of each frame whether it is part of a tone; `asked`: which have anything to be heard."""
    count = len(asked)
    steady, line, notes = (np.zeros(count, np.bool_) for _ in range(3))
    for first, stop in _runs(asked):
        near, beyond = max(0, first - 8), min(count, stop + 8)
        piece = samples[near * FRAME : beyond * FRAME]
        spectra = [_spectra(piece, beyond - near, size) for size in WINDOWS]
        told = _held_by(spectra, APART)
        afar = _held_by(spectra, FAR)
        for begin, end in _runs(told):
            if end - begin >= LONG and afar[begin:end].mean() < STILL:
                told[begin:end] = False
        steady[near:beyond] |= told
        music = _spectra(piece, beyond - near, OF_MUSIC)
        notes[near:beyond] |= told | _foretold(music, FAR)
        line[near:beyond] |= _held(_lines(piece, beyond - near), 1, LINES_LAST)
    steady &= asked
    loud = levels_db(samples, FRAME)
    return Tones(steady=steady | _music(notes & asked, asked, loud), line=line & asked)


def sung(samples: Mono) -> bool:
    """Whether sound that keeps its pitch may be of a voice, whose pitch is as low."""
    low = _averaged(samples)
    middle = low[max(0, (len(low) - SUNG) // 2) :][:SUNG]
    power = np.abs(np.fft.rfft(middle * np.hanning(len(middle)))) ** 2
    deep = power[: round(SUNG_HZ * len(middle) * LOW / RATE) + 1]
    if deep.sum() < DEEP * power.sum():
        return False
    lags = range(1, len(middle) // 2)
    alike = np.array([np.corrcoef(middle[lag:], middle[:-lag])[0, 1] for lag in lags])
    # Near to itself all sound is alike.
    after = int(np.argmax(alike < ALIKE / 2))
    period = after + int(np.argmax(alike[after:] > ALIKE)) + 1
    return bool(alike[period - 1] > ALIKE and RATE / LOW / period < SUNG_HZ)


def few_lines(samples: Mono) -> bool:
    """Whether something brief is made of so few lines as a voice is not."""
    low = _averaged(samples)
    power = np.abs(np.fft.rfft(low * np.hanning(len(low)))) ** 2
    power /= max(float(power.sum()), _SILENT)
    beside = round(LINE_WIDE_HZ * len(low) * LOW / RATE) + 1
    held = 0.0
    for _ in range(FEW):
        peak = int(np.argmax(power))
        near = slice(max(0, peak - beside), peak + beside + 1)
        held += float(power[near].sum())
        power[near] = 0
    return held > LINE


def _held_by(spectra: list[NDArray[np.complex64]], apart: int) -> NDArray[np.bool_]:
    """Which frames lie in runs that one of the windows foretells, with all that it holds."""
    held = np.zeros(len(spectra[0]), np.bool_)
    for each, size in zip(spectra, WINDOWS, strict=True):
        held |= _held(_foretold(each, apart), apart + size * LOW // FRAME // 2, LASTS)
    return held


def _foretold(spectra: NDArray[np.complex64], apart: int) -> NDArray[np.bool_]:
    """Which frames are as those so far from them say."""
    before, here, after = spectra[: -2 * apart], spectra[apart:-apart], spectra[2 * apart :]
    large, large_before = np.abs(here), np.abs(before)
    foretold = np.maximum(2 * large - large_before, 0)
    # It turns on as it has turned: by the angle between the two.
    turned = here * here * before.conj()
    told = turned * (foretold / np.maximum(large * large * large_before, _SILENT))
    wrong = np.sum(np.abs(after - told) ** 2, axis=1)
    power = np.sum(np.abs(after) ** 2 + foretold**2, axis=1)
    alike = np.zeros(len(spectra), np.bool_)
    alike[apart:-apart] = (power > _SILENT) & (wrong < FORETOLD * power)
    return alike


def _held(told: NDArray[np.bool_], reach: int, lasts: int) -> NDArray[np.bool_]:
    """Those that lie in runs that last, with what they looked at beside them."""
    out = np.zeros(len(told), np.bool_)
    for first, stop in _runs(told):
        if stop - first >= lasts:
            out[max(0, first - reach) : stop + reach] = True
    return out


def _lines(samples: Mono, count: int) -> NDArray[np.bool_]:
    power = np.abs(_spectra(samples, count, WINDOWS[0])) ** 2
    total = np.concatenate([np.zeros((count, 1)), np.cumsum(power, axis=1)], axis=1)
    peak = np.argmax(power, axis=1)
    row = np.arange(count)
    low, high = np.maximum(peak - LINE_BINS, 0), np.minimum(peak + LINE_BINS + 1, power.shape[1])
    held = total[row, high] - total[row, low]
    high_enough = peak * (RATE / LOW) >= LINE_HZ * 2 * WINDOWS[0]
    return np.asarray(high_enough & (total[:, -1] > _SILENT) & (held > LINE * total[:, -1]))


def _music(notes: NDArray[np.bool_], asked: NDArray[np.bool_], loud: Levels) -> NDArray[np.bool_]:
    """Those among which there are so many of its notes and that are no louder."""
    held = np.where(notes, 10 ** (loud / 10), 0.0)
    toned, heard, power = (_total(of) for of in (notes, asked, held))
    at = np.arange(len(notes))
    before, after = np.maximum(at - MUSIC_FRAMES, 0), np.minimum(at + MUSIC_FRAMES, len(at))
    music = asked.copy()
    for first, stop in ((before, at), (at, after)):
        count = toned[stop] - toned[first]
        music &= count > MUSIC * np.maximum(heard[stop] - heard[first], MUSIC_FRAMES / 2)
        mean = (power[stop] - power[first]) / np.maximum(count, 1)
        music &= loud < 10 * np.log10(np.maximum(mean, _SILENT)) + LOUDER_DB
    return music


def _total(values: NDArray[np.bool_] | Levels) -> Levels:
    return np.concatenate([[0.0], np.cumsum(values)])


def _spectra(samples: Mono, count: int, size: int) -> NDArray[np.complex64]:
    """Of a window around the middle of each frame."""
    low = _averaged(samples)
    hop = FRAME // LOW
    padded = np.pad(low, (size // 2 - hop // 2, size + hop))
    frames = np.lib.stride_tricks.sliding_window_view(padded, size)[::hop][:count]
    return np.asarray(
        np.fft.rfft(frames * np.hanning(size).astype(np.float32), max(size, 2 * WINDOWS[0]), axis=1)
    )


def _averaged(samples: Mono) -> Mono:
    whole = samples[: len(samples) // LOW * LOW].reshape(-1, LOW)
    return np.asarray(whole.mean(axis=1), np.float32)


def _runs(true: NDArray[np.bool_]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate([[False], true, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]
