"""An engine that is always there, and a scenario to speak."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from simulator.errors import InputError
from simulator.media.cache import Cache
from simulator.speech.engine import Speech, Voice

RATE = 24_000


@dataclass
class Bell:
    """Speaks a word as a burst of tone; counts what it was asked."""

    name: str = "bell"
    summary: str = "rings"
    lacks: str = ""
    made: str = "1"
    said: list[str] = field(default_factory=list)
    starts: int = 0
    fails_at: str = ""

    def missing(self) -> str:
        return self.lacks

    def version(self) -> str:
        return self.made

    def voices(self) -> Sequence[Voice]:
        return [
            Voice(engine=self.name, name=f"{self.name}_{n}", language=language)
            for n, language in (("high", "en-us"), ("low", "en-gb"), ("oriental", "ja"))
        ]

    def voice(self, name: str) -> Voice | None:
        return next((v for v in self.voices() if v.name == name), None)

    @contextmanager
    def open(self) -> Iterator[Bell]:
        self.starts += 1
        yield self

    def speak(self, text: str, voice: Voice, rate: float) -> Speech:
        if text == self.fails_at:
            raise InputError("bell is cracked", hint="cast another")
        self.said.append(text)
        time = np.arange(round(RATE * 0.3 * len(text.split()) / rate)) / RATE
        tone = 0.05 * np.sin(2 * np.pi * 440 * time)
        quiet = np.zeros(RATE // 5)
        return Speech(samples=np.concatenate([quiet, tone, quiet]).astype(np.float32), rate=RATE)


@pytest.fixture
def bell() -> Bell:
    return Bell()


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


Write = Callable[..., Path]

TURNS = """\
  - until: 5
    say: How many bottles are there?
    answer: Three.
  - until: 10
    say:
      text: Is it lunch time?
      voice: guest
    quiet: true
"""


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes a scenario into a folder of its own."""

    def make(turns: str = TURNS, *, guest: str = "bell_low", name: str = "made") -> Path:
        folder = tmp_path / "scenario"
        folder.mkdir(exist_ok=True)
        (folder / "own.mp4").write_bytes(b"clip")
        path = folder / f"{name}.yaml"
        path.write_text(
            f"version: 1\nid: {name}\nclip: own.mp4\nvoices:\n  guest: {guest}\nturns:\n{turns}",
            encoding="utf-8",
        )
        return path

    return make
