"""What docstrings, comments and READMEs name is there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]

DOTTED = re.compile(r"\bsimulator(?:[./][A-Za-z_]\w*)+")
BESIDE = re.compile(r"`\.(\w+)`")
"""A module of a package that was named before: "Counterparts: `simulator.recording.writer` and
`.reader`"."""
PATH = re.compile(r"`((?:simulator|agents|judges|tests|docs)/[\w./-]+)")


def files(suffix: str) -> Iterator[Path]:
    yield from sorted(ROOT.glob(f"*{suffix}"))
    for folder in ("simulator", "agents", "judges", "scenarios", "recordings", "docs"):
        for path in sorted((ROOT / folder).rglob(f"*{suffix}")):
            if "_bundled" not in path.parts:
                yield path


def is_there(name: str) -> bool:
    """Whether a dotted name is a module, or something that a module defines."""
    path = ROOT.joinpath(*name.split("."))
    if path.is_dir() or path.with_suffix(".py").is_file():
        return True
    defined = re.compile(rf"^(?:async def |def |class )?{path.name}\b", re.MULTILINE)
    module = path.parent / "__init__.py" if path.parent.is_dir() else path.parent.with_suffix(".py")
    return module.is_file() and defined.search(module.read_text(encoding="utf-8")) is not None


def missing(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    for name in DOTTED.findall(text):
        if not is_there(name.replace("/", ".").removesuffix(".py")):
            yield f"{path.relative_to(ROOT)}: {name}"


def test_modules_that_code_names_are_there() -> None:
    assert [wrong for path in files(".py") for wrong in missing(path)] == []


def test_modules_that_readmes_name_are_there() -> None:
    assert [wrong for path in files(".md") for wrong in missing(path)] == []


def test_counterparts_that_are_named_by_their_last_name_are_there() -> None:
    wrong = []
    for path in files(".py"):
        doc = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        told = doc.partition("Counterpart")[2]
        packages = {".".join(path.relative_to(ROOT).parts[:-1])}
        packages |= {name.rpartition(".")[0] for name in DOTTED.findall(told)}
        wrong += [
            f"{path.relative_to(ROOT)}: .{name}"
            for name in BESIDE.findall(told)
            if not any(is_there(f"{package}.{name}") for package in packages)
        ]
    assert wrong == []


def test_files_that_readmes_name_are_there() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files(".md")
        for name in PATH.findall(path.read_text(encoding="utf-8"))
        if not (ROOT / name).exists()
    ]
    assert wrong == []
