"""YAML as an author wrote it: strings that stay strings, and the line of everything.

Only the plain part of YAML is read: mappings, lists and scalars, each scalar as its characters.
What YAML would guess (`No`, `1:30`, `1.10`) is left to the schema, and what could hide something
(anchors, aliases, tags, merge keys, several documents) is refused.
Counterpart: `simulator.scenario.load`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from simulator.errors import ScenarioError

LARGEST = 1 << 20
"""Bytes that a scenario may have."""
_DEEPEST = 16

_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


@dataclass(slots=True)
class Node:
    """A value with the line that it stands on."""

    line: int
    value: str | list[Node] | dict[str, Node] | None
    """None: nothing was written."""
    key_lines: dict[str, int] = field(default_factory=dict)
    """For a mapping: the line of each key."""

    def plain(self) -> Any:
        """The value without its lines."""
        if isinstance(self.value, dict):
            return {key: node.plain() for key, node in self.value.items()}
        if isinstance(self.value, list):
            return [node.plain() for node in self.value]
        return self.value

    def locate(self, where: Sequence[str | int]) -> tuple[int, str]:
        """Line and written name (`turns[2].say.at`) of what lies at `where`.

        Steps that the text does not have (an index into what was written without a list, a key that
        is missing) are left out of the line, and an index also out of the name.
        """
        node, line, name = self, self.line, ""
        for step in where:
            if isinstance(step, int):
                if isinstance(node.value, list) and step < len(node.value):
                    node = node.value[step]
                    line = node.line
                    name += f"[{step}]"
                continue
            name += f".{step}" if name else step
            if isinstance(node.value, dict) and step in node.value:
                line = node.key_lines[step]
                node = node.value[step]
        return line, name


@dataclass(frozen=True, slots=True)
class Source:
    """A scenario file as read."""

    root: Node
    data: bytes
    warnings: tuple[str, ...]


def parse(path: Path, shown: str) -> Source:
    """Read a scenario file; `shown` is its name in messages. Raises ScenarioError."""
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise ScenarioError([f"{shown}:1: file: {size} bytes are too many, at most {LARGEST}"])
        data = path.read_bytes()
    except OSError as error:
        raise ScenarioError([f"{shown}:1: file: cannot be read: {error.strerror}"]) from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ScenarioError([f"{shown}:{line}: file: is not UTF-8 text"]) from error
    lines = text.splitlines()
    builder = _Builder(shown, lines)
    try:
        for event in _events(text):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise ScenarioError(
            [*builder.problems, f"{shown}:{mark.line + 1 if mark else 1}: {_explain(error, lines)}"]
        ) from error
    except yaml.YAMLError as error:
        raise ScenarioError(
            [*builder.problems, f"{shown}:1: file: is not text: {error}"]
        ) from error
    if builder.problems:
        raise ScenarioError(builder.problems)
    if builder.root is None or builder.root.value is None:
        raise ScenarioError([f"{shown}:1: file: is empty"])
    return Source(builder.root, data, tuple(builder.warnings))


def _events(text: str) -> Iterator[yaml.Event]:
    return iter(yaml.parse(text, Loader=_Loader))


def _explain(error: yaml.MarkedYAMLError, lines: Sequence[str]) -> str:
    problem = str(error.problem)
    mark = error.problem_mark
    line = lines[mark.line] if mark and mark.line < len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return "syntax: a tab cannot indent: use spaces"
    if "mapping values are not allowed" in problem:
        return "syntax: a colon inside text: put the text in quotes"
    if "cannot start any token" in problem:
        return f"syntax: {problem}: put text that begins with it in quotes"
    if "did not find expected" in problem or "expected <block end>" in problem:
        return (
            f"syntax: {problem}: check the indentation; text with [ ] {{ }} \" ' & * ! | > or % "
            "at its start must be in quotes"
        )
    return f"syntax: {problem}"


@dataclass(slots=True)
class _Open:
    """A list or mapping that is being read."""

    node: Node
    key: str | None = None
    key_line: int = 0
    skipping: bool = False
    """The key was refused; its value is read and dropped."""


class _Builder:
    """Builds the tree from YAML's events, without recursion."""

    def __init__(self, shown: str, lines: Sequence[str]) -> None:
        self._shown = shown
        self._lines = lines
        self._stack: list[_Open] = []
        self._documents = 0
        self.root: Node | None = None
        self.problems: list[str] = []
        self.warnings: list[str] = []

    def take(self, event: yaml.Event) -> None:
        mark: Any = event.start_mark
        line = mark.line + 1
        if isinstance(event, yaml.DocumentStartEvent):
            self._documents += 1
            if self._documents == 2:
                self._stop(line, "file: a second document begins here; a scenario is one")
            return
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            sign = "*" if isinstance(event, yaml.AliasEvent) else "&"
            name = getattr(event, "anchor", "")
            self._stop(
                line,
                f"{sign}{name}: anchors and aliases are not read here; write it out, or quote text "
                f"that begins with {sign}",
            )
        if isinstance(event, yaml.ScalarEvent):
            self._no_tag(event, line)
            written = event.value if event.value or event.style else None
            self._comment(event, line)
            self._scalar(Node(line, written))
        elif isinstance(event, yaml.SequenceStartEvent | yaml.MappingStartEvent):
            self._no_tag(event, line)
            sequence = isinstance(event, yaml.SequenceStartEvent)
            if len(self._stack) >= _DEEPEST:
                self._stop(line, f"file: nested deeper than {_DEEPEST}")
            if self._stack and self._wants_key(self._stack[-1]):
                self._stop(line, "syntax: a key must be a word; put text in quotes")
            self._stack.append(_Open(Node(line, [] if sequence else {})))
        elif isinstance(event, yaml.SequenceEndEvent | yaml.MappingEndEvent):
            self._add(self._stack.pop().node)

    def _comment(self, event: yaml.ScalarEvent, line: int) -> None:
        """`Press the #1 key` is `Press the` to YAML, which nobody means."""
        end: Any = event.end_mark
        if event.style or not event.value or end is None or end.line >= len(self._lines):
            return
        if re.match(r"\s+#\S", self._lines[end.line][end.column :]):
            self.problems.append(
                f"{self._shown}:{line}: syntax: `#` cuts the text short after "
                f"`{event.value[:40]}`: put the text in quotes, or a space after "
                "the # if it is a comment"
            )

    @staticmethod
    def _wants_key(opened: _Open) -> bool:
        return isinstance(opened.node.value, dict) and opened.key is None

    def _scalar(self, node: Node) -> None:
        if self._stack and self._wants_key(self._stack[-1]):
            opened = self._stack[-1]
            key = str(node.value) if isinstance(node.value, str) else ""
            assert isinstance(opened.node.value, dict)
            if key in opened.node.value:
                first = opened.node.key_lines[key]
                self.problems.append(
                    f"{self._shown}:{node.line}: {key}: stands here twice, first in line {first}"
                )
                opened.skipping = True
            opened.key, opened.key_line = key, node.line
            return
        self._add(node)

    def _add(self, node: Node) -> None:
        if not self._stack:
            self.root = node
            return
        opened = self._stack[-1]
        if isinstance(opened.node.value, list):
            opened.node.value.append(node)
            return
        assert isinstance(opened.node.value, dict)
        assert opened.key is not None
        if not opened.skipping:
            opened.node.value[opened.key] = node
            opened.node.key_lines[opened.key] = opened.key_line
        opened.key, opened.skipping = None, False

    def _no_tag(self, event: Any, line: int) -> None:
        if event.tag is not None and event.tag != "!":
            self._stop(line, f"{event.tag}: tags are not read here; quote text that begins with !")

    def _stop(self, line: int, why: str) -> None:
        raise ScenarioError([*self.problems, f"{self._shown}:{line}: {why}"])
