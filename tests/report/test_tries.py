"""An attempt that was played again: one try counts, and all are shown."""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest
from rich.console import Console

from simulator.judging.run import judge_run
from simulator.judging.testing import said, trace
from simulator.measuring.trace import trace_to_json
from simulator.plugins import load_judge
from simulator.protocol.events import Outcome
from simulator.report import rows
from simulator.report.summary import summarise
from simulator.report.tables import tables
from simulator.report.terminal import print_summary
from simulator.run.accounting import AttemptResult, Ledger
from simulator.run.plan import AgentChoice, make_plan
from tests.report.conftest import PLAYED, judged, read


def test_what_was_played_again_counts_once_by_its_first_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "find_trace", read)
    agents = [AgentChoice(label="a", reference="a")]
    plan = make_plan([PLAYED], agents, judges=["keypoints", "quiet"], retries=1)
    out = judged(tmp_path / "run", plan, lambda _: [said("Five.", at=9.5)])
    before, turns = summarise(out), len(tables(out)["turns"])
    (attempt,) = plan.attempts
    again = out / "recordings" / attempt.named(2)
    again.mkdir()
    right = trace(PLAYED, said("Three.", at=9.5), said("Left.", at=39.7))
    (again / "trace.json").write_bytes(trace_to_json(right))
    with Ledger(out) as ledger:
        # As if the first had failed: its outcome is the ledger's last word.
        failed = AttemptResult(
            attempt=attempt, outcome=Outcome.AGENT_FAILED, reason="quota", seconds=40
        )
        ledger.ended(failed)
        ledger.started(attempt, 2)
        ledger.ended(
            AttemptResult(attempt=attempt, number=2, outcome=Outcome.COMPLETED, seconds=50)
        )
    judges = [load_judge("keypoints"), load_judge("quiet")]
    done = asyncio.run(judge_run(out, {PLAYED.id: PLAYED}, judges, read=read))
    assert set(done.verdicts) == {attempt.id, attempt.named(2)}
    found = summarise(out)
    assert (found.planned, found.outcomes["agent_failed"], found.outcomes["completed"]) == (1, 1, 0)
    assert found.score == before.score
    assert found.turns == before.turns
    assert found.repeats == before.repeats
    (row,) = found.attempts
    (other,) = row.others
    assert (row.id, row.number, row.outcome, row.seconds) == (attempt.id, 1, "agent_failed", 90)
    assert (other.number, other.outcome, other.score) == (2, "completed", 100.0)
    assert (other.recording, other.seconds) == (attempt.named(2), 50)
    assert row.score != other.score
    console = Console(record=True, width=200, file=io.StringIO())
    print_summary(found, out, console)
    said_so = (
        "made-up--a--1: played 2 times; try 1 counts, and no other: try 2 completed, score 100"
    )
    assert said_so in console.export_text()
    assert [a["tries"] for a in tables(out)["attempts"]] == [2]
    assert len(tables(out)["turns"]) == turns
