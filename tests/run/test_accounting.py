"""The ledger: what a killed run leaves can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.judging.testing import quiet, scenario
from simulator.protocol.events import Outcome
from simulator.run.accounting import (
    ATTEMPTS_FILE,
    AttemptResult,
    Ledger,
    count_outcomes,
    read_attempts,
)
from simulator.run.plan import AgentChoice, Plan, make_plan, open_run


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    agent = AgentChoice(label="oracle", reference="oracle")
    made = make_plan([scenario(quiet("q"), id="s")], [agent], judges=[], repeats=3)
    open_run(tmp_path, made)
    return made


def test_a_run_killed_at_any_byte_can_be_read(tmp_path: Path, plan: Plan) -> None:
    first, second, _ = plan.attempts
    with Ledger(tmp_path) as ledger:
        ledger.started(first)
        ledger.ended(AttemptResult(attempt=first, outcome=Outcome.COMPLETED, seconds=12.5))
        ledger.started(second)
    path = tmp_path / ATTEMPTS_FILE
    data = path.read_bytes()
    last_line = data.rindex(b"\n", 0, len(data) - 1) + 1
    for size in range(len(data) + 1):
        path.write_bytes(data[:size])
        found = read_attempts(tmp_path, plan)
        assert len(found) == len(plan.attempts)
        if size == len(data):
            assert [r.outcome for r in found] == [
                Outcome.COMPLETED,
                Outcome.INSTRUMENT_INVALID,
                Outcome.CANCELLED,
            ]
            assert found[0].seconds == 12.5
            assert "ended before the attempt" in found[1].reason
            assert found[2].reason == "never started"
        elif size == last_line:
            assert found[1].outcome is Outcome.CANCELLED


@pytest.mark.parametrize("reason", ["one\u2028two\u2029three\x85four", "500 caf\ufffd"])
def test_whatever_an_agent_says_is_kept(tmp_path: Path, plan: Plan, reason: str) -> None:
    first, second, _ = plan.attempts
    with Ledger(tmp_path) as ledger:
        for attempt in (first, second):
            said = reason.replace("\ufffd", "\udce9")
            failed = AttemptResult(attempt=attempt, outcome=Outcome.AGENT_FAILED, reason=said)
            ledger.started(attempt)
            ledger.ended(failed)
    found = read_attempts(tmp_path, plan)[:2]
    assert [(r.outcome, r.reason) for r in found] == [(Outcome.AGENT_FAILED, reason)] * 2


def test_recordings_are_found_by_their_attempt(tmp_path: Path, plan: Plan) -> None:
    kept = tmp_path / "recordings" / plan.attempts[1].id
    kept.mkdir()
    found = read_attempts(tmp_path, plan)
    assert [r.folder for r in found] == [None, kept, None]


def test_every_outcome_is_counted(tmp_path: Path, plan: Plan) -> None:
    counts = count_outcomes(read_attempts(tmp_path, plan))
    assert counts == {
        "completed": 0,
        "agent_failed": 0,
        "network_failed": 0,
        "instrument_invalid": 0,
        "cancelled": 3,
        "unsupported": 0,
    }
