"""No mean is over unlike conditions unless that is asked for, and then it is said."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from simulator.cli.main import app
from simulator.errors import InputError
from simulator.judging.testing import said
from simulator.protocol.conditions import Conditions, Decide, Video, differences
from simulator.report import rows
from simulator.report.compare import Side, compare, side_of
from simulator.report.gates import check_gates, parse_gates
from simulator.report.part import part_of
from simulator.report.rows import AttemptRow, by_side, read_rows
from simulator.report.summary import summarise
from simulator.report.tables import CONDITIONS, tables
from simulator.run.plan import AgentChoice, Plan, make_plan
from tests.protocol.conditions import any_conditions
from tests.report.conftest import PLAYED, judged, read

ASKED = Conditions(decide=Decide.TURN_END)
UNLIKE = (Conditions(), ASKED)


@pytest.fixture(autouse=True)
def _traces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "find_trace", read)


def planned(*conditions: Conditions, agents: Sequence[str] = ("x",), repeats: int = 1) -> Plan:
    choices = [AgentChoice(label=a, reference=a) for a in agents]
    return make_plan(
        [PLAYED], choices, judges=["keypoints", "quiet"], conditions=conditions, repeats=repeats
    )


@pytest.fixture
def unlike(tmp_path: Path) -> Path:
    """An agent that is right when it is asked, and misses one of two answers when it is not."""
    first, second = said("Three.", at=9.5), said("Left.", at=39.7)
    return judged(
        tmp_path / "unlike",
        planned(*UNLIKE, repeats=2),
        lambda a: [first, second] if a.conditions == ASKED else [first],
    )


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Plan, tuple[AttemptRow, ...]]:
    """A run of two agents, alike."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rows, "find_trace", read)
        words = [said("Three.", at=9.5), said("Left.", at=39.7)]
        out = judged(
            tmp_path_factory.mktemp("run") / "out",
            planned(Conditions(), agents=("x", "y"), repeats=2),
            lambda a: words,
        )
        return read_rows(out)


def under(row: AttemptRow, conditions: Conditions) -> AttemptRow:
    attempt = replace(row.result.attempt, conditions=conditions)
    return replace(row, result=replace(row.result, attempt=attempt))


@settings(max_examples=60, deadline=None)
@given(st.lists(any_conditions(), min_size=4, max_size=4))
def test_unlike_conditions_never_share_a_mean(
    played: tuple[Plan, tuple[AttemptRow, ...]], several: list[Conditions]
) -> None:
    own = [under(r, c) for r, c in zip(played[1], several, strict=True)]
    whole = part_of(own)
    alike = len(set(several)) == 1
    assert (whole.score.mean is not None) is alike
    assert (whole.latency_s.p50 is not None) is alike
    assert bool(whole.by_task) is bool(whole.repeats) is alike
    assert (whole.score.planned, whole.score.scored, whole.quiet.kept) == (16, 16, 8)
    sides = by_side(own)
    assert sum(len(s) for s in sides.values()) == 4, "nothing drops out"
    for name, side in sides.items():
        (agent,) = {r.result.attempt.agent for r in side}
        part = part_of(side)
        assert (part.agent, part.conditions) == (agent, side[0].conditions)
        assert part.score.mean is not None
        assert name.startswith(agent)
    assert part_of(own, mix=True).score.mean == 100.0


@settings(max_examples=60, deadline=None)
@given(any_conditions(), any_conditions())
def test_comparing_names_exactly_what_differs(
    played: tuple[Plan, tuple[AttemptRow, ...]], a: Conditions, b: Conditions
) -> None:
    plan, own = played
    sides = (
        Side(name=n, plan=plan, rows=tuple(under(r, c) for r in own))
        for n, c in (("A", a), ("B", b))
    )
    notes = [
        f"other conditions: {name} is {x} in A and {y} in B"
        for name, (x, y) in differences([a, b]).items()
    ]
    assert list(compare(*sides).notes) == notes


def test_the_parts_of_a_run_stand_apart(unlike: Path) -> None:
    summary = summarise(unlike)
    assert summary.apart == {"decide": ("agent", "turn-end")}
    means = {name: part.score.mean for name, part in summary.by_agent.items()}
    assert means == {"x (decide agent)": 75.0, "x (decide turn-end)": 100.0}
    assert [p.conditions for p in summary.by_agent.values()] == list(UNLIKE)
    assert (summary.conditions, summary.score.mean, summary.repeats) == (None, None, ())
    assert (summary.score.low, summary.score.high, summary.score.coverage) == (0.0, 100.0, 1.0)
    mixed = summarise(unlike, mix=True)
    assert (mixed.mixed, mixed.score.mean) == (True, 87.5)
    assert mixed.by_agent == summary.by_agent
    # A turn's repeats are those under the same conditions: two of each, not four.
    assert [r.counted for r in mixed.repeats] == [8, 8]


def test_a_gate_on_the_whole_run_is_not_met_and_says_why(unlike: Path) -> None:
    (gate,) = check_gates(parse_gates(["score>=0"]), summarise(unlike))
    assert not gate.met
    assert gate.why == (
        "attempts are under unlike conditions (decide is agent and turn-end); see --mix-conditions"
    )
    assert check_gates(parse_gates(["score>=80"]), summarise(unlike, mix=True))[0].met


