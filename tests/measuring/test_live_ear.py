"""Where the live ear was wrong: found by what was measured, and nothing where it was right."""

from __future__ import annotations

from simulator.measuring.live_ear import checked, misheard
from simulator.measuring.trace import Misheard, Speech

SPEECH = (Speech(start=2.0, end=3.0), Speech(start=3.4, end=4.0))


def test_an_ear_that_follows_is_right() -> None:
    edges = [(2.08, "start"), (3.22, "end"), (3.48, "start"), (4.2, "end")]
    assert misheard(edges, SPEECH, until=20.0) == ()
    assert misheard([], (), until=20.0) == ()


def test_a_turn_that_was_held_by_noise() -> None:
    held = Misheard(kind="held", start=4.0, end=11.0)
    assert misheard([(2.08, "start"), (11.0, "end")], SPEECH, until=20.0) == (held,)


def test_a_voice_that_was_not_heard_or_late() -> None:
    assert misheard([], SPEECH, until=20.0) == (Misheard(kind="missed", start=2.0, end=4.0),)
    late = Misheard(kind="late", start=2.0, end=3.48)
    assert misheard([(3.48, "start"), (4.2, "end")], SPEECH, until=20.0) == (late,)


def test_a_voice_that_was_none() -> None:
    edges = [(0.5, "start"), (1.5, "end"), (2.08, "start"), (4.2, "end")]
    assert misheard(edges, SPEECH, until=20.0) == (Misheard(kind="imagined", start=0.5, end=1.5),)


def test_a_click_and_a_session_that_ends_meanwhile_are_nothing() -> None:
    click = Speech(start=1.0, end=1.05)
    edges = [(0.2, "start"), (0.5, "end"), (2.08, "start")]
    assert misheard(edges, (click, *SPEECH), until=4.1) == ()
    held = Misheard(kind="held", start=4.0, end=9.0)
    assert misheard(edges, (click, *SPEECH), until=9.0) == (held,)


def disputed(edges: list[tuple[float, str]], *islands: Speech) -> list[bool]:
    return [s.disputed for s in checked(edges, islands, until=20.0)]


def test_each_onset_is_held_against_it() -> None:
    at = Speech(start=6.0, end=7.0, uncertainty=0.02)
    first = [(2.08, "start"), (4.2, "end")]
    assert disputed([*first, (6.09, "start"), (7.2, "end")], *SPEECH, at) == [False] * 3
    # It heard it before, after, or not; or nothing is known of it.
    for start in (5.7, 6.7):
        edges = [*first, (start, "start"), (7.2, "end")]
        assert disputed(edges, *SPEECH, at) == [False, False, True]
    assert disputed(first, *SPEECH, at) == [False, False, True]
    assert disputed([], *SPEECH, at) == [False] * 3


def test_what_explains_an_early_ear_is_no_dispute() -> None:
    edges = [(5.7, "start"), (7.2, "end")]
    known = Speech(start=6.0, end=7.0, uncertainty=0.02, sound_from=5.62)
    unsure = Speech(start=6.0, end=7.0, uncertainty=0.4)
    assert disputed(edges, known) == disputed(edges, unsure) == [False]
    # It went on hearing the voice before.
    assert disputed([(2.08, "start"), (7.2, "end")], *SPEECH, known) == [False] * 3
