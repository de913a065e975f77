"""The ten rules of attribution, one test each and more, on sessions made of a few numbers.

The session: a greeting time until 1; `q1` asks at 5 (window 8, left at 10); `idle` is quiet until
20; `guest` is quiet with a bystander from 22 to 24, left at 30; `stand` gives a standing
instruction from 32 to 34, left at 38; `look` is quiet until 50; `ev` has its event at 55, left at
60.
"""

from __future__ import annotations

import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from simulator.measuring.attribution import attribute, says_any
from simulator.measuring.trace import Attributed, Heard, Response, Speech, TurnSpan
from simulator.protocol.conduct import Conduct, Wants

EITHER = Conduct(wants=Wants.NOTHING)
TURNS = (
    TurnSpan(id="q1", index=0, expect="answer", start=1, end=5, done=10, due=5, asked_at=3,
             due_kind="instruction", within=8),
    TurnSpan(id="idle", index=1, expect="quiet", start=10, end=20, done=20),
    TurnSpan(id="guest", index=2, expect="quiet", start=20, end=27, done=30, due=24, asked_at=22,
             due_kind="speech", within=8),
    TurnSpan(id="stand", index=3, expect="either", start=30, end=34, done=38, due=34, asked_at=32,
             due_kind="instruction", within=8),
    TurnSpan(id="look", index=4, expect="quiet", start=38, end=50, done=50),
    TurnSpan(id="ev", index=5, expect="answer", start=50, end=58, done=60, due=55, asked_at=32,
             due_kind="event", within=3, asked_in="stand"),
)  # fmt: skip
HEARD = (
    Heard(id="q1/0", turn="q1", voice="user", start=3, end=5),
    Heard(id="guest/0", turn="guest", voice="guest", start=22, end=24),
    Heard(id="stand/0", turn="stand", voice="user", start=32, end=34),
)
ITEMS = {"item_q1": (3.1, 5.2), "item_guest": (22.1, 24.2), "item_stand": (32.0, 34.2)}
GOLD = {"q1": ("Three bottles.",), "ev": ("All back.",)}


def said(start: float, end: float | None = None, name: str = "r", **how: object) -> Response:
    run = Speech(start=start, end=start + 1 if end is None else end)
    how.setdefault("text", "Something.")
    return Response(id=name, speech=(run,), **how)  # type: ignore[arg-type]


def whose(*responses: Response) -> list[Attributed]:
    return list(attribute(TURNS, HEARD, responses, user_items=ITEMS, gold=GOLD))


def one(response: Response) -> tuple[str | None, str, tuple[str, ...]]:
    (a,) = whose(response)
    return a.turn, a.by, a.flags


def test_rule_1_the_wire_names_the_turn() -> None:
    assert one(said(25, trigger="q1"))[:2] == ("q1", "wire")
    assert "late" in one(said(25, trigger="q1"))[2]


def test_rule_1_an_input_item_belongs_to_the_instruction_that_it_holds() -> None:
    assert one(said(6, input_item="item_q1")) == ("q1", "wire", ())
    assert one(said(26, input_item="item_guest")) == ("guest", "wire", ("false_alarm",))


def test_rule_1_a_guessed_link_ends_with_the_turns_window() -> None:
    # The last thing it heard was the standing instruction; what it answers is the event.
    assert one(said(56, input_item="item_stand")) == ("ev", "time", ())


# A bystander speaks from 10 to 14; the user asks from 14.2 to 14.9, which the agent takes for one.
BESIDE = (
    TurnSpan(id="first", index=0, expect="answer", start=0, end=5, done=8, due=5, asked_at=3,
             due_kind="instruction", within=8),
    TurnSpan(id="guest", index=1, expect="quiet", start=8, end=14.1, done=14.1, due=14,
             asked_at=10, due_kind="speech", within=8),
    TurnSpan(id="user", index=2, expect="answer", start=14.1, end=15, done=25, due=14.9,
             asked_at=14.2, due_kind="instruction", within=8),
)  # fmt: skip
SPOKEN = (
    Heard(id="first/0", turn="first", voice="user", start=3, end=5),
    Heard(id="guest/0", turn="guest", voice="guest", start=10, end=14),
    Heard(id="user/0", turn="user", voice="user", start=14.2, end=14.9),
)


