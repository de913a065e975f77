"""The plan of a run: attempts, their ids and estimates, and run.json."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from simulator.errors import InputError, RecordingError
from simulator.judging.testing import answers, either, quiet, scenario
from simulator.protocol.conditions import Conditions, Decide
from simulator.run.plan import AgentChoice, Plan, estimate, log_name, make_plan, open_run, read_plan
from simulator.scenario.types import Pace

ONE = scenario(answers("a", "Yes."), quiet("b"), either("c"), id="one", task="OSC")
TWO = scenario(quiet("a", bystander="Lunch?"), id="two")


def choice(label: str, *, here: bool = False, **options: str) -> AgentChoice:
    return AgentChoice(label=label, reference=label, options=options, computes_here=here)


def plan(
    *agents: AgentChoice, repeats: int = 1, concurrency: int = 1, share_host: bool = False
) -> Plan:
    return make_plan(
        [ONE, TWO],
        agents or [choice("oracle")],
        judges=["keypoints", "quiet"],
        repeats=repeats,
        concurrency=concurrency,
        share_host=share_host,
    )


def test_attempts_are_scenarios_by_agents_by_repeats() -> None:
    made = plan(choice("oracle"), choice("late"), repeats=2)
    assert [a.id for a in made.attempts] == [
        "one--oracle--1",
        "one--late--1",
        "two--oracle--1",
        "two--late--1",
        "one--oracle--2",
        "one--late--2",
        "two--oracle--2",
        "two--late--2",
    ]


def test_nobody_can_be_asked_at_the_end_of_turns_that_flow_into_each_other() -> None:
    flowing = dataclasses.replace(TWO, pace=Pace.CONTINUOUS)
    asked = [Conditions(), Conditions(decide=Decide.TURN_END)]
    assert len(make_plan([ONE], [choice("oracle")], judges=[], conditions=asked).attempts) == 2
    with pytest.raises(InputError, match=r"'two' plays on with pace: continuous.*pace: wait"):
        make_plan([ONE, flowing], [choice("oracle")], judges=[], conditions=asked)


def test_ids_are_names_of_folders_and_differ() -> None:
    labels = ["openai:gpt@http://h:1/x", "openai:gpt@http://h:1?x", "../up", "..", "a b"]
    ids = [a.id for a in plan(*(choice(x) for x in labels)).attempts]
    assert len(set(ids)) == len(ids)
    assert all("/" not in i and not i.startswith(".") for i in ids)


def test_an_agent_in_a_file_goes_by_its_stem() -> None:
    labels = ["/home/me/agents/polite.py", "./other/polite.py:Mine -o delay=3", "mine.py", "late"]
    ids = [a.id for a in plan(*(choice(x) for x in labels)).attempts if a.scenario == "one"]
    assert ids == [
        "one--polite--1",
        "one--polite-Mine--o-delay-3--1",
        "one--mine--1",
        "one--late--1",
    ]


def test_planned_turns_are_those_that_are_scored() -> None:
    made = plan()
    assert [t.id for t in made.scenario("one").turns] == ["a", "b", "c"]
    assert [t.id for t in made.scenario("one").scored_turns] == ["a", "b"]


def test_estimate_holds_for_replies_and_tails() -> None:
    # 30 s of stream, 1 s to dial, a reply of 4.2 s, a tail of 3 s after the standing instruction.
    assert estimate(ONE) == pytest.approx(38.2)
    assert estimate(ONE, duration=20.0) == pytest.approx(28.2)
    # At a continuous pace only the last turn can hold.
    flowing = dataclasses.replace(ONE, pace=Pace.CONTINUOUS)
    assert estimate(flowing) == pytest.approx(34.0)


def test_whole_estimate_counts_what_runs_side_by_side() -> None:
    three = [choice("x"), choice("y"), choice("z", here=True)]
    one, two = 38.2, 14.0
    assert plan(*three).estimate_s == pytest.approx(3 * (one + two))
    assert plan(*three, concurrency=2).estimate_s == pytest.approx(2 * (one + two))
    assert plan(*three, concurrency=6, share_host=True).estimate_s == pytest.approx(one)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (lambda: make_plan([], [choice("x")], judges=[]), "nothing to run"),
        (lambda: make_plan([ONE], [], judges=[]), "nothing to run"),
        (lambda: make_plan([ONE, ONE], [choice("x")], judges=[]), "'one' is named twice"),
        (lambda: plan(choice("x"), choice("x")), "'x' is named twice"),
        (lambda: plan(repeats=0), "at least 1"),
        (lambda: plan(concurrency=0), "at least 1"),
    ],
)
def test_plans_that_make_no_sense(bad: object, message: str) -> None:
    assert callable(bad)
    with pytest.raises(InputError, match=message):
        bad()


def test_run_json_comes_back(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "run"
    made = plan(choice("late", delay="3"))
    open_run(out, made)
    assert read_plan(out) == made
    assert (out / "recordings").is_dir()


def test_secret_options_are_not_written(tmp_path: Path) -> None:
    made = plan(choice("api", api_key="sk-1234", model="m", auth_token="t0k", way="of-mine"))
    open_run(tmp_path, made, secrets=["of-mine"])
    text = (tmp_path / "run.json").read_text("utf-8")
    assert "sk-1234" not in text
    assert "t0k" not in text
    assert "of-mine" not in text
    assert json.loads(text)["agents"][0]["options"]["model"] == "m"


def test_an_output_folder_with_something_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("x")
    with pytest.raises(InputError, match=r"exists and is not empty.*another --out"):
        open_run(tmp_path, plan())
    assert [p.name for p in tmp_path.iterdir()] == ["precious.txt"]


def test_an_output_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    with pytest.raises(InputError, match="exists and is not empty"):
        open_run(tmp_path / "f", plan())
    with pytest.raises(InputError, match="cannot write"):
        open_run(tmp_path / "f" / "below", plan())


def test_what_is_no_run_folder(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="not a run folder"):
        read_plan(tmp_path)
    (tmp_path / "run.json").write_text('{"version": 1}')
    with pytest.raises(RecordingError, match=r"run\.json: created"):
        read_plan(tmp_path)


def test_a_plan_that_does_not_hold_together_is_refused(tmp_path: Path) -> None:
    open_run(tmp_path / "run", plan())
    file = tmp_path / "run/run.json"
    body = json.loads(file.read_text())
    file.write_text(json.dumps(body | {"scenarios": []}))
    with pytest.raises(RecordingError, match="the scenario or agent of one--oracle--1"):
        read_plan(tmp_path / "run")


def test_a_run_that_cannot_be_opened_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(InputError, match="No space left on device"):
        open_run(tmp_path / "run", plan())
    assert list((tmp_path / "run").iterdir()) == []
    with pytest.raises(InputError, match="File name too long"):
        open_run(tmp_path / ("x" * 300), plan())


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("oracle", "oracle.log"),
        ("./my_agent.py", "my_agent.py.log"),
        ("../x.py:Two -o a=b", "x.py-Two--o-a-b.log"),
        ("...", "agent.log"),
    ],
)
def test_the_log_of_an_agent_is_to_be_seen(label: str, name: str) -> None:
    assert log_name(label) == name
