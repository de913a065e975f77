"""The schema takes what the loader takes, and refuses what an editor can know to be wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from simulator.authoring.schema import json_schema, schema_text, write_schema
from simulator.errors import InputError
from simulator.scenario.load import bundled_scenarios
from simulator.scenario.schema import ScenarioModel, turn_model

SCHEMA = json_schema()
SCENARIOS = bundled_scenarios()


class _Editor(yaml.SafeLoader):
    """Reads as editors do, YAML 1.2: `1:30` and `yes` are text, `12` and `1.5` numbers."""


_Editor.yaml_implicit_resolvers = {
    first: [(tag, rule) for tag, rule in rules if tag.endswith((":bool", ":null"))]
    for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Editor.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))
_Editor.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^-?\d+$"), list("-0123456789"))
_Editor.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^-?\d+\.\d*$"), list("-0123456789")
)


def wrong(text: str) -> list[str]:
    validator: Any = jsonschema.Draft202012Validator(SCHEMA)
    return [e.message for e in validator.iter_errors(yaml.load(text, _Editor))]


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda p: p.stem)
def test_bundled_scenarios_are_right(path: Path) -> None:
    assert wrong(path.read_text(encoding="utf-8")) == []


MANY = """\
version: 1
id: many
task: custom:sorting
clips:
  a: a.mp4
  slow:
    file: a.mp4
    speed: 0.5
    repeat: 3
    level: -12.5
  b:
    url: https://example.org/x.mp4
    sha256: d52ba94aedf8a923c342fe9ea1d2bd85f712c4cc0f49a6de1bac43eebe3a48ff
    licence: CC-BY-4.0
limits:
  answer_within: 5
turns:
  - clip: a
    until: 1:30.5
    say: How many?
    answer: 3
    accept: three
    key_points:
      - [three, 3]
      - left
    evidence:
      - [0, 1:12]
  - until: 95
    say:
      - Hello there.
      - text: Hm
        voice: guest
        at: 92
    either: true
"""


def test_what_the_loader_takes_in_many_forms() -> None:
    assert wrong(MANY) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("until: 95", "untill: 95"),
        ("either: true", "either: true\n    quiet: true"),
        ("either: true", "within: 3"),
        ("either: true", "either: false"),
        ("task: custom:sorting", "task: XX"),
        ("version: 1", "version: 2"),
        ("[0, 1:12]", "[0]"),
        ("until: 95", "until: soon"),
        ("d52ba9", "nothex"),
        ("answer_within: 5", "answer_in: 5"),
    ],
)
def test_what_an_editor_marks(old: str, new: str) -> None:
    assert wrong(MANY.replace(old, new)) != []


def test_every_key_of_this_version_is_there() -> None:
    turn = SCHEMA["$defs"]["TurnModel"]["properties"]
    keys = {f.alias or n for n, f in turn_model().model_fields.items()}
    assert set(turn) <= keys
    assert {"until", "say", "answer", "quiet", "either", "event"} <= set(turn)
    assert set(SCHEMA["properties"]) == {
        f.alias or n for n, f in ScenarioModel.model_fields.items()
    }
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_it_is_written_once(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    write_schema(path)
    write_schema(path)
    assert json.loads(path.read_text()) == json.loads(schema_text())
    path.write_text("mine")
    with pytest.raises(InputError, match="exists already"):
        write_schema(path)
    write_schema(path, force=True)
    with pytest.raises(InputError, match="cannot be written"):
        write_schema(tmp_path / "nowhere" / "x.json")