def beside(
    *responses: Response,
    items: dict[str, tuple[float, float]],
    turns: tuple[TurnSpan, ...] = BESIDE,
    heard: tuple[Heard, ...] = SPOKEN,
) -> list[tuple[str | None, str]]:
    found = attribute(turns, heard, responses, user_items=items, gold={})
    return [(a.turn, a.by) for a in found]


def test_rule_1_an_item_of_two_instructions_is_about_the_one_that_is_owed_an_answer() -> None:
    both = {"i": (10.2, 15.4)}
    # The bystander spoke for longer; the user, 0.2 s later, is owed the answer.
    assert beside(said(16, input_item="i"), items=both) == [("user", "wire")]
    # The other way about: asked by the user, then overheard from a bystander.
    first, guest, user = BESIDE
    turns = (
        first,
        replace(guest, id="user", due_kind="instruction", conduct=user.conduct),
        replace(user, id="guest", due_kind="speech", conduct=guest.conduct),
    )
    spoken = (
        replace(SPOKEN[1], turn="user", voice="user"),
        replace(SPOKEN[2], turn="guest", voice="guest"),
    )
    got = beside(said(16, input_item="i"), items=both, turns=turns, heard=spoken)
    assert got == [("user", "wire")]
    # By time alone it would have been the bystander's, a false alarm.
    assert beside(said(16), items={}, turns=turns, heard=spoken) == [("guest", "time")]


def test_rule_1_an_item_with_the_beginning_of_the_next_question_is_about_the_whole_one() -> None:
    first, guest, user = BESIDE
    turns = (first, replace(guest, due_kind="instruction", conduct=user.conduct), user)
    spoken = (*SPOKEN[:1], replace(SPOKEN[1], voice="user"), SPOKEN[2])
    # It said late that the first had ended, when the second had begun.
    late = {"i": (10.2, 14.5)}
    assert beside(said(14.6, input_item="i"), items=late, turns=turns, heard=spoken) == [
        ("guest", "wire")
    ]


def test_rule_1_an_item_in_which_nothing_is_owed_is_about_the_latest_that_has_ended() -> None:
    both = {"i": (10.2, 15.4)}
    first, second = said(15.6, name="r1", input_item="i"), said(18, name="r2", input_item="i")
    assert beside(first, second, items=both) == [("user", "wire"), ("user", "wire")]
    # It cut the item in the middle of the user's words, having answered already.
    early = {"i": (10.2, 14.5)}
    turns = (*BESIDE[:2], replace(BESIDE[2], conduct=EITHER))
    assert beside(said(14.6, input_item="i"), items=early, turns=turns)[0] == ("guest", "wire")


def test_rule_1_an_item_that_is_still_open_or_begins_later_causes_nothing() -> None:
    # Never closed: what the user says at 14.2 is no cause of what was said at 6.
    assert beside(said(6, input_item="i"), items={"i": (2.9, math.inf)}) == [("first", "time")]
    assert beside(said(6, input_item="i"), items={"i": (10.2, 15.4)}) == [("first", "time")]
    # What counts is when the wire began it, not when it could be heard.
    slow = said(16, input_item="i", begun=15.0)
    assert beside(slow, items={"i": (14.3, 15.4)}) == [("user", "time")]


def test_rule_1_an_item_of_an_answered_turn_loses_to_a_newer_one_that_has_begun() -> None:
    """An eager agent: it answers the first half of an instruction, hums along under the next."""
    turns = (replace(BESIDE[0], done=8), replace(BESIDE[2], start=8, asked_at=8.2))
    heard = (SPOKEN[0], replace(SPOKEN[2], start=8.2))
    halves = {"a": (3.2, 4.0), "b": (4.3, 5.4)}
    first = said(5.5, 6, "r1", input_item="a")
    hum = said(10, 10.3, "r2", input_item="b")
    # With nothing newer heard, what is left over of the first instruction may be its cause.
    assert beside(first, hum, items=halves, turns=turns, heard=heard)[1] == ("first", "wire")
    newer = halves | {"c": (8.4, 15.4)}
    assert beside(first, hum, items=newer, turns=turns, heard=heard)[1] == ("user", "premature")
    # A closed one names its own turn.
    answer = said(16, 17, "r2", input_item="b")
    patient = (replace(turns[0], within=20), turns[1])
    got = beside(first, answer, items=newer, turns=patient, heard=heard)
    assert got[1] == ("user", "wire")
    # What is still owed is not moved by a cough of the next.
    assert beside(hum, items=newer, turns=turns, heard=heard) == [("first", "wire")]


