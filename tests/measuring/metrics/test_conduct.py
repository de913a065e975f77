"""Conduct in turns, by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from simulator.measuring.metrics import conduct
from simulator.measuring.trace import Failure, Heard, Speech


def test_seconds_between(hand: Any) -> None:
    runs = [Speech(start=1, end=3), Speech(start=5, end=6)]
    assert conduct.spoken_between(runs, 2, 5.25) == pytest.approx(1.25)
    assert conduct.spoken_between(runs, 3, 5) == 0.0


def test_false_alarms_and_how_long_they_were(hand: Any) -> None:
    quiet = hand.span(1, "quiet")
    trace = hand.trace(
        [hand.span(0, "answer"), quiet],
        [
            (hand.response("a", (12.0, 13.5), text="Hm."), "t1", ("false_alarm",)),
            (hand.response("b", (14.0, 15.0), text="So."), "t1", ("false_alarm",)),
        ],
    )
    assert conduct.false_alarms(trace, quiet) == 2
    assert conduct.unsolicited_s(trace, quiet) == pytest.approx(2.5)
    assert conduct.kept_by(trace, quiet) is None


def test_missed_late_premature_extra(hand: Any) -> None:
    turns = [hand.span(i, "answer", due=10.0 * i + 4) for i in range(4)]
    trace = hand.trace(
        turns,
        [
            (hand.response("a", (19.0, 20.0)), "t1", ("late",)),
            (hand.response("b", (23.0, 25.0)), "t2", ("premature",)),
            (hand.response("c", (26.0, 27.0)), "t2", ("extra", "joined")),
        ],
    )
    assert [conduct.missed(trace, t) for t in turns] == [True, False, False, True]
    assert [conduct.late(trace, t) for t in turns] == [False, True, False, False]
    assert [conduct.premature(trace, t) for t in turns] == [False, False, True, False]
    assert [conduct.extra(trace, t) for t in turns] == [0, 0, 1, 0]
    # What never fell due is not missed.
    cut = hand.span(0, "answer", due=None, complete=False)
    assert not conduct.missed(hand.trace([cut], []), cut)


def test_what_the_provider_failed_at_is_neither_missed_nor_kept(hand: Any) -> None:
    turns = [hand.span(0, "answer", due=4.0), hand.span(1, "quiet")]
    trace = hand.trace(turns, [])
    assert (conduct.missed(trace, turns[0]), conduct.kept_by(trace, turns[1])) == (True, "silence")
    failed = tuple(Failure(at=1.0, turn=t.id, code="quota", message="") for t in turns)
    trace = replace(trace, failures=failed)
    assert (conduct.missed(trace, turns[0]), conduct.kept_by(trace, turns[1])) == (False, None)


def test_overlap_with_speech_in_the_turn(hand: Any) -> None:
    turns = [hand.span(0, "answer", due=4.0), hand.span(1, "quiet")]
    trace = hand.trace(
        turns,
        [(hand.response("a", (3.0, 3.5), (3.75, 6.0)), "t0", ("premature",))],
        [
            Heard(id="t0/0", turn="t0", voice="user", start=2.0, end=4.0),
            Heard(id="t1/0", turn="t1", voice="guest", start=12.0, end=13.0),
        ],
    )
    assert [conduct.overlap_s(trace, t) for t in turns] == pytest.approx([0.75, 0.0])


def test_speech_that_runs_over_is_carried_into_the_next(hand: Any) -> None:
    turns = [hand.span(0, "answer", due=4.0), hand.span(1, "quiet"), hand.span(2, "quiet")]
    trace = hand.trace(turns, [(hand.response("a", (8.0, 11.0), (11.5, 12.0)), "t0", ("overrun",))])
    assert [conduct.overrun_s(trace, t) for t in turns] == pytest.approx([1.5, 0.0, 0.0])
    assert [conduct.carried_in_s(trace, t) for t in turns] == pytest.approx([0.0, 1.5, 0.0])
    assert conduct.kept_by(trace, turns[1]) == "silence"


def test_how_silence_was_kept(hand: Any) -> None:
    quiet = hand.span(0, "quiet")

    def kept(flags: tuple[str, ...], **more: Any) -> str | None:
        trace = hand.trace([quiet], [(hand.response("r", **more), "t0", flags)])
        return conduct.kept_by(trace, quiet)

    assert kept(("silence_token",), text="[KEEP QUIET]", first_text=6.0) == "token"
    assert kept(("spoken_token",), text="keep quiet", first_text=6.0) == "spoken_token"
    assert kept(("silence_token",), listened=True, begun=6.0) == "listened"
    away = hand.span(0, "quiet", reached=False)
    assert conduct.kept_by(hand.trace([away], []), away) is None


def test_talking_through_a_quiet_turn_is_not_keeping_it(hand: Any) -> None:
    """A reply to t0 that never ends (until 31.2): t1 and t2 are talked through, t3 is not."""
    turns = [hand.span(0, "answer", due=4.0), *(hand.span(i, "quiet") for i in (1, 2, 3))]
    endless = [(5.0, 14.0), (14.3, 19.2), (19.9, 31.2)]
    trace = hand.trace(turns, [(hand.response("a", *endless), "t0", ("overrun",))])
    assert [conduct.talked_through(trace, t) for t in turns[1:]] == [True, True, False]
    assert [conduct.kept_by(trace, t) for t in turns[1:]] == [None, None, "silence"]
    assert [conduct.opportunity(trace, t) for t in turns[1:]] == [False, False, None]
    assert conduct.carried_in_s(trace, turns[2]) == pytest.approx(10.0)
    assert conduct.opportunity(trace, turns[0]) is None


def test_an_answer_that_ends_in_a_quiet_turn_leaves_an_occasion(hand: Any) -> None:
    """Most of its segment has to be left, however long it was held until the answer was over."""
    quiet = hand.span(1, "quiet")
    for end, through in ((12.4, False), (12.6, True), (15.0, True), (18.9, True), (19.1, True)):
        trace = hand.trace(
            [hand.span(0, "answer", due=4.0), quiet],
            [(hand.response("a", (5.0, end)), "t0", ("overrun",))],
        )
        assert conduct.talked_through(trace, quiet) is through


def test_talking_over_what_is_said_in_a_quiet_turn_is_not_keeping_quiet(hand: Any) -> None:
    quiet = hand.span(1, "quiet")
    guest = Heard(id="t1/0", turn="t1", voice="guest", start=11.0, end=13.0)
    for end, through in ((11.9, False), (12.1, True)):
        trace = hand.trace(
            [hand.span(0, "answer", due=4.0), quiet],
            [(hand.response("a", (5.0, end)), "t0", ("overrun",))],
            [guest],
        )
        assert conduct.talked_through(trace, quiet) is through


def test_a_greeting_without_end_talks_through_a_quiet_turn(hand: Any) -> None:
    quiet = hand.span(1, "quiet")
    trace = hand.trace(
        [hand.span(0, "answer", due=None), quiet],
        [(hand.response("hello", (3.0, 25.0)), None, ("greeting",))],
    )
    assert conduct.talked_through(trace, quiet)
    assert conduct.carried_in_s(trace, quiet) == pytest.approx(10.0)
