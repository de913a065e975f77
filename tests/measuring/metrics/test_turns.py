"""Rows and sums of a whole session, by hand."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from simulator.measuring.metrics.turns import session_metrics, turn_metrics
from simulator.measuring.trace import Heard


def session(hand: Any) -> Any:
    turns = [
        hand.span(0, "answer", due=4.0, due_kind="instruction", asked_at=2.0, send_error_ms=1.5),
        hand.span(1, "quiet", opportunity=True),
        hand.span(2, "answer", due=24.0),
        hand.span(3, "quiet", opportunity=False),
        hand.span(4, "answer", reached=False, start=40.0, end=40.0, done=40.0),
    ]
    said = [Heard(id="t0/0", turn="t0", voice="user", start=2.0, end=4.0)]
    return hand.trace(
        turns,
        [
            (hand.response("g", (0.5, 1.0), text="Hello!"), None, ("greeting",)),
            (hand.response("a", (4.75, 6.0), text="Three bottles."), "t0", ()),
            (hand.response("b", (8.0, 10.5), text="Also this."), "t0", ("extra", "overrun")),
            (hand.response("f", (15.0, 16.0), text="Hm."), "t1", ("false_alarm",)),
            (hand.response("k", text="[KEEP QUIET]", first_text=36.0), "t3", ("silence_token",)),
        ],
        said,
    )


def test_a_row(hand: Any) -> None:
    trace = session(hand)
    row = turn_metrics(trace, trace.turns[0])
    assert row.latency_s == pytest.approx(0.75)
    assert (row.onset, row.responses, row.extra, row.reply_words) == (4.75, 2, 1, 4)
    assert row.reply_speech_s == pytest.approx(3.75)
    assert row.reply_span_s == pytest.approx(5.75)
    assert row.overrun_s == pytest.approx(0.5)
    assert (row.overlap_s, row.missed, row.late, row.kept_by) == (0.0, False, False, None)
    assert row.send_error_ms == 1.5


def test_a_latency_to_a_text_says_so(hand: Any) -> None:
    turn = hand.span(0, "answer", due=4.0, due_kind="instruction", asked_at=2.0)
    aloud = hand.response("a", (4.75, 6.0), text="Three.")
    written = hand.response("a", text="Three.", first_text=4.75)
    for answer, in_writing in ((aloud, False), (written, True)):
        row = turn_metrics(hand.trace([turn], [(answer, "t0", ())]), turn)
        assert row.latency_s == pytest.approx(0.75)
        assert row.latency_in_writing is in_writing
    assert not turn_metrics(hand.trace([turn], []), turn).latency_in_writing


def test_the_sums(hand: Any) -> None:
    whole = session_metrics(session(hand))
    assert whole.latencies_s == pytest.approx((0.75,))
    assert (whole.answers_due, whole.answered, whole.missed, whole.late) == (2, 1, 1, 0)
    assert (whole.quiet_reached, whole.quiet_broken, whole.false_alarms) == (2, 1, 1)
    assert (whole.extra, whole.greetings) == (1, 1)
    assert whole.speech_s == pytest.approx(0.5 + 1.25 + 2.5 + 1.0)
    assert whole.overrun_s == pytest.approx(0.5)
    assert [r.carried_in_s for r in whole.turns] == pytest.approx([0, 0.5, 0, 0, 0])
    assert [r.kept_by for r in whole.turns] == [None, None, None, "token", None]
    assert [r.latency_invalid for r in whole.turns] == [
        None, "not_asked", "missing", "not_asked", "not_reached",
    ]  # fmt: skip
    assert whole.lost == 4


def test_rows_are_plain_values(hand: Any) -> None:
    assert dataclasses.asdict(session_metrics(session(hand)))["turns"][0]["turn"] == "t0"
