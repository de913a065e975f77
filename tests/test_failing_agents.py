"""Agents whose provider fails while they are played to: each is told with the provider's code and
words, as the peer's own log has them, in its own turn, and nothing that failed scores."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from simulator.cli.report import show_report
from simulator.cli.run import RunOrder, run_order
from simulator.plugins import content_root
from simulator.protocol import soundness
from simulator.protocol.conditions import Conditions, Decide
from simulator.report.rows import AttemptRow, read_rows
from simulator.run.accounting import read_attempts
from simulator.run.plan import read_plan

DEMO = content_root("scenarios") / "demo"
FAILING = Path(__file__).with_name("failing.py")
SCENARIO = """\
version: 1
id: tiny
clip:
  file: demo.mp4
  licence: CC0-1.0
canvas:
  width: 640
  height: 360
limits:
  answer_within: 3
  reply_max: 3
  quiet_tail: 1
turns:
  - id: count
    from: 31
    until: 33.5
    say:
      text: How many windows does the house have?
      file: count.flac
    answer: The house has three windows.
    key_points:
      - [three, "3"]
  - id: idle
    until: 36
    quiet: true
"""
DECIDING = (
    *("rate_limit", "quota", "server_error", "cut_empty", "cut_said", "filtered"),
    *("session_error", "untyped", "told_only", "quiet_error", "tries_again", "hangs"),
)
ASKED = (
    *("refuses", "decides_itself", "commits_itself", "comes_back", "keeps_telling", "recovers"),
)


@dataclass(frozen=True)
class Played:
    """A run, and what the peer says of it."""

    out: Path
    status: int
    printed: str
    rows: dict[str, AttemptRow]
    sent: list[dict[str, Any]]

    def verdict(self, name: str, turn: str) -> tuple[str, object]:
        """State and code (or score) of a turn."""
        row = next(t for t in self.rows[name].turns if t.turn.id == turn)
        assert row.verdict is not None
        return row.state, row.verdict.details.get("code", row.score)

    def told(self, name: str, call: int = 1) -> list[tuple[str, str]]:
        """Codes and words that the peer sent."""
        mine = [s for s in self.sent if (s["does"], s["call"]) == (name, call)]
        return [(s["code"], s["words"]) for s in mine]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The peer's log, while it answers calls."""
    path = tmp_path_factory.mktemp("peer") / "log"
    command = [sys.executable, "-m", "simulator.bridge", "--tied", f"{FAILING}:Failing"]
    with (
        path.open("w") as log,
        subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        ) as peer,
        pytest.MonkeyPatch.context() as patch,
    ):
        assert peer.stdout is not None
        where = json.loads(peer.stdout.readline())
        patch.setenv("FAILING_URL", where["listening"])
        patch.setenv("FAILING_TOKEN", where["token"])
        # Many calls to one small process: how evenly that lets us send is not the matter.
        patch.setattr(soundness, "PACING_LIMIT_MS", 1_000.0)
        yield path
        peer.kill()


def play(folder: Path, log: Path, ways: tuple[str, ...], **order: Any) -> Played:
    for name in ("media/demo.mp4", "speech/count.flac"):
        (folder / Path(name).name).symlink_to(DEMO / name)
    (folder / "tiny.yaml").write_text(SCENARIO)
    out = folder / "run"
    console = Console(file=io.StringIO(), width=200)
    status = run_order(
        RunOrder(
            scenarios=(str(folder / "tiny.yaml"),),
            agents=tuple(f"{FAILING} -o does={way}" for way in ways),
            concurrency=len(ways),
            out=out,
            **order,
        ),
        console,
    )
    assert isinstance(console.file, io.StringIO)
    printed = console.file.getvalue()
    _, rows = read_rows(out)
    sent = [json.loads(line) for line in log.read_text().splitlines() if line.startswith('{"does"')]
    return Played(out, status, printed, dict(zip(ways, rows, strict=True)), sent)


