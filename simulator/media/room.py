"""Room tone: the sound of nothing happening, which fills a hold. Pure.

It is noise with the level and colour of the clip's own quietest moments, held between -70 and
-50 dBFS, and made from a spectrum, so that a second of it loops without a seam and says nothing
twice. Counterpart: `simulator.media.prepare` listens to the segment with `Quietest` on its way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from simulator.protocol.samples import Stereo
from simulator.protocol.tracks import AUDIO_CLOCK

LOWEST, HIGHEST = 10 ** (-70 / 20), 10 ** (-50 / 20)
"""RMS between which the tone lies, full scale 1.0."""
_WINDOW = 4096
_KEPT = 5


class Quietest:
    """Watches sound go by and keeps its quietest stretches."""

    def __init__(self) -> None:
        self._best: list[tuple[float, Stereo]] = []
        self._rest: Stereo = np.zeros((0, 2), np.float32)

    def watch(self, blocks: Iterable[Stereo]) -> Iterator[Stereo]:
        """Pass `blocks` on unchanged."""
        for block in blocks:
            self._rest = np.concatenate((self._rest, block)) if len(self._rest) else block
            while len(self._rest) >= _WINDOW:
                self._note(self._rest[:_WINDOW])
                self._rest = self._rest[_WINDOW:]
            yield block

    def _note(self, window: Stereo) -> None:
        level = float(np.sqrt(np.mean(np.square(window))))
        if len(self._best) < _KEPT or level < self._best[-1][0]:
            self._best.append((level, window.copy()))
            self._best = sorted(self._best, key=lambda kept: kept[0])[:_KEPT]

    def tone(self, highest: float = HIGHEST) -> Stereo:
        """A second of room tone, whose end runs on into its start. `highest`: its RMS at most."""
        rng = np.random.default_rng(20)
        bins = AUDIO_CLOCK // 2 + 1
        level, shape = LOWEST, np.ones(bins)
        if self._best and self._best[0][0] > 0:
            level = float(np.clip(np.median([kept[0] for kept in self._best]), LOWEST, highest))
            windows = np.stack([kept[1].mean(axis=1) for kept in self._best])
            spectrum = np.abs(np.fft.rfft(windows * np.hanning(_WINDOW), axis=1)).mean(axis=0)
            # Smoothed over a third of a kilohertz: the colour of the room, not a note in it.
            smooth = np.convolve(spectrum, np.ones(29) / 29, mode="same")
            shape = np.interp(np.linspace(0, 1, bins), np.linspace(0, 1, len(smooth)), smooth)
        shape[:40] = 0.0
        shape[18_000:] = 0.0
        channels = []
        for _ in range(2):
            phases = np.exp(2j * np.pi * rng.random(bins))
            noise = np.fft.irfft(shape * phases, AUDIO_CLOCK)
            channels.append(noise * (level / max(1e-12, float(np.sqrt(np.mean(noise**2))))))
        return np.stack(channels, axis=1).astype(np.float32)