def test_each_condition_is_a_column(unlike: Path) -> None:
    found = tables(unlike)
    assert set(CONDITIONS) == {f.name for f in fields(Conditions)}
    for rows_of in found.values():
        assert {r["decide"] for r in rows_of} == {"agent", "turn-end"}
        assert {(r["video"], r["source"]) for r in rows_of} == {("h264", "live")}
        assert {type(r[name]) for r in rows_of for name in ("decide", "video", "prompt")} == {str}
    means = {(r["agent"], r["decide"]): r["mean"] for r in found["scores"]}
    assert means == {("x", "agent"): 75.0, ("x", "turn-end"): 100.0}


def shown(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(w) for w in words])
    if isinstance(result.exception, InputError):
        return 2, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())


def test_report_says_that_and_how(unlike: Path) -> None:
    status, text = shown("report", unlike, "--gate", "score>=80")
    assert status == 1
    assert "x (decide agent)" in text
    assert "Unlike conditions: decide is agent and turn-end. The whole run has no score" in text
    assert json.loads((unlike / "summary.json").read_text())["score"]["mean"] is None
    status, text = shown("report", unlike, "--gate", "score>=80", "--mix-conditions")
    assert status == 0
    assert (
        "--mix-conditions: decide is agent and turn-end, taken together in the whole run's" in text
    )
    assert "score (88)" in text
    body = json.loads((unlike / "summary.json").read_text())
    assert (body["mixed"], body["score"]["mean"]) == (True, 87.5)


def test_a_side_is_named_by_its_conditions(unlike: Path) -> None:
    sides = ("--agent-a", "x (decide agent)", "--agent-b", "x (decide turn-end)")
    status, text = shown("compare", unlike, unlike, *sides)
    assert status == 0
    assert "Mind: other conditions: decide is agent in A and turn-end in B." in text
    status, text = shown("power", unlike, unlike, *sides)
    assert status == 0
    assert "other conditions: decide is agent in A and turn-end in B." in text
    assert [len(side_of(unlike, s).rows) for s in sides[1::2]] == [2, 2]


@pytest.mark.parametrize("command", ["compare", "power", "judge-agreement", "export"])
def test_what_would_mix_is_refused_until_it_is_asked_for(
    unlike: Path, tmp_path: Path, command: str
) -> None:
    words = {
        "compare": (unlike, unlike),
        "power": (unlike,),
        "judge-agreement": (unlike,),
        "export": ("omniassistbench", unlike, tmp_path / "out.csv"),
    }[command]
    if command == "judge-agreement":
        for folder in (unlike / "recordings").iterdir():
            verdicts = folder / "verdicts"
            text = (verdicts / "keypoints.json").read_text()
            (verdicts / "other.json").write_text(text.replace('"keypoints"', '"other"'))
    status, text = shown(command, *words)
    assert status == 2
    assert "attempts under unlike conditions: decide is agent and turn-end" in text
    if command == "export":
        # Answers in a table cannot be mixed: one side must be named.
        assert "'x (decide agent)', 'x (decide turn-end)'" in text
        assert shown(command, *words, "--agent", "x (decide turn-end)")[0] == 0
        return
    status, text = shown(command, *words, "--mix-conditions")
    assert status == 0
    assert "mixed as asked for" in text
    assert "decide is agent and turn-end" in text


def test_the_recording_of_another_run_is_told_and_counts_for_nothing(tmp_path: Path) -> None:
    words = [said("Three.", at=9.5), said("Left.", at=39.7)]
    run, other = (
        judged(tmp_path / name, planned(c), lambda a: words)
        for name, c in (("run", Conditions()), ("other", Conditions(video=Video.VP8)))
    )
    shutil.rmtree(run / "recordings/made-up--x--1")
    shutil.copytree(other / "recordings/made-up--x--1", run / "recordings/made-up--x--1")
    summary = summarise(run)
    assert summary.attempts[0].problem == (
        "made-up--x--1: what was recorded and what was planned differ: video is vp8 and h264 "
        "(it is the recording of another run)"
    )
    assert (summary.turns.planned, summary.turns.missing) == (4, 4)
    # Of a call that never stood, and in a trace of before, nobody can tell.
    path = run / "recordings/made-up--x--1/trace.json"
    body = json.loads(path.read_text())
    for change in ({"play_at": None}, {"version": 1}):
        path.write_text(json.dumps(body | change))
        assert summarise(run).attempts[0].problem == ""


def test_what_is_not_usual_is_told(tmp_path: Path) -> None:
    conditions = Conditions(video=Video.VP8)
    out = judged(tmp_path / "run", planned(conditions), lambda a: [said("Three.", at=9.5)])
    summary = summarise(out)
    assert (summary.conditions, summary.apart) == (conditions, {})
    text = shown("report", out)[1]
    assert "video: vp8. Codec of the pictures that are sent" in text
    assert "decide:" not in text