@pytest.fixture(scope="module")
def deciding(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """All that decide by themselves, side by side."""
    return play(tmp_path_factory.mktemp("deciding"), log, DECIDING)


@pytest.fixture(scope="module")
def asked(log: Path, tmp_path_factory: pytest.TempPathFactory) -> Played:
    """All that are asked at each turn's end, and a second time if they fail."""
    conditions = Conditions(decide=Decide.TURN_END)
    folder = tmp_path_factory.mktemp("asked")
    return play(folder, log, ASKED, conditions=conditions, retries=1)


def ledger(played: Played, name: str) -> list[str]:
    """How the tries of an agent ended, by the ledger alone."""
    results = read_attempts(played.out, read_plan(played.out))
    (mine,) = [r for r in results if r.attempt.agent.endswith(f"does={name}")]
    return [str(t.outcome) for t in mine.tries]


AGENT_ERRORS = {
    "rate_limit": "rate_limit_exceeded",
    "quota": "insufficient_quota",
    "server_error": "server_error",
    "cut_empty": "max_output_tokens",
    "session_error": "server_error",
    "untyped": "error",
}
"""What fails in the turn that asks, by the code that it gives."""


@pytest.mark.parametrize("name", AGENT_ERRORS)
def test_what_the_provider_says_it_failed_at_is_neither_answered_nor_missed(
    deciding: Played, name: str
) -> None:
    code = AGENT_ERRORS[name]
    row = deciding.rows[name]
    assert deciding.verdict(name, "count") == ("agent_error", code)
    # A quota does not come back by itself: what follows is left to it. Else it never spoke.
    lasts = name == "quota"
    after = ("agent_error", code) if lasts else ("unproven", None)
    assert deciding.verdict(name, "idle") == after
    assert row.trace is not None
    told = [(f.code, f.message) for f in row.trace.failures]
    assert told[:1] == deciding.told(name)
    assert [words.endswith("it said nothing since)") for _, words in told[1:]] == [True] * lasts
    (words,) = [w for _, w in deciding.told(name)]
    assert str(row.result.outcome) == "agent_failed"
    first_told = f"{code}: {words}" if words else code
    turns = 2 if lasts else 1
    assert row.result.reason == f"agent_error: in {turns} of 2 turns, first {first_told}"
    # Nothing is waited for that will not come: a second, in place of three.
    first, second = row.trace.turns
    assert second.start - first.end < 2.5


def test_a_failure_in_a_quiet_turn_is_no_silence(deciding: Played) -> None:
    assert deciding.verdict("quiet_error", "count") == ("scored", 1.0)
    assert deciding.verdict("quiet_error", "idle") == ("agent_error", "rate_limit_exceeded")


@pytest.mark.parametrize("name", ["cut_said", "told_only", "tries_again"])
def test_what_was_answered_all_the_same_is_judged(deciding: Played, name: str) -> None:
    row = deciding.rows[name]
    assert str(row.result.outcome) == "completed"
    assert deciding.verdict(name, "count") == ("scored", 1.0)
    assert deciding.verdict(name, "idle") == ("scored", 1.0)
    assert row.trace is not None
    told = [] if name == "cut_said" else deciding.told(name)
    assert [(f.code, f.message) for f in row.trace.told_besides] == told
    why = next(t.why for t in row.turns if t.turn.id == "count")
    assert ("cut off (max_output_tokens)" in why) == (name == "cut_said")


@pytest.mark.parametrize("name", ["filtered", "hangs"])
def test_no_answer_without_a_failure_is_missed(deciding: Played, name: str) -> None:
    """A filter's refusal is the model's own, and of one that hangs nothing is known."""
    row = deciding.rows[name]
    assert str(row.result.outcome) == "completed"
    assert deciding.verdict(name, "count") == ("scored", 0.0)
    assert row.metrics is not None
    assert row.metrics.missed == 1


def test_a_refusal_of_what_we_ask_for_fails_each_turn_asked_for(asked: Played) -> None:
    for turn in ("count", "idle"):
        assert asked.verdict("refuses", turn) == ("agent_error", "insufficient_quota")
    row = asked.rows["refuses"]
    assert row.trace is not None
    assert [(f.code, f.message) for f in row.trace.failures] == asked.told("refuses")
    assert [f.turn for f in row.trace.failures] == ["count", "idle"]


@pytest.mark.parametrize("name", ["decides_itself", "commits_itself", "comes_back"])
def test_turn_detection_that_was_given_up_and_goes_on_is_found_out(
    asked: Played, name: str
) -> None:
    row = asked.rows[name]
    assert asked.told(name) == [("turn_detection", "")], "it did, once"
    assert str(row.result.outcome) == "agent_failed"
    assert row.result.reason.startswith("turn_detection: it ")


def test_one_that_only_goes_on_telling_is_said_to(asked: Played) -> None:
    assert asked.verdict("keeps_telling", "count") == ("scored", 1.0)
    row = asked.rows["keeps_telling"]
    assert row.trace is not None
    assert row.trace.detecting
    assert [n for n, r in asked.rows.items() if r.trace and r.trace.detecting] == ["keeps_telling"]
    assert "still told when we began and ended to speak" in " ".join(asked.printed.split())


def test_a_failed_attempt_is_played_again_and_its_first_try_counts(asked: Played) -> None:
    row = asked.rows["recovers"]
    (again,) = row.others
    assert [str(r.result.outcome) for r in (row, again)] == ["agent_failed", "completed"]
    assert [t.state for t in row.turns] == ["agent_error"] * 2
    assert [t.score for t in again.turns] == [1.0, 1.0]
    assert row.result.folder is not None
    assert again.result.folder == row.result.folder.with_name(f"{row.result.folder.name}--try2")
    assert asked.told("recovers", 2) == []
    printed = " ".join(asked.printed.split())
    assert "waiting 0.5 s before playing again: a provider asked for it" in printed
    assert "played 2 times; try 1 counts, and no other: try 2 completed, score 100" in printed


def test_ledger_report_and_exit_status_say_the_same(deciding: Played, asked: Played) -> None:
    for played in (deciding, asked):
        assert played.status == 1
        assert show_report(played.out, (), 0.0) == 1
        for name, row in played.rows.items():
            tries = sorted((row, *row.others), key=lambda r: r.result.number)
            assert ledger(played, name) == [str(r.result.outcome) for r in tries]
            assert row.trace is not None
            assert row.trace.outcome == str(row.result.outcome)
    assert {n: ledger(asked, n) for n in asked.rows} == {
        "refuses": ["agent_failed"] * 2,
        "decides_itself": ["agent_failed"] * 2,
        "commits_itself": ["agent_failed"] * 2,
        "comes_back": ["agent_failed"] * 2,
        "keeps_telling": ["completed"],
        "recovers": ["agent_failed", "completed"],
    }
