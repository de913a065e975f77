"""Looks scenarios over for their author: every error, and what will not measure what is meant.

Counterparts: `simulator.scenario.load` finds what is wrong with a file by itself,
`simulator.authoring.material` what does not go with its clips and sounds,
`simulator.authoring.points` what the judge would confuse, `simulator.cli.check` prints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulator.authoring.findings import Finding, Findings, Level
from simulator.authoring.material import Material
from simulator.authoring.points import weak_points
from simulator.errors import InputError, ScenarioError
from simulator.media.cache import Cache
from simulator.scenario.collection import COLLECTION, find_collection, quick_id
from simulator.scenario.load import find_scenario, load_collection, load_scenario
from simulator.scenario.source import LARGEST, parse
from simulator.scenario.types import Scenario

_LOOKS_LIKE = re.compile(rb"^(turns|version)[ \t]*:", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One file looked over."""

    file: str
    scenario: Scenario | None
    """None if it cannot be read."""
    findings: tuple[Finding, ...]

    def count(self, level: Level) -> int:
        return sum(f.level is level for f in self.findings)


def _double(path: Path, scenario_id: str) -> str:
    """Another scenario of the same collection with the same id."""
    shared = find_collection(path)
    if shared is None:
        return ""
    for file in sorted(_in_folder(shared.parent)):
        try:
            if file.resolve() != path.resolve() and quick_id(file) == scenario_id:
                return str(file)
        except OSError:
            # Its own check says why it cannot be read.
            continue
    return ""


def _collection(path: Path) -> Checked:
    """A collection's own file."""
    out = Findings(str(path))
    try:
        out.root = parse(path, str(path)).root
        for line in load_collection(path).idle():
            out.warn(("licences", line), "fits no file in this collection")
    except ScenarioError as error:
        for problem in error.problems:
            out.problem(problem)
    return Checked(file=str(path), scenario=None, findings=tuple(out.all))


def check_all(names: Sequence[str], cache: Cache) -> Iterator[Checked]:
    """Look over files, whole folders and bundled ids, each file once, as they get ready.

    Raises InputError for a name that is nothing, and for a folder without a scenario.
    """
    seen: dict[str, str] = {}
    files = _files(names)
    shared = {s.resolve(): s for path in files if (s := find_collection(path)) is not None}
    broken = set()
    for resolved, path in shared.items():
        checked = _collection(path)
        if checked.count(Level.ERROR):
            broken.add(resolved)
        if checked.findings:
            yield checked
    for path in files:
        lies_in = find_collection(path)
        # Without what its collection gives, all that could be said of a scenario is wrong.
        if lies_in is None or lies_in.resolve() not in broken:
            yield _check(path, cache, seen)


def _files(names: Sequence[str]) -> list[Path]:
    files: dict[Path, Path] = {}
    for name in names:
        path = Path(name).expanduser()
        found = sorted(_in_folder(path)) if path.is_dir() else [find_scenario(name)]
        if not found:
            raise InputError(
                f"{path}: no scenario in this folder",
                hint="a scenario is a .yaml file with `version` and `turns`",
            )
        for file in found:
            files.setdefault(file.resolve(), file)
    return list(files.values())


def _in_folder(folder: Path) -> Iterator[Path]:
    """The scenario files in a folder and below; hidden folders are passed over."""
    for file in (*folder.rglob("*.yaml"), *folder.rglob("*.yml")):
        hidden = any(part.startswith(".") for part in file.relative_to(folder).parts)
        if hidden or file.name == COLLECTION:
            continue
        try:
            with file.open("rb") as opened:
                if _LOOKS_LIKE.search(opened.read(LARGEST)):
                    yield file
        except OSError:
            # Its own check says why it cannot be read.
            yield file


def _check(path: Path, cache: Cache, seen: dict[str, str]) -> Checked:
    out = Findings(str(path))
    scenario: Scenario | None = None
    try:
        out.root = parse(path, str(path)).root
        scenario = load_scenario(path)
    except ScenarioError as error:
        for problem in error.problems:
            out.problem(problem)
    if scenario is not None:
        first = seen.setdefault(scenario.id, str(path))
        if first == str(path):
            first = _double(path, scenario.id) or first
        if first != str(path):
            out.error(("id",), f"{scenario.id!r} is the id of {first} already")
        for warning in scenario.warnings:
            out.loader_warning(warning)
        Material(scenario, cache, out).check()
        for where, why in weak_points(scenario):
            out.warn(where, why)
    ordered = sorted(out.all, key=lambda f: f.line)
    return Checked(file=str(path), scenario=scenario, findings=tuple(ordered))
