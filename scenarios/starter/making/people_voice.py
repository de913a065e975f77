"""Voices of drawn people: each line synthesised once, and how a mouth moves with it.

Kokoro speaks, through the project's own engine (`omnistage[kokoro]`). What was spoken lies in the
project's cache as `omnistage render-speech` keeps it, so neither speaks a line of the other again.
Counterpart: `people` lays the lines out.
"""

import json
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from simulator.media.cache import Cache, key_of
from simulator.media.sound import load
from simulator.speech import finish
from simulator.speech.engine import Speaker, find_voice
from simulator.speech.engines import engines

RATE = 48_000


@dataclass(frozen=True, kw_only=True)
class Spoken:
    """A line's sound: its first and its last sample are audible."""

    samples: np.ndarray
    """One channel at RATE."""

    @property
    def seconds(self) -> float:
        return len(self.samples) / RATE


class Voices:
    """Speaks texts, with the engine started only where the cache has not got one."""

    def __init__(self) -> None:
        self._cache = Cache()
        self._stack = ExitStack()
        self._engines = engines(self._cache)
        self._speakers: dict[str, Speaker] = {}

    def close(self) -> None:
        """End the engine."""
        self._stack.close()

    def speak(self, text: str, voice: str, rate: float = 1.0) -> Spoken:
        engine, found = find_voice(voice, self._engines)
        key = key_of("speech", finish.CODE, engine.name, engine.version(), found.name, rate, text)

        def build(folder: Path) -> None:
            if engine.name not in self._speakers:
                self._speakers[engine.name] = self._stack.enter_context(engine.open())
            said = self._speakers[engine.name].speak(text, found, rate)
            samples, seconds = finish.finish(said)
            finish.write_flac(folder / "speech.flac", samples, said.rate)
            (folder / "speech.json").write_text(json.dumps({"seconds": seconds}))

        file = self._cache.entry(key, lambda folder: folder / "speech.flac", build)
        return Spoken(samples=load(file).mean(axis=1))


def muffled(samples: np.ndarray, above: float = 1100.0, level: float = 0.8) -> np.ndarray:
    """As through a closed door: highs taken away, 12 dB an octave from `above` Hz."""
    spectrum = np.fft.rfft(samples)
    hertz = np.fft.rfftfreq(len(samples), 1 / RATE)
    out = np.fft.irfft(spectrum / (1 + (hertz / above) ** 2), len(samples))
    loud = np.sqrt(np.mean(samples**2) / max(1e-12, np.mean(out**2)))
    return (out * loud * level).astype(np.float32)


def knock(times: int = 3) -> np.ndarray:
    """Knuckles on a door."""
    rng = np.random.default_rng(7)
    t = np.arange(round(0.16 * RATE)) / RATE
    body = np.sin(2 * np.pi * 165 * t) + 0.6 * np.sin(2 * np.pi * 310 * t)
    one = (body + 0.5 * rng.standard_normal(len(t))) * np.exp(-t * 42)
    out = np.zeros(round(0.24 * RATE) * times, np.float32)
    for k in range(times):
        at = k * round(0.24 * RATE)
        out[at:at + len(one)] += one[:len(out) - at].astype(np.float32)
    return out * np.float32(0.22 / np.abs(out).max())


def opening(samples: np.ndarray, fps: int, frames: int) -> tuple[np.ndarray, np.ndarray]:
    """(how open, how wide) the mouth is in each frame, from loudness and from brightness."""
    step = RATE // fps
    padded = np.pad(samples, (0, max(0, frames * step - len(samples))))[:frames * step]
    windows = padded.reshape(frames, step)
    loud = np.sqrt(np.mean(windows**2, axis=1))
    full = np.percentile(loud[loud > 0.003], 90) if (loud > 0.003).any() else 1.0
    opened = np.clip(loud / full, 0, 1.15) ** 0.75
    opened[opened < 0.08] = 0.0
    # Bright sounds (s, ee) spread the lips, dark ones (oo, oh) round them.
    steep = np.sqrt(np.mean(np.diff(windows, axis=1) ** 2, axis=1)) / np.maximum(loud, 1e-4)
    wide = np.clip((steep - 0.10) / 0.12, -1, 1)
    return opened, wide
