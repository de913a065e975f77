"""Length of replies, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.measuring.metrics.replies import reply_span_s, reply_speech_s, reply_words, words


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("There are three bottles.", 4),
        ("It's 3.5 of 12,000!", 4),
        ("", 0),
        ("…", 0),
        ("left-hand side", 3),
        ("Drei Flaschen, größer", 3),
    ],
)
def test_words(text: str, count: int) -> None:
    assert words(text) == count


def test_sums_over_the_answers_of_a_turn(hand: Any) -> None:
    turn = hand.span(0, "answer", due=4.0)
    trace = hand.trace(
        [turn],
        [
            (hand.response("a", (4.5, 5.5), (6.0, 6.25), text="One two"), "t0", ()),
            (hand.response("b", (7.0, 8.0), text="three"), "t0", ("extra", "joined")),
            (hand.response("q", (8.5, 9.0), text="[KEEP QUIET]"), "t0", ("spoken_token",)),
        ],
    )
    assert reply_speech_s(trace, turn) == pytest.approx(2.25)
    assert reply_span_s(trace, turn) == pytest.approx(3.5)
    assert reply_words(trace, turn) == 3


def test_no_reply_and_no_transcript(hand: Any) -> None:
    turn = hand.span(0, "answer", due=4.0)
    nothing = hand.trace([turn], [])
    assert reply_speech_s(nothing, turn) == 0.0
    assert reply_span_s(nothing, turn) is None
    assert reply_words(nothing, turn) == 0
    mute = hand.trace([turn], [(hand.response("a", (4.5, 5.5)), "t0", ())])
    assert reply_words(mute, turn) is None
