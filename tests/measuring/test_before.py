"""Recordings of before have their providers' failures in raw messages only: they are found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from simulator.measuring.before import understood
from simulator.recording.records import (
    FaultRecord,
    Record,
    ResponseRecord,
    Stamped,
    WireRecord,
    from_json,
    to_json,
)


def events(*records: Record) -> list[Stamped]:
    return [Stamped(seq=i, t=float(i), turn=None, record=r) for i, r in enumerate(records)]


def wire(way: Any, kind: str, **body: Any) -> WireRecord:
    return WireRecord(dir=way, name=kind, bytes=9, body={"type": kind, **body})


def asked(turn: str, name: str = "om_3") -> WireRecord:
    response = {"metadata": {"turn": turn}}
    return wire("out", "response.create", event_id=name, response=response)


def fault(code: str, message: str = "") -> FaultRecord:
    """As it was written before it was asked whether it is in place of an answer."""
    line = {"seq": 0, "t": 1.0, "type": "fault", "whose": "agent", "code": code}
    record = from_json({**line, "message": message, "fatal": False}).record
    assert isinstance(record, FaultRecord)
    return record


def faults(found: Sequence[Stamped]) -> list[tuple[str, bool | None, str | None]]:
    records = [e.record for e in found if isinstance(e.record, FaultRecord)]
    return [(r.code, r.unanswered, r.of) for r in records]


@pytest.mark.parametrize(
    ("before", "error", "unanswered", "of"),
    [
        ([], {"type": "rate_limit_error", "code": "x"}, True, None),
        ([], {"code": "x"}, True, None),
        ([], {"type": "invalid_request_error", "code": "x"}, True, None),
        ([], {"type": "server_error", "code": "x", "event_id": "event_7"}, True, None),
        (
            [wire("out", "session.update", event_id="om_1")],
            {"type": "invalid_request_error", "code": "x"},
            False,
            None,
        ),
        ([asked("q")], {"type": "server_error", "code": "x", "event_id": "om_3"}, True, "q"),
        ([asked("q")], {"type": "invalid_request_error", "code": "x"}, True, "q"),
        (
            [asked("q"), wire("in", "response.created", response={"id": "r"})],
            {"type": "invalid_request_error", "code": "x"},
            True,
            None,
        ),
        (
            [wire("out", "input_audio_buffer.commit", event_id="om_2"), asked("q")],
            {"type": "invalid_request_error", "code": "x"},
            False,
            None,
        ),
        (
            [
                wire("out", "input_audio_buffer.commit", event_id="om_2"),
                wire("in", "input_audio_buffer.committed", item_id="i"),
                asked("q"),
            ],
            {"type": "invalid_request_error", "code": "x"},
            True,
            "q",
        ),
    ],
)
def test_an_error_means_what_it_would_mean_today(
    before: list[WireRecord], error: dict[str, Any], unanswered: bool, of: str | None
) -> None:
    told = events(*before, wire("in", "error", error=error), fault("x"))
    assert faults(understood(told, "openai")) == [("x", unanswered, of)]


def test_errors_alike_are_told_apart_by_their_order() -> None:
    error = wire("in", "error", error={"type": "server_error", "code": "x", "event_id": "om_3"})
    told = events(asked("a"), error, fault("x"), asked("b"), error, fault("x"), fault("malformed"))
    found = faults(understood(told, "openai"))
    assert found == [("x", True, "a"), ("x", True, "b"), ("malformed", None, None)]


def test_a_response_is_given_the_reason_that_its_message_has() -> None:
    filtered = {"id": "r1", "status": "incomplete", "status_details": {"reason": "content_filter"}}
    told = events(
        wire("in", "response.done", response=filtered),
        ResponseRecord(id="r1", edge="end", status="incomplete"),
        ResponseRecord(id="r2", edge="end", status="failed"),
    )
    _, first, second = (e.record for e in understood(told, "openai"))
    assert isinstance(first, ResponseRecord)
    assert first.reason == "content_filter"
    assert second == told[2].record, "of that one there is no message"


def test_what_is_of_today_or_of_other_words_stays_as_it_is() -> None:
    error = wire("in", "error", error={"type": "server_error", "code": "x"})
    known = FaultRecord(whose="agent", code="x", message="", fatal=False, unanswered=False)
    today = events(error, known)
    assert understood(today, "openai") == tuple(today)
    assert [from_json(to_json(e)) for e in today] == today
    foreign = events(error, fault("x"))
    assert understood(foreign, "words") == tuple(foreign)
