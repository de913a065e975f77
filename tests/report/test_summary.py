"""The summary: golden values for each character, and that nothing drops out."""

from __future__ import annotations

import dataclasses
import io
import json
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from simulator.judging.verdicts import verdict_path
from simulator.measuring.trace import Misheard, trace_from_json, trace_to_json
from simulator.protocol.health import Sent
from simulator.report.file import write_summary
from simulator.report.part import Part, part_of
from simulator.report.rows import read_rows
from simulator.report.summary import Summary, summarise
from simulator.report.terminal import print_summary
from tests.report.conftest import fail_at


@pytest.fixture
def summary(run_folder: Path) -> Summary:
    return summarise(run_folder)


def test_nothing_is_dropped(summary: Summary) -> None:
    assert summary.planned == 9
    assert sum(summary.outcomes.values()) == 9
    assert summary.outcomes == {
        "completed": 4,
        "agent_failed": 2,
        "network_failed": 1,
        "instrument_invalid": 1,
        "cancelled": 1,
        "unsupported": 0,
    }
    for part in (summary, *summary.by_agent.values()):
        turns = part.turns
        assert turns.planned == (
            turns.scored
            + turns.judge_failed
            + turns.unmeasurable
            + turns.unproven
            + turns.agent_error
            + turns.missing
        )
        assert (part.score.planned, part.score.scored) == (turns.planned, turns.scored)
        assert part.score.coverage == turns.scored / turns.planned
        if part.score.mean is not None:
            assert part.score.low <= part.score.mean <= part.score.high
    # The turn that may be answered or not is in no count: 4 of 5 turns, 9 agents.
    assert summary.turns.planned == 36


def test_the_whole_run_has_every_number_that_a_part_of_it_has(run_folder: Path) -> None:
    whole, summary = part_of(read_rows(run_folder)[1]), summarise(run_folder)
    for field in dataclasses.fields(Part):
        assert getattr(summary, field.name) == getattr(whole, field.name), field.name


def characters(part: Part) -> tuple[object, ...]:
    score, quiet, answers = part.score, part.quiet, part.answers
    return (
        score.mean,
        score.coverage,
        answers.right,
        answers.missed,
        answers.late,
        quiet.kept,
        quiet.unproven,
        quiet.false_alarms,
        part.latency_s.n,
    )


@pytest.mark.parametrize(
    ("agent", "expected"),
    [
        #             mean  coverage right missed late kept unproven alarms latencies
        ("oracle", (100.0, 1.0, 2, 0, 0, 2, 0, 0, 2)),
        ("late", (75.0, 1.0, 1, 0, 1, 2, 0, 0, 2)),
        ("talkative", (50.0, 1.0, 2, 0, 0, 0, 0, 2, 2)),
        ("silent", (0.0, 0.5, 0, 2, 0, 0, 2, 0, 0)),
        ("dead", (0.0, 1.0, 0, 0, 0, 0, 0, 0, 0)),
        ("cut", (100.0, 0.25, 1, 0, 0, 0, 0, 0, 1)),
        ("broken", (None, 0.0, 0, 0, 0, 0, 0, 0, 0)),
        ("absent", (0.0, 1.0, 0, 0, 0, 0, 0, 0, 0)),
        ("never", (None, 0.0, 0, 0, 0, 0, 0, 0, 0)),
    ],
)
def test_characters(summary: Summary, agent: str, expected: tuple[object, ...]) -> None:
    assert characters(summary.by_agent[agent]) == expected


def test_latencies_and_bounds(summary: Summary) -> None:
    oracle, cut = summary.by_agent["oracle"], summary.by_agent["cut"]
    assert oracle.latency_s.p50 == pytest.approx(0.6)
    assert oracle.latency_s.p95 == pytest.approx(0.69)
    assert (cut.score.low, cut.score.high) == (25.0, 100.0)
    assert summary.latency_s.packet_s == 0.02
    assert summary.latency_s.codec_s == 0.0065
    assert summary.pacing_ms.p99 == 0.8
    assert summary.pacing_ms.max == 2.5


