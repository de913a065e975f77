"""The command as a user types it: exit status, one clear line for bad input, clean endings."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simulator.errors import InputError
from simulator.plugins import content_root
from simulator.scenario.load import find_scenario

DEMO = content_root("scenarios") / "demo"

QUIET = """\
version: 1
id: quiet
clip: demo.mp4
turns:
  - until: {until}
    quiet: true
"""


def omnistage(*words: str, **how: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "simulator", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=110, check=False, **how)  # type: ignore[call-overload,no-any-return]


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A long quiet turn on the demo's clip."""
    (tmp_path / "demo.mp4").symlink_to(DEMO / "media/demo.mp4")
    file = tmp_path / "quiet.yaml"
    file.write_text(QUIET.format(until=60))
    return file


def test_help_and_version() -> None:
    shown = omnistage("--help")
    assert shown.returncode == 0
    commands = ("demo", "run", "judge", "report", "agents", "judges", "doctor", "calibrate")
    more = ("new", "check", "preview", "schema", "compare", "power", "import", "export")
    for command in (*commands, *more):
        assert f"\n  {command}" in shown.stdout
    assert omnistage("--version").stdout.startswith("omnistage 0.")


def test_lists() -> None:
    assert "right answers, 0.6 s after they fall due" in omnistage("agents").stdout
    assert "keypoints" in omnistage("judges").stdout
    assert "bottles" in omnistage("scenarios").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "demo", "--agent", "orcale"), "oracle"),
        (("run", "demmo", "--agent", "oracle"), "did you mean demo"),
        (("run", "demo", "--agent", "oracle", "--judge", "keypoint"), "keypoints"),
        (
            ("run", "demo", "--agent", "oracle", "--judge", "quiet", "--judge", "quiet"),
            "'quiet' is named twice",
        ),
        (("run", "demo", "--agent", "oracle", "--gate", "scor>=1"), "score"),
        (("run", "demo", "--agent", "oracle -o delya=1"), "delay"),
        (("run", "demo", "--agent", "oracle -o delay=soon"), "seconds"),
        (("run", "demo", "--agent", "oracle --fast"), "-o key=value"),
        (("run", "demo", "demo", "--agent", "oracle"), "--repeat"),
        (("run", "demo", "--agent", "oracle", "--decide", "sometimes"), "'agent', 'turn-end'"),
        (("run", "demo"), "--agent"),
        (("judge", "nowhere"), "no such folder"),
        (("judge", "."), "is neither a run nor a recording"),
        (("report", "."), "not a run folder"),
        (("check", "demmo"), "did you mean demo"),
        (("check", "."), "no scenario in this folder"),
        (("preview", "demmo"), "did you mean demo"),
        (("new", "nowhere.mp4"), "no such file"),
        (("schema", "--out", "nowhere/x.json"), "cannot be written"),
        (("run", "x" * 300, "--agent", "oracle"), "no such file"),
        (("run", "~nosuchuser/x.yaml", "--agent", "oracle"), "no such file"),
        (("run", "demo", "--agent", "x" * 300 + ".py"), "no such file"),
        (("run", "demo", "--agent", "[/red]"), "'[/red]' is not a reference"),
        (("run", "demo", "--agent", "oracle", "--min-coverage", "nan"), "'--min-coverage'"),
        (("run", "demo", "--agent", "oracle", "--min-coverage", "-1"), "'--min-coverage'"),
        (("judge", "x" * 300), "no such folder"),
        (("film", "x" * 300), "x"),
    ],
)
def test_bad_input_is_one_clear_line(words: tuple[str, ...], said: str, tmp_path: Path) -> None:
    shown = omnistage(*words, cwd=tmp_path)
    assert shown.returncode in (1, 2)
    if words[0] == "run":
        assert shown.returncode == 2
    assert said in shown.stderr
    assert "Traceback" not in shown.stderr
    assert list(tmp_path.iterdir()) == [], "nothing has been spent"


