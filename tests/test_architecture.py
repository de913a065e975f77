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
    r"|session\.(script|debts|onsets|prompt|cues|due_records|decide|voice)"
    r"|rtc\.(dialect|dialects(\.\w+(\.codec)?)?|fields|interpreter)"
    r"|measuring\.(attribution|before|clockmap|failures|spans|trace|utterances|metrics(\..*)?)"
    r"|recording\.(manifest|message|records|redact|rtplog)|report\.(subtitles|timeline(\..*)?))"
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


WAYS_TO_THE_TIME = {
    "time": {"*"},
    "datetime": {"now", "utcnow", "today"},
    "asyncio": {"sleep", "timeout", "timeout_at", "wait_for"},
    "sched": {"*"},
    "loop": {"time", "call_at", "call_later"},
}
"""Modules (and the event loop), and what of theirs tells a time, or waits for one."""


def ways_to_the_time(tree: ast.AST) -> Iterator[str]:
    """Where a module gets at the time, or waits for one, past the Clock that it is given."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                for name in names:
                    if "*" in WAYS_TO_THE_TIME.get(name.name.split(".")[0], ()):
                        yield f"import {name.name}"
            case ast.ImportFrom(module=str(module), names=names):
                ways = WAYS_TO_THE_TIME.get(module.split(".")[0], set())
                for name in names:
                    if "*" in ways or name.name in ways:
                        yield f"from {module} import {name.name}"
            case ast.Call(ast.Attribute(value, attr), args=args, keywords=keywords):
                of = ast.unparse(value)
                base = "loop" if "loop" in of.lower() else of.split(".")[-1]
                gives_way = attr == "sleep" and ast.unparse(args[0]) == "0" if args else False
                if attr in WAYS_TO_THE_TIME.get(base, ()) and not gives_way:
                    yield f"{of}.{attr}()"
                limited = any(keyword.arg == "timeout" for keyword in keywords)
                if of == "asyncio" and attr == "wait" and limited:
                    yield "asyncio.wait(timeout=)"
            case ast.Attribute(value=ast.Name(id=name), attr=attr):
                # A way may be taken without a call: `now = loop.time`.
                if name == "loop" and attr in WAYS_TO_THE_TIME["loop"]:
                    yield f"{name}.{attr}"


def test_there_is_one_clock() -> None:
    files = [
        p for folder in ("simulator", "agents", "judges") for p in (ROOT / folder).rglob("*.py")
    ]
    wrong = [
        f"{p.relative_to(ROOT)}: {way}"
        for p in files
        if p != SIMULATOR / "clock.py"
        for way in ways_to_the_time(ast.parse(p.read_text(encoding="utf-8")))
    ]
    assert wrong == []


@pytest.mark.parametrize(
    "code",
    [
        "import time",
        "from time import monotonic as m",
        "from asyncio import sleep",
        "asyncio.get_running_loop().time()",
        "self._loop.call_later(1, f)",
        "clock = loop.time",
        "async def f():\n async with asyncio.timeout(3): pass",
        "async def f(): await asyncio.sleep(0.1)",
        "async def f(): await asyncio.wait_for(x, 3)",
        "async def f(): await asyncio.wait(tasks, timeout=3)",
        "datetime.now()",
        "datetime.datetime.utcnow()",
    ],
)
def test_every_way_to_the_time_is_seen(code: str) -> None:
    assert list(ways_to_the_time(ast.parse(code))) != []


@pytest.mark.parametrize(
    "code", ["async def f(): await asyncio.sleep(0)", "clock.now()", "self._clock.call_at(1, f)"]
)
def test_what_goes_by_the_clock_is_none(code: str) -> None:
    assert list(ways_to_the_time(ast.parse(code))) == []


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
