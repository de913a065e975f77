"""Answers in a CSV become a run that is judged and reported; a run becomes a CSV."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simulator.benchmarks.omniassistbench.answers import load_scenarios, read_answers
from simulator.benchmarks.omniassistbench.importing import import_release
from simulator.benchmarks.omniassistbench.release import read_release
from simulator.cli.main import app
from simulator.errors import InputError, OmnistageError

HEAD = "video_name,output_text\n"
RIGHT = {
    "VS-q1": "There are three of them, Anna.",
    "_pro-seg1": "[KEEP QUIET]",
    "_pro-seg2": "Three, now!",
    "_pro-seg3": "",
    "st-seg1": "Cut it and push.",
    "either": "Wait.",
    "meeting-seg6": "Yes.",
    "signs": "It is three.",
}


@pytest.fixture
def scenarios(shards: Path, tmp_path: Path) -> Path:
    import_release(read_release(shards), tmp_path / "scenarios")
    return tmp_path / "scenarios"


def written(path: Path, texts: dict[str, str]) -> Path:
    body = "".join(f'{k},"{v}"\n' for k, v in texts.items())
    path.write_text(HEAD + body, encoding="utf-8")
    return path


def shown(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(w) for w in words])
    if isinstance(result.exception, OmnistageError):
        return 2, str(result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


def summary(run: Path) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((run / "summary.json").read_text())
    return body


def test_right_answers_are_full_marks(scenarios: Path, tmp_path: Path) -> None:
    answers = written(tmp_path / "theirs.csv", RIGHT)
    run = tmp_path / "run"
    status, text = shown("judge", answers, "--scenarios", scenarios, "--out", run)
    assert status == 0, text
    assert "9 turns answered" in text
    found = summary(run)
    assert (found["score"]["mean"], found["score"]["coverage"]) == (100.0, 1.0)
    assert found["turns"]["planned"] == 7, "two of nine turns are in no mean"
    assert found["by_agent"]["theirs"]["by_task"]["MER"]["planned"] == 3
    assert found["quiet"]["kept_by"] == {"token": 1, "silence": 1}
    assert (found["latency_s"]["n"], found["answers"]["late"]) == (0, 0)
    assert found["answers"]["missed"] == 0

    # It is a run like any other: judged again, reported, compared, exported.
    status, text = shown("judge", run, "--force")
    assert status == 0, text
    assert "not judged" not in text
    assert summary(run)["score"]["mean"] == 100.0
    status, text = shown("report", run, "--turns")
    assert status == 0, text
    assert "There are three" in text
    assert "proactive response" in text
    back = tmp_path / "back.csv"
    status, text = shown("export", "omniassistbench", run, back)
    assert status == 0, text
    again = read_answers(back, load_scenarios(scenarios))
    assert again.missing == 0
    assert again.texts["VS-q1.dup2"] == RIGHT["VS-q1"]
    assert again.texts["u5f.pro-seg3"] == "[KEEP QUIET]"


def test_wrong_missing_and_talkative(scenarios: Path, tmp_path: Path) -> None:
    texts = {**RIGHT, "VS-q1": "Two.", "_pro-seg3": "Hello!", "_pro-seg1": "KEEP_QUIET."}
    del texts["signs"]
    run = tmp_path / "run"
    answers = written(tmp_path / "theirs.csv", texts)
    status, text = shown("judge", answers, "--scenarios", scenarios, "--out", run)
    found = summary(run)
    assert found["turns"]["unmeasurable"] == 1
    assert found["score"]["coverage"] == pytest.approx(6 / 7, abs=0.001)
    assert found["score"]["mean"] == pytest.approx(100 * 3 / 6)
    assert found["quiet"]["false_alarms"] == 1
    # And what sets the two apart.
    other = tmp_path / "other"
    shown("judge", written(tmp_path / "b.csv", RIGHT), "--scenarios", scenarios, "--out", other)
    status, text = shown("compare", run, other)
    assert status == 0, text
    assert "Wrong in A, right in B: 3" in text
    assert re.search(r"_?pro-seg3: spoke", text)
    status, text = shown("export", "omniassistbench", run, tmp_path / "back.csv")
    assert status == 1
    assert "1 turns left out" in text


def test_a_csv_that_only_ever_kept_quiet_is_alive_and_one_of_empty_cells_is_not(
    scenarios: Path, tmp_path: Path
) -> None:
    for word, unproven in (("KEEP QUIET", 0), ("", 2)):
        run = tmp_path / f"run{unproven}"
        answers = written(tmp_path / "theirs.csv", dict.fromkeys(RIGHT, word))
        shown("judge", answers, "--scenarios", scenarios, "--out", run)
        found = summary(run)
        assert found["turns"]["unproven"] == unproven
        assert found["answers"]["right"] == 0


def test_excel(scenarios: Path, tmp_path: Path) -> None:
    answers = tmp_path / "theirs.csv"
    body = "video_name;output_text\r\nVS-q1.mp4;Three.\r\nclips\\_pro-seg2.mp4;Three\r\n"
    answers.write_bytes(b"\xef\xbb\xbf" + body.encode())
    found = read_answers(answers, load_scenarios(scenarios))
    assert set(found.texts) == {"VS-q1", "VS-q1.dup2", "u5f.pro-seg2"}
    assert found.missing == 6


def test_doubles(scenarios: Path, tmp_path: Path) -> None:
    loaded = load_scenarios(scenarios)
    path = tmp_path / "a.csv"
    path.write_text(HEAD + "VS-q1,one\nVS-q1,two\n")
    assert read_answers(path, loaded).texts == {"VS-q1": "one", "VS-q1.dup2": "two"}
    path.write_text(HEAD + "signs,one\nsigns,one\n")
    assert read_answers(path, loaded).texts == {"signs": "one"}
    path.write_text(HEAD + "signs,one\nsigns,two\n")
    with pytest.raises(InputError, match=r"a\.csv:3: signs is answered in line 2 already"):
        read_answers(path, loaded)


def test_unknown_names(scenarios: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(HEAD + "sings,one\n,two\nsigns,three\n")
    found = read_answers(path, load_scenarios(scenarios))
    assert found.unknown == (
        f"{path}:2: no turn is called 'sings'; did you mean signs?",
        f"{path}:3: video_name is empty",
    )
    path.write_text(HEAD + "sings,one\n")
    with pytest.raises(InputError, match="none of its 1 names is a turn"):
        read_answers(path, load_scenarios(scenarios))


def test_bad_words_of_the_command(scenarios: Path, tmp_path: Path) -> None:
    path = written(tmp_path / "a.csv", RIGHT)
    for words, why in (
        (("judge", path), "a CSV of answers needs --scenarios"),
        (("judge", path, "--scenarios", tmp_path / "nowhere"), "no such folder"),
        (("judge", scenarios, "--scenarios", scenarios), "go with a CSV"),
        (("judge", path, "--scenarios", scenarios, "--out", scenarios), "is not empty"),
        (("export", "omniassistbench", scenarios, path), "not a run folder"),
        (("import", "gameplay", path, path), "no benchmark is called 'gameplay'"),
        (("import", "omniassistbench", tmp_path / "x", tmp_path / "y"), "no such file or folder"),
    ):
        status, text = shown(*words)
        assert status == 2, words
        assert why in text


def test_import_command(shards: Path, tmp_path: Path) -> None:
    status, text = shown("import", "omniassistbench", shards, tmp_path / "out")
    assert status == 0, text
    assert "9 rows: 9 turns in 7 scenarios, 5 want an answer, 2 silence, 2 are in no mean." in text
    assert "OMNISTAGE_MEDIA" in text


def test_an_answer_of_200_000_characters(scenarios: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    answers = written(tmp_path / "theirs.csv", {**RIGHT, "signs": "word " * 40_000})
    status, text = shown("judge", answers, "--scenarios", scenarios, "--out", run)
    assert status == 0, text
    assert summary(run)["score"]["coverage"] == 1.0
