"""The quiet judge: kept, how, and broken."""

from __future__ import annotations

import dataclasses

import pytest

from simulator.judging.judge import Judge, VerdictState
from simulator.judging.testing import Said, question, quiet, said
from simulator.plugins import load_judge

PROOF = said("Hello.", at=2.0)
"""Something said in the turn before: a false alarm there, and proof of life here."""


@pytest.fixture
def judge() -> Judge:
    return load_judge("quiet")


async def test_silence_is_kept(judge: Judge) -> None:
    verdict = await judge.judge(question(quiet("q"), before=PROOF))
    assert (verdict.state, verdict.score) == (VerdictState.SCORED, 1.0)
    assert verdict.details["kept_by"] == "silence"
    assert verdict.content is None


async def test_silence_without_proof_of_life_is_unproven(judge: Judge) -> None:
    verdict = await judge.judge(question(quiet("q")))
    assert (verdict.state, verdict.score) == (VerdictState.UNPROVEN, None)


@pytest.mark.parametrize("bystander", ["", "Is it lunch time?"])
async def test_speech_breaks_it(judge: Judge, bystander: str) -> None:
    asked = question(quiet("q", bystander=bystander), said("It is noon.", at=0.6), before=PROOF)
    verdict = await judge.judge(asked)
    assert (verdict.state, verdict.score) == (VerdictState.SCORED, 0.0)
    at = 9.6 if bystander else 0.6
    assert verdict.why == f'spoke {at} s into the turn: "It is noon."'
    assert verdict.details["false_alarms"] == 1


async def test_text_alone_breaks_it_as_well(judge: Judge) -> None:
    verdict = await judge.judge(question(quiet("q"), said("Noon.", at=1, seconds=0)))
    assert verdict.score == 0.0


async def test_written_token_keeps_it(judge: Judge) -> None:
    token = said("[KEEP QUIET]", at=1.0, seconds=0)
    verdict = await judge.judge(question(quiet("q"), token))
    assert (verdict.score, verdict.details["kept_by"]) == (1.0, "token")


async def test_spoken_token_keeps_it_and_is_told_apart(judge: Judge) -> None:
    verdict = await judge.judge(question(quiet("q"), said("Keep quiet.", at=1.0)))
    assert (verdict.score, verdict.details["kept_by"]) == (1.0, "spoken_token")
    assert "said aloud" in verdict.why


async def test_decision_to_listen_keeps_it(judge: Judge) -> None:
    heard = Said(text="", at=1.0, seconds=0, listened=True)
    verdict = await judge.judge(question(quiet("q"), heard))
    assert (verdict.score, verdict.details["kept_by"]) == (1.0, "listened")


async def test_speech_carried_in_is_not_charged(judge: Judge) -> None:
    carried = Said(text="and so on", at=9.5, seconds=3.0)
    verdict = await judge.judge(question(quiet("q"), before=carried))
    assert verdict.score == 1.0
    assert verdict.details["carried_in_s"] == pytest.approx(2.5)


async def test_no_occasion_to_decide_is_stated(judge: Judge) -> None:
    asked = question(quiet("q"), before=PROOF)
    verdict = await judge.judge(
        dataclasses.replace(asked, span=dataclasses.replace(asked.span, opportunity=False))
    )
    assert verdict.score == 1.0
    assert verdict.why == "kept quiet (silence); it was given no occasion to decide"
    assert verdict.details["opportunity"] is False
