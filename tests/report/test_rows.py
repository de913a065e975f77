"""The trace that a report reads is that of the recording which lies beside it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from simulator.errors import OmnistageError
from simulator.report.rows import find_trace

SAMPLE = Path(__file__).parents[2] / "recordings" / "sample"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The sample, whose clip cannot be had here: its scenario's copy does not load."""
    kept = tmp_path / "sample"
    shutil.copytree(SAMPLE, kept)
    (kept / "scenario.yaml").write_text("of another version\n")
    return kept


def test_what_was_measured_where_it_was_played_holds_elsewhere(folder: Path) -> None:
    assert find_trace(folder).outcome == "completed"


def test_the_trace_of_another_recording_is_not_read_as_its(folder: Path) -> None:
    events = folder / "events.jsonl"
    lines = events.read_bytes().splitlines(keepends=True)
    events.write_bytes(b"".join(lines[: len(lines) // 2]))
    with pytest.raises(OmnistageError):
        find_trace(folder)


def test_somebody_elses_answers_have_a_trace_and_no_recording(folder: Path) -> None:
    for name in ("manifest.json", "events.jsonl", "rtp.pcap"):
        (folder / name).unlink()
    assert find_trace(folder).outcome == "completed"
