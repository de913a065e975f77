"""What a speech engine is, and which one speaks with a voice: one door for all of them.

A voice is named as the scenario's `voices` names it: by its own name (`af_heart`), or with its
engine before it (`espeak:en-us`). No name takes the first engine that is installed, with its own
first voice.
Counterparts: `simulator.speech.engines` has the engines, `simulator.speech.render` asks them.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from simulator.errors import InputError, MissingExtra
from simulator.protocol.samples import Mono


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """A voice of an engine."""

    engine: str
    name: str
    language: str
    """As BCP 47 has it, in lower case: `en-us`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speech:
    """What an engine said, as it came."""

    samples: Mono
    rate: int
    """Samples a second: engines differ."""


class Speaker(Protocol):
    """An engine that is running."""

    def speak(self, text: str, voice: Voice, rate: float) -> Speech:
        """`text` in `voice`, `rate` times as fast as it speaks by itself.

        Raises InputError for what the user can mend (no network, an unknown voice).
        """
        ...


class Engine(Protocol):
    """A way to speak. Nothing heavy is imported before `open`."""

    @property
    def name(self) -> str: ...

    @property
    def summary(self) -> str:
        """What it is, in a few words."""
        ...

    def missing(self) -> str:
        """What it lacks on this machine and what to install; empty if it can speak."""
        ...

    def version(self) -> str:
        """Of the engine and its weights: another one may say the same text in another way."""
        ...

    def voices(self) -> Sequence[Voice]:
        """The voices that are known; the first is the one for a scenario that names none."""
        ...

    def voice(self, name: str) -> Voice | None:
        """The voice of that name; also one that is not among `voices` where there are too many."""
        ...

    def open(self) -> AbstractContextManager[Speaker]:
        """Start what has to run, until the context ends. Raises InputError."""
        ...


def find_voice(asked: str, engines: Sequence[Engine]) -> tuple[Engine, Voice]:
    """The engine and the voice meant by a name. Raises InputError, with the nearest names, for one
    that is not known, and MissingExtra for one whose engine is not installed."""
    engine, voice = _known(asked, engines)
    if lacking := engine.missing():
        raise MissingExtra(
            f"voice {asked or voice.name!r} is one of {engine.name}'s: {lacking}",
            hint=_others(engines),
        )
    return engine, voice


def _known(asked: str, engines: Sequence[Engine]) -> tuple[Engine, Voice]:
    if not asked:
        there = next((e for e in engines if not e.missing()), engines[0])
        return there, there.voices()[0]
    head, colon, name = asked.partition(":")
    if colon:
        for engine in engines:
            if engine.name == head:
                if voice := engine.voice(name):
                    return engine, voice
                known = [v.name for v in engine.voices()]
                raise InputError(f"{head} has no voice {name!r}{_near(name, known)}")
        raise InputError(
            f"voice {asked!r}: there is no speech engine {head!r}"
            f"{_near(head, [e.name for e in engines])}"
        )
    for engine in engines:
        if voice := engine.voice(asked):
            return engine, voice
    known = [v.name for e in engines for v in e.voices()]
    raise InputError(
        f"no voice is called {asked!r}{_near(asked, known)}", hint="see: omnistage voices"
    )


def _near(name: str, known: Sequence[str]) -> str:
    by_lower = {k.lower(): k for k in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=3, cutoff=0.5)
    shown = [by_lower[n] for n in near]
    if shown:
        return f"; did you mean {' or '.join(shown)}?"
    return f"; it has {', '.join(known[:6])}{' and others' if len(known) > 6 else ''}"


def _others(engines: Sequence[Engine]) -> str:
    there = [f"{e.name} ({e.voices()[0].name})" for e in engines if not e.missing()]
    if not there:
        return "no other engine is installed; the lightest: pip install 'omnistage[espeak]'"
    return f"installed here, with a voice each: {', '.join(there)}"
