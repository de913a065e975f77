"""The format as a JSON Schema, so that editors complete and check a scenario while it is written.

It is made from the loader's own models, and takes what the loader takes: a text that YAML reads as
a number, a time as `1:30`, one instruction without a list. What only the loader can know (order,
files, names) stays with `omnistage check`. Counterpart: `simulator.scenario.schema`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simulator.errors import InputError
from simulator.scenario.expectations.kinds import kinds
from simulator.scenario.schema import ScenarioModel, turn_model
from simulator.scenario.taxonomy import CUSTOM, TASKS

FILE = "scenario.schema.json"
"""The name under which it lies beside a scenario."""

Json = dict[str, Any]

_TEXT: Json = {"type": ["string", "number", "boolean"], "minLength": 1}
_TIME: Json = {
    "anyOf": [
        {"type": "number", "minimum": 0},
        {"type": "string", "pattern": r"^(\d+:)?\d{1,2}:\d{1,2}(\.\d+)?$|^\d+(\.\d*)?$"},
    ]
}
_NAME: Json = {"type": ["string", "integer"], "pattern": r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"}
_DEFS: Mapping[str, Json] = {"text": _TEXT, "time": _TIME, "name": _NAME}

_NAMED = frozenset({"id", "asked_in", "voice"})
"""Keys whose value is a name."""
_LISTS = frozenset({"key_points", "steps", "evidence", "turns"})
"""Keys that take a list only, never one thing without it."""
_KNOWN: Mapping[str, Json] = {
    "version": {"enum": [1, "1"]},
    "pace": {"enum": ["wait", "continuous"]},
    "sha256": {"type": "string", "pattern": "^[0-9a-fA-F]{64}$"},
    "url": {"type": "string", "pattern": r"^https?://[^/\s]+/\S*$"},
    "level": {"type": "number", "minimum": -60, "maximum": 20},
    "speed": {"type": "number", "minimum": 0.05, "maximum": 4},
    "repeat": {"type": "integer", "minimum": 1, "maximum": 1000},
}
_TOLD: Mapping[str, str] = {
    "version": "The format's version: 1.",
    "id": "A name for reports and the command line. It should never change.",
    "title": "For people.",
    "task": "A sub-task's code, by which reports group, or `custom`.",
    "pace": "wait: the picture holds until the agent has answered. continuous: the clip plays on.",
    "clip": "The clip: a file in this folder, or url, sha256 and licence. In a turn: its name.",
    "clips": "Several clips, each by its name.",
    "licence": "Terms under which others may use it: an SPDX identifier or words.",
    "speed": "How many times as fast it plays, 0.05 to 4; all its times are those as it plays.",
    "repeat": "How many times over it plays, end to end.",
    "level": "How loud it is against the instructions, in LU (BS.1770).",
    "voices": "Who speaks. `user` speaks to the agent, anybody else is a bystander.",
    "goal": "Shown as a subtitle throughout.",
    "prior": "The path that the user will follow, told to the agent beforehand.",
    "steps": "The steps, in order.",
    "limits": "How long the simulator is patient, in seconds.",
    "answer_within": "An answer that has not begun this long after it fell due is missed.",
    "reply_max": "The wait for one reply to end.",
    "quiet_tail": "The hold after a quiet turn with speech in it.",
    "canvas": "The picture that is sent.",
    "turns": "The turns, in the order in which they play.",
    "from": "Clip time at which the turn begins, for a jump; else where the turn before ended.",
    "until": "Clip time at which the turn ends and the next begins.",
    "say": "What is spoken in this turn, by the user or by bystanders.",
    "text": "The words as a listener should hear them.",
    "file": "A file in this folder or below.",
    "voice": "`user` (the default) speaks to the agent; anybody else is a bystander.",
    "at": "end (the default), start, or the clip time at which it is first heard.",
    "event": "Clip time at which an answer falls due that was asked for in an earlier turn.",
    "within": "Seconds after the answer fell due in which it must begin.",
    "asked_in": "Id of the earlier turn in which the user asked for it.",
    "evidence": "Clip times between which the answer can be seen or heard: [from, to].",
}


def json_schema() -> Json:
    """The whole schema, draft 2020-12."""
    defs: Json = {name: dict(body) for name, body in _DEFS.items()}
    root = ScenarioModel.model_json_schema(by_alias=True)
    turn = turn_model().model_json_schema(by_alias=True)
    for name, body in (root.pop("$defs", {}) | turn.pop("$defs", {})).items():
        defs[name] = _model(body)
    defs["TurnModel"] = _model(turn) | {"oneOf": [{"required": [kind.kind]} for kind in kinds()]}
    out = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Omnistage scenario, version 1",
        **_model(root),
        "$defs": defs,
    }
    out["properties"]["turns"] |= {"items": {"$ref": "#/$defs/TurnModel"}, "minItems": 1}
    out["properties"]["clip"] = _told("clip", _either(defs, "ClipModel"))
    out["properties"]["clips"]["additionalProperties"] = _either(defs, "ClipModel")
    out["properties"]["voices"]["additionalProperties"] = _either(defs, "VoiceModel")
    task = {"anyOf": [{"enum": [*TASKS, CUSTOM]}, {"type": "string", "pattern": f"^{CUSTOM}:"}]}
    out["properties"]["task"] = _told("task", task)
    return out


def schema_text() -> str:
    return json.dumps(json_schema(), indent=1, ensure_ascii=False) + "\n"


def write_schema(path: Path, *, force: bool = False) -> None:
    """Write the schema to a file. Raises InputError if it exists with other content."""
    text = schema_text()
    try:
        if path.exists() and not force and path.read_text(encoding="utf-8") != text:
            raise InputError(f"{path}: exists already", hint="--force writes over it")
        path.write_text(text, encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be written: {error}") from None


# ---------------------------------------------------------------- from pydantic's


def _model(body: Json) -> Json:
    """A model's schema, as loose as the loader is and as short as it can be."""
    properties = {
        key: _told(key, _KNOWN.get(key) or _value(key, value), value.get("description"))
        for key, value in body.get("properties", {}).items()
        # A key that is not in this version has nothing but a default.
        if set(value) - {"default", "title"}
    }
    out: Json = {"type": "object", "additionalProperties": False, "properties": properties}
    if body.get("required"):
        out["required"] = body["required"]
    return out


