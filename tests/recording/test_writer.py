"""A recording is safe at every moment, keeps no secret, and says so when the disk is full."""

from __future__ import annotations

import base64
import json
import signal
import struct
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.errors import InputError, InstrumentError, RecordingError
from simulator.protocol.tracks import Track
from simulator.recording.manifest import AgentInfo, Manifest, ScenarioInfo, track_infos
from simulator.recording.message import CAP, wire_record
from simulator.recording.reader import Recording
from simulator.recording.records import (
    FaultRecord,
    HealthRecord,
    RtpRecord,
    TextRecord,
    WireRecord,
)
from simulator.recording.redact import Redactor
from simulator.recording.rtplog import scan
from simulator.recording.writer import RecordingWriter

PRELUDE = """
    import resource, struct, sys
    from pathlib import Path
    from simulator.recording.manifest import AgentInfo, Manifest, ScenarioInfo
    from simulator.recording.records import TextRecord
    from simulator.recording.writer import RecordingWriter
    manifest = Manifest(
        scenario=ScenarioInfo(id="s", sha256="0"), agent=AgentInfo(reference="a")
    )
    def packet(i):
        return struct.pack(">BBHII", 0x80, 111, i & 0xFFFF, i * 960, 7) + b"sound" * 30
"""


def manifest(**agent: Any) -> Manifest:
    return Manifest(
        scenario=ScenarioInfo(id="s", sha256="0"), agent=AgentInfo(reference="a", **agent)
    )


def child(folder: Path, body: str) -> subprocess.Popen[str]:
    code = textwrap.dedent(PRELUDE) + textwrap.dedent(body)
    return subprocess.Popen(
        [sys.executable, "-c", code, str(folder)], stdout=subprocess.PIPE, text=True
    )


def rtp(seq: int, stamp: int, size: int = 100, *, ssrc: int = 5, pt: int = 96) -> bytes:
    return (
        struct.pack(">BBHII", 0x80, pt, seq, stamp, ssrc)
        + bytes(range(size % 256))
        + b"\7" * (size - size % 256)
    )


