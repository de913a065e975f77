"""What a cued baseline is told: whether the end of the question can be heard, or falls due."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.media.timeline import Asset, PreparedTurn
from simulator.protocol.events import Cue
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.expectations.contract import Expectation
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.types import (
    Gesture,
    Instruction,
    Say,
    Show,
    Turn,
)
from simulator.session.cues import cue

SAY = Say(text="What is it?", sound=Path("ask.flac"))
SHOW = Show(text="What is it?")
SIGN = Gesture(clip="help")
GUEST = Say(text="Hello.", voice="guest", sound=Path("hello.flac"))


@pytest.mark.parametrize(
    ("given", "event"),
    [
        ((SAY,), False),
        ((SHOW,), True),
        ((SIGN,), True),
        ((SHOW, SAY), False),
        ((SAY, SIGN), True),
        ((SHOW, GUEST), True),
    ],
)
def test_what_is_written_or_signed_falls_due_by_itself(
    given: tuple[Instruction, ...], event: bool
) -> None:
    assert told(given, Answer(text="A bell.")).event is event
    assert told(given, Quiet()).event is False, "nothing falls due where nothing is asked"


def told(given: tuple[Instruction, ...], expect: Expectation) -> Cue:
    turn = Turn(
        id="t",
        index=0,
        clip="main",
        start=0.0,
        end=4.0,
        instructions=given,
        expect=expect,
    )
    part = Asset(key="k", path=Path("part"), duration=4.0)
    return cue(PreparedTurn(turn=turn, segment=part, hold=part), 0.2)
