"""Voices of drawn people: each line synthesised once, and how a mouth moves with it.

Kokoro speaks, through the project's own engine (`omnistage[kokoro]`); what was spoken is kept in
the cache, so that a scene can be drawn again without it.
Counterpart: `people` lays the lines out.
"""

import hashlib
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np

from simulator.media.cache import Cache
from simulator.speech import finish
from simulator.speech.engine import find_voice
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
        self._speakers: dict[str, object] = {}

    def __enter__(self) -> "Voices":
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def speak(self, text: str, voice: str, rate: float = 1.0) -> Spoken:
        engine, found = find_voice(voice, engines(self._cache))
        name = repr((text, voice, rate, engine.version(), finish.CODE))
        key = hashlib.sha256(name.encode()).hexdigest()
        kept = self._cache.root / "drawn-people" / f"{key}.npy"
        if kept.exists():
            return Spoken(samples=np.load(kept))
        if engine.name not in self._speakers:
            self._speakers[engine.name] = self._stack.enter_context(engine.open())
        said = self._speakers[engine.name].speak(text, found, rate)
        samples, _ = finish.finish(said)
        assert RATE % said.rate == 0
        samples = _doubled(samples, RATE // said.rate)
        kept.parent.mkdir(parents=True, exist_ok=True)
        new = kept.with_suffix(f".new{hash(name)}.npy")
        np.save(new, samples)
        new.replace(kept)
        return Spoken(samples=samples)


def _doubled(samples: np.ndarray, times: int) -> np.ndarray:
    """At a whole multiple of the rate, by zeros in the spectrum above the old one."""
    spectrum = np.fft.rfft(samples)
    longer = np.zeros(len(samples) * times // 2 + 1, complex)
    longer[:len(spectrum)] = spectrum
    return (np.fft.irfft(longer, len(samples) * times) * times).astype(np.float32)


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
