"""Hashes of what judges are given: what was paid for once is not judged again for no reason."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from simulator.errors import RecordingError
from simulator.judging.judge import Verdict, VerdictState
from simulator.judging.testing import answers, either, quiet, said, scenario, trace
from simulator.judging.verdicts import (
    InputHash,
    JudgedTurn,
    JudgeFile,
    read_judge_file,
    verdict_path,
    write_judge_file,
)
from simulator.plugins import load_judge
from simulator.protocol.conditions import Conditions, Decide, Source, Video
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
        ("count", "keypoints", "99f910f70addb40eed860986f768c84b7cf5d2f7770c6e1dee78a912ff0d55a1"),
        ("calm", "quiet", "7a9d23d53de91b6cb174305c50fbfa3f822eb44feea573c21e534768aabaac1c"),
        ("idle", "quiet", "489ebebc31e43e6bd191f66e889688c21dc045991c8baa8619861f82da211610"),
    ],
)
def test_the_hash_of_what_was_judged_before_stays(turn: str, judge: str, known: str) -> None:
    """Where a change of ours is no change of what a judge sees, these must not change."""
    assert InputHash(MADE, PLAYED).of(PLAYED.turn(turn), load_judge(judge)) == known


@pytest.mark.parametrize(
    ("conditions", "shared", "known"),
    [
        (
            Conditions(decide=Decide.TURN_END, source=Source.CSV),
            False,
            "557d079318d695337f817134c60c153ac4f934198eff90f53a8b57a1bf7b6c62",
        ),
        (
            # The codec was not in what was hashed, and is not: a recording's never changes.
            Conditions(decide=Decide.TURN_END, prompt="spoken", video=Video.VP8),
            True,
            "762c6691386c23831fcba66eecf925d6a749914858ef980080193d00603b3816",
        ),
    ],
)
def test_the_hash_stays_under_other_conditions(
    conditions: Conditions, shared: bool, known: str
) -> None:
    made = replace(MADE, conditions=conditions, shared_host=shared)
    assert InputHash(made, PLAYED).of(PLAYED.turn("count"), load_judge("keypoints")) == known


def test_other_paths_count_where_there_are_any() -> None:
    turn = PLAYED.turn("count")
    assert isinstance(turn.expect, Answer)
    other = AnswerPath(name="other", answer=Answer(text="Five."))
    hashes = InputHash(MADE, PLAYED)
    along = replace(turn, expect=replace(turn.expect, paths=(other,)))
    judge = load_judge("keypoints")
    assert hashes.of(along, judge) != hashes.of(turn, judge)


@pytest.mark.parametrize(
    ("score", "state"),
    [(1.5, "scored"), (-1, "scored"), (None, "scored"), (1.0, "unproven")],
)
def test_a_score_that_no_judge_gives_is_refused(
    tmp_path: Path, score: float | None, state: str
) -> None:
    verdict = Verdict(
        turn="count", judge="keypoints", judge_version="1", state=VerdictState.SCORED, score=1.0
    )
    kept = JudgeFile(
        judge="keypoints", judge_version="1", turns=(JudgedTurn(inputs="", verdict=verdict),)
    )
    write_judge_file(tmp_path, kept)
    path = verdict_path(tmp_path, "keypoints")
    assert read_judge_file(path) == kept
    made = json.loads(path.read_bytes())
    made["turns"][0]["verdict"] |= {"score": score, "state": state}
    path.write_text(json.dumps(made))
    with pytest.raises(RecordingError, match="turn 'count' is"):
        read_judge_file(path)
