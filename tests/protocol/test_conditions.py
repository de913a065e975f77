"""Conditions are compared whole: every field of them, whatever fields there are."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given

from simulator.protocol.conditions import (
    USUAL,
    Conditions,
    Decide,
    Video,
    differences,
    has_option,
    marks,
    told,
    words_of,
    written,
)
from tests.protocol.conditions import another, any_conditions


@given(any_conditions(), any_conditions())
def test_what_differs_is_named_and_nothing_else(a: Conditions, b: Conditions) -> None:
    unlike = {f.name for f in fields(Conditions) if getattr(a, f.name) != getattr(b, f.name)}
    assert set(differences([a, b])) == unlike
    assert (a == b) is (unlike == set())
    for name, values in differences([a, b, a]).items():
        assert values == (written(getattr(a, name)), written(getattr(b, name)))
        assert values[0] != values[1], "values that people could not tell apart"


@pytest.mark.parametrize("name", [f.name for f in fields(Conditions)])
def test_each_field_alone_is_enough(name: str) -> None:
    other = replace(USUAL, **{name: another(name)})
    assert list(differences([USUAL, other])) == [name]
    assert marks(USUAL, [name]) != marks(other, [name])


def test_words() -> None:
    apart = differences([USUAL, Conditions(decide=Decide.TURN_END, video=Video.VP8)])
    assert told(apart) == "decide is agent and turn-end; video is h264 and vp8"
    assert marks(USUAL, apart) == "decide agent, video h264"
    assert [written(v) for v in (True, False, None, 80, 0.5)] == ["yes", "no", "none", "80", "0.5"]
    for field in fields(Conditions):
        assert len(words_of(field)) > 20
        assert not words_of(field).endswith(".")
        assert isinstance(has_option(field), bool)