def _value(key: str, value: Json) -> Json:
    """The schema of what may stand beside `key`."""
    if "anyOf" in value:
        kinds = [_value(key, one) for one in value["anyOf"] if one.get("type") != "null"]
        return kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
    if "$ref" in value or "enum" in value or "const" in value:
        return {k: v for k, v in value.items() if k in ("$ref", "enum", "const")}
    match value.get("type"):
        case "number":
            return {"$ref": "#/$defs/time"}
        case "integer":
            return {"type": "integer", "minimum": 1}
        case "boolean":
            return {"const": True}
        case "string":
            return {"$ref": "#/$defs/name" if key in _NAMED else "#/$defs/text"}
        case "array":
            return _array(key, value.get("items", {}))
        case "object" if isinstance(value.get("additionalProperties"), dict):
            inner = _value("", value["additionalProperties"])
            return {"type": "object", "additionalProperties": inner}
    return {}


def _array(key: str, items: Json) -> Json:
    if key == "evidence":
        pair = {"type": "array", "items": {"$ref": "#/$defs/time"}, "minItems": 2, "maxItems": 2}
        return {"type": "array", "items": pair}
    inner = _value("", items)
    if "$ref" in items:
        # An instruction may be its words alone.
        inner = {"anyOf": [{"$ref": "#/$defs/text"}, inner]}
    many = {"type": "array", "items": inner}
    return many if key in _LISTS else {"anyOf": [inner, many]}


def _either(defs: Json, model: str) -> Json:
    """A text, or a model."""
    assert model in defs
    return {"anyOf": [{"$ref": "#/$defs/text"}, {"$ref": f"#/$defs/{model}"}]}


def _told(key: str, schema: Json, own: str | None = None) -> Json:
    """With what editors say of the key: the words of its own field first."""
    words = own or _TOLD.get(key)
    return {"description": words, **schema} if words else schema
