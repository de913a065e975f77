"""A run folder of every character, made without playing: traces by hand, real judges."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from simulator.errors import RecordingError
from simulator.judging.run import judge_recording
from simulator.judging.testing import Said, answers, either, quiet, said, scenario, trace
from simulator.measuring.trace import Life, Trace, trace_from_json, trace_to_json
from simulator.plugins import load_judge
from simulator.protocol.events import Outcome
from simulator.report import rows
from simulator.run.accounting import AttemptResult, Ledger
from simulator.run.plan import AgentChoice, Attempt, Plan, make_plan, open_run
from simulator.scenario.types import Scenario

PLAYED = scenario(
    answers("count", "There are three.", ("three",)),
    quiet("calm"),
    either("standing"),
    answers("left", "The left one.", ("left",)),
    quiet("end"),
    id="made-up",
    task="OSC",
)
CHARACTERS: dict[str, tuple[Outcome, str, int | None, Sequence[Said]]] = {
    "oracle": (Outcome.COMPLETED, "", None, [said("Three.", at=9.5), said("Left.", at=39.7)]),
    "late": (Outcome.COMPLETED, "", None, [said("Three.", at=12.0), said("Left.", at=45.0)]),
    "talkative": (
        Outcome.COMPLETED,
        "",
        None,
        [
            said("Three.", at=9.5),
            said("Nice.", at=13.0),
            said("Left.", at=39.7),
            said("Well!", at=46),
        ],
    ),
    "silent": (Outcome.COMPLETED, "", None, []),
    "dead": (Outcome.AGENT_FAILED, "no_reply: its protocol said nothing within 10 s", 0, []),
    "cut": (Outcome.NETWORK_FAILED, "the path was lost", 2, [said("Three.", at=9.5)]),
    "broken": (Outcome.INSTRUMENT_INVALID, "send-time error p99 14 ms", None, [said("3", at=9.5)]),
    "absent": (Outcome.AGENT_FAILED, "it did not come up", None, []),
}
"""`absent` never began a recording, and `never` (planned last) never began at all."""


def made(agent: str) -> Trace:
    outcome, reason, reached, utterances = CHARACTERS[agent]
    life = Life(transport=True, session=agent != "dead", response=bool(utterances))
    return trace(
        PLAYED,
        *utterances,
        outcome=outcome,
        reason=reason,
        reached=reached,
        life=life,
        agent=agent,
    )


def read(folder: Path, _played: Scenario | None = None) -> Trace:
    if not (folder / "trace.json").exists():
        raise RecordingError(f"{folder} has no trace")
    return trace_from_json((folder / "trace.json").read_bytes())


def judged(out: Path, plan: Plan, says: Callable[[Attempt], Sequence[Said]]) -> Path:
    """A run folder whose attempts were all completed with these words, and judged; for those who
    let `rows.find_trace` be `read`."""
    open_run(out, plan)
    judges = [load_judge("keypoints"), load_judge("quiet")]
    with Ledger(out) as ledger:
        for attempt in plan.attempts:
            folder = out / "recordings" / attempt.id
            ledger.started(attempt)
            folder.mkdir()
            spoken = trace(PLAYED, *says(attempt), conditions=attempt.conditions)
            (folder / "trace.json").write_bytes(trace_to_json(spoken))
            asyncio.run(judge_recording(folder, PLAYED, judges, read=read))
            ledger.ended(AttemptResult(attempt=attempt, outcome=Outcome.COMPLETED))
    return out


@pytest.fixture
def run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One scenario, nine agents: each outcome and each character."""
    monkeypatch.setattr(rows, "find_trace", read)
    out = tmp_path / "run"
    labels = [*CHARACTERS, "never"]
    plan = make_plan(
        [PLAYED],
        [AgentChoice(label=x, reference=x) for x in labels],
        judges=["keypoints", "quiet"],
    )
    open_run(out, plan)
    judges = [load_judge("keypoints"), load_judge("quiet")]
    with Ledger(out) as ledger:
        for attempt in plan.attempts[:-1]:
            outcome, reason, _, _ = CHARACTERS[attempt.agent]
            folder = out / "recordings" / attempt.id
            ledger.started(attempt)
            if attempt.agent != "absent":
                folder.mkdir()
                (folder / "trace.json").write_bytes(trace_to_json(made(attempt.agent)))
                asyncio.run(judge_recording(folder, PLAYED, judges, read=read))
            ledger.ended(AttemptResult(attempt=attempt, outcome=outcome, reason=reason, seconds=55))
    assert json.loads((out / "run.json").read_text())["version"] == 2
    return out


def fail_at(run: Path, agent: str, turn: str) -> None:
    """A turn of an agent as its provider would have failed at it."""
    for path in (run / "recordings" / f"made-up--{agent}--1" / "verdicts").iterdir():
        body = json.loads(path.read_text())
        for verdict in (t["verdict"] for t in body["turns"] if t["verdict"]["turn"] == turn):
            verdict |= {"state": "agent_error", "score": None, "content": None, "why": "quota"}
        path.write_text(json.dumps(body))
