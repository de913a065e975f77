"""Hashes of what judges are given: what was paid for once is not judged again for no reason."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.judging.testing import answers, either, quiet, said, scenario, trace
from simulator.judging.verdicts import InputHash
from simulator.plugins import load_judge
from simulator.scenario.expectations.answer import Answer, AnswerPath

PLAYED = scenario(
    answers("count", "There are three.", ("three", "3"), accept=["Three."]),
    quiet("calm", bystander="Is it lunch time?"),
    either("stand"),
    quiet("idle"),
)
MADE = trace(PLAYED, said("Three.", at=9.5), said("Hm.", at=31))


@pytest.mark.parametrize(
    ("turn", "judge", "known"),
    [
        ("count", "keypoints", "ffb59db519a0cf0ec73fe9cc9fe422ccfcecbcbba04b4f134bd4a698d0102617"),
        ("calm", "quiet", "9fa6550429f4eaf0be39e6f6c4b779e1892ac7448bd950a6d6f7005a55689286"),
        ("idle", "quiet", "8a2bdd4f20c562b61057e8fac00b80b3516ccf70d255da61db0c18cc389d52ad"),
    ],
)
def test_the_hash_of_what_was_judged_before_stays(turn: str, judge: str, known: str) -> None:
    """Where a change of ours is no change of what a judge sees, these must not change."""
    assert InputHash(MADE, PLAYED).of(PLAYED.turn(turn), load_judge(judge)) == known


def test_other_paths_count_where_there_are_any() -> None:
    turn = PLAYED.turn("count")
    assert isinstance(turn.expect, Answer)
    other = AnswerPath(name="other", answer=Answer(text="Five."))
    hashes = InputHash(MADE, PLAYED)
    along = replace(turn, expect=replace(turn.expect, paths=(other,)))
    judge = load_judge("keypoints")
    assert hashes.of(along, judge) != hashes.of(turn, judge)
