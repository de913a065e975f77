"""Playbooks of `decide: turn-end`: one decision a turn, asked for when the turn has been sent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from simulator.media.timeline import PTIME, falls_due
from simulator.protocol.conditions import Decide
from simulator.protocol.events import (
    Acknowledged,
    AgentSpeech,
    Cancel,
    Command,
    Commit,
    Configure,
    Drained,
    Event,
    Fault,
    Outcome,
    Ready,
    Respond,
    ResponseEnded,
    ResponseStarted,
    Text,
    Whose,
)
from simulator.scenario.types import Anchor, Placement
from simulator.session.decide import ACKNOWLEDGED_WITHIN, SETTLE
from simulator.session.script import FIRST_LEAD, LEAD, Script
from simulator.testing import Rehearsal, Sketch, asks, cuts_in, event, prepared, quiet

READY = 1.0
T0 = READY + FIRST_LEAD
REST = 1.5
"""Silence after which a reply that only wrote is over."""


def rehearse(
    *turns: Sketch, says: Sequence[tuple[float, Event]] = (), decide: Decide = Decide.TURN_END
) -> Rehearsal:
    script = Script(prepared(*turns), instructions="Be brief.", decide=decide)
    return Rehearsal(script=script).run([(READY, Ready()), *says])


def sent(played: Rehearsal, *kinds: type[Command]) -> list[Any]:
    return [(round(t, 3), c) for t, c in played.commands if isinstance(c, kinds)]


def acknowledged(at: float) -> tuple[float, Event]:
    return at, Acknowledged(command="c", what="commit")


def token(at: float, turn: str) -> list[tuple[float, Event]]:
    """A reply that keeps quiet with the token."""
    return [
        (at, ResponseStarted(response=turn, trigger=turn)),
        (at, Text(text="[KEEP QUIET]", response=turn, final=True)),
        (at, ResponseEnded(response=turn)),
    ]


def test_the_agents_own_turn_detection_is_turned_off() -> None:
    (_, configure), *_ = rehearse(quiet("a", 4)).commands
    assert configure == Configure(instructions="Be brief.", turn_detection=False)
    (_, configure), *_ = rehearse(quiet("a", 4), decide=Decide.AGENT).commands
    assert configure == Configure(instructions="Be brief.")


def test_a_response_is_asked_for_once_the_commit_is_acknowledged() -> None:
    ended = T0 + 5
    says = [acknowledged(ended + SETTLE + 0.04), *token(ended + 1, "a")]
    played = rehearse(asks("a", 5), says=says)
    assert sent(played, Commit, Respond) == [
        (pytest.approx(ended + SETTLE), Commit()),
        (pytest.approx(ended + SETTLE + 0.04), Respond(turn="a")),
    ]
    assert played.finish is not None
    assert played.finish[1].outcome is Outcome.COMPLETED


def test_an_acknowledgement_is_waited_for_a_short_while() -> None:
    asked = T0 + 5 + SETTLE + ACKNOWLEDGED_WITHIN
    assert sent(rehearse(asks("a", 5)), Respond) == [(pytest.approx(asked), Respond(turn="a"))]


def test_an_acknowledgement_of_something_else_is_none() -> None:
    ended = T0 + 5
    says: list[tuple[float, Event]] = [
        (ended, Acknowledged(command="c", what="commit")),
        (ended + 0.2, Acknowledged(command="c", what="configure")),
    ]
    asked = ended + SETTLE + ACKNOWLEDGED_WITHIN
    played = rehearse(asks("a", 5), says=says)
    assert sent(played, Respond) == [(pytest.approx(asked), Respond(turn="a"))]


def test_quiet_turns_are_decided_too_and_wait_for_it() -> None:
    first = T0 + 4
    second = first + 1 + REST + 6
    says = [*token(first + 1, "a"), *token(second + 2, "b")]
    played = rehearse(quiet("a", 4), quiet("b", 6), says=says)
    assert [c for _, c in sent(played, Respond)] == [Respond(turn="a"), Respond(turn="b")]
    assert played.plays[1][1] == pytest.approx(first + 1 + REST, abs=LEAD + PTIME)
    assert (0, "awaiting", "answer") in played.states


def test_an_empty_response_is_a_decision() -> None:
    at = T0 + 4 + 1
    says: list[tuple[float, Event]] = [
        (at, ResponseStarted(response="r")),
        (at, ResponseEnded(response="r")),
    ]
    played = rehearse(quiet("a", 4), quiet("b", 6), says=says)
    assert played.plays[1][1] == pytest.approx(at + REST, abs=LEAD + PTIME)


def test_a_response_that_never_comes_is_waited_for_as_long_as_an_answer() -> None:
    asked = T0 + 4 + SETTLE + ACKNOWLEDGED_WITHIN
    played = rehearse(quiet("a", 4), quiet("b", 6))
    assert played.plays[1][1] == pytest.approx(asked + 8, abs=LEAD + PTIME)


def test_an_answer_falls_due_when_it_is_asked_for() -> None:
    """An event in the middle of a turn is answered at the turn's end, which is not late."""
    sketch = event("a", 10, at=2, within=3)
    (turn,) = prepared(sketch).turns
    assert (falls_due(turn).at, falls_due(turn, Decide.TURN_END).at) == (2, 10)
    (silent,) = prepared(quiet("a", 4, guest=(1, 2))).turns
    assert falls_due(silent, Decide.TURN_END) == falls_due(silent, Decide.AGENT)
    reply: list[tuple[float, Event]] = [
        (T0 + 11, ResponseStarted(response="r")),
        (T0 + 11.5, AgentSpeech(edge="start")),
        (T0 + 12, ResponseEnded(response="r")),
        (T0 + 13, AgentSpeech(edge="end")),
        (T0 + 13, Drained(response="r")),
    ]
    played = rehearse(sketch, quiet("b", 4), says=reply)
    assert played.plays[1][1] == pytest.approx(T0 + 13.7, abs=LEAD + PTIME)


