"""A collection: a folder of scenarios with defaults that they share and a list of licences.

Its file lies in the folder of a scenario or in the one above. What a scenario says itself comes
first; a collection gives what is left out. Counterparts: `simulator.scenario.load` reads the file
and lays it under a scenario, `simulator.recording.writer` keeps a copy beside the scenario's.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from simulator.scenario.source import Node

COLLECTION = "collection.yaml"

SHARED = ("pace", "voices", "limits", "canvas")
"""Keys that are given to scenarios which do not have them; keys within the last three as well."""


def find_collection(scenario: Path, *, above: bool = True) -> Path | None:
    """The collection's file for a scenario's, if there is one. `above`: look one folder up too.

    A link that leads nowhere counts: what it should give would be missing in silence.
    """
    folder = scenario.absolute().parent
    for place in (folder, folder.parent) if above else (folder,):
        if (file := place / COLLECTION).is_file() or file.is_symlink():
            return file
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """What a collection gives to its scenarios."""

    path: Path
    """Its file, absolute."""
    data: bytes
    """Its file's bytes."""
    title: str = ""
    defaults: dict[str, Node] = field(default_factory=dict)
    licences: dict[str, str] = field(default_factory=dict)
    """Files relative to the collection's folder, `*` and `?` for any, with their licences."""

    @property
    def folder(self) -> Path:
        return self.path.parent

    def under(self, root: Node) -> Node:
        """A scenario's tree with the defaults where it says nothing."""
        if not isinstance(root.value, dict):
            return root
        merged = Node(root.line, dict(root.value), dict(root.key_lines))
        for key, given in self.defaults.items():
            _lay(merged, key, given)
        return merged

    def licence_of(self, file: Path) -> str | None:
        """The licence of a file, by the first line of the list that fits it."""
        if not file.is_relative_to(self.folder):
            return None
        name = file.relative_to(self.folder).as_posix()
        return next((w for p, w in self.licences.items() if fnmatchcase(name, p)), None)

    def idle(self) -> list[str]:
        """The lines of the licence list that fit no file."""
        names = [f.relative_to(self.folder).as_posix() for f in self.folder.rglob("*")]
        return [p for p in self.licences if not any(fnmatchcase(name, p) for name in names)]


def _lay(under: Node, key: str, given: Node) -> None:
    """Lay a default under a mapping; a mapping in it is laid under the scenario's own."""
    assert isinstance(under.value, dict)
    own = under.value.get(key)
    if own is None:
        under.value[key] = copy.copy(given)
        under.key_lines[key] = under.line
    elif isinstance(own.value, dict) and isinstance(given.value, dict):
        inner = Node(own.line, dict(own.value), dict(own.key_lines))
        for name, node in given.value.items():
            _lay(inner, name, node)
        under.value[key] = inner


def quick_id(file: Path) -> str:
    """A scenario's id, read without looking at the rest; its file's name if it has none."""
    text = file.read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^id:\s*(\S+)", text, re.MULTILINE)
    return found[1].strip("\"'") if found else file.stem
