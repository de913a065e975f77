"""Whole runs over real WebRTC calls, in real time: every baseline's character and outcome shows.

These take as long as what they play, so each plays as much as it can side by side. How evenly a
machine sends is the business of tests/bench/bench_pacing.py: on a busy one these still test the
rest, so the limit that makes an attempt invalid is lifted here, and times have wide tolerances.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
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
from simulator.report.part import Part, part_of
from simulator.report.rows import read_rows
from simulator.scenario.load import load_recorded_scenario

from .bench import bench_starter

DEMO = content_root("scenarios") / "demo"

SHORT = """\
version: 1
id: short
task: DC
clip:
  file: demo.mp4
  licence: CC0-1.0
voices:
  guest: am_fenrir
limits:
  answer_within: 3
  quiet_tail: 2
turns:
  - id: count
    from: 28.5
    until: 33.5
    say:
      text: How many windows does the house have?
      file: count.flac
    answer: The house has three windows.
    key_points:
      - [three, "3"]
  - id: idle
    until: 37
    quiet: true
  - id: sun
    from: 53
    until: 57.5
    event: 56.433
    within: 3
    answer: The sun is in the sky now.
    key_points:
      - sun
  - id: guest
    until: 59.5
    say:
      - text: Is it lunch time, do you think?
        file: guest.flac
        voice: guest
    quiet: true
"""
ALL = ("oracle", "late -o delay=2", "talkative", "silent", "dead", "parrot")


@pytest.fixture(scope="module", autouse=True)
def _busy_machine() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(soundness, "PACING_LIMIT_MS", 1_000.0)
        yield


def play(out: Path, **order: Any) -> tuple[int, dict[str, Any]]:
    status = run_order(RunOrder(out=out, **order), Console(quiet=True))
    return status, json.loads((out / "summary.json").read_text())


def traces(out: Path) -> dict[str, Trace]:
    """By agent's label."""
    plan = json.loads((out / "run.json").read_text())
    found = {}
    for attempt in plan["attempts"]:
        folder = out / "recordings" / attempt["id"]
        if (folder / "events.jsonl").exists():
            found[attempt["agent"]] = load_trace(folder, load_recorded_scenario(folder))
    return found


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """15 s of the bundled demo: a question, an idle stretch, an event and a bystander."""
    folder = tmp_path_factory.mktemp("short")
    for name in ("media/demo.mp4", "speech/count.flac", "speech/guest.flac"):
        (folder / Path(name).name).symlink_to(DEMO / name)
    file = folder / "short.yaml"
    file.write_text(SHORT)
    return file


