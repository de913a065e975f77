"""Every record survives its line; what a newer version adds is kept."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.protocol.health import Sent
from simulator.recording import records
from simulator.recording.records import (
    HealthRecord,
    Stamped,
    TextRecord,
    Unknown,
    WireRecord,
    from_json,
    to_json,
)

NUMBERS = st.floats(-1e6, 1e6).map(lambda x: round(x, 6))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)

SENT = st.builds(
    Sent,
    track=st.text(),
    packets=st.integers(0, 2**40),
    unsent=st.integers(0, 2**40),
    refused_since=st.none() | NUMBERS,
    overdue_s=NUMBERS,
    left_until=st.none() | NUMBERS,
    arrived_until=st.none() | NUMBERS,
    reports_apart=st.none() | NUMBERS,
)


def record_of(cls: type[Any]) -> st.SearchStrategy[Any]:
    """Records of a type with fields of the right kinds."""
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "str": st.text(),
        "str | None": st.none() | st.text(),
        "Number": NUMBERS,
        "Number | None": st.none() | NUMBERS,
        "Measure": NUMBERS,
        "Measure | None": st.none() | NUMBERS,
        "Count": st.integers(0, 2**40),
        "Flag": st.booleans(),
        "Flag | None": st.none() | st.booleans(),
        "Any": VALUES,
        "Mapping[str, Any]": st.dictionaries(st.text(), VALUES, max_size=3),
        "Mapping[str, Any] | None": st.none() | st.dictionaries(st.text(), VALUES, max_size=3),
        "tuple[Number, Number] | None": st.none() | st.tuples(NUMBERS, NUMBERS),
        "tuple[Sent, ...]": st.lists(SENT, max_size=2).map(tuple),
    }
    fields: dict[str, st.SearchStrategy[Any]] = {}
    for f in dataclasses.fields(cls):
        kind = str(f.type)
        if kind.startswith("Word["):
            names = kind.removeprefix("Word[Literal[").removesuffix("]]").split(", ")
            fields[f.name] = st.sampled_from([n.strip('"') for n in names])
        else:
            fields[f.name] = kinds[kind]
    return st.builds(cls, **fields)


ANY = st.one_of([record_of(cls) for cls in records.TYPES.values()])


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


def test_a_word_that_a_newer_version_added_is_kept() -> None:
    line = {"seq": 0, "t": 0.0, "type": "speech", "turn": None, "edge": "paused", "by": "guest"}
    assert to_json(from_json(line)) == line


def test_a_measure_that_came_to_no_number_is_a_word() -> None:
    measures = {"send_p99_ms": "nan", "send_max_ms": "inf", "loop_lag_ms": "-inf"}
    record = from_json({"seq": 0, "t": 0.0, "type": "health", **measures}).record
    assert isinstance(record, HealthRecord)
    assert math.isnan(record.send_p99_ms)
    assert (record.send_max_ms, record.loop_lag_ms) == (math.inf, -math.inf)


def test_a_message_stays_as_it_came() -> None:
    body = {"type": "\ud800", "\udfff": [1, None]}
    line = {"seq": 0, "t": 0.0, "type": "wire", "dir": "in", "name": "\ud800", "bytes": 9}
    record = from_json({**line, "body": body}).record
    assert record == WireRecord(dir="in", name="\ud800", bytes=9, body=body)


@pytest.mark.parametrize(
    ("line", "field"),
    [
        ({}, "seq"),
        ({"seq": 1, "t": 2.0}, "type"),
        ({"seq": 1, "t": None, "type": "text"}, "t"),
        ({"seq": 1, "t": 2.0, "type": "speech", "edge": "start"}, "by"),
    ],
)
def test_what_is_no_record_is_refused(line: dict[str, Any], field: str) -> None:
    with pytest.raises(ValueError, match=f"^not a record: {field}: "):
        from_json(line)


HEALTH = '"type": "health", "send_p99_ms": 1, "send_max_ms": 1'


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('"seq": 1e999, "type": "text", "text": "a"', "seq"),
        ('"seq": true, "type": "text", "text": "a"', "seq"),
        ('"t": NaN, "type": "text", "text": "a"', "t"),
        ('"t": 1e15, "type": "text", "text": "a"', "t"),
        ('"turn": [], "type": "text", "text": "a"', "turn"),
        ('"type": ["text"], "text": "a"', "type"),
        ('"type": "text", "text": "a", "final": 1', "final"),
        ('"type": "text", "text": "a", "kind": 1', "kind"),
        ('"type": "session", "state": "connected", "negotiated": "x"', "negotiated"),
        ('"type": "session", "state": "playing", "play_at": true', "play_at"),
        ('"type": "session", "state": "ended", "outcome": 1e308', "outcome"),
        ('"type": "turn", "of": {}, "state": "held", "at": 1', "of"),
        ('"type": "turn", "of": "a", "state": "held", "at": "1"', "at"),
        ('"type": "turn", "of": "a", "state": "held", "at": Infinity', "at"),
        ('"type": "speech", "edge": "start", "by": "agent", "item": []', "item"),
        ('"type": "context", "op": "x", "span": [1, 2, 3]', "span"),
        ('"type": "context", "op": "x", "span": [1, 1' + "0" * 400 + "]", r"span\.1"),
        ('"type": "context", "op": "x", "tokens": 9223372036854775808', "tokens"),
        ('"type": "context", "op": "x", "tokens": 1.0', "tokens"),
        (f'{HEALTH}, "loop_lag_ms": 1, "reported": null', "reported"),
        (f'{HEALTH}, "loop_lag_ms": "high"', "loop_lag_ms"),
        (f'{HEALTH}, "loop_lag_ms": 1e300', "loop_lag_ms"),
        (f'{HEALTH}, "loop_lag_ms": 1' + "0" * 30, "loop_lag_ms"),
    ],
)
def test_a_field_of_another_type_is_refused(text: str, field: str) -> None:
    line = {"seq": 1, "t": 0} | json.loads("{" + text + "}")
    with pytest.raises(ValueError, match=f"^not a record: {field}: "):
        from_json(line)
