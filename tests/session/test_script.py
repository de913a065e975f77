"""Playbooks: what the script orders when the agent does this or that, on made-up time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.media.timeline import PTIME
from simulator.protocol.events import (
    AgentSpeech,
    Cancelled,
    Command,
    Configure,
    Drained,
    Event,
    Fault,
    Finish,
    Hold,
    Outcome,
    Play,
    Ready,
    ResponseEnded,
    ResponseStarted,
    Sounding,
    Text,
    TurnChanged,
    TurnState,
    Whose,
)
from simulator.scenario.types import Anchor, Limits, Pace, Placement
from simulator.session.script import FIRST_LEAD, LEAD, Script
from simulator.testing import Rehearsal, Sketch, asks, cuts_in, event, prepared, quiet, standing

READY = 1.0
T0 = READY + FIRST_LEAD


def rehearse(*turns: Sketch, says: Sequence[tuple[float, Event]] = (), **how: object) -> Rehearsal:
    script = Script(prepared(*turns, **how), instructions="Be brief.")  # type: ignore[arg-type]
    return Rehearsal(script=script).run([(READY, Ready()), *says])


def speech(start: float, end: float) -> list[tuple[float, Event]]:
    return [(start, AgentSpeech(edge="start")), (end, AgentSpeech(edge="end"))]


def reply(start: float, end: float, name: str = "r1") -> list[tuple[float, Event]]:
    """A reply with everything that a wire says of it."""
    return [
        (start - 0.1, ResponseStarted(response=name)),
        (start, Text(text="Yes.", response=name, kind="transcript")),
        *speech(start, end),
        (start + 0.2, ResponseEnded(response=name)),
        (end, Drained(response=name)),
    ]


def test_quiet_turns_without_speech_are_joined_without_a_seam() -> None:
    played = rehearse(quiet("a", 4), quiet("b", 6), quiet("c", 2))
    assert played.plays == [(0, T0), (1, T0 + 4), (2, T0 + 10)]
    # Only the very end holds: the last segment is played out before the session ends.
    assert played.holds == [(2, T0 + 12)]
    assert played.finish is not None
    ended, how = played.finish
    assert ended == pytest.approx(T0 + 12)
    assert how.outcome is Outcome.COMPLETED


def test_each_part_is_ordered_a_lead_before_its_first_sample() -> None:
    played = rehearse(quiet("a", 4), quiet("b", 6))
    for ordered, c in played.commands:
        if isinstance(c, Play | Hold):
            assert c.at - ordered >= LEAD - 1e-6


def test_an_answer_is_awaited_and_ends_with_drained_and_silence() -> None:
    end = T0 + 5
    played = rehearse(asks("a", 5), quiet("b", 3), says=reply(end + 0.8, end + 2.8))
    assert played.holds[0] == (0, end)
    # 0.7 s of silence after 2.8, and the lead, on the 20 ms grid of the stream.
    assert played.plays[1][1] == pytest.approx(end + 2.8 + 0.7, abs=LEAD + PTIME)
    assert (0, "awaiting", "answer") in played.states


def test_without_a_drained_signal_silence_lasts_longer() -> None:
    end = T0 + 5
    played = rehearse(asks("a", 5), quiet("b", 3), says=speech(end + 0.8, end + 2.8))
    assert played.plays[1][1] == pytest.approx(end + 2.8 + 1.5, abs=LEAD + PTIME)


def announced(end: float, *, late: float) -> list[tuple[float, Event]]:
    """A response that is done, and called sounding, `late` seconds before it is heard."""
    return [
        (end + 0.5, ResponseStarted(response="r")),
        (end + 0.6, Text(text="Yes.", response="r", kind="transcript")),
        (end + 0.7, Sounding(response="r")),
        (end + 0.8, ResponseEnded(response="r")),
        *speech(end + 0.8 + late, end + 2.8 + late),
        (end + 2.8 + late, Drained(response="r")),
    ]


@pytest.mark.parametrize("late", [0.2, 1.6, 3.0, 7.5])
def test_sound_that_the_wire_has_told_of_is_waited_for(late: float) -> None:
    """It used to run over into the next turn if it came 1.5 s after the response was done."""
    end = T0 + 5
    played = rehearse(asks("a", 5), quiet("b", 3), says=announced(end, late=late))
    assert played.plays[1][1] == pytest.approx(end + 2.8 + late + 0.7, abs=LEAD + PTIME)


def test_sound_that_is_told_of_and_never_comes_is_waited_for_as_long_as_an_answer() -> None:
    end = T0 + 5
    for says in (announced(end, late=50.0)[:4], [(end + 0.7, Sounding(response="r"))]):
        played = rehearse(asks("a", 5), quiet("b", 3), says=says)
        assert played.plays[1][1] == pytest.approx(end + 0.7 + 8, abs=1.5 + PTIME)
    drained = [*announced(end, late=50.0)[:4], (end + 2, Drained(response="r"))]
    played = rehearse(asks("a", 5), quiet("b", 3), says=drained)
    assert played.plays[1][1] == pytest.approx(end + 0.8 + 0.7, abs=1.5)


def test_sound_that_is_told_of_once_the_reply_was_over_opens_no_response_again() -> None:
    end = T0 + 5
    says = [*announced(end, late=0.2)[:2], (end + 0.8, ResponseEnded(response="r"))]
    says += [(end + 2.4, Sounding(response="r")), *speech(end + 2.5, end + 4)]
    played = rehearse(asks("a", 5), quiet("b", 3), quiet("c", 3), says=says)
    assert played.plays[1][1] < end + 2.4
    assert played.plays[2][1] == pytest.approx(end + 4 + 1.5, abs=LEAD + PTIME)


def test_no_answer_is_a_miss_after_the_window() -> None:
    played = rehearse(asks("a", 5), quiet("b", 3))
    assert played.plays[1][1] == pytest.approx(T0 + 5 + 8, abs=LEAD + PTIME)


def test_endless_talk_holds_up_a_turn_for_reply_max_only() -> None:
    end, limits = T0 + 5, Limits(reply_max=10)
    says = [(end + 1, AgentSpeech(edge="start"))]
    played = rehearse(asks("a", 5), quiet("b", 3), says=says, limits=limits)
    assert played.plays[1][1] == pytest.approx(end + 1 + 10, abs=LEAD + PTIME)
    assert played.finish is not None
    assert played.finish[1].outcome is Outcome.COMPLETED


def test_endless_text_ends_too() -> None:
    end, limits = T0 + 5, Limits(reply_max=6)
    says: list[tuple[float, Event]] = [(end + 1, ResponseStarted(response="r"))]
    says += [(end + 1 + i / 4, Text(text="la ", response="r")) for i in range(400)]
    played = rehearse(asks("a", 5), quiet("b", 3), says=says, limits=limits)
    assert played.plays[1][1] == pytest.approx(end + 1 + 6, abs=LEAD + PTIME)


def test_a_reply_whose_end_is_never_said_spoils_that_turn_only() -> None:
    limits, first = Limits(reply_max=10), T0 + 5
    unsaid = [e for e in reply(first + 1, first + 3) if not isinstance(e[1], ResponseEnded)]
    unsaid = [e for e in unsaid if not isinstance(e[1], Drained)]
    second = first + 0.9 + 10 + 5
    says = [*unsaid, *reply(second + 1, second + 4, "r2")]
    third = second + 4 + 0.7 + 5
    says += reply(third + 1, third + 9, "r3")
    turns = asks("a", 5), asks("b", 5), asks("c", 5), quiet("d", 3)
    plays = [at for _, at in rehearse(*turns, says=says, limits=limits).plays]
    # The first is waited for as long as a reply may last, the others until they have rested.
    assert plays[1:] == pytest.approx(
        [second - 5, second + 4 + 0.7, third + 9 + 0.7], abs=LEAD + PTIME
    )


def test_a_reply_is_heard_out_though_the_end_of_an_older_one_never_came() -> None:
    limits, end = Limits(reply_max=10), T0 + 12
    says: list[tuple[float, Event]] = [(end - 9, ResponseStarted(response="lost"))]
    says += reply(end + 0.8, end + 6)
    played = rehearse(asks("a", 12), quiet("b", 3), says=says, limits=limits)
    assert played.plays[1][1] == pytest.approx(end + 6 + 1.5, abs=LEAD + PTIME)


def test_endless_talk_holds_up_none_of_the_turns_after_it() -> None:
    limits, end = Limits(reply_max=10), T0 + 5
    says: list[tuple[float, Event]] = [(end + 1, AgentSpeech(edge="start"))]
    turns = asks("a", 5), quiet("b", 4), quiet("c", 4), asks("d", 5)
    played = rehearse(*turns, says=says, limits=limits)
    second = end + 1 + 10
    plays = [at for _, at in played.plays]
    assert plays[1:] == pytest.approx([second, second + 4, second + 8], abs=LEAD + PTIME)
    assert played.finish is not None
    assert played.finish[0] == pytest.approx(second + 13 + 8, abs=LEAD + PTIME)


def test_replies_without_a_rest_hold_up_each_turn_for_reply_max_only() -> None:
    limits, end = Limits(reply_max=10), T0 + 5
    says: list[tuple[float, Event]] = [(end + 1, AgentSpeech(edge="start"))]
    says += [(end + 1 + 4 * n, ResponseStarted(response=f"r{n}")) for n in range(30)]
    played = rehearse(asks("a", 5), quiet("b", 4), quiet("c", 4), says=says, limits=limits)
    plays = [at for _, at in played.plays]
    held = [plays[1] - end, plays[2] - plays[1] - 4]
    assert held == pytest.approx([11, 10], abs=LEAD + PTIME)


def test_a_quiet_turn_with_speech_keeps_its_tail() -> None:
    played = rehearse(quiet("a", 5, guest=(3, 5)), quiet("b", 3))
    assert played.plays[1][1] == pytest.approx(T0 + 5 + 3, abs=LEAD + PTIME)
    assert (0, "holding", "quiet_tail") in played.states


def test_speech_long_before_the_end_needs_no_tail() -> None:
    played = rehearse(quiet("a", 9, guest=(1, 2)), quiet("b", 3))
    assert played.plays[1] == (1, T0 + 9)


def test_a_wrong_answer_in_the_tail_is_heard_out() -> None:
    end = T0 + 5
    played = rehearse(quiet("a", 5, guest=(3, 5)), quiet("b", 3), says=speech(end + 1, end + 6))
    assert played.plays[1][1] == pytest.approx(end + 6 + 1.5, abs=LEAD + PTIME)


def test_a_standing_instruction_is_not_waited_for_beyond_its_tail() -> None:
    played = rehearse(standing("a", 5), quiet("b", 3))
    assert played.plays[1][1] == pytest.approx(T0 + 5 + 3, abs=LEAD + PTIME)


def test_an_event_is_awaited_to_its_window_after_the_segment() -> None:
    turns = standing("s", 4), event("e", 6, at=5, within=3, asked_in="s"), quiet("q", 2)
    played = rehearse(*turns)
    start = played.plays[1][1]
    assert played.plays[2][1] == pytest.approx(start + 5 + 3, abs=LEAD + PTIME)


def test_an_event_answered_inside_its_segment_needs_no_hold() -> None:
    turns = event("e", 12, at=5), quiet("q", 2)
    played = rehearse(*turns, says=reply(T0 + 5.5, T0 + 7))
    assert played.plays[1] == (1, T0 + 12)


def test_a_reply_before_the_event_does_not_settle_it() -> None:
    turns = event("e", 6, at=5, within=3), quiet("q", 2)
    played = rehearse(*turns, says=reply(T0 + 2, T0 + 3))
    assert played.plays[1][1] == pytest.approx(T0 + 8, abs=LEAD + PTIME)


def test_a_reply_under_the_question_leaves_room_for_a_second_one() -> None:
    end = T0 + 5
    played = rehearse(asks("a", 5), quiet("b", 3), says=reply(end - 0.5, end + 0.5))
    assert played.plays[1][1] == pytest.approx(end + 3, abs=LEAD + PTIME)


def test_a_late_transcript_settles_nothing() -> None:
    first = T0 + 5
    says = reply(first + 1, first + 2)
    played = rehearse(asks("a", 5), asks("b", 5), says=says)
    second = played.plays[1][1] + 5
    late: list[tuple[float, Event]] = [
        (second + 1, Text(text="Yes.", response="r1", kind="transcript", final=True))
    ]
    played = rehearse(asks("a", 5), asks("b", 5), says=says + late)
    assert played.finish is not None
    assert played.finish[0] == pytest.approx(second + 8, abs=LEAD + PTIME)


def test_a_response_answers_when_it_is_given_not_when_it_was_announced() -> None:
    end = T0 + 5
    says: list[tuple[float, Event]] = [
        (end - 0.5, ResponseStarted(response="r1")),
        (end + 0.5, Text(text="Yes.", response="r1", final=True)),
        (end + 0.6, ResponseEnded(response="r1")),
    ]
    played = rehearse(asks("a", 5), quiet("b", 3), says=says)
    assert played.plays[1][1] == pytest.approx(end + 0.6 + 1.5, abs=LEAD + PTIME)


def test_an_answer_that_is_owed_takes_nothing_from_the_question_it_is_given_under() -> None:
    """It answers the first question, so the second is waited for in full."""
    second = T0 + 10
    says = speech(second - 0.5, second + 1)
    played = rehearse(asks("a", 5), asks("b", 5), says=says, pace=Pace.CONTINUOUS)
    assert played.script.owners == {"~1": "a"}
    assert played.finish is not None
    assert played.finish[0] == pytest.approx(second + 8, abs=LEAD + PTIME)


def test_a_voice_that_goes_on_after_a_breath_answers_no_second_question() -> None:
    second = T0 + 10
    says = [*speech(second - 3, second - 0.2), *speech(second + 0.3, second + 1)]
    played = rehearse(asks("a", 5), asks("b", 5), says=says, pace=Pace.CONTINUOUS)
    assert played.script.owners == {"~1": "a"}
    assert played.finish is not None
    assert played.finish[0] == pytest.approx(second + 8, abs=LEAD + PTIME)


def test_continuous_plays_on_whatever_the_agent_does() -> None:
    end = T0 + 5
    played = rehearse(
        asks("a", 5),
        asks("b", 5),
        quiet("c", 3),
        says=speech(end - 1, end + 9),
        pace=Pace.CONTINUOUS,
    )
    assert played.plays == [(0, T0), (1, T0 + 5), (2, T0 + 10)]


def test_the_last_turn_waits_like_any_other() -> None:
    played = rehearse(asks("a", 5))
    assert played.finish is not None
    assert played.finish[0] == pytest.approx(T0 + 13, abs=LEAD + PTIME)


def test_an_agent_that_never_replies_has_failed() -> None:
    script = Script(prepared(quiet("a", 3)), instructions="", ready_within=10)
    played = Rehearsal(script=script).run([])
    assert played.commands[0][1] == Configure(instructions="")
    assert played.plays == []
    assert played.finish is not None
    at, how = played.finish
    assert at == 10.0
    assert how.outcome is Outcome.AGENT_FAILED
    assert how.reason.endswith("said nothing within 10 s")


def test_what_an_agent_tells_instead_of_being_ready_is_the_reason() -> None:
    script = Script(prepared(quiet("a", 3)), instructions="", ready_within=10)
    fault = Fault(whose=Whose.AGENT, code="model_not_found", message="No x.", fatal=False)
    finish = Rehearsal(script=script).run([(1.0, fault)]).finish
    assert finish is not None
    assert finish[0] == 10.0
    assert finish[1].reason.endswith("said nothing within 10 s but model_not_found: No x.")


@pytest.mark.parametrize(
    ("whose", "outcome"),
    [
        (Whose.AGENT, Outcome.AGENT_FAILED),
        (Whose.NETWORK, Outcome.NETWORK_FAILED),
        (Whose.INSTRUMENT, Outcome.INSTRUMENT_INVALID),
        (Whose.USER, Outcome.CANCELLED),
    ],
)
def test_a_fatal_fault_ends_it_by_whose_it_is(whose: Whose, outcome: Outcome) -> None:
    fault = Fault(whose=whose, code="x", message="broke", fatal=True)
    played = rehearse(quiet("a", 9), says=[(T0 + 2, fault)])
    assert played.finish == (T0 + 2, Finish(outcome=outcome, reason="x: broke"))
    assert played.states[-1][:2] == (0, "done")


def test_a_fault_that_is_not_fatal_changes_nothing() -> None:
    fault = Fault(whose=Whose.AGENT, code="x", message="broke", fatal=False)
    assert rehearse(quiet("a", 9), says=[(T0 + 2, fault)]).finish == rehearse(quiet("a", 9)).finish


OWN = Fault(whose=Whose.AGENT, code="quota", message="Pay.", fatal=False, unanswered=True)


@pytest.mark.parametrize(
    "says",
    [
        [(0.5, OWN)],
        [
            (0.2, ResponseStarted(response="r1")),
            (0.5, ResponseEnded(response="r1", status="failed")),
        ],
        [
            (0.2, ResponseStarted(response="r1", trigger="a")),
            (0.5, ResponseEnded(response="r1", status="incomplete", reason="max_output_tokens")),
        ],
        [(0.5, replace(OWN, turn="a"))],
    ],
)
def test_an_answer_that_failed_is_waited_for_no_longer_than_the_quiet_tail(
    says: list[tuple[float, Event]],
) -> None:
    """A server may try again by itself: 3 s (the quiet tail) are left to it, not 8."""
    end = T0 + 5
    played = rehearse(asks("a", 5), quiet("b", 3), says=[(end + t, e) for t, e in says])
    assert played.plays[1][1] == pytest.approx(end + 0.5 + 3, abs=LEAD + PTIME)


def test_a_second_response_after_one_that_failed_is_heard_out() -> None:
    end = T0 + 5
    says: list[tuple[float, Event]] = [
        (end + 0.2, ResponseStarted(response="r1")),
        (end + 0.5, ResponseEnded(response="r1", status="failed")),
        *reply(end + 3.3, end + 6, "r2"),
    ]
    played = rehearse(asks("a", 5), quiet("b", 3), says=says)
    assert played.plays[1][1] == pytest.approx(end + 6 + 0.7, abs=LEAD + PTIME)


def test_a_failure_ends_the_wait_for_its_own_turn_only() -> None:
    end = T0 + 5
    # The first turn has been answered; what fails under the second question was never its answer.
    says = [*reply(end + 0.5, end + 1), (end + 4, OWN)]
    played = rehearse(asks("a", 5), asks("b", 5), quiet("c", 2), says=says)
    second = played.plays[1][1] + 5
    assert second > end + 4
    assert played.plays[2][1] == pytest.approx(second + 8, abs=LEAD + PTIME)


def test_a_reply_that_was_cut_after_it_had_said_something_is_an_answer() -> None:
    end = T0 + 5
    says = [
        (t, replace(e, status="incomplete") if isinstance(e, ResponseEnded) else e)
        for t, e in reply(end + 0.5, end + 2)
    ]
    cut, whole = (
        rehearse(asks("a", 5), quiet("b", 3), says=s) for s in (says, reply(end + 0.5, end + 2))
    )
    assert cut.plays == whole.plays


def test_cancelling_ends_it_at_once() -> None:
    played = rehearse(asks("a", 9), says=[(T0 + 2, Cancelled())])
    assert played.finish is not None
    assert played.finish[0] == T0 + 2
    assert played.finish[1].outcome is Outcome.CANCELLED


# ------------------------------------------------------------------ whatever happens

lengths = st.integers(min_value=100, max_value=500).map(lambda n: n / 50)


@st.composite
def sketches(draw: st.DrawFn) -> list[Sketch]:
    out: list[Sketch] = []
    for n in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["asks", "quiet", "guest", "standing", "event"]))
        seconds = draw(lengths)
        match kind:
            case "asks":
                out.append(asks(f"t{n}", seconds))
            case "quiet":
                out.append(quiet(f"t{n}", seconds))
            case "guest":
                out.append(quiet(f"t{n}", seconds, guest=(0.5, 1.5)))
            case "standing":
                out.append(standing(f"t{n}", seconds))
            case _:
                out.append(event(f"t{n}", seconds, at=seconds / 2))
    return out


@st.composite
def noises(draw: st.DrawFn) -> list[tuple[float, Event]]:
    """Anything that an agent may do, in any order, well formed or not."""
    times = st.floats(min_value=0, max_value=90, allow_nan=False)
    kinds = st.sampled_from(
        [
            AgentSpeech(edge="start"),
            AgentSpeech(edge="end"),
            ResponseStarted(response="r1"),
            ResponseStarted(response="r2"),
            ResponseEnded(response="r1"),
            ResponseEnded(response="r9"),
            Sounding(response="r1"),
            Sounding(response="r9"),
            Drained(response="r1"),
            Text(text="hello", response="r1"),
            Text(text="hello"),
            Ready(),
            Fault(whose=Whose.AGENT, code="x", message="", fatal=False),
        ]
    )
    return draw(st.lists(st.tuples(times, kinds), max_size=40))


@settings(max_examples=200, deadline=None)
@given(turns=sketches(), says=noises(), pace=st.sampled_from(Pace))
def test_time_is_continuous_and_every_turn_ends(
    turns: list[Sketch], says: list[tuple[float, Event]], pace: Pace
) -> None:
    script = Script(prepared(*turns, pace=pace), instructions="")
    played = Rehearsal(script=script).run([(READY, Ready()), *says], until=2000)
    assert played.finish is not None, "every attempt ends"
    assert played.finish[1].outcome is Outcome.COMPLETED
    parts: list[tuple[float, Play | Hold]] = [
        (c.at, c) for _, c in played.commands if isinstance(c, Play | Hold)
    ]
    end: float = parts[0][0]
    seen: list[int] = []
    held = False
    for at, part in parts:
        if isinstance(part, Hold):
            assert at == pytest.approx(end, abs=1e-6), "a hold begins where its segment ends"
            held = True
            continue
        assert at >= end - 1e-6, "a segment never cuts the one before"
        if not held:
            assert at == pytest.approx(end, abs=1e-6), "without a hold there is no gap"
        seen.append(part.turn)
        end, held = at + turns[part.turn].seconds, False
    assert seen == list(range(len(turns))), "each turn once, in order"
    start = script.play_at
    assert start is not None
    for at, _ in parts:
        grid = (at - start) / PTIME
        assert grid == pytest.approx(round(grid), abs=1e-4), "on the stream's packet borders"
    by_turn: dict[int, list[Command]] = {}
    for _, c in played.commands:
        if isinstance(c, TurnChanged):
            by_turn.setdefault(c.turn, []).append(c)
    for changes in by_turn.values():
        states = [c.state for c in changes if isinstance(c, TurnChanged)]
        assert (states[0], states[-1]) == (TurnState.PLAYING, TurnState.DONE)
        assert states.count(TurnState.DONE) == 1


def barge(after: float) -> Placement:
    return Placement(anchor=Anchor.SPEAKING, at=after)


def test_a_turn_cuts_in_on_the_agent() -> None:
    end = T0 + 5
    says = speech(end + 0.8, end + 4.0)
    played = rehearse(asks("a", 5), cuts_in("b", 4, barge(1.5)), quiet("c", 2), says=says)
    assert played.plays[1][1] == pytest.approx(end + 0.8 + 1.5, abs=PTIME)
    assert (1, "playing", "speaking") in played.states
    ordered = next(t for t, c in played.commands if isinstance(c, Play) and c.turn == 1)
    assert played.plays[1][1] - ordered >= LEAD - 1e-6
    # The reply that was cut in on settles nothing of what was asked then.
    begun = played.plays[1][1]
    assert played.plays[2][1] == pytest.approx(begun + 1 + 8, abs=LEAD + PTIME)


def test_what_is_said_after_cutting_in_is_its_answer() -> None:
    end = T0 + 5
    says = [*speech(end + 0.8, end + 2.8), *speech(end + 4.5, end + 5.5)]
    played = rehearse(asks("a", 5), cuts_in("b", 2, barge(1)), quiet("c", 2), says=says)
    assert played.plays[1][1] == pytest.approx(end + 1.8, abs=PTIME)
    assert played.plays[2][1] == pytest.approx(end + 5.5 + 1.5, abs=LEAD + PTIME)


def test_an_agent_that_has_finished_is_not_cut_in_on() -> None:
    end = T0 + 5
    played = rehearse(asks("a", 5), cuts_in("b", 4, barge(3)), says=speech(end + 1, end + 2))
    assert played.plays[1][1] == pytest.approx(end + 2 + 1.5, abs=LEAD + PTIME)
    assert (1, "playing", "") in played.states
    mute = rehearse(asks("a", 5), cuts_in("b", 4, barge(3)))
    assert mute.plays[1][1] == pytest.approx(end + 8, abs=LEAD + PTIME)


def test_a_playing_segment_is_not_cut_short() -> None:
    played = rehearse(quiet("a", 5), cuts_in("b", 2, barge(0.5)), says=speech(T0 + 1, T0 + 7))
    assert played.plays[1][1] == pytest.approx(T0 + 5)
    early = speech(T0 + 4.2, T0 + 5.4)
    waits = rehearse(asks("a", 5), cuts_in("b", 2, barge(0.5)), says=early)
    assert waits.plays[1][1] > T0 + 5.4, "a premature reply is not the answer to cut in on"


@pytest.mark.parametrize("after", [0.3, 5.0])
def test_a_turn_begins_so_long_after_the_agent_has_stopped(after: float) -> None:
    end = T0 + 5
    at = Placement(anchor=Anchor.STOPPED, at=after)
    played = rehearse(asks("a", 5), cuts_in("b", 2, at), says=reply(end + 0.8, end + 2.8))
    assert played.plays[1][1] == pytest.approx(end + 2.8 + after, abs=LEAD + PTIME)
    assert (1, "playing", "stopped") in played.states
