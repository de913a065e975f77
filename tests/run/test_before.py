"""A run of before is read as it was: its conditions in run.json and in what was recorded."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from simulator.benchmarks.omniassistbench.answers import CONDITIONS, trace_of
from simulator.errors import RecordingError
from simulator.judging.testing import quiet, scenario
from simulator.measuring.trace import trace_from_json, trace_to_json
from simulator.protocol.conditions import Conditions, Decide, Video
from simulator.run.plan import AgentChoice, make_plan, open_run, read_plan

SAMPLE = Path(__file__).parents[2] / "recordings/sample"
PLAYED = scenario(quiet("q"), id="s")


def before(run: Path, **named: str) -> Path:
    """A run folder as version 1 was: two attempts, what it says of conditions beside them."""
    open_run(
        run, make_plan([PLAYED], [AgentChoice(label="a", reference="a")], judges=[], repeats=2)
    )
    body: dict[str, Any] = json.loads((run / "run.json").read_text())
    for attempt in body["attempts"]:
        del attempt["conditions"]
    (run / "run.json").write_text(json.dumps(body | {"version": 1} | named))
    return run


def conditions(run: Path) -> Conditions:
    plan = read_plan(run)
    assert len(plan.attempts) == 2
    (only,) = {a.conditions for a in plan.attempts}
    return only


def test_what_it_names_and_what_it_does_not(tmp_path: Path) -> None:
    assert conditions(before(tmp_path / "first")) == Conditions()
    run = before(tmp_path / "run", decide="turn-end", prompt="spoken")
    assert conditions(run) == Conditions(decide=Decide.TURN_END, prompt="spoken")


@pytest.mark.parametrize("codec", ["H264", "VP8"])
def test_its_codec_is_in_any_recording_whose_call_stood(tmp_path: Path, codec: str) -> None:
    run = before(tmp_path / "run", prompt="spoken")
    (run / "recordings/s--a--1").mkdir()  # nothing came of it
    folder = run / "recordings/s--a--2"
    shutil.copytree(SAMPLE, folder)
    events = (folder / "events.jsonl").read_text("utf-8").replace('"H264"', f'"{codec}"')
    (folder / "events.jsonl").write_text(events)
    assert conditions(run) == Conditions(video=Video(codec.lower()), prompt="spoken")


def test_answers_out_of_a_csv_say_so_in_their_traces(tmp_path: Path) -> None:
    run = before(tmp_path / "run", decide="turn-end", prompt="written")
    folder = run / "recordings/s--a--1"
    folder.mkdir()
    body = json.loads(trace_to_json(trace_of(PLAYED, {"q": ""}, agent="a", alive=True)))
    was = {"decide": "turn-end", "commit": "simulator", "source": "csv"}
    (folder / "trace.json").write_text(json.dumps(body | {"version": 1, "conditions": was}))
    assert conditions(run) == CONDITIONS
    assert trace_from_json((folder / "trace.json").read_bytes()).conditions == CONDITIONS


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"attempts": 3}, "attempts"),
        ({"attempts": [3]}, r"attempts\.0"),
        ({"decide": "sometimes"}, r"conditions\.decide"),
        ({"version": 3}, "version 3; this reads 1 and 2"),
    ],
)
def test_what_it_never_was_is_refused(tmp_path: Path, wrong: dict[str, Any], why: str) -> None:
    run = before(tmp_path / "run")
    body = json.loads((run / "run.json").read_text())
    (run / "run.json").write_text(json.dumps(body | wrong))
    with pytest.raises(RecordingError, match=why):
        read_plan(run)
    (run / "run.json").write_text("{")
    with pytest.raises(RecordingError, match="is not JSON"):
        read_plan(run)
