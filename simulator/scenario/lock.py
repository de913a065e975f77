"""The lock file beside a scenario, `speech/lock.json`: which sound is the speech of which text.

A run plays what it names, so a scenario sounds the same on every machine, also on one that has no
speech engine. Counterparts: `simulator.speech.render` writes it, `simulator.scenario.load` reads.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.whole_file import put_file

VERSION = 1
FOLDER = "speech"
NAME = "lock.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sound:
    """One rendered text."""

    text: str
    """As in the scenario, with single spaces."""
    asked: str
    """The voice as the scenario names it; empty if it names none."""
    rate: float
    engine: str
    voice: str
    """The voice that spoke, as its engine calls it."""
    language: str
    """Of that voice."""
    version: str
    """Of the engine and its weights."""
    file: str
    """In the folder of the lock file."""
    sha256: str
    """Of that file."""
    seconds: float
    """How long it is audible."""

    @property
    def wanted(self) -> Wanted:
        return Wanted(text=self.text, asked=self.asked, rate=self.rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What decides which sound is played: text, voice and rate, as the scenario has them."""

    text: str
    asked: str
    rate: float

    @classmethod
    def of(cls, text: str, asked: str, rate: float) -> Wanted:
        return cls(text=" ".join(text.split()), asked=asked, rate=round(rate, 3))


class Lock:
    """The lock file of a scenario's folder, as read. A missing one is an empty one."""

    def __init__(self, scenario_folder: Path) -> None:
        self.folder = scenario_folder / FOLDER
        self.path = self.folder / NAME
        self.problem = ""
        """Why it cannot be read; empty if it can."""
        self._sounds: dict[Wanted, Sound] = {}
        try:
            self._sounds = {s.wanted: s for s in _parse(self.path.read_text(encoding="utf-8"))}
        except (FileNotFoundError, NotADirectoryError):
            pass
        except OSError as error:
            self.problem = f"{FOLDER}/{NAME} cannot be read: {error.strerror or error}"
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            why = error if isinstance(error, ValueError) else "it is not as it was written"
            self.problem = f"{FOLDER}/{NAME} cannot be read: {why}"

    def sounds(self) -> list[Sound]:
        return list(self._sounds.values())

    def find(self, wanted: Wanted) -> tuple[Path | None, str]:
        """The sound of what is wanted, or None and why there is none."""
        if self.problem:
            return None, self.problem
        sound = self._sounds.get(wanted)
        if sound is None:
            return None, "is not rendered to speech yet"
        path = self.folder / sound.file
        try:
            data = path.read_bytes()
        except OSError:
            return None, f"its speech {FOLDER}/{sound.file} is not there"
        if hashlib.sha256(data).hexdigest() != sound.sha256:
            return None, f"its speech {FOLDER}/{sound.file} is not what {FOLDER}/{NAME} says it is"
        return path, ""

    def get(self, wanted: Wanted) -> Sound | None:
        return self._sounds.get(wanted)


def write(folder: Path, sounds: Iterable[Sound]) -> None:
    """Write `speech/lock.json` under a scenario's folder, ordered so that changes read well."""
    ordered = sorted(sounds, key=lambda s: (s.text, s.asked, s.rate))
    body = {"version": VERSION, "sounds": [dataclasses.asdict(s) for s in ordered]}
    put_file(folder / FOLDER / NAME, json.dumps(body, indent=1, ensure_ascii=False) + "\n")


def _parse(text: str) -> list[Sound]:
    body = json.loads(text)
    version = body["version"]
    if version != VERSION:
        raise ValueError(f"it has version {version}; this Omnistage reads {VERSION}")
    return [_sound(row) for row in body["sounds"]]


def _sound(row: dict[str, Any]) -> Sound:
    file = str(row["file"])
    if Path(file).name != file or file in ("", ".", ".."):
        raise ValueError(f"{file!r} is no file of its folder")
    return Sound(
        text=str(row["text"]),
        asked=str(row["asked"]),
        rate=float(row["rate"]),
        engine=str(row["engine"]),
        voice=str(row["voice"]),
        language=str(row["language"]),
        version=str(row["version"]),
        file=file,
        sha256=str(row["sha256"]),
        seconds=float(row["seconds"]),
    )
