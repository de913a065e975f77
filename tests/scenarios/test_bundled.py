"""The bundled scenarios as a set: all in order, every sub-task there, small, and with their origin.

Whether they play to what they should is the business of tests/test_end_to_end.py (six of them) and
of tests/bench/bench_starter.py (all).
"""

from __future__ import annotations

import re
import tomllib
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator.authoring.check import check_all
from simulator.authoring.findings import Level
from simulator.media.cache import Cache
from simulator.plugins import content_root
from simulator.scenario.collection import find_collection
from simulator.scenario.load import bundled_scenarios, load_collection, load_scenario
from simulator.scenario.lock import Lock
from simulator.scenario.taxonomy import TASKS
from simulator.scenario.types import Say, Scenario

ROOT = content_root("scenarios")
FILES = bundled_scenarios()
STARTER = [f for f in FILES if f.is_relative_to(ROOT / "starter")]
MEDIA = sorted(f for f in ROOT.rglob("media/*") if f.is_file())
SUBTASKS = sorted(code for code, task in TASKS.items() if task.tier != "real")
MB = 1_000_000


@pytest.fixture(scope="module")
def scenarios() -> list[Scenario]:
    return [load_scenario(file) for file in FILES]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Cache:
    return Cache(tmp_path_factory.mktemp("cache"))


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_each_is_in_order(file: Path, cache: Cache) -> None:
    for checked in check_all([str(file)], cache):
        assert [str(f) for f in checked.findings if f.level is not Level.NOTE] == []
        assert checked.scenario is None or checked.scenario.id == file.stem


def test_ids_differ(scenarios: list[Scenario]) -> None:
    ids = [s.id for s in scenarios]
    assert sorted(ids) == sorted(set(ids))


@pytest.mark.parametrize("code", SUBTASKS)
def test_two_scenarios_for_each_sub_task(scenarios: list[Scenario], code: str) -> None:
    found = [s.id for s in scenarios if s.task == code]
    name = TASKS[code].name
    assert len(found) >= 2, f"{code} ({name}) has {found or 'none'}: at least two are wanted"


def test_there_are_sixteen_sub_tasks() -> None:
    assert len(SUBTASKS) == 16


def test_a_long_real_case(scenarios: list[Scenario]) -> None:
    real = {
        s.id: (len(s.turns), round(sum(t.duration for t in s.turns)))
        for s in scenarios
        if s.task in TASKS and TASKS[s.task].tier == "real"
    }
    long = [name for name, (turns, seconds) in real.items() if turns >= 15 and seconds >= 480]
    assert long, f"no real case of 15 turns over 8 minutes; (turns, seconds) of those here: {real}"


@pytest.mark.parametrize("file", STARTER, ids=lambda f: f.stem)
def test_each_of_the_set_asks_and_keeps_quiet(file: Path) -> None:
    scenario = load_scenario(file)
    kinds = [turn.expect.kind for turn in scenario.turns]
    assert kinds.count("answer") >= 2
    assert "quiet" in kinds, "who always speaks must not get full marks"
    assert all(t.evidence for t in scenario.turns if t.expect.kind == "answer")


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_the_lock_covers_the_speech(file: Path) -> None:
    scenario = load_scenario(file)
    used = {i.sound for t in scenario.turns for i in t.instructions if isinstance(i, Say)}
    lock = Lock(file.parent)
    assert lock.problem == ""
    locked = {lock.folder / sound.file for sound in lock.sounds()}
    if file in STARTER:
        assert used - locked == set(), "not in speech/lock.json: omnistage render-speech"
    lying = {f for f in lock.folder.glob("*") if f.name != "lock.json"}
    shared = {i for f in file.parent.glob("*.yaml") if f != file for i in _sounds(f)}
    assert lying - used - shared == set(), "used by nothing: omnistage render-speech --prune"


def _sounds(file: Path) -> set[Path]:
    turns = load_scenario(file).turns
    return {i.sound for t in turns for i in t.instructions if isinstance(i, Say)}


@pytest.mark.parametrize("file", MEDIA, ids=lambda f: str(f.relative_to(ROOT)))
def test_every_medium_has_its_licence_and_its_origin(file: Path) -> None:
    folder = file.parent.parent
    assert _licences(file) - {None}, "no licence: `licence` of the clip, or in collection.yaml"
    readme = folder / "README.md"
    assert readme.is_file(), "no README.md that says how it was made"
    text = readme.read_text(encoding="utf-8")
    named = re.findall(r"(?:\.\./)*(?:make|making)/[\w./-]+", text)
    scripts = [name for name in named if (folder / name.rstrip(".")).is_file()]
    assert scripts, f"{readme.relative_to(ROOT)} names no script that is there: {named}"
    assert re.search(r"licence|CC0|CC-BY", text, re.IGNORECASE), "its README names no licence"


def _licences(file: Path) -> set[str | None]:
    """What scenarios that use a file, and their collection, say of it."""
    found: set[str | None] = set()
    for scenario in FILES:
        shared = find_collection(scenario)
        if shared is not None and file.is_relative_to(shared.parent):
            found.add(load_collection(shared).licence_of(file))
        if scenario.parent == file.parent.parent:
            clips = load_scenario(scenario).clips.values()
            found |= {c.licence for c in clips if c.path == file}
    return found


# ---------------------------------------------------------------- sizes


def _shipped(folder: Path) -> Iterator[Path]:
    for file in folder.rglob("*"):
        hidden = any(p.startswith(".") or p == "__pycache__" for p in file.parts[len(ROOT.parts) :])
        if file.is_file() and not hidden:
            yield file


def test_the_scenarios_are_small() -> None:
    sizes: dict[str, int] = defaultdict(int)
    for file in _shipped(ROOT):
        sizes[file.relative_to(ROOT).parts[0]] += file.stat().st_size
    assert sum(sizes.values()) < 60 * MB, dict(sizes)


def test_the_wheel_is_small(tmp_path: Path) -> None:
    """As `pyproject.toml` has it built: packages and what is included beside them, compressed."""
    project = ROOT.parent / "pyproject.toml"
    if not project.is_file():
        # Installed from a wheel: that one has been built.
        return
    wheel = tomllib.loads(project.read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    path = tmp_path / "like.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name in (*wheel["packages"], *wheel["force-include"]):
            source = ROOT.parent / name
            for file in _shipped(source) if source.is_dir() else [source]:
                out.write(file, file.relative_to(ROOT.parent))
    assert path.stat().st_size < 30 * MB
