"""The rules of the house that a test can hold."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SIMULATOR = ROOT / "simulator"

RANKS = (
    "errors",
    "text",
    "whole_file",
    "clock",
    "options",
    "agent",
    "contracts",
    "plugins",
    "protocol",
    "scenario",
    "media",
    "speech",
    "recording",
    "measuring",
    "rtc",
    "session",
    "bridge",
    "run",
    "judging",
    "report",
    "benchmarks",
    "authoring",
    "testing",
    "cli",
    "__main__",
)
"""Every folder and module of `simulator/`, so that each imports only from those before it."""

PURE = re.compile(
    r"simulator\.(protocol(\..*)?|media\.timeline|bridge\.context"
    r"|session\.(script|prompt|cues|due_records|decide|voice)"
    r"|rtc\.(dialect|dialects(\.\w+(\.codec)?)?|fields|interpreter)"
    r"|measuring\.(attribution|clockmap|spans|trace|utterances|metrics(\..*)?)"
    r"|recording\.(manifest|message|records|redact|rtplog))"
)
IMPURE = {"asyncio", "aiortc", "aioice", "av", "aiohttp"}


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(SIMULATOR.rglob("*.py")):
        if "_bundled" in path.parts:
            continue
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(p for p in parts if p != "__init__"), path


def place(name: str) -> str:
    """The folder of `simulator/` (or the module beside them) that a module belongs to."""
    return (name + ".").split(".")[1]


def imports(path: Path) -> Iterator[str]:
    """Modules imported anywhere in a file, but for those under TYPE_CHECKING."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    skipped: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for inner in node.body:
                skipped.update(ast.walk(inner))
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_every_folder_has_a_rank() -> None:
    assert {place(name) for name, _ in modules()} - {""} == set(RANKS)


def test_imports_point_one_way() -> None:
    rank = {place: n for n, place in enumerate(("", *RANKS))}
    wrong = [
        f"{name} imports {imported}"
        for name, path in modules()
        for imported in imports(path)
        if imported.split(".")[0] == "simulator"
        and place(imported) != place(name)
        and rank[place(imported)] > rank[place(name)]
    ]
    assert wrong == []


def test_pure_modules_do_no_io() -> None:
    wrong = [
        f"{name} imports {imported}"
        for name, path in modules()
        if PURE.fullmatch(name)
        for imported in imports(path)
        if imported.split(".")[0] in IMPURE
    ]
    assert wrong == []


def test_there_is_one_clock() -> None:
    pattern = re.compile(r"\btime\.(time|monotonic|perf_counter|process_time|sleep)(_ns)?\(")
    files = [
        p for folder in ("simulator", "agents", "judges") for p in (ROOT / folder).rglob("*.py")
    ]
    wrong = [
        str(p.relative_to(ROOT))
        for p in files
        if p != SIMULATOR / "clock.py" and pattern.search(p.read_text(encoding="utf-8"))
    ]
    assert wrong == []


def test_files_that_must_be_whole_are_written_in_one_place() -> None:
    """`Path.replace` has one argument, `str.replace` two."""
    found = {
        name
        for name, path in modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "replace"
        and len(node.args) == 1
        and not node.keywords
    }
    # A download that breaks off keeps what has come, under a lock, and is taken up again.
    assert found == {"simulator.whole_file", "simulator.media.download"}


@pytest.mark.parametrize("folder", ["agents", "judges"])
def test_plugin_folders_are_no_packages(folder: str) -> None:
    """`agents` is the import name of a package that many users have installed."""
    assert not (ROOT / folder / "__init__.py").exists()


OWNERS = {
    "simulator.bridge.host",
    "simulator.rtc.watch",
}
"""Modules that await each task they create: a task group would wrap a caller's own error."""


def test_no_task_is_left_to_itself() -> None:
    """Tasks belong to a task group; asyncio.create_task and ensure_future belong to nobody."""
    pattern = re.compile(r"(asyncio|loop\(\))\.(create_task|ensure_future)")
    found = {n for n, path in modules() if pattern.search(path.read_text(encoding="utf-8"))}
    assert found == OWNERS


def test_modules_are_about_one_noun() -> None:
    """Past 400 lines a module wants to be two, and some names say nothing."""
    long = [
        f"{name}: {n} lines"
        for name, path in modules()
        if (n := len(path.read_text(encoding="utf-8").splitlines())) > 400
    ]
    assert long == []
    vague = {"utils", "util", "helpers", "common", "base", "manager", "misc"}
    assert [name for name, _ in modules() if name.split(".")[-1] in vague] == []
