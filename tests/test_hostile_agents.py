"""Agents that misbehave: each attempt ends as one outcome, with a reason, and nothing is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from simulator.cli.run import RunOrder, run_order
from simulator.measuring.stored import load_trace
from simulator.measuring.trace import Trace
from simulator.plugins import content_root
from simulator.protocol import soundness
from simulator.recording.reader import Recording
from simulator.recording.records import FaultRecord
from simulator.scenario.load import load_recorded_scenario

DEMO = content_root("scenarios") / "demo"
HOSTILE = Path(__file__).with_name("hostile.py")
NAMES = ("Malformed", "Flood", "Endless", "Leaver", "Refuser", "Raises", "Unreachable")

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
  reply_max: 4
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


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run folder of all of them, played side by side."""
    folder = tmp_path_factory.mktemp("hostile")
    for name in ("media/demo.mp4", "speech/count.flac"):
        (folder / Path(name).name).symlink_to(DEMO / name)
    (folder / "tiny.yaml").write_text(SCENARIO)
    order = RunOrder(
        scenarios=(str(folder / "tiny.yaml"),),
        agents=tuple(f"{HOSTILE}:{name}" for name in NAMES),
        concurrency=len(NAMES),
        out=folder / "run",
    )
    with pytest.MonkeyPatch.context() as patch:
        # Seven agents start at once here: how evenly that lets us send is not the matter.
        patch.setattr(soundness, "PACING_LIMIT_MS", 1_000.0)
        run_order(order, Console(quiet=True))
    return folder / "run"


def ended(out: Path, name: str) -> dict[str, Any]:
    lines = [json.loads(line) for line in (out / "attempts.jsonl").read_text().splitlines()]
    plan = json.loads((out / "run.json").read_text())
    wanted = next(a["id"] for a in plan["attempts"] if a["agent"].endswith(f":{name}"))
    found: dict[str, Any] = next(
        line for line in lines if line["attempt"] == wanted and line["edge"] == "end"
    )
    return found


def trace(out: Path, name: str) -> Trace:
    folder = out / "recordings" / ended(out, name)["attempt"]
    return load_trace(folder, load_recorded_scenario(folder))


@pytest.mark.timeout(240)
def test_every_attempt_ends_once_with_its_outcome(out: Path) -> None:
    got = {name: ended(out, name)["outcome"] for name in NAMES}
    assert got == {
        "Malformed": "completed",
        "Flood": "completed",
        "Endless": "completed",
        "Leaver": "agent_failed",
        "Refuser": "agent_failed",
        "Raises": "agent_failed",
        "Unreachable": "agent_failed",
    }


@pytest.mark.timeout(240)
def test_reasons_name_the_cause(out: Path) -> None:
    assert "401" in ended(out, "Refuser")["reason"]
    assert "127.0.0.1:9" in ended(out, "Unreachable")["reason"]
    for name in ("Leaver", "Raises"):
        assert ended(out, name)["reason"]


@pytest.mark.timeout(240)
def test_malformed_events_are_noted_and_survived(out: Path) -> None:
    folder = out / "recordings" / ended(out, "Malformed")["attempt"]
    faults = [fault for _, fault in Recording.open(folder).records(FaultRecord)]
    assert {f.code for f in faults} == {"malformed"}
    assert len(faults) >= 4
    assert trace(out, "Malformed").unread == len(faults)
    answers = trace(out, "Malformed").responses_of("count")
    assert [r.text.strip() for r, _ in answers] == ["Three windows."]


@pytest.mark.timeout(240)
def test_megabytes_of_text_are_bounded(out: Path) -> None:
    response, _ = trace(out, "Flood").responses_of("count")[0]
    assert 100_000 < len(response.text) <= 210_000
    folder = out / "recordings" / ended(out, "Flood")["attempt"]
    assert (folder / "events.jsonl").stat().st_size < 12_000_000


@pytest.mark.timeout(240)
def test_endless_talk_does_not_hold_up_the_session(out: Path) -> None:
    found = trace(out, "Endless")
    assert [t.complete for t in found.turns] == [True, True]
    assert found.turns[1].start - found.turns[0].end == pytest.approx(5, abs=1.5)
    (_, attributed) = found.responses_of("count")[0]
    assert "overrun" in attributed.flags


@pytest.mark.timeout(240)
def test_a_dead_agent_leaves_a_recording_up_to_its_death(out: Path) -> None:
    found = trace(out, "Leaver")
    assert found.outcome == "agent_failed"
    assert found.turns[0].complete
    assert not found.turns[1].complete
    assert found.responses == ()


@pytest.mark.timeout(240)
def test_the_wrong_token_is_in_no_file(out: Path) -> None:
    for file in out.rglob("*"):
        if file.is_file():
            assert b"wrong-token-0123456789" not in file.read_bytes(), file
