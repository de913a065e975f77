"""Every record survives its line; what a newer version adds is kept."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.recording import records
from simulator.recording.records import Stamped, TextRecord, Unknown, from_json, to_json

NUMBERS = st.floats(-1e6, 1e6).map(lambda x: round(x, 6))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def record_of(cls: type[Any]) -> st.SearchStrategy[Any]:
    """Records of a type with fields of the right kinds."""
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "str": st.text(),
        "str | None": st.none() | st.text(),
        "float": NUMBERS,
        "float | None": st.none() | NUMBERS,
        "int": st.integers(0, 2**40),
        "bool": st.booleans(),
        "Any": VALUES,
        "Mapping[str, Any]": st.dictionaries(st.text(), VALUES, max_size=3),
        "Mapping[str, Any] | None": st.none() | st.dictionaries(st.text(), VALUES, max_size=3),
        "tuple[float, float] | None": st.none() | st.tuples(NUMBERS, NUMBERS),
    }
    fields: dict[str, st.SearchStrategy[Any]] = {}
    for f in dataclasses.fields(cls):
        kind = str(f.type)
        if kind.startswith("Literal["):
            names = kind.removeprefix("Literal[").removesuffix("]").split(", ")
            fields[f.name] = st.sampled_from([n.strip('"') for n in names])
        else:
            fields[f.name] = kinds[kind]
    return st.builds(cls, **fields)


ANY = st.one_of([record_of(cls) for cls in records._TYPES.values()])


@given(ANY, st.integers(0), NUMBERS.filter(lambda t: t >= 0), st.none() | st.text())
def test_any_record_round_trips(record: Any, seq: int, t: float, turn: str | None) -> None:
    stamped = Stamped(seq=seq, t=t, turn=turn, record=record)
    assert from_json(json.loads(json.dumps(to_json(stamped)))) == stamped


def test_an_unknown_type_is_kept_as_it_is() -> None:
    line = {"seq": 3, "t": 1.5, "type": "weather", "turn": "a", "sky": ["blue", 1]}
    stamped = from_json(line)
    assert stamped.record == Unknown(type="weather", body={"sky": ["blue", 1]})
    assert to_json(stamped) == line


def test_a_field_that_a_newer_version_added_is_passed_over() -> None:
    line = {"seq": 0, "t": 0.0, "type": "text", "turn": None, "text": "hi", "colour": "red"}
    assert from_json(line).record == TextRecord(text="hi")


@pytest.mark.parametrize(
    "line", [{}, {"seq": 1, "t": 2.0}, {"seq": 1, "t": None, "type": "text"},
             {"seq": 1, "t": 2.0, "type": "speech", "edge": "start"}],
)  # fmt: skip
def test_what_is_no_record_is_refused(line: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"not a record|speech"):
        from_json(line)


@pytest.mark.parametrize(
    "text",
    [
        '{"seq": 1e999, "t": 0, "type": "text", "text": "a"}',
        '{"seq": true, "t": 0, "type": "text", "text": "a"}',
        '{"seq": 1, "t": NaN, "type": "text", "text": "a"}',
        '{"seq": 1, "t": 0, "type": "text", "turn": [], "text": "a"}',
        '{"seq": 1, "t": 0, "type": "session", "state": "connected", "negotiated": "x"}',
        '{"seq": 1, "t": 0, "type": "session", "state": "ended", "outcome": 1e308}',
        '{"seq": 1, "t": 0, "type": "turn", "of": {}, "state": "held", "at": 1}',
        '{"seq": 1, "t": 0, "type": "turn", "of": "a", "state": "held", "at": "1"}',
        '{"seq": 1, "t": 0, "type": "speech", "edge": "start", "by": "agent", "item": []}',
        '{"seq": 1, "t": 0, "type": "context", "op": "x", "span": [1, 2, 3]}',
        '{"seq": 1, "t": 0, "type": "context", "op": "x", "span": [1, 1' + "0" * 400 + "]}",
        '{"seq": 1, "t": 0, "type": "health", "send_p99_ms": 1, "send_max_ms": 1,'
        ' "loop_lag_ms": 1, "reported": null}',
    ],
)
def test_a_field_of_another_type_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="another type"):
        from_json(json.loads(text))
