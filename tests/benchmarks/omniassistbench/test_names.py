"""Names go to ids and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.benchmarks.omniassistbench.names import bare, chain_of, id_of, name_of
from simulator.errors import InputError
from simulator.scenario.values import _NAME


@given(
    st.one_of(
        st.text(min_size=1, max_size=6),
        st.text("u2d.up-_ x", min_size=1, max_size=9),
        st.sampled_from(["x.dup2", "u2d.x", "a.u41.b", "_aB-9x-seg2", "-x", "v", "x.dup12"]),
    ),
    st.integers(1, 3),
)
def test_there_and_back(name: str, copy: int) -> None:
    try:
        made = id_of(name, copy)
    except InputError:
        return
    assert _NAME.fullmatch(made)
    assert name_of(made) == name


def test_usual_names_stay_as_they_are() -> None:
    assert id_of("VSYjs5RnlRo-q1") == "VSYjs5RnlRo-q1"
    assert id_of("_x") == "u5f.x"
    with pytest.raises(InputError, match="cannot be an id"):
        id_of("x" * 65)


def test_chains_and_endings() -> None:
    assert chain_of("abc-seg12") == ("abc", 12)
    assert chain_of("abc-q1") == ("abc-q1", 1)
    assert bare(r"C:\clips\x-seg1.MP4") == "x-seg1"
    assert bare("clips/a.b.mkv") == "a.b"