def test_rule_2_the_latest_due_time_before_it() -> None:
    assert one(said(6)) == ("q1", "time", ())
    assert one(said(25)) == ("guest", "time", ("false_alarm",))
    assert one(said(35)) == ("stand", "time", ())
    assert one(said(56)) == ("ev", "time", ())


def test_rule_3_premature_once_the_instruction_has_begun() -> None:
    assert one(said(4)) == ("q1", "premature", ("premature",))
    assert one(said(52)) == ("ev", "premature", ("premature",))


def test_rule_3_does_not_take_what_is_still_owed() -> None:
    turns = (
        TurnSpan(id="a", index=0, expect="answer", start=0, end=5, done=5, due=5, asked_at=3,
                 due_kind="instruction"),
        TurnSpan(id="b", index=1, expect="answer", start=5, end=10, done=20, due=10, asked_at=7,
                 due_kind="instruction"),
    )  # fmt: skip
    heard = (
        Heard(id="a/0", turn="a", voice="user", start=3, end=5),
        Heard(id="b/0", turn="b", voice="user", start=7, end=10),
    )
    first, second = attribute(
        turns, heard, [said(8, 9, "r1"), said(9.5, 9.9, "r2")], user_items={}, gold={}
    )
    assert (first.turn, first.by, first.flags) == ("a", "time", ())
    assert (second.turn, second.by) == ("b", "premature")


def test_rule_4_late_until_the_next_due_time() -> None:
    assert one(said(14)) == ("q1", "late", ("late",))
    assert one(said(59)) == ("ev", "late", ("late",))


def test_rule_4_only_the_wire_moves_it_back_after_the_next_due_time() -> None:
    assert one(said(25, text="Three bottles."))[0] == "guest"
    assert one(said(56, text="Three bottles.")) == ("ev", "time", ("maybe_previous",))


def test_rule_5_the_first_counts_and_later_ones_are_joined() -> None:
    first, second = whose(said(6, name="r1"), said(8, name="r2"))
    assert first.flags == ()
    assert (second.turn, second.flags) == ("q1", ("extra", "joined"))


def test_rule_5_an_event_takes_one_response() -> None:
    first, second = whose(said(55.5, 56, "r1"), said(57, 57.5, "r2"))
    assert (first.turn, first.flags) == ("ev", ())
    assert (second.turn, second.flags) == ("ev", ("extra",))


def test_rule_6_speaking_with_nothing_owed_is_a_false_alarm() -> None:
    _, second = whose(said(6, name="r1"), said(15, name="r2"))
    assert (second.turn, second.by, second.flags) == ("idle", "unsolicited", ("false_alarm",))
    # The standing instruction is open, but what it waits for has not happened.
    assert one(said(45)) == ("look", "unsolicited", ("false_alarm",))


def test_rule_7_speech_that_runs_over_keeps_its_turn() -> None:
    assert one(said(8, 13)) == ("q1", "time", ("overrun",))


def test_rule_7_an_instruction_under_other_speech_is_overlapped() -> None:
    first, second = whose(said(25, 33, "r1"), said(35, 36, "r2"))
    assert first.flags == ("false_alarm", "overrun")
    assert (second.turn, second.flags) == ("stand", ("overlapped",))


def test_rule_7_who_is_asked_at_the_turns_end_need_not_notice_it() -> None:
    under = (said(25, 33, "r1"), said(35, 36, "r2"))
    first, second = attribute(TURNS, HEARD, under, user_items=ITEMS, gold=GOLD, asked=True)
    assert first.flags == ("false_alarm", "overrun")
    assert (second.turn, second.flags) == ("stand", ())


def test_rule_8_the_token_is_a_decision_not_an_answer() -> None:
    written = Response(id="r", first_text=25, text="[KEEP QUIET]")
    assert one(written) == ("guest", "token", ("silence_token",))
    assert one(said(25, text="Keep quiet.")) == ("guest", "token", ("spoken_token",))
    decided = Response(id="r", first_text=15, listened=True)
    assert one(decided) == ("idle", "token", ("silence_token",))