def test_a_disk_that_is_full_is_one_clear_line() -> None:
    with open("/dev/full", "w") as full:
        shown = subprocess.run(
            [sys.executable, "-m", "simulator", "judges"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert shown.returncode == 1
    assert shown.stderr == "error: No space left on device\n"


def test_a_bare_word_is_a_bundled_id_beside_a_folder_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").mkdir()
    assert find_scenario("demo") == DEMO / "demo.yaml"
    with pytest.raises(InputError, match="is a folder with no"):
        find_scenario("./demo")
    (tmp_path / "bottles").write_text("version: 1")
    assert find_scenario("bottles") == Path("bottles"), "a file of that name is what was meant"


def test_an_output_folder_that_exists(tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("precious")
    shown = omnistage("run", "demo", "--agent", "oracle", "--out", str(tmp_path))
    assert shown.returncode == 2
    assert "exists and is not empty" in shown.stderr
    assert [f.name for f in tmp_path.iterdir()] == ["kept.txt"]


def test_time_outside_the_clip(scenario: Path) -> None:
    scenario.write_text(QUIET.format(until=100))
    shown = omnistage(
        "run", str(scenario), "--agent", "silent", "--out", str(scenario.parent / "o")
    )
    assert shown.returncode == 2
    assert "until" in shown.stderr
    assert "63" in shown.stderr, "says how long the clip is"


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
        [
            sys.executable,
            "-m",
            "simulator",
            "run",
            str(scenario),
            "--agent",
            "silent",
            "--out",
            out,
        ],
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


def test_a_killed_simulator_leaves_a_recording_and_no_agent(scenario: Path) -> None:
    process, out = started(scenario)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=30)
    shown = omnistage("judge", str(out / "recordings/quiet--silent--1"))
    assert shown.returncode == 0, shown.stderr
    end = time.monotonic() + 10
    while left_behind(process) and time.monotonic() < end:
        time.sleep(0.1)
    assert left_behind(process) == [], "the agent dies with its simulator"
    assert omnistage("report", str(out)).returncode == 1, "an attempt without an end has failed"


def test_one_damaged_recording_stops_no_other(scenario: Path) -> None:
    run = scenario.parent / "run"
    scenario.write_text(QUIET.format(until=2))
    words = ("run", str(scenario), "--agent", "silent", "--agent", "late", "--out", str(run))
    played = omnistage(*words, "--concurrency", "2")
    assert "preparing" in played.stdout
    (run / "recordings/quiet--silent--1/scenario.yaml").unlink()
    (run / "recordings/quiet--silent--1/events.jsonl").write_text("")
    (run / "recordings/quiet--silent--1/manifest.json").write_text("{")
    (run / "recordings/quiet--silent--1/trace.json").unlink()
    for command, said in (
        (("judge", str(run), "--force"), "manifest.json"),
        (("report", str(run), "--turns"), "has no scenario.yaml"),
    ):
        shown = omnistage(*command)
        assert "Traceback" not in shown.stderr
        assert shown.returncode == 1, "the one is not scored"
        assert said in shown.stdout
        assert "exit status 1: " in shown.stdout
    assert "quiet--late--1" in shown.stdout
    assert "Latency:" in shown.stdout.rpartition("quiet--late--1")[2], "the other is shown"


def test_warnings_of_a_scenario_are_shown_before_it_is_played(scenario: Path) -> None:
    text = QUIET.format(until=2).replace("quiet: true", "answer: Yes.\n    event: 1")
    scenario.write_text(text)
    shown = omnistage("run", str(scenario), "--agent", "silent", "--out", "/dev/null/x")
    assert "quiet.yaml: turns[0] (t1): no `evidence` for its answer" in shown.stdout
    assert shown.stderr.startswith("error: cannot write to /dev/null/x")
    assert shown.returncode == 2


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
