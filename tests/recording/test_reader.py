"""Whatever is left of a folder is read, and what is none is refused with a way out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.errors import RecordingError
from simulator.protocol.rtp import unwrap
from simulator.recording.reader import Recording
from simulator.recording.records import SpeechRecord, TextRecord


@pytest.fixture
def folder(stage: Any, sounds: Any) -> Path:
    made = stage()
    made.user(1.0, sounds.voice(0.4), late=lambda due: 0.0)
    made.agent(1.5, sounds.voice(0.3))
    made.event(1.2, TextRecord(text="hello", final=True), turn="a")
    made.event(1.6, SpeechRecord(edge="start", by="agent"))
    return Path(made.close())


def test_what_was_written_is_read(folder: Path) -> None:
    recording = Recording.open(folder)
    assert recording.manifest.scenario.id == "stage"
    kinds = [(e.record.type, e.turn) for e in recording.events()]
    assert kinds == [("rtp", None), ("text", "a"), ("speech", None)]
    log = recording.received("audio")
    assert len(log) == 15
    assert log.t == pytest.approx(1.5 + np.arange(15) * 0.02)
    assert log.seq.tolist() == list(range(100, 115))
    assert log.rtp.tolist() == [77_000 + 960 * i for i in range(15)]
    assert set(log.ssrc.tolist()) == {2001}
    assert all(len(log.payload(i)) == log.size[i] for i in range(15))
    sent, due = recording.due("audio")
    assert due == pytest.approx(1.02 + np.arange(20) * 0.02)
    assert sent.t == pytest.approx(due)
    assert recording.end == pytest.approx(1.78)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(data=st.data())
def test_any_cut_reads_up_to_the_cut(folder: Path, data: st.DataObject) -> None:
    whole = Recording.open(folder)
    copy = folder.with_name("cut")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    for name in ("events.jsonl", "rtp.pcap"):
        content = (folder / name).read_bytes()
        (copy / name).write_bytes(content[: data.draw(st.integers(0, len(content)))])
    cut = Recording.open(copy)
    assert cut.events() == whole.events()[: len(cut.events())]
    assert cut.damaged <= 1
    packets = cut.received("audio")
    assert packets.t.tolist() == whole.received("audio").t[: len(packets)].tolist()
    cut.due("audio")


def test_files_that_were_never_made_are_empty(folder: Path) -> None:
    (folder / "events.jsonl").unlink()
    (folder / "rtp.pcap").unlink()
    recording = Recording.open(folder)
    assert recording.events() == ()
    assert len(recording.sent("audio")) == 0
    assert recording.rtcp(sent=False) == []
    assert recording.end == 0.0


def test_halves_of_characters_are_replaced(folder: Path) -> None:
    path = folder / "events.jsonl"
    path.write_bytes(path.read_bytes().replace(b"hello", b"three \\ud800"))
    ((_, text),) = Recording.open(folder).records(TextRecord)
    assert text.text == "three \ufffd"


def test_a_damaged_line_in_the_middle_costs_that_line(folder: Path) -> None:
    path = folder / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b'{"seq": "x"}\n' + b"\xff\xfe\n" + b"".join(lines[1:]))
    recording = Recording.open(folder)
    assert len(recording.events()) == 3
    assert recording.damaged == 2


def test_events_are_in_the_order_of_their_numbers_each_once(folder: Path) -> None:
    path = folder / "events.jsonl"
    whole = Recording.open(folder).events()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[::-1], *lines]))
    recording = Recording.open(folder)
    assert recording.events() == whole
    assert (recording.damaged, recording.missing) == (0, 0)


def test_two_events_of_one_number_are_not_both_believed(folder: Path) -> None:
    path = folder / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, lines[1].replace(b"hello", b"goodbye")]))
    recording = Recording.open(folder)
    assert [text.text for _, text in recording.records(TextRecord)] == ["hello"]
    assert recording.damaged == 1


@pytest.mark.parametrize(
    ("kept", "missing"),
    [(slice(2), 0), (slice(1, None), 1), (slice(None, None, 2), 1), (slice(2, None), 2)],
)
def test_events_that_are_not_there_are_missed_by_their_numbers(
    folder: Path, kept: slice, missing: int
) -> None:
    path = folder / "events.jsonl"
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[kept]))
    assert Recording.open(folder).missing == missing


def test_what_went_with_a_secret_is_not_missing(folder: Path) -> None:
    path = folder / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = b'{"seq":1,"t":1.0,"type":"text","turn":"t","removed":"[secret]"}\n'
    path.write_bytes(b"".join(lines))
    recording = Recording.open(folder)
    assert (len(recording.events()), recording.damaged, recording.missing) == (2, 1, 0)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": 3}, "version 3"),
        ({"format": "video"}, "something else"),
        ({"scenario": 3}, "scenario"),
    ],
)
def test_a_wrong_manifest_is_refused(folder: Path, change: dict[str, Any], words: str) -> None:
    path = folder / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(RecordingError, match=words):
        Recording.open(folder)


def test_what_is_no_recording_is_refused_with_a_way_out(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match="not a recording") as error:
        Recording.open(tmp_path)
    assert "manifest.json" in error.value.hint
    with pytest.raises(RecordingError, match="no such recording"):
        Recording.open(tmp_path / "nothing")
    (folder / "manifest.json").write_text("{")
    with pytest.raises(RecordingError, match="damaged"):
        Recording.open(folder)
    (folder / "rtp.pcap").write_bytes(b"RIFF" * 20)
    with pytest.raises(RecordingError, match="damaged"):
        Recording.open(folder)


def test_another_file_in_place_of_the_log_is_refused(folder: Path) -> None:
    (folder / "rtp.pcap").write_bytes(b"RIFF" * 20)
    with pytest.raises(RecordingError, match=r"rtp\.pcap"):
        Recording.open(folder).sent("audio")


def test_counters_are_unwrapped() -> None:
    numbers = np.array([65_534, 65_535, 1, 0, 2, 65_535], np.int64)
    assert unwrap(numbers, 16).tolist() == [65_534, 65_535, 65_537, 65_536, 65_538, 65_535]
