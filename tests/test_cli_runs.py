"""The command while it plays: interrupted, killed, with a damaged recording, made to decide."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from .command import QUIET, command, omnistage, scenario

__all__ = ["scenario"]


def wait_for(condition: Path, process: subprocess.Popen[str], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, f"{condition} never came"
        time.sleep(0.05)


def started(scenario: Path) -> tuple[subprocess.Popen[str], Path]:
    """A run of 60 s that has begun to play."""
    out = scenario.parent / "run"
    process = subprocess.Popen(
        command("run", str(scenario), "--agent", "silent", "--out", str(out)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    events = out / "recordings/quiet--silent--1/events.jsonl"
    wait_for(events, process)
    end = time.monotonic() + 30
    while '"playing"' not in events.read_text():
        assert time.monotonic() < end, "it never began to play"
        time.sleep(0.05)
    return process, out


def left_behind(process: subprocess.Popen[str]) -> list[str]:
    """What still runs of a process's session."""
    found = subprocess.run(
        ["ps", "-o", "pid=,args=", "-s", str(process.pid)],
        capture_output=True,
        text=True,
        check=False,
    )
    return [line for line in found.stdout.splitlines() if "defunct" not in line]


@pytest.mark.kill
def test_ctrl_c_ends_cleanly_and_keeps_what_was_recorded(scenario: Path) -> None:
    process, out = started(scenario)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=30)
    assert process.returncode == 1, stderr
    assert "ending cleanly" in stdout
    summary = json.loads((out / "summary.json").read_text())
    assert summary["outcomes"]["cancelled"] == 1
    trace = json.loads((out / "recordings/quiet--silent--1/trace.json").read_text())
    assert trace["outcome"] == "cancelled"
    assert left_behind(process) == []


@pytest.mark.kill
def test_ctrl_c_twice_ends_at_once(scenario: Path) -> None:
    process, _ = started(scenario)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    # The first may have ended the run before the second came.
    assert process.returncode in (1, 130)
    assert process.returncode == 1 or "interrupted" in stderr
    assert "Traceback" not in stderr
    assert left_behind(process) == []


@pytest.mark.kill
def test_a_killed_simulator_leaves_a_recording_and_no_agent(scenario: Path) -> None:
    process, out = started(scenario)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    shown = omnistage("judge", str(out / "recordings/quiet--silent--1"))
    assert (shown.returncode, shown.stderr) == (1, ""), "what has no end is not completed"
    assert "cut_off" in shown.stdout
    end = time.monotonic() + 10
    while left_behind(process) and time.monotonic() < end:
        time.sleep(0.1)
    assert left_behind(process) == [], "the agent dies with its simulator"
    assert omnistage("report", str(out)).returncode == 1, "an attempt without an end has failed"


def test_one_damaged_recording_stops_no_other(scenario: Path) -> None:
    run = scenario.parent / "run"
    scenario.write_text(QUIET.format(until=2))
    agents = ("--agent", "silent", "--agent", "late", "--concurrency", "2")
    played = omnistage("run", str(scenario), *agents, "--out", str(run))
    assert "preparing" in played.stdout
    (run / "recordings/quiet--silent--1/scenario.yaml").unlink()
    (run / "recordings/quiet--silent--1/events.jsonl").write_text("")
    (run / "recordings/quiet--silent--1/manifest.json").write_text("{")
    (run / "recordings/quiet--silent--1/trace.json").unlink()
    for words, said in (
        (("judge", str(run), "--force"), "manifest.json"),
        (("report", str(run), "--turns"), "has no scenario.yaml"),
    ):
        shown = omnistage(*words)
        assert "Traceback" not in shown.stderr
        assert shown.returncode == 1, "the one is not scored"
        assert said in shown.stdout
        assert "exit status 1: " in shown.stdout
    assert "quiet--late--1" in shown.stdout
    assert "Latency:" in shown.stdout.rpartition("quiet--late--1")[2], "the other is shown"


def test_an_agent_is_made_to_decide_at_the_end_of_a_turn(scenario: Path) -> None:
    scenario.write_text(QUIET.format(until=4))
    out = scenario.parent / "forced"
    words = ("run", str(scenario), "--agent", "oracle", "--decide", "turn-end", "--out", str(out))
    shown = omnistage(*words)
    assert shown.returncode in (0, 1), shown.stderr  # a busy machine may spoil the pacing
    assert "decide: turn-end. When the model runs: " in shown.stdout
    (folder,) = (out / "recordings").iterdir()
    assert json.loads((folder / "manifest.json").read_text())["conditions"]["decide"] == "turn-end"
    trace = json.loads((folder / "trace.json").read_text())
    assert [t["opportunity"] for t in trace["turns"] if t["expect"] == "quiet"] == [True]
    assert [r["text"] for r in trace["responses"]] == ["[KEEP QUIET]"]
    assert [a["by"] for a in trace["attribution"]] == ["token"]
