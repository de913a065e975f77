"""Speech-like sound for agents that have no voice: syllables of a buzzing source under formants.

No words can be heard in it, but its pace, pitch and spectrum are those of speech, so that detectors
of speech take it as such. The same text gives the same samples. Its first sample is audible, which
makes it fit for measuring when an answer begins. Pure apart from numpy; `simulator.bridge.speaking`
sends it.
"""

from __future__ import annotations

import re
import zlib
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from simulator.protocol.samples import RATE, MonoInt16

WORDS_PER_SECOND = 2.7
_LEVEL = 0.11
"""Root mean square of the voiced parts, full scale being 1 (about -19 dBFS)."""
_EDGE = 0.001
"""Seconds of fade at the beginning: short enough that the onset stays sharp."""
_RELEASE = 0.012
"""Seconds of fade at the end."""
_DIP = 0.45
"""How far the voice sinks between two syllables; never to silence, or it would fall apart."""
_TREMBLE, _TREMBLES = 0.025, 0.01
"""Seconds in which the pitch wanders, and its share by which it does: what keeps it is a tone."""

_FORMANTS = np.array(
    [
        [730, 1090, 2440],  # as in father
        [530, 1840, 2480],  # bed
        [300, 2250, 3000],  # see
        [570, 900, 2410],  # law
        [320, 900, 2240],  # you
        [490, 1350, 1690],  # bird
    ],
    dtype=np.float64,
)
"""Resonances of six vowels in Hz: rounded averages of adult speakers (Peterson and Barney 1952)."""
_WIDTHS = np.array([90.0, 110.0, 160.0])
_TABLE = 2048


@lru_cache(maxsize=1)
def _vowels(base: float = 125.0) -> NDArray[np.float64]:
    """One period of each vowel as a wave table, equal in power.

    Harmonics of `base` weighted by the three resonances; read at another pitch the resonances move
    with it, as between speakers.
    """
    harmonics = np.arange(1, int(3800 / base))
    phase = 2 * np.pi * np.outer(harmonics, np.arange(_TABLE)) / _TABLE
    tables = []
    for formants in _FORMANTS:
        gains = (1.0, 0.6, 0.3) / (
            1 + ((harmonics[:, None] * base - formants[None, :]) / _WIDTHS) ** 2
        )
        weight = gains.sum(axis=1) + 0.05 / harmonics
        table = (weight[:, None] * np.sin(phase)).sum(axis=0)
        tables.append(table / np.sqrt(np.mean(table**2)))
    return np.array(tables)


def syllables(text: str) -> list[int]:
    """Syllables of each word, roughly: groups of vowels, digits by themselves, at least one."""
    words = re.findall(r"[\w'’]+", text)
    return [max(1, len(re.findall(r"[aeiouyäöü]+|\d", w.lower()))) for w in words]


@lru_cache(maxsize=64)
def babble(text: str, *, rate: float = WORDS_PER_SECOND) -> MonoInt16:
    """Speech-like sound as long as saying `text` takes (at least one word's length). Read-only."""
    counts = syllables(text) or [1]
    rng = np.random.default_rng(zlib.crc32(text.encode()))
    total = len(counts) / rate
    lengths = np.repeat([1.0 / c**0.5 for c in counts], counts) * rng.uniform(0.8, 1.2, sum(counts))
    edges = np.concatenate([[0.0], np.cumsum(lengths)])
    edges = np.round(edges / edges[-1] * total * RATE).astype(np.int64)
    n = int(edges[-1])
    at = np.arange(n)

    # Pitch: a voice of its own for each text, falling over the sentence, moving with the syllables.
    pitch = rng.uniform(105, 175) * np.interp(at, [0, n], [1.08, 0.9])
    pitch *= np.interp(at, edges, rng.uniform(0.93, 1.07, len(edges)))
    trembles = np.arange(0, n + _TREMBLE * RATE, _TREMBLE * RATE)
    pitch *= np.interp(at, trembles, rng.normal(1, _TREMBLES, len(trembles)))
    phase = np.cumsum(pitch) / RATE
    index = ((phase - phase[0]) % 1.0 * _TABLE).astype(np.int64)

    # Each syllable glides from one vowel to the next.
    vowels = rng.integers(0, len(_FORMANTS), len(edges))
    syllable = np.searchsorted(edges, at, side="right") - 1
    within = (at - edges[syllable]) / np.maximum(1, np.diff(edges))[syllable]
    tables = _vowels()
    glide = np.clip((within - 0.55) / 0.45, 0, 1)
    voice = (1 - glide) * tables[vowels[syllable], index]
    voice += glide * tables[vowels[syllable + 1], index]

    loud = 1 - _DIP * np.abs(2 * within - 1) ** 4
    loud[: edges[1] // 2] = 1.0  # the first syllable begins at full strength
    voice *= _LEVEL * loud
    rise, fall = int(_EDGE * RATE), int(_RELEASE * RATE)
    voice[:rise] *= np.linspace(0.3, 1, rise)
    voice[-fall:] *= np.linspace(1, 0, fall)
    samples: MonoInt16 = np.clip(np.round(voice * 32767), -32768, 32767).astype(np.int16)
    samples.flags.writeable = False
    return samples
