"""When each response began, as it is learnt event by event."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.protocol.events import (
    AgentSpeech,
    Drained,
    Event,
    ResponseEnded,
    ResponseStarted,
    Text,
)
from simulator.protocol.silence import TOKEN
from simulator.session.onsets import Onsets


def learnt(events: Sequence[tuple[float, Event]]) -> list[tuple[float, str, float | None]]:
    """(when it was learnt, response, onset)."""
    onsets = Onsets()
    return [(t, *told) for t, event in events for told in onsets.hear(event, t)]


def sounds(start: float, end: float) -> list[tuple[float, Event]]:
    return [(start, AgentSpeech(edge="start")), (end, AgentSpeech(edge="end"))]


def test_a_text_begins_its_response_until_its_sound_does() -> None:
    events: list[tuple[float, Event]] = [
        (1.0, ResponseStarted(response="r")),
        (1.2, Text(text="Yes", response="r", kind="transcript")),
        (1.3, Text(text=".", response="r", kind="transcript")),
        *sounds(1.6, 2.4),
        (9.0, Text(text="Yes.", response="r", kind="transcript", final=True)),
    ]
    assert learnt(events) == [(1.2, "r", 1.2), (1.6, "r", 1.6)]


def test_what_is_cancelled_before_its_voice_was_heard_was_not_said() -> None:
    events: list[tuple[float, Event]] = [
        (1.0, ResponseStarted(response="r")),
        (1.2, Text(text="By the", response="r", kind="transcript")),
        (1.3, ResponseEnded(response="r", status="cancelled")),
        (5.0, ResponseStarted(response="w")),
        (5.2, Text(text="By the", response="w", kind="output")),
        (5.3, ResponseEnded(response="w", status="cancelled")),
    ]
    assert learnt(events) == [(1.2, "r", 1.2), (1.3, "r", None), (5.2, "w", 5.2)]
    # Unless it is heard after all.
    assert learnt([*events[:3], *sounds(1.4, 2.0)])[-1] == (1.4, "r", 1.4)


def test_a_response_is_never_split() -> None:
    events: list[tuple[float, Event]] = [
        (1.0, ResponseStarted(response="r")),
        *sounds(1.5, 2),
        *sounds(4, 5),
        (5.1, Drained(response="r")),
        *sounds(5.5, 6),
        *sounds(7, 8),
    ]
    assert learnt(events) == [(1.5, "r", 1.5), (7, "~1", 7)]


def test_an_id_may_be_used_again_once_its_response_has_ended() -> None:
    events: list[tuple[float, Event]] = []
    for at in (1.0, 11.0, 21.0):
        events += [
            (at, ResponseStarted(response="r")),
            (at, ResponseStarted(response="r")),  # told twice
            *sounds(at + 0.3, at + 2),
            (at + 2.1, ResponseEnded(response="r")),
        ]
    assert learnt(events) == [(1.3, "r", 1.3), (11.3, "r#2", 11.3), (21.3, "r#3", 21.3)]


def test_without_ids_a_breath_parts_nothing_and_a_rest_does() -> None:
    events: list[tuple[float, Event]] = [*sounds(1, 2), *sounds(2.5, 3), *sounds(3.8, 5)]
    assert learnt(events) == [(1, "~1", 1), (3.8, "~2", 3.8)]


def test_sound_may_begin_before_it_is_announced() -> None:
    events: list[tuple[float, Event]] = [
        (1.0, AgentSpeech(edge="start")),
        (1.05, ResponseStarted(response="r")),
        (3.0, AgentSpeech(edge="end")),
    ]
    assert learnt(events) == [(1.0, "~1", 1.0), (1.05, "~1", None), (1.05, "r", 1.0)]


def test_sound_that_trails_what_the_wire_says_of_it() -> None:
    events: list[tuple[float, Event]] = [
        (1.0, ResponseStarted(response="r")),
        (1.2, Drained(response="r")),
        *sounds(2, 3),
    ]
    assert learnt(events) == [(2, "r", 2)]


def test_a_token_is_no_response_once_it_is_whole() -> None:
    events: list[tuple[float, Event]] = [
        (1.0, Text(text="[KEEP", response="a")),
        (1.1, Text(text=" QUIET]", response="a")),
        (1.2, ResponseEnded(response="a")),
        (5.0, Text(text=TOKEN, response="b", final=True)),
        (5.1, Text(text="But look!", response="b", final=True)),
    ]
    assert learnt(events) == [
        (1.0, "a", 1.0),
        (1.2, "a", None),
        (5.0, "b", 5.0),
        (5.0, "b", None),
        (5.1, "b", 5.0),
    ]


def test_text_without_ids_belongs_to_the_sound_beside_it() -> None:
    events: list[tuple[float, Event]] = [
        *sounds(1, 2),
        (3.0, Text(text="Yes.", final=True)),
        (8.0, Text(text="And now", kind="transcript")),
        (8.5, Text(text=" this.", kind="transcript", final=True)),
        *sounds(9, 10),
    ]
    assert learnt(events) == [(1, "~1", 1), (8.0, "~2", 8.0), (9, "~2", None), (9, "~3", 9)]
