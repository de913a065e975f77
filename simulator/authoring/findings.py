"""What a look at a scenario found: an error, a warning or a note, with its place in the file.

Counterparts: `simulator.authoring.check` collects these, `simulator.cli.check` prints them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from simulator.scenario.source import Node

_PROBLEM = re.compile(r":(\d+): (.*)", re.DOTALL)
_TURN = re.compile(r"turns\[(\d+)\]")
_LINE = re.compile(r"line (\d+): (.*)", re.DOTALL)


class Level(StrEnum):
    """How bad it is."""

    ERROR = "error"
    """It cannot be played as it stands."""
    WARNING = "warning"
    """It plays, and probably does not measure what was meant."""
    NOTE = "note"
    """Something that could not be looked at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing found."""

    level: Level
    file: str
    """As the user named it."""
    line: int
    text: str
    """Where in the file, what is wrong, and how to mend it."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.level}: {self.text}"


class Findings:
    """What is found in one file."""

    def __init__(self, file: str, root: Node | None = None) -> None:
        self.file = file
        self.root = root
        """The file as read, to find lines in."""
        self.all: list[Finding] = []

    def add(self, level: Level, where: Sequence[str | int], text: str) -> None:
        """`where`: the way to the place, such as ("turns", 2, "say")."""
        line, name = self.root.locate(where) if self.root is not None else (1, "")
        self._add(level, line, f"{name or 'file'}: {text}")

    def error(self, where: Sequence[str | int], text: str) -> None:
        self.add(Level.ERROR, where, text)

    def warn(self, where: Sequence[str | int], text: str) -> None:
        self.add(Level.WARNING, where, text)

    def note(self, where: Sequence[str | int], text: str) -> None:
        self.add(Level.NOTE, where, text)

    def problem(self, problem: str) -> None:
        """A problem of the loader's, which begins with file and line."""
        # The loader names the file without `..`, whatever it was called.
        place = problem.removeprefix(self.file).removeprefix(str(Path(self.file).resolve()))
        found = _PROBLEM.match(place)
        self._add(Level.ERROR, int(found[1]) if found else 1, found[2] if found else problem)

    def loader_warning(self, warning: str) -> None:
        """A warning of the loader's, which names a line or a turn."""
        if found := _LINE.match(warning):
            self._add(Level.WARNING, int(found[1]), found[2])
            return
        turn = _TURN.match(warning)
        line = 1
        if turn and self.root is not None:
            line, _ = self.root.locate(("turns", int(turn[1])))
        self._add(Level.WARNING, line, warning)

    def _add(self, level: Level, line: int, text: str) -> None:
        found = Finding(level=level, file=self.file, line=line, text=text)
        if found not in self.all:
            self.all.append(found)