def test_rule_8_a_token_does_not_answer_for_a_turn() -> None:
    token = Response(id="r1", first_text=5.5, text="[KEEP QUIET]")
    _, second = whose(token, said(7, name="r2"))
    assert (second.turn, second.flags) == ("q1", ())


def test_rule_9_an_interrupted_answer_is_marked() -> None:
    assert one(said(6, status="cancelled")) == ("q1", "time", ("interrupted",))


def test_rule_10_a_greeting_is_nobodys_answer() -> None:
    assert one(said(0.5)) == (None, "greeting", ("greeting",))
    assert one(said(2)) == (None, "greeting", ("greeting",))


def test_rule_10_unless_the_turn_is_quiet() -> None:
    turns = (TurnSpan(id="a", index=0, expect="quiet", start=1, end=9, done=9),)
    (a,) = attribute(turns, (), [said(2)], user_items={}, gold={})
    assert (a.turn, a.by, a.flags) == ("a", "unsolicited", ("false_alarm",))


def test_turns_that_were_not_reached_take_nothing() -> None:
    turns = (
        TURNS[0],
        TurnSpan(id="x", index=1, expect="quiet", start=6, end=6, done=6, reached=False),
    )
    (a,) = attribute(turns, HEARD, [said(9)], user_items={}, gold={})
    assert a.turn == "q1"


def test_says_any_wants_whole_words_in_order() -> None:
    assert says_any("Well: three bottles, I think", ["Three bottles."])
    assert not says_any("bottles, three", ["Three bottles."])
    assert not says_any("threesome bottles", ["three bottles"])
    assert not says_any("anything", ["", "..."])


@given(
    st.lists(
        st.tuples(
            st.floats(0, 70),
            st.floats(0.1, 9),
            st.sampled_from([None, *ITEMS, "gone"]),
            st.sampled_from([None, "q1", "ev", "nowhere"]),
            st.sampled_from(["", "Three.", "[KEEP QUIET]"]),
        ),
        max_size=12,
    )
)
def test_every_response_is_attributed_once(
    raw: list[tuple[float, float, str | None, str | None, str]],
) -> None:
    responses = [
        said(t, t + long, f"r{n}", input_item=item, trigger=trigger, text=text)
        for n, (t, long, item, trigger, text) in enumerate(raw)
    ]
    got = whose(*responses)
    assert sorted(a.response for a in got) == sorted(r.id for r in responses)
    answers = [a for a in got if a.turn in ("q1", "ev") and a.by != "token"]
    for turn in ("q1", "ev"):
        firsts = [a for a in answers if a.turn == turn and "extra" not in a.flags]
        assert len(firsts) <= 1, "a turn has one answer, the rest are extras"
    for a in got:
        span = next((t for t in TURNS if t.id == a.turn), None)
        alarm = span is not None and span.expect == "quiet" and a.by != "token"
        assert ("false_alarm" in a.flags) == alarm


BARGE = (
    TurnSpan(id="told", index=0, expect="answer", start=1, end=5, done=7.5, due=5, asked_at=3,
             due_kind="instruction", within=8),
    TurnSpan(id="cut", index=1, expect="answer", start=7.5, end=10, done=14, due=9, asked_at=7.5,
             due_kind="instruction", within=8),
)  # fmt: skip


def test_an_answer_that_is_cut_in_on_stays_that_of_its_turn() -> None:
    """Barge-in: the second turn begins at 7.5, while the first one's answer is being said."""
    heard = (
        Heard(id="told/0", turn="told", voice="user", start=3, end=5),
        Heard(id="cut/0", turn="cut", voice="user", start=7.5, end=9),
    )
    first = said(6, 8.2, "r1", status="cancelled")
    second = said(9.6, 11, "r2")
    a, b = attribute(BARGE, heard, (first, second), user_items={}, gold={})
    assert (a.turn, a.flags) == ("told", ("interrupted", "overrun"))
    assert (b.turn, b.by, b.flags) == ("cut", "time", ("overlapped",))
    # An agent that will not be interrupted has not answered the second time.
    (talks_on,) = attribute(BARGE, heard, (said(6, 13, "r1"),), user_items={}, gold={})
    assert talks_on.turn == "told"
