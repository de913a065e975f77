"""One response stays one, with its words, whatever the wire loses, delays or calls otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.measuring.trace import Response, Speech
from simulator.measuring.utterances import responses
from simulator.recording.records import ResponseRecord, Stamped, TextRecord

Told = tuple[float, Any]
"""A time and a record; the word "started" and an id for what is no record."""

VOICE = ((0.3, 0.9), (1.1, 2.0), (2.5, 3.0))
"""Stretches of sound, in seconds from the time at which it is announced."""
WORDS = {"r1": ("There are ", "three ", "bottles."), "r2": ("It ", "is ", "red.")}
SAID = ["There are three bottles.", "It is red."]


def told(name: str, at: float) -> dict[str, Told]:
    """What a wire in order says of a response that it announces at `at`, by what it is about."""
    item = f"item-{name}"

    def words(text: str, **more: Any) -> TextRecord:
        return TextRecord(text=text, response=name, item=item, kind="transcript", **more)

    return {
        "created": (at, ResponseRecord(id=name, edge="start")),
        "started": (at + 0.3, name),
        **{f"delta{i}": (at + 0.4 + i / 10, words(w)) for i, w in enumerate(WORDS[name])},
        "final": (at + 1.0, words("".join(WORDS[name]), final=True)),
        "done": (at + 1.1, ResponseRecord(id=name, edge="end", status="completed")),
        "stopped": (at + 3.05, ResponseRecord(id=name, edge="drained")),
    }


def renamed(record: Any, name: str | None) -> Any:
    if isinstance(record, TextRecord):
        return replace(record, response=name)
    return name if isinstance(record, str) else replace(record, id=name or "")


def measured(*wires: dict[str, Told], second: float = 20.0) -> tuple[Response, ...]:
    """The responses that say something, of wires whose sound is at 10 and at `second` s."""
    everything = sorted((e for wire in wires for e in wire.values()), key=lambda e: e[0])
    started: dict[str, float] = {}
    for t, what in everything:
        if isinstance(what, str):
            started.setdefault(what, t)
    events = [
        Stamped(seq=i, t=t, turn=None, record=record)
        for i, (t, record) in enumerate(everything)
        if not isinstance(record, str)
    ]
    islands = [Speech(start=at + a, end=at + b) for at in (10.0, second) for a, b in VOICE]
    found = responses(events, islands, sound_started=started)
    return tuple(r for r in found if r.onset is not None)


def held(found: tuple[Response, ...], *, texts: bool = True, second: float = 20.0) -> None:
    """Two responses, each of all its sound and of its own words."""
    assert [(r.onset, r.end) for r in found] == [(10.3, 13.0), (second + 0.3, second + 3.0)]
    if texts:
        assert [r.text for r in found] == SAID


def test_a_wire_in_order() -> None:
    held(measured(told("r1", 10.0), told("r2", 20.0)))


NAMES = ("created", "started", "done", "stopped")


@pytest.mark.parametrize("lost", [*NAMES, "final"])
def test_what_is_lost_tears_nothing(lost: str) -> None:
    wire = told("r1", 10.0)
    del wire[lost]
    held(measured(wire, told("r2", 20.0)))


@pytest.mark.parametrize("late", [0.2, 0.45, 0.8, 1.4, 2.2, 3.4])
@pytest.mark.parametrize("which", [("created",), ("started",), ("created", "started"), NAMES])
def test_what_is_late_tears_nothing(which: tuple[str, ...], late: float) -> None:
    wire = told("r1", 10.0)
    wire |= {k: (wire[k][0] + late, wire[k][1]) for k in which}
    held(measured(wire, told("r2", 20.0)))


@pytest.mark.parametrize("name", ["", "other"])
@pytest.mark.parametrize("which", [*NAMES, "text", "final"])
def test_what_has_another_name_tears_nothing(which: str, name: str) -> None:
    wire = told("r1", 10.0)
    for key in wire:
        if key == which or (which == "text" and key.startswith(("delta", "final"))):
            wire[key] = (wire[key][0], renamed(wire[key][1], name or None))
    held(measured(wire, told("r2", 20.0)))


@pytest.mark.parametrize("late", [0.5, 2.0, 4.0, 8.0])
@pytest.mark.parametrize("name", [None, "other"])
@pytest.mark.parametrize("announced", [True, False])
def test_a_late_transcript_of_an_unknown_response_is_that_of_the_sound(
    announced: bool, name: str | None, late: float
) -> None:
    wire = {k: v for k, v in told("r1", 10.0).items() if not k.startswith("delta")}
    t, final = wire["final"]
    wire["final"] = (t + late, replace(renamed(final, name), item=None))
    if not announced:
        wire = {"final": wire["final"]}
    held(measured(wire, told("r2", 20.0)))


@settings(max_examples=400)
@given(
    st.sets(st.sampled_from(NAMES)),
    st.dictionaries(st.sampled_from([*NAMES, "final"]), st.floats(0, 2.5)),
    st.dictionaries(st.sampled_from(NAMES), st.sampled_from(["", "x", "y"])),
)
def test_whatever_becomes_of_the_words_about_it(
    lost: set[str], late: dict[str, float], names: dict[str, str]
) -> None:
    wire = told("r1", 10.0)
    wire |= {k: (wire[k][0] + by, wire[k][1]) for k, by in late.items()}
    wire |= {k: (wire[k][0], renamed(wire[k][1], n)) for k, n in names.items()}
    held(measured({k: v for k, v in wire.items() if k not in lost}, told("r2", 20.0)))


@settings(max_examples=400)
@given(
    lost=st.sets(st.sampled_from(["started", "stopped"])),
    late=st.floats(0, 1.4),
    at_its_end=st.booleans(),
    announced=st.booleans(),
    second=st.floats(14.0, 18.0),
)
def test_a_server_may_do_so_every_time(
    lost: set[str], late: float, at_its_end: bool, announced: bool, second: float
) -> None:
    """It says all late, or only when the voice has ended, and the next reply comes soon."""
    if "stopped" in lost and announced:
        late = min(late, 0.45)  # its next sound is that far ahead of its word, and no more
    wires = []
    for name, at in (("r1", 10.0), ("r2", second)):
        wire = {k: e for k, e in told(name, at).items() if k not in lost}
        if not announced:
            del wire["created"]
        for key, (t, record) in wire.items():
            by = 2.1 if at_its_end and key.startswith(("delta", "final", "done")) else late
            wire[key] = (t + (0 if key == "stopped" else by), record)
        wires.append(wire)
    held(measured(*wires, second=second), second=second)


@pytest.mark.parametrize("which", ["text", "done", "stopped"])
@pytest.mark.parametrize("late", [0.0, 0.4, 1.2])
def test_one_name_for_what_is_told_of_all_tears_nothing(which: str, late: float) -> None:
    wires = []
    for name, at in (("r1", 10.0), ("r2", 20.0)):
        wire = told(name, at)
        wire["created"] = (at + late, wire["created"][1])
        for key, (t, record) in wire.items():
            if key == which or (which == "text" and key.startswith(("delta", "final"))):
                wire[key] = (t + late, renamed(record, "session"))
        # A final text that comes twice is no text of the next one.
        wire["again"] = (at + 8.0, wire["final"][1])
        wires.append(wire)
    held(measured(*wires))


def test_a_wire_that_is_late_every_time_and_never_says_what_is_over() -> None:
    wires = []
    for name, at in (("r1", 10.0), ("r2", 20.0)):
        wire = {k: (t + 1.3, e) for k, (t, e) in told(name, at).items()}
        wires.append({k: e for k, e in wire.items() if k not in ("started", "stopped")})
    held(measured(*wires))


@pytest.mark.parametrize("after", [3.1, 5.0, 8.0])
def test_what_is_announced_with_its_transcript_once_it_is_over_is_that_voice(after: float) -> None:
    wire = {k: (10.0 + after, what) for k, (_, what) in told("r1", 10.0).items()}
    held(measured(wire, told("r2", 20.0)))


def test_two_that_were_announced_stay_two() -> None:
    first = {k: v for k, v in told("r1", 10.0).items() if not k.startswith(("delta", "final"))}
    second = {
        "created": (11.0, ResponseRecord(id="r9", edge="start")),
        "final": (11.5, TextRecord(text="Written.", response="r9", kind="output", final=True)),
    }
    found = measured(first, second, told("r2", 20.0))
    assert [(r.id, r.text) for r in found] == [
        ("r1", ""),
        ("r9", "Written."),
        ("r2", SAID[1]),
    ]


def test_a_token_beside_sound_is_no_words_of_it() -> None:
    token = {"final": (11.0, TextRecord(text="[KEEP QUIET]", response="r9", final=True))}
    found = measured(token, told("r2", 20.0))
    assert [(r.text, bool(r.speech)) for r in found] == [
        ("", True),
        ("[KEEP QUIET]", False),
        (SAID[1], True),
    ]
    # Unless it was spoken.
    spoken = {"final": (11.0, TextRecord(text="[KEEP QUIET]", kind="transcript", final=True))}
    assert [r.text for r in measured(spoken, told("r2", 20.0))] == ["[KEEP QUIET]", SAID[1]]
