"""What the provider failed at, and in which turn: the session of the attribution's tests, short.

`q1` asks at 5 (window 8, left at 10); `idle` is quiet until 20; `q2` asks at 25, left at 35.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.measuring.attribution import attribute
from simulator.measuring.failures import failures, left_unanswered, too_many
from simulator.measuring.trace import Failure, Heard, Response, Speech, TurnSpan
from simulator.recording.records import FaultRecord

TURNS = (
    TurnSpan(id="q1", index=0, expect="answer", start=1, end=5, done=10, due=5, asked_at=3,
             due_kind="instruction", within=8),
    TurnSpan(id="idle", index=1, expect="quiet", start=10, end=20, done=20),
    TurnSpan(id="q2", index=2, expect="answer", start=20, end=25, done=35, due=25, asked_at=23,
             due_kind="instruction", within=8),
)  # fmt: skip
HEARD = (
    Heard(id="q1/0", turn="q1", voice="user", start=3, end=5),
    Heard(id="q2/0", turn="q2", voice="user", start=23, end=25),
)


def ended(begun: float, status: str, reason: str | None = None, **how: object) -> Response:
    name = f"r{begun:g}"
    return Response(id=name, begun=begun, status=status, reason=reason, **how)  # type: ignore[arg-type]


def said(start: float) -> Response:
    run = Speech(start=start, end=start + 1)
    return Response(id=f"s{start:g}", speech=(run,), text="Three.", status="completed")


def fault(code: str, *, unanswered: bool = True, of: str | None = None) -> FaultRecord:
    return FaultRecord(
        whose="agent", code=code, message="", fatal=False, unanswered=unanswered, of=of
    )


def found(
    *responses: Response, faults: tuple[tuple[float, FaultRecord], ...] = ()
) -> tuple[list[tuple[str | None, str]], list[str | None]]:
    """(turn, code) of each failure, and the turns in which nothing else came."""
    attributed = attribute(TURNS, HEARD, responses, user_items={}, gold={})
    failed = failures(TURNS, responses, attributed, faults)
    left = left_unanswered(TURNS, attributed, failed)
    return [(f.turn, f.code) for f in failed], [f.turn for f in left]


@pytest.mark.parametrize(
    ("response", "turn", "code"),
    [
        (ended(5.5, "failed", "rate_limit_exceeded"), "q1", "rate_limit_exceeded"),
        (ended(5.5, "incomplete", "max_output_tokens"), "q1", "max_output_tokens"),
        (ended(26.0, "failed"), "q2", "failed"),
        (ended(15.0, "failed", "server_error", trigger="idle"), "idle", "server_error"),
        # The wire's own word counts before the time.
        (ended(26.0, "failed", "server_error", trigger="q1"), "q1", "server_error"),
    ],
)
def test_a_response_that_failed_before_it_said_anything(
    response: Response, turn: str, code: str
) -> None:
    assert found(response) == ([(turn, code)], [turn])


@pytest.mark.parametrize(
    "response",
    [
        ended(5.5, "incomplete", "content_filter"),
        ended(5.5, "cancelled", "turn_detected"),
        ended(5.5, "completed"),
        # It had said something: it is judged on that.
        ended(5.5, "failed", "server_error", first_text=6.0, text="There are"),
        ended(5.5, "incomplete", "max_output_tokens", speech=(Speech(start=6, end=7),)),
        ended(5.5, "failed", "server_error", listened=True),
    ],
)
def test_what_is_no_failure_to_answer(response: Response) -> None:
    assert found(response) == ([], [])


def test_a_reply_that_was_cut_after_it_said_something_is_marked() -> None:
    response = ended(5.5, "incomplete", "max_output_tokens", first_text=6.0, text="There are")
    (a,) = attribute(TURNS, HEARD, [response], user_items={}, gold={})
    assert (a.turn, a.flags) == ("q1", ("cut",))


def test_a_failure_with_an_answer_beside_it_leaves_no_turn_unanswered() -> None:
    failed = [("q1", "server_error")]
    assert found(ended(5.5, "failed", "server_error"), said(7)) == (failed, [])
    # Of an answered turn nothing is owed: what fails in the quiet turn after it is that turn's.
    assert found(said(7), ended(12.0, "failed", "server_error")) == (
        [("idle", "server_error")],
        ["idle"],
    )


def test_what_has_failed_already_is_not_what_fails_in_the_next_turn() -> None:
    again = (fault("overloaded"), fault("overloaded"), fault("overloaded"))
    assert found(faults=tuple(zip((6.0, 7.0, 12.0), again, strict=True))) == (
        [("q1", "overloaded"), ("q1", "overloaded"), ("idle", "overloaded")],
        ["q1", "idle"],
    )


def test_errors_without_a_response() -> None:
    refused, session = fault("overloaded", of="q2"), fault("server_error")
    assert found(faults=((25.4, refused),)) == ([("q2", "overloaded")], ["q2"])
    assert found(said(6), faults=((15.0, session),)) == (
        [("idle", "server_error")],
        ["idle"],
    )
    assert found(faults=((0.5, session),)) == ([(None, "server_error")], [])
    assert found(faults=((5.5, fault("malformed", unanswered=False)),)) == ([], [])


def test_after_a_failure_that_lasts_silence_is_no_miss() -> None:
    """One that says nothing again after it is out of quota did not keep quiet, nor miss."""
    for code in ("insufficient_quota", "invalid_api_key", "session_expired", "401"):
        assert found(said(7), faults=((12.0, fault(code)),)) == (
            [("idle", code), ("q2", code)],
            ["idle", "q2"],
        )
    # A failure of the moment is that turn's alone, and who speaks again has not fallen silent.
    assert found(said(7), faults=((12.0, fault("overloaded")),))[1] == ["idle"]
    every = ["q1", "idle", "q2"]
    quota = ((6.0, fault("insufficient_quota")),)
    assert found(faults=quota) == ([(t, "insufficient_quota") for t in every], every)
    assert found(said(26), faults=((6.0, fault("insufficient_quota")),))[1] == ["q1"]
    # What was out of time before it is a miss.
    assert found(faults=((14.0, fault("insufficient_quota", of="q2")),))[1] == ["idle", "q2"]


def test_a_turn_in_which_the_session_ends_is_left_to_that() -> None:
    """Before its question is asked a turn is owed nothing, and nothing else says what became of
    it."""
    end = replace(fault("gone"), fatal=True)
    assert found(said(7), faults=((21.0, end),))[1] == ["q2"]


def test_above_a_tenth_of_the_turns_the_agent_failed() -> None:
    failed = [Failure(at=1.0, turn="idle", code="quota", message="Pay.")]

    def said(errors: int, turns: int) -> str:
        return too_many([TURNS[1]] * turns, failed * errors)

    assert said(3, 20) == "agent_error: in 3 of 20 turns, first quota: Pay."
    assert [said(errors, turns) for errors, turns in ((0, 1), (1, 10), (2, 20), (7, 70))] == [
        ""
    ] * 4
    assert all(said(errors, turns) for errors, turns in ((1, 1), (1, 9), (2, 10), (2, 19), (8, 70)))
