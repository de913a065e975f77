"""Gates: limits on a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.errors import InputError
from simulator.report.gates import check_gates, parse_gates
from simulator.report.summary import summarise
from tests.report.conftest import fail_at


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("score", "is not a limit"),
        ("score>=", "is not a limit"),
        ("score=60", "is not a limit"),
        ("score>=sixty", "'sixty' is not a number"),
        ("score>=nan", "'nan' is not a number"),
        ("latency_p59<=1", "did you mean latency_p95"),
        ("beauty>=1", "no metric is called 'beauty'"),
    ],
)
def test_what_is_no_gate(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        parse_gates([text])
    if "number" not in message:
        assert "false_alarms" in str(caught.value), "the metrics are listed"


@pytest.mark.parametrize(
    ("text", "met", "why"),
    [
        ("score>=30", True, "score is 43.48"),
        ("score >= 60", False, "score is 43.48"),
        ("false_alarms<=2", True, "false_alarms is 2"),
        ("false_alarms<2", False, "false_alarms is 2"),
        ("latency_p95<=1000", False, "only 7 of 17 turns that want an answer have a latency"),
        ("pacing_p99<10", True, "pacing_p99 is 0.8"),
        ("completed==4", True, "completed is 4"),
    ],
)
def test_limits(run_folder: Path, text: str, met: bool, why: str) -> None:
    (result,) = check_gates(parse_gates([text]), summarise(run_folder), min_coverage=0.5)
    assert (result.met, result.why[: len(why)]) == (met, why)


def test_latencies_that_cover_enough_are_held_against_a_limit(run_folder: Path) -> None:
    summary = summarise(run_folder)
    for limit, met in (("latency_p95<=1000", True), ("latency_p95<=0.001", False)):
        (result,) = check_gates(parse_gates([limit]), summary, min_coverage=0.4)
        assert result.met is met
        assert result.why.startswith("latency_p95 is")


def test_no_gate_is_met_below_the_coverage(run_folder: Path) -> None:
    summary = summarise(run_folder)
    (result,) = check_gates(parse_gates(["score>=0"]), summary)
    assert not result.met
    assert result.why == "23 of 36 planned turns were scored: coverage 0.64 is below 1"


def test_a_number_that_is_not_there_meets_nothing(run_folder: Path) -> None:
    for path in run_folder.glob("recordings/*/trace.json"):
        path.unlink()
    (result,) = check_gates(parse_gates(["latency_p50<=99"]), summarise(run_folder), min_coverage=0)
    assert (result.met, result.why) == (False, "there is no such number")


def test_no_limit_is_met_by_failing(run_folder: Path) -> None:
    """10 of 23 turns are right; of one the provider now says that it failed. The mean is 9 of 22,
    the gate counts 9 of 23."""
    fail_at(run_folder, "oracle", "left")
    summary = summarise(run_folder)
    assert summary.score.mean == pytest.approx(100 * 9 / 22)
    (result,) = check_gates(parse_gates(["score>=40"]), summary, min_coverage=0.5)
    assert not result.met
    assert result.value == pytest.approx(100 * 9 / 23)
