"""A judge that costs something over a whole run: estimate, concurrency, failures, trying again."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from rich.console import Console

from simulator.cli import judge as command
from simulator.errors import InputError
from simulator.judging.judge import Judge, VerdictState
from simulator.judging.run import Docket, JudgedRun, judge_run
from simulator.judging.server import Answers, Body, JudgeServer, Say, case_in, verdict
from simulator.judging.spending import Estimate
from simulator.judging.testing import answers, quiet, said, scenario, trace
from simulator.measuring.trace import Trace, trace_from_json, trace_to_json
from simulator.plugins import load_judge
from simulator.protocol.events import Outcome
from simulator.run.accounting import AttemptResult, Ledger
from simulator.run.plan import AgentChoice, make_plan, open_run
from simulator.scenario.types import Scenario

PLAYED = scenario(
    answers("count", "There are three.", ("three",)),
    quiet("calm"),
    answers("left", "The left one.", ("left",)),
    id="made-up",
)
REPEATS = 8


def read(folder: Path, _: Scenario) -> Trace:
    return trace_from_json((folder / "trace.json").read_bytes())


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMNISTAGE_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """Eight attempts at three turns, one of them quiet and kept; each answer is its own."""
    out = tmp_path / "run"
    agent = AgentChoice(label="a", reference="a")
    plan = make_plan([PLAYED], [agent], judges=["rubric-table"], repeats=REPEATS)
    open_run(out, plan)
    with Ledger(out) as ledger:
        for attempt in plan.attempts:
            made = trace(
                PLAYED,
                said(f"Three, I think, {attempt.repeat}.", at=9.5),
                said(f"Left, number {attempt.repeat}.", at=29.5),
            )
            folder = out / "recordings" / attempt.id
            folder.mkdir()
            (folder / "trace.json").write_bytes(trace_to_json(made))
            ledger.ended(
                AttemptResult(attempt=attempt, outcome=Outcome.COMPLETED, reason="", seconds=60)
            )
    return out


async def judged(
    run: Path, server: JudgeServer, *, retry: bool = False, **options: str
) -> tuple[JudgedRun, Judge]:
    judge = load_judge("rubric:table", {"url": server.url, **options})
    found = await judge_run(run, {PLAYED.id: PLAYED}, [judge], read=read, retry_failed=retry)
    return found, judge


def states(found: JudgedRun) -> dict[str, int]:
    every = [v.state.value for vs in found.verdicts.values() for v in vs]
    return {s: every.count(s) for s in sorted(set(every))}


async def test_a_run_is_judged_side_by_side_within_bounds(run_folder: Path) -> None:
    async with JudgeServer(lambda b: verdict(b, 4), latency=0.05) as server:
        found, judge = await judged(run_folder, server, concurrency="5")
        assert states(found) == {"scored": 3 * REPEATS}
        assert len(server.requests) == 2 * REPEATS
        assert server.at_once == 5
        spent = getattr(judge, "spent")()  # noqa: B009
        assert spent == "rubric-table: 16 calls, 6,400 tokens in and 1,280 out"


async def test_the_estimate_is_of_what_will_be_asked(run_folder: Path) -> None:
    def estimate(judge: Judge) -> Estimate:
        total = Estimate()
        for folder in sorted((run_folder / "recordings").iterdir()):
            total += Docket(folder, PLAYED, read=read).estimate(judge)
        return total

    async with JudgeServer(lambda b: verdict(b, 4)) as server:
        before = estimate(load_judge("rubric:table", {"url": server.url}))
        assert before.calls == 2 * REPEATS
        assert 5_000 < before.tokens_in < 20_000
        assert re.fullmatch(r"about 16 calls, [\d,]+ tokens", before.told(None))
        _, judge = await judged(run_folder, server)
        assert estimate(judge) == Estimate()
    assert estimate(load_judge("keypoints")) == Estimate()


async def test_failures_are_counted_and_tried_again_on_request_alone(run_folder: Path) -> None:
    def moody(body: Body) -> Say | str:
        if "Left" in case_in(body)["candidate"]:
            return Say(refusal="no")
        return verdict(body, 5)

    async with JudgeServer(moody) as server:
        found, _ = await judged(run_folder, server)
        assert states(found) == {"judge_failed": REPEATS, "scored": 2 * REPEATS}
        asked = len(server.requests)
        server.answer_by(lambda b: verdict(b, 5))
        await judged(run_folder, server)
        assert len(server.requests) == asked
        found, _ = await judged(run_folder, server, retry=True)
        assert len(server.requests) == asked + REPEATS
        assert states(found) == {"scored": 3 * REPEATS}


async def test_what_a_budget_left_over_is_judged_later(run_folder: Path) -> None:
    async with JudgeServer(lambda b: verdict(b, 5), latency=0.02) as server:
        found, _ = await judged(run_folder, server, max_calls="6")
        assert states(found) == {"judge_failed": 10, "scored": 14}
        assert len(server.requests) == 6
        found, _ = await judged(run_folder, server, retry=True, max_calls="10")
        assert states(found) == {"scored": 3 * REPEATS}
        assert len(server.requests) == 16


async def test_an_unknown_model_costs_one_request_for_each_at_a_time(run_folder: Path) -> None:
    error = {"code": "model_not_found", "message": "no such model"}
    async with JudgeServer([Say(status=404, error=error)]) as server:
        found, _ = await judged(run_folder, server, concurrency="2")
        assert states(found) == {"judge_failed": 2 * REPEATS, "scored": REPEATS}
        assert len(server.requests) <= 2
        reasons = {
            v.why
            for vs in found.verdicts.values()
            for v in vs
            if v.state is VerdictState.JUDGE_FAILED
        }
        assert len(reasons) == 1
        assert "check the model's name" in reasons.pop()


# ---------------------------------------------------------------- the command


SAMPLE = """\
version: 1
id: made-up
clip: none.mp4
turns:
  - id: count
    until: 10
    say: {text: What is it?, file: none.flac}
    answer: There are three.
