"""Judging recordings: what is kept, what is made anew, and what is never a zero."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import ClassVar

import pytest

from simulator.errors import InputError, InstrumentError, JudgeError, RecordingError
from simulator.judging.judge import Judge, Question, Verdict, VerdictState
from simulator.judging.run import judge_recording
from simulator.judging.testing import answers, either, quiet, said, scenario, trace
from simulator.judging.verdicts import InputHash, read_verdicts, verdict_path
from simulator.measuring.trace import Attributed, Failure, Life, Response, Trace
from simulator.plugins import load_judge
from simulator.protocol.health import Sent
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.types import Scenario

PLAYED = scenario(
    answers("count", "There are three.", ("three",)),
    quiet("calm"),
    answers("left", "The left one.", ("left",)),
)
ALL_SAID = (said("Three.", at=9.5), said("The left one.", at=29.5))


def judges() -> list[Judge]:
    return [load_judge("keypoints"), load_judge("quiet")]


class Bench:
    """A recording folder with a made-up trace."""

    def __init__(self, folder: Path, made: Trace, played: Scenario = PLAYED) -> None:
        self.folder = folder
        self.made = made
        self.played = played

    async def judge(
        self, *bench: Judge, force: bool = False, retry_failed: bool = False
    ) -> dict[str, Verdict]:
        found = await judge_recording(
            self.folder,
            self.played,
            bench or judges(),
            read=lambda _folder, _scenario: self.made,
            force=force,
            retry_failed=retry_failed,
        )
        return {v.turn: v for v in found}


class Counting:
    """A judge that counts its calls."""

    name: ClassVar[str] = "counting"
    version: ClassVar[str] = "1"
    summary: ClassVar[str] = "counts"
    expects: ClassVar[frozenset[str]] = frozenset({"answer"})

    def __init__(self, *, fail: Exception | None = None, score: float | None = 0.5) -> None:
        self.calls: list[str] = []
        self.fail = fail
        self.score = score

    async def judge(self, question: Question) -> Verdict:
        self.calls.append(question.turn.id)
        if self.fail is not None:
            raise self.fail
        return Verdict(
            turn=question.turn.id,
            judge=self.name,
            judge_version=self.version,
            state=VerdictState.SCORED,
            score=self.score,
        )


async def test_every_turn_gets_the_verdict_of_its_judge(tmp_path: Path) -> None:
    found = await Bench(tmp_path, trace(PLAYED, *ALL_SAID)).judge()
    assert {t: (v.judge, v.score) for t, v in found.items()} == {
        "count": ("keypoints", 1.0),
        "left": ("keypoints", 1.0),
        "calm": ("quiet", 1.0),
    }
    kept = read_verdicts(tmp_path)
    assert set(kept) == {"keypoints", "quiet"}
    assert [t.verdict for t in kept["quiet"].turns] == [found["calm"]]
    assert not list((tmp_path / "verdicts").glob("*.part"))


async def test_unchanged_turns_are_not_judged_again(tmp_path: Path) -> None:
    judge = Counting()
    bench = Bench(tmp_path, trace(PLAYED, *ALL_SAID))
    first = await bench.judge(judge)
    assert judge.calls == ["count", "left"]
    assert await bench.judge(judge) == first
    assert judge.calls == ["count", "left"]
    await bench.judge(judge, force=True)
    assert judge.calls == ["count", "left"] * 2


async def test_a_changed_gold_answer_is_judged_again_alone(tmp_path: Path) -> None:
    judge = Counting()
    bench = Bench(tmp_path, trace(PLAYED, *ALL_SAID))
    await bench.judge(judge)
    first, *rest = PLAYED.turns
    edited = dataclasses.replace(first, expect=Answer(text="Four."))
    bench.played = dataclasses.replace(PLAYED, turns=(edited, *rest))
    await bench.judge(judge)
    assert judge.calls == ["count", "left", "count"]
    bench.made = trace(PLAYED, ALL_SAID[0])
    await bench.judge(judge)
    assert judge.calls[3:] == ["count", "left"]


async def test_a_newer_version_of_a_judge_judges_anew(tmp_path: Path) -> None:
    class Newer(Counting):
        version: ClassVar[str] = "2"

    bench = Bench(tmp_path, trace(PLAYED, *ALL_SAID))
    await bench.judge(Counting())
    newer = Newer()
    await bench.judge(newer)
    assert newer.calls == ["count", "left"]


@pytest.mark.parametrize(
    ("fail", "why"),
    [
        (JudgeError("the endpoint refused"), "the endpoint refused"),
        (ZeroDivisionError("division by zero"), "the judge raised ZeroDivisionError"),
    ],
)
async def test_a_judge_that_fails_gives_no_zero(tmp_path: Path, fail: Exception, why: str) -> None:
    bench = Bench(tmp_path, trace(PLAYED, *ALL_SAID))
    found = await bench.judge(Counting(fail=fail))
    assert {v.state for v in found.values()} == {VerdictState.JUDGE_FAILED}
    assert {v.score for v in found.values()} == {None}
    assert why in found["count"].why
    better = Counting()
    await bench.judge(better)
    assert better.calls == []
    await bench.judge(better, retry_failed=True)
    assert better.calls == ["count", "left"]


@pytest.mark.parametrize("score", [1.5, -0.1, float("nan"), None])
async def test_a_score_that_is_none_is_a_failed_judge(tmp_path: Path, score: float | None) -> None:
    found = await Bench(tmp_path, trace(PLAYED, *ALL_SAID)).judge(Counting(score=score))
    assert found["count"].state is VerdictState.JUDGE_FAILED


async def test_halves_of_characters_stop_no_judge(tmp_path: Path) -> None:
    heard = trace(PLAYED, said("Three \ud800 bottles.", at=9.5), said("The left one.", at=29.5))
    failing = Counting(fail=JudgeError("it said \udfff"))
    found = await Bench(tmp_path, heard).judge(load_judge("keypoints"))
    assert found["count"].score == 1.0
    await Bench(tmp_path, heard).judge(failing)
    kept = read_verdicts(tmp_path)["counting"].turns[0].verdict
    assert (kept.state, kept.why) == (VerdictState.JUDGE_FAILED, "it said \ufffd")


async def test_a_judge_that_serves_nothing_says_so(tmp_path: Path) -> None:
    played = scenario(quiet("a"), either("b"))
    found = await Bench(tmp_path, trace(played, said("Hi.", at=3)), played).judge(
        load_judge("keypoints")
    )
    assert found == {}
    note = read_verdicts(tmp_path)["keypoints"].note
    assert note == (
        "judge keypoints serves no turn of made-up: it judges answer; here: either, quiet"
    )


async def test_turns_not_reached_after_a_failed_agent_score_nothing(tmp_path: Path) -> None:
    made = trace(PLAYED, ALL_SAID[0], outcome="agent_failed", reason="left", reached=2)
    found = await Bench(tmp_path, made).judge()
    assert found["count"].score == 1.0
    assert (found["calm"].state, found["calm"].score) == (VerdictState.SCORED, 0.0)
    assert found["calm"].why == "cut off: agent failed (left)"
    assert (found["left"].score, found["left"].content) == (0.0, 0.0)
    assert found["left"].why == "not reached: agent failed (left)"
    assert found["left"].details == {"by": "runner"}


@pytest.mark.parametrize("outcome", ["network_failed", "instrument_invalid", "cancelled"])
async def test_turns_not_reached_for_other_reasons_are_missing(
    tmp_path: Path, outcome: str
) -> None:
    made = trace(PLAYED, ALL_SAID[0], outcome=outcome, reached=2)
    found = await Bench(tmp_path, made).judge()
    assert found["count"].score == 1.0
    for turn in ("calm", "left"):
        assert (found[turn].state, found[turn].score) == (VerdictState.UNMEASURABLE, None)


async def test_an_answer_that_could_still_have_come_is_missing_not_wrong(tmp_path: Path) -> None:
    made = trace(PLAYED, said("Hi.", at=1.0), outcome="cancelled", reached=2)
    made = dataclasses.replace(
        made, turns=(dataclasses.replace(made.turns[0], due=12.0), *made.turns[1:])
    )
    made = dataclasses.replace(made, attribution=())
    found = await Bench(tmp_path, made).judge()
    assert found["count"].state is VerdictState.UNMEASURABLE
    assert "before its answer was due" in found["count"].why


async def test_broken_files_are_named(tmp_path: Path) -> None:
    path = verdict_path(tmp_path, "counting")
    path.parent.mkdir()
    path.write_text('{"judge": ')
    with pytest.raises(RecordingError, match=r"counting\.json.*judge again"):
        await Bench(tmp_path, trace(PLAYED)).judge(Counting())


async def test_two_judges_of_one_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="named twice"):
        await Bench(tmp_path, trace(PLAYED)).judge(Counting(), Counting())


async def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "verdicts").write_text("a file where a folder should be")
    with pytest.raises(InstrumentError, match="cannot write"):
        await Bench(tmp_path, trace(PLAYED)).judge(Counting())


async def test_the_file_can_be_read_by_anybody(tmp_path: Path) -> None:
    await Bench(tmp_path, trace(PLAYED, *ALL_SAID)).judge()
    kept = json.loads(verdict_path(tmp_path, "keypoints").read_text("utf-8"))
    assert kept["judge_version"] == "1"
    assert kept["turns"][0]["verdict"]["why"] == 'says "three"'
    assert len(kept["turns"][0]["inputs"]) == 64


class Speechless(Counting):
    """A judge that forgets to return its verdict."""

    async def judge(self, question: Question) -> Verdict:
        await super().judge(question)
        return None  # type: ignore[return-value]


async def test_a_judge_that_gives_nothing_has_failed(tmp_path: Path) -> None:
    found = await Bench(tmp_path, trace(PLAYED, *ALL_SAID)).judge(Speechless())
    assert {v.state for v in found.values()} == {VerdictState.JUDGE_FAILED}
    assert found["count"].why == "the judge gave NoneType instead of a Verdict"


# ---------------------------------------------------------------- did our media arrive?


async def test_a_miss_is_none_where_nothing_shows_that_our_media_arrived(tmp_path: Path) -> None:
    """Not a zero: an agent that never got the question did not leave it unanswered."""
    deaf = trace(PLAYED, life=Life(transport=False, session=True, response=False))
    found = await Bench(tmp_path, deaf).judge()
    assert {v.state for v in found.values()} == {VerdictState.UNMEASURABLE}
    assert found["count"].why.startswith("nothing shows that our media arrived")


async def test_an_agent_that_speaks_hears_us_whatever_it_reports(tmp_path: Path) -> None:
    spoke = trace(PLAYED, ALL_SAID[0], life=Life(transport=False, session=True, response=True))
    found = await Bench(tmp_path, spoke).judge()
    assert {t: v.score for t, v in found.items()} == {"count": 1.0, "calm": 1.0, "left": 0.0}


@pytest.mark.parametrize(("reported_at", "state"), [(11.0, "scored"), (9.0, "unmeasurable")])
async def test_reports_that_stop_prove_nothing_for_turns_after_them(
    tmp_path: Path, reported_at: float, state: str
) -> None:
    """The third turn begins at 20, and a side that still reports would have by 10 s later."""
    made = dataclasses.replace(trace(PLAYED, ALL_SAID[0]), reported_at=reported_at)
    found = await Bench(tmp_path, made).judge()
    assert found["count"].score == 1.0
    assert found["left"].state == state


async def test_what_is_settled_otherwise_by_now_is_settled_anew(tmp_path: Path) -> None:
    made = trace(PLAYED)
    before = await Bench(tmp_path, made).judge()
    assert before["left"].score == 0.0
    found = await Bench(tmp_path, dataclasses.replace(made, reported_at=9.0)).judge()
    assert found["left"].state is VerdictState.UNMEASURABLE
    assert found["count"] == before["count"]


async def test_a_turn_that_did_not_arrive_whole_is_not_judged_on(tmp_path: Path) -> None:
    """Sound went on to arrive, and was answered; the picture had stopped in the second turn."""
    made = trace(PLAYED, *ALL_SAID, outcome="network_failed", reason="not_arriving: video")
    sent = Sent(track="video", packets=900, left_until=30.0, arrived_until=12.0, reports_apart=1.0)
    lost = dataclasses.replace(made, sent=(sent,), reported_at=29.8)
    found = await Bench(tmp_path, lost).judge()
    assert found["count"].score == 1.0
    for turn in ("calm", "left"):
        assert found[turn].state is VerdictState.UNMEASURABLE
        assert found[turn].why.startswith("video had stopped arriving: network failed")


async def test_talking_through_a_quiet_turn_is_no_silence_kept(tmp_path: Path) -> None:
    """A reply that never ended used to earn full marks in every quiet turn that it talked over."""
    endless = said("Three, and furthermore", at=9.5, seconds=40.0)
    found = await Bench(tmp_path, trace(PLAYED, endless)).judge()
    calm = found["calm"]
    assert (calm.state, calm.score) == (VerdictState.UNMEASURABLE, None)
    assert calm.why == "no occasion to keep quiet: it talked through the turn (10.0 s of speech)"
    # Where it stopped in time, what was left of the turn was kept quiet.
    stopped = said("Three, and furthermore", at=9.5, seconds=4.0)
    found = await Bench(tmp_path, trace(PLAYED, stopped)).judge(force=True)
    assert (found["calm"].state, found["calm"].score) == (VerdictState.SCORED, 1.0)


async def test_silence_of_a_sender_that_has_ceased_is_not_proven(tmp_path: Path) -> None:
    made = trace(PLAYED, said("Three.", at=9.5))
    for ceased, state in ((12.0, VerdictState.UNMEASURABLE), (19.5, VerdictState.SCORED)):
        sender = dataclasses.replace(made, ceased=ceased)
        found = await Bench(tmp_path, sender).judge(force=True)
        calm = found["calm"]
        assert calm.state is state
        assert ("none of its sound came after 12.0 s" in calm.why) is (ceased == 12.0)
        assert found["count"].state is VerdictState.SCORED


async def test_what_was_asked_for_and_never_begun_is_no_decision_to_keep_quiet(
    tmp_path: Path,
) -> None:
    """A server that takes no notice of response.create had full marks in every quiet turn."""
    made = trace(PLAYED, said("Three.", at=9.5))
    made = dataclasses.replace(
        made, responses=tuple(dataclasses.replace(r, trigger="count") for r in made.responses)
    )
    calm = (await Bench(tmp_path, made).judge())["calm"]
    assert (calm.state, calm.score) == (VerdictState.UNMEASURABLE, None)
    assert calm.why == "no decision to keep quiet: it was asked for one, and began none"
    # An empty response is one.
    empty = Response(id="empty", trigger="calm", begun=19.0, status="completed")
    nothing = Attributed(response="empty", turn=None, by="greeting")
    decided = dataclasses.replace(
        made,
        responses=(*made.responses, empty),
        attribution=(*made.attribution, nothing),
    )
    found = await Bench(tmp_path, decided).judge(force=True)
    assert (found["calm"].state, found["calm"].score) == (VerdictState.SCORED, 1.0)


QUOTA = Failure(at=12.0, turn="calm", code="insufficient_quota", message="Pay first.")


async def test_the_providers_failure_is_neither_a_miss_nor_silence(tmp_path: Path) -> None:
    failed = (QUOTA, dataclasses.replace(QUOTA, at=29.2, turn="left"))
    made = dataclasses.replace(trace(PLAYED, said("Three.", at=9.5)), failures=failed)
    for outcome in ("completed", "agent_failed"):
        bench = Bench(tmp_path, dataclasses.replace(made, outcome=outcome))
        found = await bench.judge()
        assert found["count"].score == 1.0
        for turn in ("calm", "left"):
            verdict = found[turn]
            assert (verdict.state, verdict.score) == (VerdictState.AGENT_ERROR, None)
            assert verdict.why == "the agent failed: insufficient_quota: Pay first."
            assert verdict.details == {
                "by": "runner",
                "code": "insufficient_quota",
                "message": "Pay first.",
            }


async def test_a_failure_beside_an_answer_is_judged_on_the_answer(tmp_path: Path) -> None:
    made = dataclasses.replace(
        trace(PLAYED, *ALL_SAID), failures=(dataclasses.replace(QUOTA, turn="left"),)
    )
    found = await Bench(tmp_path, made).judge()
    assert (found["left"].state, found["left"].score) == (VerdictState.SCORED, 1.0)


async def test_an_answer_that_was_cut_off_is_judged_on_what_it_said_and_marked(
    tmp_path: Path,
) -> None:
    made = trace(PLAYED, *ALL_SAID)
    first, *rest = made.responses
    cut = dataclasses.replace(first, status="incomplete", reason="max_output_tokens")
    placed, *others = made.attribution
    made = dataclasses.replace(
        made,
        responses=(cut, *rest),
        attribution=(dataclasses.replace(placed, flags=("cut",)), *others),
    )
    found = await Bench(tmp_path, made).judge()
    assert found["count"].score == 1.0
    assert found["count"].why.endswith("; it was cut off (max_output_tokens)")


async def test_what_no_provider_failed_at_is_not_judged_again(tmp_path: Path) -> None:
    """A trace of before had no word of failures; its verdicts stay."""
    made = trace(PLAYED, *ALL_SAID)
    hashes = InputHash(made, PLAYED)
    turn, judge = PLAYED.turns[0], load_judge("keypoints")
    assert hashes.of(turn, judge) == (
        "f75e2e3bd6fbc93fc53e366747839f40a8e2b237d73694010a4dfec3f7921b09"
    )
