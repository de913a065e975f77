"""What recording costs a session's process, and reading it back: `[--json] [--quick]`."""

from __future__ import annotations

import argparse
import json
import struct
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from simulator.clock import cpu_seconds
from simulator.recording.manifest import AgentInfo, Manifest, ScenarioInfo
from simulator.recording.reader import Recording
from simulator.recording.records import (
    CommandRecord,
    ContextRecord,
    HealthRecord,
    Record,
    ResponseRecord,
    SegmentRecord,
    SpeechRecord,
    TextRecord,
    TurnRecord,
    WireRecord,
)
from simulator.recording.writer import RecordingWriter

VIDEO_RATE, AUDIO_RATE, EVENT_RATE = 170, 50, 5
"""Packets a second of 720p30 at 1.6 Mbps, of sound each way, and events."""


def each(count: int, act: Callable[[int], None]) -> float:
    """CPU microseconds for one of `count` calls."""
    start = cpu_seconds()
    for i in range(count):
        act(i)
    return (cpu_seconds() - start) / count * 1e6


EVENTS: Sequence[Record] = (
    *[TextRecord(text="a few words", response="r", item="i") for _ in range(6)],
    *[
        WireRecord(
            dir="in",
            name="response.output_audio_transcript.delta",
            bytes=140,
            body={"type": "response.output_audio_transcript.delta", "delta": "a few words"},
        )
        for _ in range(6)
    ],
    HealthRecord(send_p99_ms=0.4, send_max_ms=1.2, loop_lag_ms=0.3, rtt_ms=0.8, reported=7),
    HealthRecord(send_p99_ms=0.4, send_max_ms=1.2, loop_lag_ms=0.3, reported=8),
    SpeechRecord(edge="start", by="agent"),
    ResponseRecord(id="r", edge="end", status="completed", usage={"total_tokens": 40}),
    ContextRecord(op="add", kind="frame", span=(1.0, 2.0), tokens=64, used=900, window=8192),
    CommandRecord(id="c", name="commit", args={"item": "i"}),
    SegmentRecord(edge="start", part="play", of="turn", at=3.0, clip="own", end=5.5, asset="ab"),
    TurnRecord(of="turn", state="awaiting", at=8.5),
)
"""What stands in a talkative session's events, in about these shares."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    count = 20_000 if options.quick else 200_000
    extension = b"\xbe\xde\0\2" + bytes(8)
    video = [
        struct.pack(">BBHII", 0x90, 96, i & 0xFFFF, 500 * i, 7) + extension + bytes(1150)
        for i in range(count)
    ]
    sound = struct.pack(">BBHII", 0x80, 111, 1, 960, 8) + bytes(160)
    manifest = Manifest(scenario=ScenarioInfo(id="b", sha256=""), agent=AgentInfo(reference="b"))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "recording"
        with RecordingWriter(path, manifest, secrets=["a-secret-token"]) as writer:
            sent = each(count, lambda i: writer.sent_rtp(i / 180, "video", [video[i]], 1 + i / 180))
            received = each(count, lambda i: writer.received_rtp(i / 180, "audio", sound))
            event = each(
                count // 10,
                lambda i: writer.write(1.0, "turn", TextRecord(text="a few words", response="r")),
            )
        start = cpu_seconds()
        Recording.open(path).sent("video")
        reading = cpu_seconds() - start
        path = Path(folder) / "long"
        with RecordingWriter(path, manifest) as writer:
            for i in range(count // 2):
                writer.write(i / 100, "turn", EVENTS[i % len(EVENTS)])
        start = cpu_seconds()
        read = Recording.open(path)
        assert (len(read.events()), read.damaged) == (count // 2, 0)
        reading_events = cpu_seconds() - start
    session = (VIDEO_RATE * sent + 2 * AUDIO_RATE * received + EVENT_RATE * event) / 1e6
    figures = {
        "sent_video_packet_us": round(sent, 2),
        "received_audio_packet_us": round(received, 2),
        "event_us": round(event, 2),
        "core_per_session": round(session, 5),
        "reading_us_per_packet": round(reading / (2 * count) * 1e6, 2),
        "reading_us_per_event": round(reading_events / (count // 2) * 1e6, 2),
    }
    for name, value in figures.items():
        print(f"{name:28} {value}")
    if options.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