def test_tasks_and_attempts(summary: Summary) -> None:
    assert set(summary.by_task) == {"OSC"}
    assert summary.by_task["OSC"] == summary.score
    first, last = summary.attempts[0], summary.attempts[-1]
    assert (first.id, first.score, first.recording) == ("made-up--oracle--1", 100.0, first.id)
    assert (last.outcome, last.recording, last.reason) == ("cancelled", None, "never started")


def test_summary_json_has_what_others_read(run_folder: Path, summary: Summary) -> None:
    path = write_summary(run_folder, summary)
    body = json.loads(path.read_text("utf-8"))
    assert body["planned"] == 9
    assert set(body["outcomes"]) == {
        "completed",
        "agent_failed",
        "network_failed",
        "instrument_invalid",
        "cancelled",
        "unsupported",
    }
    assert {"mean", "ci95", "coverage", "low", "high"} <= set(body["score"])
    assert {"n", "p50", "p95"} <= set(body["latency_s"])
    assert {"expected", "kept", "unproven", "false_alarms"} <= set(body["quiet"])
    assert {"p99", "max"} <= set(body["pacing_ms"])
    assert body["by_agent"]["oracle"]["score"]["mean"] == 100.0
    assert body["by_agent"]["silent"]["score"]["ci95"] == [0.0, 0.0]
    assert body["by_task"]["OSC"]["coverage"] == body["score"]["coverage"]
    assert summarise(run_folder) == summary


def test_a_verdict_file_that_is_broken_is_told_and_counted(
    run_folder: Path, summary: Summary
) -> None:
    before = summary.by_agent["oracle"]
    folder = run_folder / "recordings" / "made-up--oracle--1"
    verdict_path(folder, "quiet").write_text("{")
    after = summarise(run_folder)
    part = after.by_agent["oracle"]
    assert (part.turns.planned, part.turns.missing) == (before.turns.planned, 4)
    assert (part.score.low, part.score.high) == (0.0, 100.0)
    assert "not a file of verdicts" in after.attempts[0].problem


def test_a_run_that_was_not_judged_is_all_missing(run_folder: Path) -> None:
    for path in run_folder.glob("recordings/*/verdicts/*.json"):
        path.unlink()
    summary = summarise(run_folder)
    assert summary.by_agent["oracle"].turns.missing == 4
    assert summary.by_agent["absent"].turns.scored == 4, "an agent that never came up owes all"


def test_an_attempt_in_which_the_live_ear_erred_is_told(run_folder: Path) -> None:
    path = next((run_folder / "recordings").glob("*--oracle--1")) / "trace.json"
    made = trace_from_json(path.read_bytes())
    held = Misheard(kind="held", start=12.0, end=19.0)
    path.write_bytes(trace_to_json(dataclasses.replace(made, misheard=(held,))))
    summary = summarise(run_folder)
    assert summary.misheard == summary.by_agent["oracle"].misheard == 1
    assert summary.by_agent["late"].misheard == 0


def test_a_latency_whose_onset_was_heard_live_at_another_time_is_told(run_folder: Path) -> None:
    path = next((run_folder / "recordings").glob("*--oracle--1")) / "trace.json"
    made = trace_from_json(path.read_bytes())
    found = tuple(
        dataclasses.replace(
            r, speech=tuple(dataclasses.replace(s, disputed=True) for s in r.speech)
        )
        for r in made.responses
    )
    path.write_bytes(trace_to_json(dataclasses.replace(made, responses=found)))
    summary = summarise(run_folder)
    assert summary.disputed == summary.by_agent["oracle"].disputed > 0
    assert summary.by_agent["late"].disputed == 0


def test_a_recording_that_is_gone_is_told(run_folder: Path) -> None:
    shutil.rmtree(run_folder / "recordings" / "made-up--oracle--1")
    summary = summarise(run_folder)
    gone = next(a for a in summary.attempts if a.agent == "oracle")
    assert gone.problem == "its recording is not in recordings/ any more"
    assert summary.by_agent["oracle"].turns.missing == summary.by_agent["oracle"].turns.planned