@pytest.fixture(scope="module")
def run(short: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[int, dict[str, Any], Path]:
    out = tmp_path_factory.mktemp("runs") / "all"
    status, summary = play(
        out, scenarios=(str(short),), agents=ALL, concurrency=len(ALL), film=False
    )
    return status, summary, out


def agent(summary: dict[str, Any], label: str) -> dict[str, Any]:
    found: dict[str, Any] = summary["by_agent"][label]
    return found


def quiet_of(part: dict[str, Any]) -> tuple[int, ...]:
    return tuple(part["quiet"][k] for k in ("expected", "kept", "unproven", "false_alarms"))


def answered_after(trace: Trace, turn: str) -> float:
    """Seconds from a turn's due time to the onset of its first response."""
    response, _ = trace.responses_of(turn)[0]
    due = trace.turn(turn).due
    assert due is not None
    assert response.onset is not None
    return response.onset - due


@pytest.mark.timeout(240)
def test_outcomes_of_all_baselines(run: tuple[int, dict[str, Any], Path]) -> None:
    status, summary, _ = run
    assert status == 1, "an attempt failed, so the run has not gone well"
    assert summary["planned"] == 6
    assert summary["outcomes"] == {
        "completed": 5,
        "agent_failed": 1,
        "network_failed": 0,
        "instrument_invalid": 0,
        "cancelled": 0,
        "unsupported": 0,
    }
    assert agent(summary, "dead")["outcomes"]["agent_failed"] == 1
    assert agent(summary, "dead")["score"]["mean"] == 0
    assert summary["pacing_ms"]["p99"] > 0


@pytest.mark.timeout(240)
def test_oracle_is_right_and_quick(run: tuple[int, dict[str, Any], Path]) -> None:
    _, summary, out = run
    oracle = agent(summary, "oracle")
    assert oracle["score"]["mean"] == 100
    assert oracle["score"]["coverage"] == 1
    assert quiet_of(oracle) == (2, 2, 0, 0)
    trace = traces(out)["oracle"]
    assert [a.turn for a in trace.attribution] == ["count", "sun"]
    # It answers 0.6 s after what it hears. Its hearing ends up to 60 ms before the last sample
    # that counts as audible; a packet and two codecs come on top.
    for turn in ("count", "sun"):
        assert answered_after(trace, turn) == pytest.approx(0.6, abs=0.15)


@pytest.mark.timeout(240)
def test_late_is_right_but_late(run: tuple[int, dict[str, Any], Path]) -> None:
    _, summary, out = run
    late = agent(summary, "late -o delay=2")
    assert late["score"]["mean"] == 100, "inside its window it is right"
    trace = traces(out)["late -o delay=2"]
    assert answered_after(trace, "count") == pytest.approx(2.0, abs=0.15)


@pytest.mark.timeout(240)
def test_talkative_has_false_alarms(run: tuple[int, dict[str, Any], Path]) -> None:
    _, summary, _ = run
    talkative = agent(summary, "talkative")
    assert talkative["quiet"]["kept"] == 0
    assert talkative["quiet"]["false_alarms"] >= 2
    assert talkative["score"]["mean"] == 50


@pytest.mark.timeout(240)
def test_silence_without_proof_of_life_is_no_virtue(
    run: tuple[int, dict[str, Any], Path],
) -> None:
    _, summary, out = run
    silent = agent(summary, "silent")
    assert quiet_of(silent) == (2, 0, 2, 0)
    assert silent["score"]["mean"] == 0
    life = traces(out)["silent"].life
    assert (life.transport, life.session, life.response) == (True, True, False)


@pytest.mark.timeout(240)
def test_parrot_is_heard_without_a_transcript(run: tuple[int, dict[str, Any], Path]) -> None:
    _, _, out = run
    trace = traces(out)["parrot"]
    assert trace.responses
    assert all(r.transcript_missing for r in trace.responses)


@pytest.mark.timeout(240)
def test_what_was_sent_is_what_was_prepared(run: tuple[int, dict[str, Any], Path]) -> None:
    _, _, out = run
    folder = next((out / "recordings").glob("*oracle*"))
    trace = traces(out)["oracle"]
    first, second = trace.turns[0], trace.turns[1]
    assert first.end - first.start == pytest.approx(5)
    assert second.end - second.start == pytest.approx(3.5)
    heard = {h.id: h for h in trace.heard}
    # The instruction ends with its segment, to a few milliseconds: send error and audible end.
    assert heard["count/0"].end == pytest.approx(first.end, abs=0.2)
    assert Recording.open(folder).manifest.scenario.id == "short"
    secrets = b"Bearer"
    for file in folder.rglob("*"):
        if file.is_file():
            assert secrets not in file.read_bytes()


@pytest.fixture(scope="module")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Part]:
    """The oracle's scores: of the demo, and where clips of others are there, of one on a camera's
    beside it."""
    names = ("demo", "bottles") if os.environ.get("OMNISTAGE_MEDIA") else ("demo",)
    out = tmp_path_factory.mktemp("bundled") / "run"
    status, _ = play(out, scenarios=names, agents=("oracle",), concurrency=len(names))
    assert status == 0
    return {row.scenario.id: part_of([row]) for row in read_rows(out)[1]}


def full(part: Part, *, answers: int, quiet: int) -> None:
    assert part.outcomes["completed"] == 1
    assert (part.score.mean, part.score.coverage) == (100, 1)
    assert part.answers.right == answers
    assert part.quiet.kept == part.quiet.expected == quiet


@pytest.mark.soak
@pytest.mark.timeout(400)
def test_the_demo_plays_to_full_score(bundled: dict[str, Part]) -> None:
    full(bundled["demo"], answers=4, quiet=3)


@pytest.mark.soak
@pytest.mark.timeout(400)
def test_a_clip_by_its_address_plays_to_full_score(
    bundled: dict[str, Part], media_dir: Path
) -> None:
    full(bundled["bottles"], answers=5, quiet=2)


@pytest.mark.soak
@pytest.mark.timeout(400)
def test_six_scenarios_tell_the_baselines_apart(tmp_path: Path) -> None:
    """The shortest of the starter set, each of another kind; all are in bench_starter.py."""
    scenarios = bench_starter.few()
    played = bench_starter.play(scenarios, tmp_path / "run", jobs=9, quiet=True)
    table = bench_starter.told(played)
    assert len(played) == len(scenarios)
    for one in played:
        assert set(one.outcomes.values()) == {"completed"}, table
        assert one.scores["oracle"] == 100, table
        assert one.scores["silent"] < 100, table
        assert one.scores["talkative"] < 100, table
