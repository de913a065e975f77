"""Strict and open scores, and whose verdicts they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simulator.cli.main import app
from simulator.errors import InputError
from simulator.judging.judge import Verdict, VerdictState
from simulator.report.paths import Along, along, path_summary
from simulator.report.rows import TurnRow
from simulator.report.summary import summarise
from simulator.report.tables import tables
from simulator.run.plan import PlannedTurn


def row(score: float | None, *, content: float | None = None, paths: Any = None) -> TurnRow:
    state = VerdictState.UNMEASURABLE if score is None else VerdictState.SCORED
    verdict = Verdict(
        turn="t",
        judge="j",
        judge_version="1",
        state=state,
        score=score,
        content=score if content is None else content,
        details={} if paths is None else {"paths": paths},
    )
    return TurnRow(
        turn=PlannedTurn(id="t", index=0, expect="answer"),
        state=state.value,
        score=score,
        why="",
        verdict=verdict,
        metrics=None,
    )


OTHER = {"taken": "pedal", "strict": 0.0, "open": 1.0}
OWN = {"taken": "prior", "strict": 0.5, "open": 0.5}


@pytest.mark.parametrize(
    ("turn", "expected"),
    [
        (row(1.0), Along(None, 1.0, 1.0)),
        (row(0.0, paths=OTHER), Along("pedal", 0.0, 1.0)),
        (row(1.0, paths=OTHER), Along("pedal", 0.0, 1.0)),  # a judge with mode=open
        (row(0.0, content=1.0, paths=OTHER), Along("pedal", 0.0, 0.0)),  # it was late
        (row(None, paths=OTHER), None),
        (row(0.5, paths="damaged"), Along(None, 0.5, 0.5)),
    ],
)
def test_a_turn_has_both_scores(turn: TurnRow, expected: Along | None) -> None:
    assert along(turn) == expected


def test_both_means_are_over_all_scored_turns() -> None:
    turns = [row(1.0), row(0.0, paths=OTHER), row(0.5, paths=OWN), row(None, paths=OTHER)]
    found = path_summary(turns)
    assert found is not None
    assert (found.turns, found.other, found.strict) == (2, 1, 50.0)
    assert found.open == pytest.approx(83.3, abs=0.1)
    assert path_summary([row(1.0), row(None)]) is None


def rewrite(run: Path, attempt: str, judge: str, change: Any) -> None:
    """Put another judge's file beside that of `keypoints`."""
    folder = run / "recordings" / attempt / "verdicts"
    body = json.loads((folder / "keypoints.json").read_text())
    body["judge"] = judge
    for turn in body["turns"]:
        turn["verdict"]["judge"] = judge
        change(turn["verdict"])
    (folder / f"{judge}.json").write_text(json.dumps(body))


def test_strict_and_open_are_in_the_summary_and_the_tables(run_folder: Path) -> None:
    def other_path(verdict: dict[str, Any]) -> None:
        verdict["score"] = verdict["content"] = 0.0
        verdict["details"]["paths"] = OTHER

    attempt = "made-up--oracle--1"
    rewrite(run_folder, attempt, "keypoints", other_path)
    summary = summarise(run_folder)
    oracle = summary.by_agent["oracle"]
    assert oracle.paths is not None
    assert (oracle.score.mean, oracle.paths.strict, oracle.paths.open) == (50, 50, 100)
    assert summary.by_agent["late"].paths is None
    found = tables(run_folder)
    (overall,) = (r for r in found["scores"] if (r["agent"], r["level"]) == ("oracle", "overall"))
    assert (overall["mean"], overall["strict"], overall["open"]) == (50, 50, 100)
    count = next(r for r in found["turns"] if (r["attempt"], r["turn"]) == (attempt, "count"))
    assert (count["path_taken"], count["strict"], count["open"]) == ("pedal", 0.0, 1.0)
    said = CliRunner().invoke(app, ["report", str(run_folder)]).output
    told = "oracle: 50 strict (by the fixed path), 100 open (by any listed one); 2 of 2 answers"
    assert told in " ".join(said.split())


def test_another_judge_can_give_the_score(run_folder: Path) -> None:
    def harsh(verdict: dict[str, Any]) -> None:
        verdict["score"] = 0.0

    rewrite(run_folder, "made-up--oracle--1", "harsh", harsh)
    assert summarise(run_folder).other_judges == ("harsh",)
    said = CliRunner().invoke(app, ["report", str(run_folder)]).output
    assert "By others: `omnistage report --judge` harsh." in " ".join(said.split())
    assert summarise(run_folder).by_agent["oracle"].score.mean == 100
    chosen = summarise(run_folder, "harsh")
    assert chosen.by_agent["oracle"].score.mean == 50  # the quiet turns are another judge's
    assert chosen.by_agent["oracle"].judged_by == {"harsh": 2, "quiet": 2}
    said = CliRunner().invoke(app, ["report", str(run_folder), "--judge", "harsh"]).output
    assert "harsh (2 turns)" in " ".join(said.split())
    with pytest.raises(InputError, match=r"no verdicts of judge 'kind' .it has those of: harsh,"):
        summarise(run_folder, "kind")