def test_an_answer_that_was_not_heard_is_told(run_folder: Path) -> None:
    path = next((run_folder / "recordings").glob("*--oracle--1")) / "trace.json"
    made = trace_from_json(path.read_bytes())
    found = tuple(dataclasses.replace(r, speech=(), unheard=True) for r in made.responses)
    path.write_bytes(trace_to_json(dataclasses.replace(made, responses=found)))
    summary = summarise(run_folder)
    assert summary.unheard == summary.by_agent["oracle"].unheard > 0
    assert summary.by_agent["oracle"].latency_s.n == 0
    assert summary.by_agent["late"].unheard == 0


def test_stalls_and_older_measuring_are_told(run_folder: Path) -> None:
    path = next((run_folder / "recordings").glob("*--oracle--1")) / "trace.json"
    made = trace_from_json(path.read_bytes())
    first, *others = made.turns
    turns = (dataclasses.replace(first, stalled_s=1.4), *others)
    path.write_bytes(trace_to_json(dataclasses.replace(made, turns=turns, before="2.9")))
    summary = summarise(run_folder)
    assert (summary.stalled, summary.measured_again) == (1, 1)
    assert (summary.by_agent["late"].stalled, summary.by_agent["late"].measured_again) == (0, 0)
    console = Console(width=300, file=io.StringIO())
    print_summary(summary, run_folder, console)
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    assert "oracle: in 1 of 4 turns its stream stood still for over a second" in said
    assert "oracle: 1 of 1 attempts were measured again" in said


def test_a_side_that_never_reports_on_our_pictures_is_said_to_have_no_eyes(
    run_folder: Path,
) -> None:
    path = next((run_folder / "recordings").glob("*--oracle--1")) / "trace.json"
    made = trace_from_json(path.read_bytes())
    sent = (
        Sent(track="audio", packets=1000, arrived_until=44.0),
        Sent(track="video", packets=900),
    )
    path.write_bytes(trace_to_json(dataclasses.replace(made, sent=sent, reported_at=45.0)))
    summary = summarise(run_folder)
    assert summary.unread == summary.by_agent["oracle"].unread == {"video": 1}
    assert summary.by_agent["late"].unread == {}
    console = Console(width=300, file=io.StringIO())
    print_summary(summary, run_folder, console)
    assert isinstance(console.file, io.StringIO)
    said = " ".join(console.file.getvalue().split())
    assert "never reported on our video: it may not read it (--no-video sends none)" in said


@pytest.mark.parametrize(
    ("reported_at", "unreported"),
    [(None, 1), (25.0, 1), (45.0, 0)],
    ids=["never", "no more", "yes"],
)
def test_a_side_that_does_not_report_on_our_media_is_said_so(
    run_folder: Path, reported_at: float | None, unreported: int
) -> None:
    path = next((run_folder / "recordings").glob("*--oracle--1")) / "trace.json"
    made = trace_from_json(path.read_bytes())
    sent = (Sent(track="audio", packets=1000, unsent=2),)
    pacing = dataclasses.replace(made.pacing, unsent=2)
    told = dataclasses.replace(made, sent=sent, reported_at=reported_at, pacing=pacing)
    path.write_bytes(trace_to_json(told))
    summary = summarise(run_folder)
    assert summary.unreported == summary.by_agent["oracle"].unreported == unreported
    assert summary.by_agent["late"].unreported == 0
    assert summary.by_agent["oracle"].pacing_ms.unsent == 2


def test_the_providers_failure_is_out_of_the_mean_and_inside_the_bounds(run_folder: Path) -> None:
    before = summarise(run_folder).by_agent["oracle"]
    assert (before.score.mean, before.charged) == (100.0, 100.0)
    fail_at(run_folder, "oracle", "left")
    part = summarise(run_folder).by_agent["oracle"]
    assert (part.turns.agent_error, part.turns.scored, part.turns.planned) == (1, 3, 4)
    assert (part.score.mean, part.score.low, part.score.high) == (100.0, 75.0, 100.0)
    assert part.score.coverage == 0.75
    assert part.charged == 75.0
