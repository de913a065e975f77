"""How sound and text become responses, with and without ids on the wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from simulator.measuring.texts import written
from simulator.measuring.trace import Response, Speech
from simulator.measuring.utterances import join, responses
from simulator.recording.records import ResponseRecord, Stamped, TextRecord


def log(*events: tuple[float, Any]) -> list[Stamped]:
    return [Stamped(seq=i, t=t, turn=None, record=r) for i, (t, r) in enumerate(events)]


def edge(name: str, kind: Any, **more: Any) -> ResponseRecord:
    return ResponseRecord(id=name, edge=kind, **more)


def text(words: str, response: str | None = None, **more: Any) -> TextRecord:
    return TextRecord(text=words, response=response, **more)


def run(start: float, end: float) -> Speech:
    return Speech(start=start, end=end)


def spans(response: Response) -> list[tuple[float, float]]:
    return [(s.start, s.end) for s in response.speech]


def group(
    events: list[Stamped], *islands: Speech, started: Mapping[str, float] | None = None
) -> dict[str, Response]:
    return {r.id: r for r in responses(events, islands, sound_started=started)}


# ---------------------------------------------------------------- with ids


def test_sound_belongs_to_the_response_that_is_open() -> None:
    found = group(
        log(
            (1.0, edge("r1", "start", trigger="count", input_item="i1")),
            (1.1, text("Three", "r1", kind="transcript")),
            (2.0, edge("r1", "end", status="completed")),
            (3.0, edge("r1", "drained")),
            (5.0, edge("r2", "start")),
            (5.5, edge("r2", "end", status="cancelled")),
        ),
        run(1.3, 2.0),
        run(2.1, 2.9),
        run(5.2, 5.6),
    )
    assert spans(found["r1"]) == [(1.3, 2.9)]
    assert spans(found["r2"]) == [(5.2, 5.6)]
    assert found["r1"].trigger == "count"
    assert found["r1"].input_item == "i1"
    assert (found["r1"].status, found["r2"].status) == ("completed", "cancelled")
    assert found["r1"].text == "Three"
    assert found["r1"].first_text == 1.1
    assert not found["r1"].transcript_missing
    assert found["r2"].transcript_missing


def test_a_reply_whose_sound_was_cleared_was_cancelled_whatever_its_end_is_called() -> None:
    events = log(
        (1.0, edge("r1", "start")),
        (1.2, edge("r1", "end", status="completed")),
        (2.0, edge("r1", "cleared")),
        (3.0, edge("r2", "start")),
        (3.2, edge("r2", "end", status="completed")),
        (4.0, edge("r2", "drained")),
    )
    found = group(events, run(1.1, 2.0), run(3.1, 3.9))
    assert (found["r1"].status, found["r2"].status) == ("cancelled", "completed")


def test_sound_may_trail_and_lead_what_the_wire_says() -> None:
    events = log((1.0, edge("r1", "start")), (2.0, edge("r1", "drained")))
    assert spans(group(events, run(0.92, 1.5))["r1"]) == [(0.92, 1.5)]
    assert spans(group(events, run(2.25, 2.6))["r1"]) == [(2.25, 2.6)]


def test_sound_that_began_before_its_announcement_is_the_announced_response() -> None:
    created = log((1.3, edge("r1", "start")), (3.5, edge("r1", "drained")))
    assert {n: spans(r) for n, r in group(created, run(1.0, 3.0)).items()} == {"r1": [(1.0, 3.0)]}
    # Two breaths and a word, all of it before.
    parts = group(created, run(0.85, 0.95), run(1.1, 1.2), run(1.6, 3.0))
    assert {n: r.onset for n, r in parts.items()} == {"r1": 0.85}
    # The response had begun, and what is late is the word that its sound does.
    begun = log((0.5, edge("r1", "start")), (3.5, edge("r1", "drained")))
    found = group(begun, run(1.0, 1.1), started={"r1": 1.3})
    assert {n: spans(r) for n, r in found.items()} == {"r1": [(1.0, 1.1)]}
    lost = group(begun, run(1.0, 3.0))
    assert {n: spans(r) for n, r in lost.items()} == {"r1": [(1.0, 3.0)]}


def test_an_announcement_long_after_is_of_something_else() -> None:
    apart = {"r1": [], "u1": [(1.0, 3.0)]}
    for others in (
        log((3.8, edge("r1", "start"))),
        # It was asked for while the voice spoke,
        log((1.8, edge("r1", "start", trigger="count"))),
        # it failed before it said anything,
        log((1.8, edge("r1", "start")), (2.0, edge("r1", "end", status="failed"))),
        # or is the decision to say nothing.
        log((1.8, edge("r1", "start")), (1.9, text("[KEEP QUIET]", "r1", final=True))),
    ):
        assert {n: spans(r) for n, r in group(others, run(1.0, 3.0)).items()} == apart
    # Nothing else sounds, nor has anything else been announced: it is told late.
    found = group(log((2.4, edge("r1", "start"))), run(1.0, 3.0))
    assert {n: spans(r) for n, r in found.items()} == {"r1": [(1.0, 3.0)]}


def test_a_voice_that_goes_on_after_drained_is_still_its_response() -> None:
    events = log((1.0, edge("r1", "start")), (1.5, edge("r1", "drained")))
    found = group(events, run(1.1, 1.7), run(2.2, 2.5), run(3.0, 3.2), run(5.0, 5.5))
    assert spans(found["r1"]) == [(1.1, 1.7), (2.2, 2.5), (3.0, 3.2)]
    assert spans(found["u1"]) == [(5.0, 5.5)]


def test_a_response_drained_before_its_sound_came_gets_it() -> None:
    events = log((1.0, edge("r1", "start")), (1.1, edge("r1", "drained")))
    assert spans(group(events, run(2.4, 2.9))["r1"]) == [(2.4, 2.9)]


def test_the_next_response_takes_over_where_its_sound_begins() -> None:
    events = log(
        (1.0, edge("r1", "start")),
        (1.5, edge("r1", "end")),
        (2.0, edge("r2", "start")),
        (2.4, edge("r2", "end")),
    )
    islands = (run(1.2, 2.2), run(2.4, 3.4), run(3.5, 4.0))
    found = group(events, *islands)
    # r2 is created while r1 still sounds, and the voice pauses: the next island is r2's.
    assert spans(found["r1"]) == [(1.2, 2.2)]
    assert spans(found["r2"]) == [(2.4, 4.0)]
    # Where the wire says when sound begins, that counts.
    found = group(events, *islands, started={"r1": 1.2, "r2": 3.48})
    assert spans(found["r1"]) == [(1.2, 2.2), (2.4, 3.4)] or spans(found["r1"]) == [(1.2, 3.4)]
    assert spans(found["r2"]) == [(3.5, 4.0)]


def test_sounds_without_a_pause_between_are_parted_where_the_wire_says() -> None:
    events = log(
        (1.0, edge("r1", "start")),
        (2.0, edge("r2", "start")),
        (2.5, edge("r1", "drained")),
        (4.0, edge("r2", "drained")),
    )
    found = group(events, run(1.1, 3.9), started={"r1": 1.1, "r2": 2.52})
    assert spans(found["r1"]) == [(1.1, 2.52)]
    assert spans(found["r2"]) == [(2.52, 3.9)]
    assert found["r2"].uncertainty == 0.1
    # An edge that is only the wire's view of the same sound parts nothing.
    assert spans(group(events, run(1.1, 3.9), started={"r1": 1.1})["r1"]) == [(1.1, 3.9)]


def test_a_text_without_sound_is_a_response() -> None:
    found = group(log((1.0, edge("r1", "start")), (1.4, text("[KEEP QUIET]", "r1", final=True))))
    assert found["r1"].onset == 1.4
    assert found["r1"].speech == ()
    assert not found["r1"].transcript_missing


def test_what_only_writes_takes_no_voice_that_goes_on() -> None:
    found = group(
        log(
            (1.0, edge("r1", "start")),
            (1.5, edge("oob", "start")),
            (1.6, text("safe", "oob", final=True)),
            (1.6, edge("oob", "end", status="completed")),
            (3.0, edge("r1", "drained")),
        ),
        run(1.3, 2.0),
        run(2.3, 2.9),
    )
    assert spans(found["r1"]) == [(1.3, 2.0), (2.3, 2.9)]
    assert spans(found["oob"]) == []


def test_a_voice_of_which_there_is_only_the_transcript_is_unheard() -> None:
    found = group(
        log(
            (1.0, edge("voice", "start")),
            (1.1, text("Three.", "voice", kind="transcript", final=True)),
            (5.0, edge("text", "start")),
            (5.1, text("Three.", "text", final=True)),
            (9.0, edge("heard", "start")),
            (9.1, text("Three.", "heard", kind="transcript", final=True)),
        ),
        run(9.3, 10.0),
    )
    assert {name: r.unheard for name, r in found.items()} == {
        "voice": True,
        "text": False,
        "heard": False,
    }


def test_what_is_cancelled_before_its_voice_was_heard_was_not_said() -> None:
    def cancelled(kind: Any, *heard: Speech) -> float | None:
        events = log(
            (1.0, edge("r", "start")),
            (1.1, text("By the", "r", kind=kind)),
            (1.2, edge("r", "end", status="cancelled")),
        )
        return group(events, *heard)["r"].onset

    assert cancelled("transcript") is None
    assert cancelled("transcript", run(1.15, 1.9)) == 1.15
    assert cancelled("output") == 1.1


def test_a_late_transcript_stays_with_its_response() -> None:
    found = group(
        log(
            (1.0, edge("r1", "start")),
            (2.0, edge("r1", "drained")),
            (5.0, edge("r2", "start")),
            (6.0, text("First.", "r1", kind="transcript", final=True)),
        ),
        run(1.1, 1.9),
        run(5.2, 6.0),
    )
    assert found["r1"].text == "First."
    assert found["r2"].text == ""


def test_decisions_to_keep_quiet() -> None:
    found = responses(
        log((1.0, edge("", "listened")), (2.0, edge("", "listened")), (3.0, edge("r", "listened"))),
        (),
    )
    assert [(r.listened, r.onset) for r in found] == [(True, 1.0), (True, 2.0), (True, 3.0)]
    assert len({r.id for r in found}) == 3


def test_a_response_that_came_to_nothing_is_kept() -> None:
    found = group(log((1.0, edge("r1", "start")), (1.2, edge("r1", "end", status="failed"))))
    assert found["r1"].onset is None
    assert found["r1"].status == "failed"


# ---------------------------------------------------------------- without ids


def test_speech_is_joined_to_utterances_across_short_pauses() -> None:
    found = group([], run(1.0, 1.5), run(1.7, 2.0), run(2.6, 3.0), run(3.71, 4.0))
    assert spans(found["u1"]) == [(1.0, 2.0), (2.6, 3.0)]
    assert spans(found["u2"]) == [(3.71, 4.0)]
    assert found["u1"].begun is None


def test_text_joins_the_nearest_sound_within_two_seconds_else_stands_alone() -> None:
    found = group(
        log(
            (3.0, text("Near one.", final=True)),
            (9.0, text("Before two.", final=True)),
            (20.0, text("Alone.", final=True)),
        ),
        run(1.0, 2.0),
        run(10.0, 11.0),
    )
    assert found["u1"].text == "Near one."
    assert found["u2"].text == "Before two."
    assert found["u3"].text == "Alone."
    assert found["u3"].onset == 20.0


def test_deltas_of_one_passage_stay_together() -> None:
    found = group(
        log(
            (1.0, text("There ")),
            (1.1, text("are ")),
            (1.2, text("three.")),
            (1.3, text("There are three.", final=True)),
            (1.4, text("Next")),
            (8.0, text("Far away")),
        ),
        run(1.0, 2.0),
    )
    assert found["u1"].text == "There are three. Next"
    assert found["u2"].text == "Far away"


def test_text_without_id_goes_to_the_response_that_was_begun_and_is_mute() -> None:
    found = group(log((1.0, edge("r1", "start")), (1.5, text("Written.", final=True))))
    assert found["r1"].text == "Written."
    assert list(found) == ["r1"]


def test_an_id_that_is_used_again_once_its_response_has_ended_is_another_one() -> None:
    events = []
    for at, words in ((1.0, "One."), (11.0, "Two."), (21.0, "Three.")):
        events += [
            (at, edge("r", "start", input_item=f"i{at:.0f}")),
            (at, edge("r", "start", input_item=f"i{at:.0f}")),  # told twice
            (at + 0.1, text(words, "r", kind="transcript", final=True)),
            (at + 0.2, edge("r", "end", status="completed")),
            (at + 2.0, edge("r", "drained")),
        ]
    found = group(log(*events), run(1.3, 2.9), run(11.3, 12.9), run(21.3, 22.9))
    assert {n: (r.onset, r.text, r.input_item) for n, r in found.items()} == {
        "r": (1.3, "One.", "i1"),
        "r#2": (11.3, "Two.", "i11"),
        "r#3": (21.3, "Three.", "i21"),
    }


def test_an_id_of_the_wire_is_never_used_twice() -> None:
    found = group(log((1.0, edge("u1", "start")), (1.2, edge("u1", "drained"))), run(1.0, 1.2),
                  run(9.0, 9.5))  # fmt: skip
    assert spans(found["u1"]) == [(1.0, 1.2)]
    assert spans(found["u2"]) == [(9.0, 9.5)]


# ---------------------------------------------------------------- texts


def test_what_is_written() -> None:
    def said(*records: TextRecord) -> str:
        return written([(0.0, r) for r in records])

    assert said(text("a "), text("b")) == "a b"
    assert said(text("a "), text("b"), text("A b.", final=True)) == "A b."
    assert said(text("one", item="i"), text("two", item="j")) == "one two"
    assert said(text("x", item="i"), text("X.", item="i", final=True), text("y", item="i")) == "X."
    assert said(text("spoken", kind="transcript"), text("written")) == "written"
    assert said(text("spoken", kind="transcript"), text(" ")) == "spoken"
    assert said(text("user said", kind="user")) == ""
    assert said(text("a", final=True), text("b", final=True)) == "a b"


def test_the_parts_of_an_item_are_said_one_after_the_other() -> None:
    def part(words: str, index: int, *, final: bool = True) -> tuple[float, TextRecord]:
        return 0.0, text(words, item="i", part=index, kind="transcript", final=final)

    assert written([part("One.", 0), part("Two.", 1)]) == "One. Two."
    mixed = [part("On", 0, final=False), part("Tw", 1, final=False), part("One.", 0)]
    assert written([*mixed, part("Two.", 1), part("Other.", 1)]) == "One. Two."


def test_nothing_displaces_a_final_transcript() -> None:
    def said(*records: TextRecord) -> str:
        return written([(0.0, r) for r in records])

    final = text("Three bottles.", item="i", kind="transcript", final=True)
    doubled = text("Three bottles.", item="i", kind="transcript", final=True)
    assert said(final, doubled) == "Three bottles."
    assert said(final, text("Other words." * 1000, item="i", kind="transcript", final=True)) == (
        "Three bottles."
    )
    assert said(final, text("late", item="i", kind="transcript")) == "Three bottles."
    assert said(final, text("", item="i", kind="transcript", final=True)) == "Three bottles."
    assert said(text("", item="i", kind="transcript", final=True), final) == "Three bottles."
    # Written deltas that never became a text do not stand in its place.
    assert said(final, text("Hm")) == "Three bottles."
    assert said(text("Hm"), final) == "Three bottles."
    assert said(final, text("Written.", final=True)) == "Written."
    # Without an item: the same once more is not said twice, something else is the next piece.
    assert said(text("A.", final=True), text("A.", final=True)) == "A."
    assert said(text("A.", final=True), text("B.", final=True), text("A.", final=True)) == "A. B."


def test_runs_are_joined_across_a_quarter_of_a_second() -> None:
    first = Speech(start=1.0, end=1.2, uncertainty=0.1)
    joined = join([first, run(1.44, 1.5), run(1.76, 2.0)])
    assert joined == (Speech(start=1.0, end=1.5, uncertainty=0.1), run(1.76, 2.0))


TIMES = st.floats(0, 30).map(lambda x: round(x, 2))


@given(
    st.lists(
        st.tuples(TIMES, st.sampled_from("abc"), st.sampled_from(["start", "end", "drained"])),
        max_size=8,
    ),
    st.lists(st.tuples(TIMES, st.none() | st.sampled_from("abd"), st.booleans()), max_size=8),
    st.lists(st.floats(0.05, 3.0), max_size=12),
)
def test_no_sound_is_lost_or_used_twice(
    edges: list[tuple[float, str, Any]],
    texts: list[tuple[float, str | None, bool]],
    gaps: list[float],
) -> None:
    events: list[tuple[float, Any]] = [(t, edge(name, kind)) for t, name, kind in edges]
    events += [(t, text("word", name, final=final)) for t, name, final in texts]
    events.sort(key=lambda e: e[0])
    islands, at = [], 0.0
    for gap in gaps:
        islands.append(run(at + gap, at + gap + 0.3))
        at += gap + 0.3
    found = responses(log(*events), islands)
    names = [r.id for r in found]
    assert len(set(names)) == len(names)
    total = sum(s.end - s.start for r in found for s in r.speech)
    bridged = sum(g for g in gaps[1:] if g < 0.25 + 1e-9)
    assert 0.3 * len(islands) - 1e-6 <= total <= 0.3 * len(islands) + bridged + 1e-6
    onsets = [r.onset for r in found if r.onset is not None]
    assert sum("word" in r.text for r in found) > 0 or not texts
    assert all(o >= 0 for o in onsets)