"""


async def test_the_command_says_what_it_will_cost_and_what_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    played = scenario(answers("count", "There are three."))
    folder = tmp_path / "recording"
    folder.mkdir()
    (folder / "scenario.yaml").write_text(SAMPLE, encoding="utf-8")
    made = trace(played, said("Three.", at=9.5))
    monkeypatch.setattr(command, "recorded_trace", lambda *_: made)
    told: list[str] = []
    monkeypatch.setattr(Console, "print", lambda _, *a, **k: told.append(str(a[0])))

    async def judge_it(answers: Answers, *, retry: bool = False) -> int:
        told.clear()
        async with JudgeServer(answers) as server:
            words = (f"rubric:table@{server.url} -o price_in=1 -o price_out=2 -o label=x",)
            return await asyncio.to_thread(
                command.judge_again, folder, words, force=False, retry=retry, scenario=None
            )

    assert await judge_it(["nonsense"]) == 1
    assert re.search(r"rubric-x: about 1 call, \d+ tokens, 0.00", "\n".join(told))
    assert any("rubric-x: 1 turn not judged: its reply cannot be read" in t for t in told)
    assert any("--retry-failed tries these again" in t for t in told)
    assert any("2 calls, 1 to mend a reply" in t and "cost 0.0011" in t for t in told)
    assert await judge_it([Say(status=401, error={"message": "bad key"})], retry=True) == 1
    assert any("check the key in the environment" in t for t in told)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("rubric", "no model is named"),
        ("rubric:gpt-5", "there is no key for https://api.openai.com/v1"),
        ("rubric:gpt-5 -o", "only -o key=value may follow"),
        ("rubric:m@http://localhost:1/v1 -o max_call=3", "did you mean max_calls?"),
    ],
)
def test_bad_words_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, why: str
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OMNISTAGE_JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match=re.escape(why)):
        command.judge_again(tmp_path, (words,), force=False, retry=False, scenario=None)
