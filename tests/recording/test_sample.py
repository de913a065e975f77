"""The committed sample: what was measured and judged comes out again, from its folder alone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from simulator.judging.judge import VerdictState
from simulator.judging.run import judge_recording
from simulator.measuring.measure import measure
from simulator.measuring.metrics.turns import session_metrics
from simulator.plugins import load_judge
from simulator.protocol.conditions import Conditions, Decide, Video
from simulator.recording.reader import Recording
from simulator.scenario.load import load_recorded_scenario

SAMPLE = Path(__file__).parents[2] / "recordings/sample"


def test_it_is_of_version_1_and_reads_as_it_was(tmp_path: Path) -> None:
    body = json.loads((SAMPLE / "manifest.json").read_text("utf-8"))
    assert (body["version"], "options" in body, "conditions" in body) == (1, True, False)
    manifest = Recording.open(SAMPLE).manifest
    assert (manifest.conditions, manifest.shared_host) == (Conditions(), False)
    # What its options said, and the codec that was negotiated.
    folder = tmp_path / "sample"
    shutil.copytree(SAMPLE, folder)
    body["options"] |= {"decide": "turn-end", "prompt": "mine.txt#0a", "shared_host": True}
    (folder / "manifest.json").write_text(json.dumps(body))
    events = (folder / "events.jsonl").read_text("utf-8")
    assert '"codec":"H264"' in events
    (folder / "events.jsonl").write_text(events.replace('"codec":"H264"', '"codec":"VP8"'))
    manifest = Recording.open(folder).manifest
    assert manifest.shared_host
    assert manifest.conditions == Conditions(
        decide=Decide.TURN_END, video=Video.VP8, prompt="mine.txt#0a"
    )


def test_measuring_again_gives_what_was_stored() -> None:
    scenario = load_recorded_scenario(SAMPLE)
    trace = measure(Recording.open(SAMPLE), scenario)
    assert trace.outcome == "completed"
    assert [t.id for t in trace.turns] == ["next", "pause"]
    (response,) = trace.responses
    assert response.text == "Put the red roof on top of the wall."
    assert response.onset is not None
    # The oracle was told to answer 0.6 s after what it heard.
    due = trace.turns[0].due
    assert due is not None
    assert response.onset == pytest.approx(due + 0.6, abs=0.03)
    assert trace.pacing.p99_ms < 10
    assert (trace.life.transport, trace.life.session, trace.life.response) == (True, True, True)
    row = session_metrics(trace).turns[0]
    assert row.latency_s == pytest.approx(response.onset - due)


async def test_judging_again_needs_no_media(tmp_path: Path) -> None:
    folder = tmp_path / "sample"
    shutil.copytree(SAMPLE, folder, ignore=shutil.ignore_patterns("verdicts", "trace.json"))
    verdicts = await judge_recording(
        folder, load_recorded_scenario(folder), [load_judge("keypoints"), load_judge("quiet")]
    )
    assert [(v.turn, v.state, v.score) for v in verdicts] == [
        ("next", VerdictState.SCORED, 1.0),
        ("pause", VerdictState.SCORED, 1.0),
    ]
