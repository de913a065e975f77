"""Two agents on the same turns, from a run folder: numbers, what flipped, and one clear line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from simulator.cli.main import app
from simulator.errors import InputError, RecordingError
from simulator.judging.testing import said
from simulator.report import rows
from simulator.report.compare import compare, side_of
from simulator.report.summary import summarise
from simulator.run.plan import AgentChoice, make_plan
from tests.report.conftest import PLAYED, fail_at, judged, read


def test_oracle_against_late(run_folder: Path) -> None:
    found = compare(side_of(run_folder, "oracle"), side_of(run_folder, "late"))
    assert found.score is not None
    assert (found.score.n, found.score.a, found.score.b) == (4, 100.0, 75.0)
    assert (found.score.wins, found.score.losses, found.score.ties) == (0, 1, 3)
    assert [(f.turn, f.gained) for f in found.flips] == [("left", False)]
    assert "late" in found.flips[0].b_why
    assert found.latency is not None
    assert found.latency.n == 2
    assert (found.only_a, found.only_b, found.unscored) == (0, 0, 0)


def test_a_voice_is_not_compared_with_a_text(run_folder: Path) -> None:
    late = side_of(run_folder, "late")
    mute = replace(late, rows=tuple(in_writing(row) for row in late.rows))
    found = compare(side_of(run_folder, "oracle"), mute)
    assert found.latency is None
    assert "the latencies of 2 turns are not compared" in found.notes[-1]
    both = compare(mute, mute)
    assert both.latency is not None
    assert both.latency.n == 2


def in_writing(row: rows.AttemptRow) -> rows.AttemptRow:
    turns = [
        replace(t, metrics=replace(t.metrics, latency_in_writing=True)) if t.metrics else t
        for t in row.turns
    ]
    return replace(row, turns=tuple(turns))


def test_what_has_no_score_is_counted(run_folder: Path) -> None:
    found = compare(side_of(run_folder, "oracle"), side_of(run_folder, "silent"))
    assert found.score is not None
    assert (found.score.n, found.unscored) == (2, 2)
    none = compare(side_of(run_folder, "oracle"), side_of(run_folder, "never"))
    assert (none.score, none.unscored) == (None, 4)


def test_what_a_provider_failed_at_is_in_a_second_figure(run_folder: Path) -> None:
    without = compare(side_of(run_folder, "oracle"), side_of(run_folder, "late"))
    assert without.charged is None
    fail_at(run_folder, "oracle", "count")
    found = compare(side_of(run_folder, "oracle"), side_of(run_folder, "late"))
    assert found.score is not None
    assert (found.score.n, found.score.a, found.unscored) == (3, 100.0, 1)
    assert found.charged is not None
    assert (found.charged.n, found.charged.a, found.charged.b) == (4, 75.0, 75.0)
    status, text = shown(
        "compare", run_folder, run_folder, "--agent-a", "oracle", "--agent-b", "late"
    )
    assert status == 0
    assert "agent errors at 0" in text
    # Also where nothing else can be said of one of them.
    for turn in ("count", "calm", "left", "end"):
        fail_at(run_folder, "oracle", turn)
    status, text = shown(
        "compare", run_folder, run_folder, "--agent-a", "oracle", "--agent-b", "late"
    )
    assert status == 0
    assert "+75.0" in text


def test_which_agent_is_asked(run_folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="9 agents"):
        side_of(run_folder, None)
    with pytest.raises(InputError, match="no agent 'orcale'"):
        side_of(run_folder, "orcale")
    with pytest.raises(RecordingError, match="not a run folder"):
        side_of(tmp_path, None)


def shown(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(w) for w in words])
    if isinstance(result.exception, InputError):
        return 2, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def test_command(run_folder: Path) -> None:
    agents = ("--agent-a", "oracle", "--agent-b", "late")
    status, text = shown("compare", run_folder, run_folder, *agents)
    assert status == 0
    assert "-25.0" in text
    assert "Right in A, wrong in B: 1" in text
    assert "made-up / left: late" in text
    status, text = shown("compare", run_folder, run_folder, *agents, "--json")
    assert json.loads(text)["score"]["difference"] == -25.0
    status, text = shown(
        "compare", run_folder, run_folder, "--agent-a", "oracle", "--agent-b", "never"
    )
    assert status == 2
    assert "no scored turn in common" in text


def test_power_from_runs_and_from_nothing(run_folder: Path) -> None:
    status, text = shown("power", "-d", "5")
    assert status == 0
    assert "a difference of 5 points takes 787 turns" in text
    assert "worst case" in text
    status, text = shown("power", run_folder, "--agent-a", "late")
    assert "over 4 turns of late in" in text
    agents = ("--agent-a", "oracle", "--agent-b", "late")
    status, text = shown("power", run_folder, run_folder, *agents)
    assert "measured on 4 pairs" in text


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("-d", "0"), "a difference of 0 points"),
        (("--sd", "0"), "--sd 0 is not between"),
        (("--power", "1"), "power 1 is not between"),
        (("--correlation", "1"), "--correlation 1 is not"),
    ],
)
def test_power_of_nonsense(words: tuple[str, ...], why: str) -> None:
    status, text = shown("power", *words)
    assert status == 2
    assert why in text


def test_power_of_scores_that_never_differ(run_folder: Path) -> None:
    status, text = shown("power", run_folder, "--agent-a", "oracle")
    assert status == 2
    assert "no score differs" in text


def test_repeats_give_pass_rates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three repeats: `left` is right in two of them, everything else always."""
    monkeypatch.setattr(rows, "find_trace", read)
    out = tmp_path / "run"
    agent = AgentChoice(label="x", reference="x")
    plan = make_plan([PLAYED], [agent], judges=["keypoints", "quiet"], repeats=3)
    judged(
        out,
        plan,
        lambda a: [said("Three.", at=9.5), said("Left." if a.repeat > 1 else "Right.", at=39.7)],
    )
    rates = summarise(out).repeats
    assert [r.k for r in rates] == [1, 2, 3]
    assert [r.at for r in rates] == pytest.approx([11 / 12, 1.0, 1.0])
    assert [r.all for r in rates] == pytest.approx([11 / 12, (3 + 1 / 3) / 4, 0.75])
    status, text = shown("report", out)
    assert status == 0
    assert "x: pass@3 100.0  pass^3 75.0  (4 turns)" in text
    assert "In no mean: 3 turns (marked `either`)." in text
    # A repeated turn is one pair, with the mean of its repeats.
    found = compare(side_of(out, "x"), side_of(out, None))
    assert found.score is not None
    assert (found.score.n, found.score.ties, found.flips) == (4, 4, ())