def test_a_reply_that_goes_on_is_cut_before_the_next_is_asked_for() -> None:
    first = T0 + 5
    says: list[tuple[float, Event]] = [
        (first + 0.4, ResponseStarted(response="long")),
        (first + 0.5, AgentSpeech(edge="start")),
    ]
    barge_in = cuts_in("b", 3, Placement(anchor=Anchor.SPEAKING, at=1.0))
    # It is asked for at once only where it has asked already: the reply is to that.
    says.insert(0, acknowledged(first + SETTLE + 0.01))
    played = rehearse(asks("a", 5), barge_in, says=says)
    second = played.plays[1][1] + 3
    assert played.plays[1][1] == pytest.approx(first + 1.5, abs=LEAD + PTIME)
    assert sent(played, Cancel, Commit)[1:] == [
        (pytest.approx(second + SETTLE, abs=0.002), Cancel(response="long")),
        (pytest.approx(second + SETTLE, abs=0.002), Commit()),
    ]


def test_nothing_is_asked_for_where_the_agent_decides() -> None:
    played = rehearse(asks("a", 5), quiet("b", 4), decide=Decide.AGENT)
    assert sent(played, Commit, Respond, Cancel) == []


def test_a_refusal_of_what_was_asked_for_is_waited_for_no_longer_than_the_quiet_tail() -> None:
    asked = T0 + 4 + SETTLE + 0.04
    refused = Fault(whose=Whose.AGENT, code="x", message="", fatal=False, unanswered=True, turn="a")
    says = [acknowledged(asked), (asked + 0.3, refused)]
    played = rehearse(quiet("a", 4), quiet("b", 6), says=says)
    assert played.plays[1][1] == pytest.approx(asked + 0.3 + 3, abs=LEAD + PTIME)
    # It tries again by itself: nobody asked for that one, and it is heard out.
    again: list[tuple[float, Event]] = [
        (asked + 3.1, ResponseStarted(response="r2")),
        (asked + 4, Text(text="Yes.", response="r2", final=True)),
        (asked + 4, ResponseEnded(response="r2")),
    ]
    played = rehearse(quiet("a", 4), quiet("b", 6), says=[*says, *again])
    assert played.plays[1][1] == pytest.approx(asked + 4 + REST, abs=LEAD + PTIME)


def test_a_response_that_nobody_asked_for_shows_who_decides() -> None:
    begins = ResponseStarted(response="r1")
    played = rehearse(asks("a", 5), quiet("b", 9), says=[(T0 + 4.9, begins)])
    assert played.finish is not None
    at, finish = played.finish
    assert (at, finish.outcome) == (T0 + 4.9, Outcome.AGENT_FAILED)
    assert finish.reason.startswith("turn_detection: it began a response")
    # Its own turn detection is what it may have where the agent decides.
    agent = rehearse(asks("a", 5), says=[(T0 + 4.9, begins)], decide=Decide.AGENT)
    assert agent.finish is not None
    assert agent.finish[1].outcome is Outcome.COMPLETED


@pytest.mark.parametrize("at", [READY + 0.1, T0 + 0.3])
def test_a_greeting_shows_nothing_of_the_kind(at: float) -> None:
    begins: Event = ResponseStarted(response="r1")
    says = [(at, begins), (at + 0.1, ResponseEnded(response="r1"))]
    played = rehearse(asks("a", 5), says=says)
    assert played.finish is not None
    assert played.finish[1].outcome is Outcome.COMPLETED
