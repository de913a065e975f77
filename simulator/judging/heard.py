"""What could be heard of an answer: an independent recogniser on the recorded sound.

After a barge-in, what a model says that it said and what was heard differ. A recogniser is
`moonshine`, a class in a file, or installed under the entry point `omnistage.recognisers`
(judges/README.md). Counterparts: `simulator.measuring.sound` decodes, `simulator.judging.by_ear`
puts what was heard before a judge.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Protocol, cast

import numpy as np

from simulator.errors import InputError, JudgeError
from simulator.measuring.trace import Speech
from simulator.plugins import load
from simulator.protocol.samples import RATE, Mono
from simulator.speech.hearing import recogniser

if TYPE_CHECKING:
    from simulator.measuring.stretch import Stretch

DEFAULT = "moonshine"
"""The recogniser that is taken where none is named: it comes with an extra."""
BEFORE, AFTER = 0.2, 0.3
"""Seconds of sound around a run of speech that a recogniser gets too."""
PAUSE = 0.3
"""Seconds of silence put between runs."""
RECORDINGS = 4
"""Decoded recordings that are kept for their next turn."""


class Recogniser(Protocol):
    """A recogniser of speech. It runs in a thread, one call at a time."""

    name: ClassVar[str]
    version: ClassVar[str]
    """Changes whenever the same sound could become other words."""

    def transcribe(self, samples: Mono, rate: int) -> str:
        """The words in mono sound from -1 to 1; empty if there are none."""
        ...


class Moonshine:
    """Moonshine's tiny model: English, on this machine, without a network."""

    name: ClassVar[str] = DEFAULT
    version: ClassVar[str] = "tiny-en"

    def __init__(self) -> None:
        """Raises MissingExtra."""
        self._hear = recogniser()

    def transcribe(self, samples: Mono, rate: int) -> str:
        assert rate == RATE, rate
        return self._hear(np.stack([samples, samples], axis=1))


def load_recogniser(reference: str) -> Recogniser:
    """The one that is named. Raises InputError, which says what is installed."""
    if reference == DEFAULT:
        return Moonshine()
    try:
        return cast("Recogniser", load("recognisers", reference))
    except InputError as error:
        if not error.hint.startswith("There are: none"):
            raise
        raise InputError(error.message, hint=f"{DEFAULT} comes with it; or name a file") from None


class Listener:
    """Puts the sound of responses before a recogniser, each only once."""

    def __init__(self, recogniser: Recogniser) -> None:
        self.recogniser = recogniser
        self._known: dict[tuple[Path, tuple[Speech, ...]], str] = {}
        self._decoded: dict[Path, list[Stretch]] = {}
        self._one = asyncio.Lock()

    @property
    def told(self) -> str:
        return f"{self.recogniser.name} {self.recogniser.version}"

    async def hear(self, recording: Path, runs: Sequence[Speech]) -> str:
        """The words heard in `runs`. Raises JudgeError if the recogniser fails, RecordingError."""
        key = (recording, tuple(runs))
        async with self._one:
            if key not in self._known:
                self._known[key] = await asyncio.to_thread(self._hear, recording, runs)
        return self._known[key]

    def _hear(self, recording: Path, runs: Sequence[Speech]) -> str:
        sound = self._cut(recording, runs)
        if not len(sound):
            return ""
        try:
            return self.recogniser.transcribe(sound, RATE).strip()
        except Exception as error:
            # Other people's code: whatever it raises is no verdict.
            what = f"{type(error).__name__}: {error}"
            raise JudgeError(f"recogniser {self.told} raised {what}") from error

    def _cut(self, recording: Path, runs: Sequence[Speech]) -> Mono:
        """The sound of the runs, joined with pauses."""
        parts: list[Mono] = []
        for run in runs:
            begins = run.start if run.sent is None else run.sent
            ends = run.end if run.sent_end is None else run.sent_end
            for stretch in self._stretches(recording):
                first = max(0, stretch.sample(begins - BEFORE))
                last = min(len(stretch.samples), stretch.sample(ends + AFTER))
                if first < last:
                    parts += [stretch.samples[first:last]]
                    parts += [np.zeros(round(PAUSE * RATE), np.float32)]
        return np.concatenate(parts) if parts else np.zeros(0, np.float32)

    def _stretches(self, folder: Path) -> list[Stretch]:
        """The agent's sound."""
        if folder not in self._decoded:
            from simulator.measuring.sound import agent_sound
            from simulator.recording.reader import Recording

            while len(self._decoded) >= RECORDINGS:
                del self._decoded[next(iter(self._decoded))]
            self._decoded[folder] = list(agent_sound(Recording.open(folder)))
        return self._decoded[folder]
