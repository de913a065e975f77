"""The command line without a run: exit status, one clear line for bad input, what is listed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from simulator.cli.main import main
from simulator.errors import InputError
from simulator.scenario.load import find_scenario

from .command import DEMO, QUIET, omnistage, scenario

__all__ = ["scenario"]

SAMPLE = str(Path(__file__).parents[1] / "recordings" / "sample")


class Shown(NamedTuple):
    """What a command that was typed came to."""

    returncode: int
    stdout: str
    stderr: str


class Typed:
    """The entry point called in this process: starting another takes longer than most commands."""

    def __init__(self, patch: pytest.MonkeyPatch, captured: pytest.CaptureFixture[str]) -> None:
        self._patch = patch
        self._captured = captured

    def __call__(self, *words: str) -> Shown:
        self._patch.setattr(sys, "argv", ["omnistage", *words])
        with pytest.raises(SystemExit) as end:
            main()
        assert isinstance(end.value.code, int)
        return Shown(end.value.code, *self._captured.readouterr())


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Typed:
    return Typed(monkeypatch, capsys)


def test_help_and_version(typed: Typed) -> None:
    shown = typed("--help")
    assert shown.returncode == 0
    commands = ("demo", "run", "judge", "report", "agents", "judges", "doctor", "calibrate")
    more = ("new", "check", "preview", "schema", "compare", "power", "import", "export")
    for command in (*commands, *more):
        assert f"\n  {command}" in shown.stdout
    assert omnistage("--version").stdout.startswith("omnistage 0.")


def test_a_process_of_its_own_says_the_same(typed: Typed) -> None:
    words = ("run", "demmo", "--agent", "oracle")
    shown = omnistage(*words)
    assert (shown.returncode, shown.stdout, shown.stderr) == typed(*words)
    assert shown.returncode == 2


def test_lists(typed: Typed) -> None:
    assert "right answers, 0.6 s after they fall due" in typed("agents").stdout
    assert "keypoints" in typed("judges").stdout
    assert "bottles" in typed("scenarios").stdout


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
        (("judge", SAMPLE, "--scenario", "demo"), "its id is 'demo'"),
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
def test_bad_input_is_one_clear_line(
    typed: Typed,
    words: tuple[str, ...],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = typed(*words)
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


def test_an_output_folder_that_exists(typed: Typed, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("precious")
    shown = typed("run", "demo", "--agent", "oracle", "--out", str(tmp_path))
    assert shown.returncode == 2
    assert "exists and is not empty" in shown.stderr
    assert [f.name for f in tmp_path.iterdir()] == ["kept.txt"]


def test_time_outside_the_clip(typed: Typed, scenario: Path) -> None:
    scenario.write_text(QUIET.format(until=100))
    shown = typed("run", str(scenario), "--agent", "silent", "--out", str(scenario.parent / "o"))
    assert shown.returncode == 2
    assert "until" in shown.stderr
    assert "63" in shown.stderr, "says how long the clip is"


def test_warnings_of_a_scenario_are_shown_before_it_is_played(typed: Typed, scenario: Path) -> None:
    text = QUIET.format(until=2).replace("quiet: true", "answer: Yes.\n    event: 1")
    scenario.write_text(text)
    shown = typed("run", str(scenario), "--agent", "silent", "--out", "/dev/null/x")
    assert "quiet.yaml: turns[0] (t1): no `evidence` for its answer" in shown.stdout
    assert shown.stderr.startswith("error: cannot write to /dev/null/x")
    assert shown.returncode == 2
