"""Response latency: one case for each reason to have one or none."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.measuring.metrics.latency import answers, first_text_s, response_latency


def asked(hand: Any, **more: Any) -> Any:
    return hand.span(
        0, "answer", **{"due": 4.0, "due_kind": "instruction", "asked_at": 2.0, **more}
    )


def test_onset_minus_due(hand: Any) -> None:
    turn = asked(hand)
    trace = hand.trace([turn], [(hand.response("r", (4.75, 6.0), text="Three."), "t0", ())])
    found = response_latency(trace, turn)
    assert found.seconds == pytest.approx(0.75)
    assert (found.invalid, found.response, found.uncertainty_s) == (None, "r", 0.001)


def test_what_is_not_known_of_the_due_time_is_not_known_of_the_latency(hand: Any) -> None:
    turn = asked(hand, due_uncertainty=0.1)
    trace = hand.trace([turn], [(hand.response("r", (4.75, 6.0), text="Three."), "t0", ())])
    assert response_latency(trace, turn).uncertainty_s == pytest.approx(0.101)


def test_a_text_only_answer_counts_from_its_first_text(hand: Any) -> None:
    turn = asked(hand)
    written = hand.response("r", text="Three.", first_text=5.5)
    trace = hand.trace([turn], [(written, "t0", ())])
    assert response_latency(trace, turn).seconds == pytest.approx(1.5)
    assert first_text_s(trace, turn) == pytest.approx(1.5)


def test_the_first_answer_counts(hand: Any) -> None:
    turn = asked(hand)
    trace = hand.trace(
        [turn],
        [
            (hand.response("b", (7.0, 8.0), text="b"), "t0", ("extra",)),
            (hand.response("a", (4.5, 5.0), text="a", first_text=4.2), "t0", ()),
        ],
    )
    assert [r.id for r, _ in answers(trace, turn)] == ["a", "b"]
    assert response_latency(trace, turn).seconds == pytest.approx(0.5)
    assert first_text_s(trace, turn) == pytest.approx(0.2)


def test_words_whose_voice_was_not_heard_have_none(hand: Any) -> None:
    turn = asked(hand)
    mute = hand.response("mute", text="a", first_text=4.2, unheard=True)
    alone = response_latency(hand.trace([turn], [(mute, "t0", ())]), turn)
    assert (alone.seconds, alone.invalid) == (None, "unheard")
    # What was heard after it has one.
    said = (hand.response("said", (7.0, 8.0), text="b"), "t0", ("extra",))
    trace = hand.trace([turn], [(mute, "t0", ()), said])
    assert [r.id for r, _ in answers(trace, turn)] == ["said", "mute"]
    assert response_latency(trace, turn).seconds == pytest.approx(3.0)


def test_a_late_answer_has_a_latency(hand: Any) -> None:
    turn = asked(hand)
    trace = hand.trace([turn], [(hand.response("r", (13.5, 14.0)), "t0", ("late",))])
    assert response_latency(trace, turn).seconds == pytest.approx(9.5)


@pytest.mark.parametrize(
    ("turn", "runs", "flags", "why"),
    [
        ({}, [], (), "missing"),
        ({"reached": False}, [], (), "not_reached"),
        ({"due": None}, [], (), "not_reached"),
        ({"expect": "quiet"}, [(5.0, 6.0)], ("false_alarm",), "not_asked"),
        ({"expect": "either"}, [(5.0, 6.0)], (), "not_asked"),
        ({}, [(3.0, 6.0)], ("premature",), "premature"),
        ({}, [(5.0, 6.0)], ("overlapped",), "overlapped"),
        ({"send_error_ms": 20.1}, [(5.0, 6.0)], (), "send_error"),
        ({"send_error_ms": 20.0}, [(5.0, 6.0)], (), None),
        ({}, [(5.0, 6.0)], ("spoken_token",), "missing"),
    ],
)
def test_why_there_is_none(
    hand: Any, turn: dict[str, Any], runs: list[tuple[float, float]], flags: Any, why: str | None
) -> None:
    expect = turn.pop("expect", "answer")
    span = hand.span(0, expect, **{"due": 4.0, **turn})
    trace = hand.trace([span], [(hand.response("r", *runs), "t0", flags)] if runs else [])
    found = response_latency(trace, span)
    assert found.invalid == why
    assert (found.seconds is None) == (why is not None)
