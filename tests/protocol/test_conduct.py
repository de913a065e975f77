"""How a turn is treated is recorded beside what it expects, and known by name in old recordings."""

from __future__ import annotations

import json

import pytest
from pydantic import TypeAdapter

from simulator.errors import RecordingError
from simulator.measuring.trace import TurnSpan
from simulator.protocol.conduct import BY_NAME, Conduct, Wants, stated
from simulator.scenario.expectations.kinds import kinds

SPANS = TypeAdapter(TurnSpan)
OLD = {"id": "t", "index": 0, "start": 0, "end": 1, "done": 1}


def test_the_kinds_that_there_always_were_need_not_be_stated() -> None:
    wants = {kind.kind: kind.wants for kind in kinds()}
    for name in ("answer", "quiet", "either"):
        assert stated(BY_NAME, name) == Conduct(wants=wants[name])
    span = SPANS.validate_python({**OLD, "expect": "quiet"})
    assert span.conduct == Conduct(wants=Wants.SILENCE)


def test_a_kind_that_is_not_known_is_carried_with_its_conduct() -> None:
    made = TurnSpan(
        id="t",
        index=0,
        expect="dance",
        start=0,
        end=1,
        done=1,
        conduct=Conduct(wants=Wants.NOTHING, many=True),
    )
    again = SPANS.validate_json(SPANS.dump_json(made))
    assert again == made
    assert json.loads(SPANS.dump_json(made))["conduct"] == {"wants": "nothing", "many": True}


def test_a_name_that_says_nothing_is_told() -> None:
    with pytest.raises(RecordingError, match="expects 'dance', and it is not recorded"):
        SPANS.validate_python({**OLD, "expect": "dance"})