def test_a_killed_process_leaves_what_it_had_recorded(tmp_path: Path) -> None:
    process = child(
        tmp_path / "r",
        """
        writer = RecordingWriter(Path(sys.argv[1]), manifest)
        for i in range(1_000_000):
            t = i * 0.02
            writer.received_rtp(t, "audio", packet(i))
            if i % 10 == 0:
                writer.write(t, "first", TextRecord(text=f"word {i}"))
            if i == 3000:
                print("going", flush=True)
        """,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "going\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    recording = Recording.open(tmp_path / "r")
    events = recording.events()
    log = recording.received("audio")
    assert recording.damaged <= 1
    assert [e.seq for e in events] == list(range(len(events)))
    assert len(events) > 300
    # The log is at most a second behind the events.
    assert log.t[-1] >= events[-1].t - 1.05
    assert log.payload(len(log) - 1) == b"sound" * 30


@pytest.mark.parametrize("limit", [700, 20_000, 200_000])
def test_a_full_disk_is_told_once_and_keeps_what_was_there(tmp_path: Path, limit: int) -> None:
    process = child(
        tmp_path / "r",
        f"""
        resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, resource.RLIM_INFINITY))
        from simulator.errors import InstrumentError
        told = 0
        with RecordingWriter(Path(sys.argv[1]), manifest) as writer:
            for i in range(3000):
                writer.received_rtp(i * 0.02, "audio", packet(i))
                try:
                    writer.write(i * 0.02, None, TextRecord(text="a word"))
                except InstrumentError as error:
                    told += 1
                    assert "what was recorded before is kept" in str(error), error
        print(told, writer.failure is not None)
        """,
    )
    out, _ = process.communicate()
    if limit == 700:  # Not even the manifest goes in.
        assert process.returncode == 1
        return
    assert out == "1 True\n"
    recording = Recording.open(tmp_path / "r")
    assert recording.damaged == 0
    assert recording.events()[-1].record == TextRecord(text="a word")
    assert (tmp_path / "r" / "rtp.pcap").stat().st_size <= limit
    log = recording.received("audio")
    assert log.seq.tolist() == list(range(len(log)))


def test_a_disk_that_fills_unseen_is_told_on_closing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = RecordingWriter(tmp_path / "r", manifest())

    def full(fd: int, data: object) -> int:
        raise OSError(28, "No space left on device")

    writer.received_rtp(0.1, "audio", rtp(1, 2))
    monkeypatch.setattr("simulator.recording.writer.os.write", full)
    with pytest.raises(InstrumentError, match="No space left"):
        writer.close()


def test_a_folder_that_exists_is_never_overwritten(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="exists"):
        RecordingWriter(tmp_path, manifest())
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot record to"):
        RecordingWriter(tmp_path / "file" / "r", manifest())


TOKEN = 'tok/en+"é-9XYZ'


def test_a_secret_is_in_no_file(tmp_path: Path) -> None:
    folder = tmp_path / "r"
    scenario = tmp_path / "s.yaml"
    scenario.write_text(f"goal: {TOKEN}\n", encoding="utf-8")
    forms = [
        TOKEN,
        json.dumps(TOKEN)[1:-1],
        json.dumps(json.dumps(TOKEN))[1:-1],
        quote(TOKEN, safe=""),
        base64.b64encode(TOKEN.encode()).decode(),
        base64.b64encode(b"user:" + TOKEN.encode()).decode(),
    ]
    secrets = [f"Bearer {TOKEN}"]
    with RecordingWriter(
        folder, manifest(options={"key": TOKEN}), secrets=secrets, scenario=scenario
    ) as writer:
        for form in forms:
            writer.write(1.0, TOKEN, TextRecord(text=f"I was told {form}!"))
            writer.write(
                1.0,
                None,
                FaultRecord(whose="agent", code=form, message=f"401 {form}", fatal=True),
            )
            writer.wire(1.1, "in", json.dumps({"type": "error", form: {"deep": [form]}}))
            writer.wire(1.1, "in", f"not json {form}")
            writer.wire(1.1, "in", f"binary {form}".encode())
            # Across the cap, at every place around it.
            for before in range(CAP - 70, CAP + 3, 7):
                writer.wire(1.2, "out", "x" * before + form + "y" * 200)
        writer.received_rtp(1.3, "audio", rtp(1, 1) + TOKEN.encode())
        writer.received_rtcp(1.3, b"\x81\xca\0\6" + b"\1\4" + TOKEN.encode())
    files = {p.name: p.read_bytes() for p in folder.iterdir()}
    assert set(files) == {"manifest.json", "scenario.yaml", "events.jsonl", "rtp.pcap"}
    for name, data in files.items():
        for form in [*forms, TOKEN[3:], base64.b64encode(TOKEN.encode()).decode()[4:-4]]:
            assert form.encode() not in data, (name, form)
        assert data.count(b"[secret]") or name == "rtp.pcap"
    assert len(Recording.open(folder).events()) == len(files["events.jsonl"].splitlines())
    assert Recording.open(folder).damaged == 0


def test_a_secret_that_only_json_escapes_bring_about_goes_too(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "r", manifest(), secrets=["nope1"]) as writer:
        writer.write(1.0, "t", TextRecord(text="a\nope1"))
        writer.write(1.0, "t", TextRecord(text="fine"))
    data = (tmp_path / "r" / "events.jsonl").read_bytes()
    assert b"nope1" not in data
    lines = [json.loads(line) for line in data.splitlines()]
    assert lines[0] == {"seq": 0, "t": 1.0, "type": "text", "turn": "t", "removed": "[secret]"}
    assert lines[1]["text"] == "fine"


def test_due_times_are_kept_as_a_line_and_resends_are_apart(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "r", manifest()) as writer:
        stamps = [0xFFFFF000, 0xFFFFF000 + 3000, 0x000003B0 + 3000, 0x000003B0 + 6000]
        dues = [1.0, 1.0 + 3000 / 90_000, 1.0 + 8040 / 90_000, 9.5]
        for i, (stamp, due) in enumerate(zip(stamps, dues, strict=True)):
            packet = rtp(i, stamp & 0xFFFFFFFF, 900)
            writer.sent_rtp(due + 0.002 * i, "video", [packet], due)
        writer.sent_rtp(9.6, "video", [rtp(1, stamps[1], 900)], None)
        writer.sent_rtp(9.6, "video", [rtp(0, stamps[1], 900, ssrc=6, pt=97)], None)
    recording = Recording.open(tmp_path / "r")
    origins = [r for _, r in recording.records(RtpRecord)]
    assert [(o.origin_ticks, o.origin_t) for o in origins] == [
        (0xFFFFF000, 1.0),
        (0x000003B0 + 6000, 9.5),
    ]
    log, expected = recording.due("video")
    assert expected == pytest.approx(dues, abs=1e-6)
    assert log.t - expected == pytest.approx([0, 0.002, 0.004, 0.006], abs=1e-6)
    whole = recording.sent("video")
    assert whole.seq.tolist() == [0, 1, 2, 3, 1, 0]
    assert whole.pt.tolist() == [96, 96, 96, 96, 96, 97]
    # Headers only: two bytes of the payload are kept, its size is known.
    assert whole.size.tolist() == [900] * 6
    assert whole.payload(0) == b"\x00\x01"


def test_numbers_and_characters_that_json_does_not_have(tmp_path: Path) -> None:
    with RecordingWriter(tmp_path / "r", manifest()) as writer:
        writer.write(
            0.5, None, HealthRecord(send_p99_ms=float("nan"), send_max_ms=1, loop_lag_ms=0)
        )
        writer.wire(0.6, "in", '{"type": "x", "a": NaN, "b": 1e999, "c": "\\ud800"}')
        writer.wire(0.7, "in", "\ud800 alone")
        writer.wire(0.8, "in", "[" * 5000 + "]" * 5000)
        writer.wire(0.9, "in", '{"n": ' + "9" * 10_000 + "}")
    recording = Recording.open(tmp_path / "r")
    bodies = [r.body for _, r in recording.records(WireRecord)]
    assert bodies[0] == {"type": "x", "a": "NaN", "b": "inf", "c": "\ud800"}
    assert bodies[2] == "[" * 5000 + "]" * 5000
    assert recording.damaged == 0


def test_a_message_over_the_cap_is_cut_and_says_so() -> None:
    raw = json.dumps({"type": "response.audio.delta", "delta": "é" * 40_000}, ensure_ascii=False)
    record = wire_record("in", raw, Redactor())
    assert record.name == "response.audio.delta"
    assert record.bytes == len(raw.encode())
    assert record.cut
    assert len(record.body) == CAP
    assert raw.startswith(record.body)


@given(st.binary(max_size=300) | st.text(max_size=300))
def test_no_message_is_too_odd_to_be_kept(raw: bytes | str) -> None:
    record = wire_record("in", raw, Redactor(["secret"]))
    assert record.bytes == len(
        raw if isinstance(raw, bytes) else raw.encode(errors="surrogatepass")
    )


def test_of_a_huge_packet_the_beginning_is_kept(tmp_path: Path) -> None:
    manifest = Manifest(
        scenario=ScenarioInfo(id="s", sha256=""), agent=AgentInfo(reference="parrot")
    )
    with RecordingWriter(tmp_path / "r", manifest) as writer:
        writer.received_rtp(1.0, "audio", bytes(20_000))
        writer.sent_rtcp(1.0, bytes(20_000))
    kept = [(c.kept, c.size) for c in scan((tmp_path / "r" / "rtp.pcap").read_bytes())]
    assert kept == [(8_192, 20_000)] * 2


def test_every_track_has_its_own_log(tmp_path: Path) -> None:
    tracks = track_infos(Track(id=name, kind=kind) for name, kind in NAMED.items())
    many = replace(manifest(), tracks=tracks)
    with RecordingWriter(tmp_path / "r", many) as writer:
        for number, name in enumerate(NAMED):
            for i in range(3 + number):
                t = i * 0.02
                writer.sent_rtp(t, name, [rtp(i, 960 * i, ssrc=number)], t)
                writer.received_rtp(t, name, rtp(i, 960 * i, ssrc=10 + number))
    recording = Recording.open(tmp_path / "r")
    assert [len(recording.sent(name)) for name in NAMED] == [3, 4, 5, 6]
    for number, name in enumerate(NAMED):
        assert set(recording.sent(name).ssrc.tolist()) == {number}
        assert set(recording.received(name).ssrc.tolist()) == {10 + number}
        assert recording.due(name)[1][:3] == pytest.approx([0.0, 0.02, 0.04], abs=1e-3)
    assert recording.tracks("video") == ("desk", "door")
    assert recording.voice == "voice"
    with pytest.raises(RecordingError, match="no track 'roof'"):
        recording.sent("roof")


NAMED: dict[str, Literal["audio", "video"]] = {
    "voice": "audio",
    "desk": "video",
    "door": "video",
    "guest": "audio",
}


def test_packets_of_a_track_that_is_not_in_the_manifest_are_not_lost_quietly(
    tmp_path: Path,
) -> None:
    with (
        pytest.raises(InstrumentError, match="the manifest names no track 'roof'"),
        RecordingWriter(tmp_path / "r", manifest()) as writer,
    ):
        writer.received_rtp(0.0, "roof", rtp(0, 0))
