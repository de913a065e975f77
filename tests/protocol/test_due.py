"""When it falls due what a turn wants, on whatever time line."""

from __future__ import annotations

import pytest

from simulator.protocol.conduct import Conduct, Wants
from simulator.protocol.due import Due, Said, due

ANSWER, SILENCE, NOTHING = (Conduct(wants=w) for w in Wants)
ASKED = Said("user", 2.0, 3.5)
BEFORE = Said("user", 0.5, 1.0)
GUEST = Said("guest", 4.0, 5.0)


@pytest.mark.parametrize("conduct", [ANSWER, NOTHING])
def test_the_end_of_the_last_thing_that_the_user_asks(conduct: Conduct) -> None:
    asked = Due(at=3.5, kind="instruction", asked_at=0.5)
    assert due(conduct, [ASKED, BEFORE, GUEST]) == asked


def test_where_silence_is_wanted_the_end_of_what_anybody_says() -> None:
    assert due(SILENCE, [ASKED, GUEST]) == Due(at=5.0, kind="speech", asked_at=2.0)
    assert due(NOTHING, [GUEST]) == Due(at=5.0, kind="speech", asked_at=4.0)


def test_an_event_comes_before_what_is_said() -> None:
    assert due(ANSWER, [], event=7.0) == Due(at=7.0, kind="event")
    assert due(ANSWER, [ASKED], event=7.0) == Due(at=7.0, kind="event", asked_at=2.0)


def test_nothing_falls_due_where_nothing_is_said() -> None:
    assert due(ANSWER, []) == due(SILENCE, []) == Due()


def test_nobody_can_answer_before_being_asked() -> None:
    assert due(ANSWER, [ASKED], decided_at=9.0) == Due(at=9.0, kind="instruction", asked_at=2.0)
    assert due(ANSWER, [], event=7.0, decided_at=9.0) == Due(at=9.0, kind="event")
    assert due(SILENCE, [GUEST], decided_at=9.0) == due(SILENCE, [GUEST])
