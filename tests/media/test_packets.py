"""Packet files: what goes in comes out, and a damaged file is refused."""

from __future__ import annotations

import json
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.errors import InstrumentError
from simulator.media.packets import BrokenPartError, PacketFile, PacketWriter
from simulator.protocol.tracks import AUDIO, VIDEO, Track


def write(path: Path, audio: list[bytes], video: list[tuple[int, bool, bytes]]) -> None:
    with PacketWriter(path, {AUDIO: "opus", VIDEO: "h264"}) as writer:
        for pts, key, data in video:
            writer.add(VIDEO, pts, data, key=key)
        for i, data in enumerate(audio):
            writer.add(AUDIO, i * 960, data)
        writer.finish(len(audio) * 0.02, {"width": 4})


@given(
    audio=st.lists(st.binary(max_size=50), min_size=1, max_size=20),
    frames=st.lists(st.tuples(st.booleans(), st.binary(max_size=50)), min_size=1, max_size=8),
)
@settings(max_examples=40, deadline=None)
def test_what_goes_in_comes_out(
    tmp_path_factory: pytest.TempPathFactory,
    audio: list[bytes],
    frames: list[tuple[bool, bytes]],
) -> None:
    path = tmp_path_factory.mktemp("parts") / "part"
    step = len(audio) * 1800 // len(frames)
    video = [(i * step, key or i == 0, data) for i, (key, data) in enumerate(frames)]
    write(path, audio, video)
    part = PacketFile.open(path)
    assert part.duration == pytest.approx(len(audio) * 0.02)
    assert [part.tracks["audio"].payload(i) for i in range(len(part.tracks["audio"]))] == audio
    assert [part.tracks["video"].payload(i) for i in range(len(part.tracks["video"]))] == [
        v[2] for v in video
    ]
    assert part.tracks["video"].pts.tolist() == [v[0] for v in video]
    assert part.tracks["video"].key.tolist() == [v[1] for v in video]
    assert part.tracks["audio"].pts.dtype == np.int64
    assert part.tracks["audio"].key.all()
    assert part.info["width"] == 4


def test_the_same_file_is_opened_once(tmp_path: Path) -> None:
    write(tmp_path / "a", [b"x"], [(0, True, b"y")])
    first = PacketFile.open(tmp_path / "a")
    assert PacketFile.open(tmp_path / "a") is first


@pytest.mark.parametrize("keep", [0, 5, 20, -1, -40])
def test_a_cut_file_is_refused(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "a"
    write(path, [b"x" * 30] * 3, [(0, True, b"y" * 40)])
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(BrokenPartError):
        PacketFile.open(path)


def test_a_damaged_index_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    write(path, [b"x"], [(0, True, b"y")])
    data = bytearray(path.read_bytes())
    data[-40] ^= 1
    path.write_bytes(data)
    with pytest.raises(BrokenPartError, match="damaged"):
        PacketFile.open(path)


def test_an_unfinished_file_is_removed(tmp_path: Path) -> None:
    with PacketWriter(tmp_path / "a", {AUDIO: "opus", VIDEO: "h264"}) as writer:
        writer.add(AUDIO, 0, b"x")
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(
    ("audio", "video"),
    [
        ([b"x"], []),
        ([b"x"], [(0, False, b"y")]),
        ([b"x"], [(0, True, b"y"), (0, False, b"y")]),
        ([b"x"], [(0, True, b"y"), (1800, False, b"y")]),
    ],
)
def test_gaps_are_refused(
    tmp_path: Path, audio: list[bytes], video: list[tuple[int, bool, bytes]]
) -> None:
    with pytest.raises(InstrumentError):
        write(tmp_path / "a", audio, video)
    assert not (tmp_path / "a").exists()


# ---------------------------------------------------------------- tracks with names

DESK, DOOR = Track(id="desk", kind="video"), Track(id="door", kind="video")


def test_a_second_picture_overwrites_nothing(tmp_path: Path) -> None:
    path = tmp_path / "views"
    with PacketWriter(path, {AUDIO: "opus", DESK: "h264", DOOR: "h264"}) as writer:
        for n in range(3):
            writer.add(DOOR, 3_000 * n, b"door %d" % n, key=n == 0)
            writer.add(DESK, 1_500 * n, b"desk %d" % n, key=n == 0)
        for n in range(5):
            writer.add(AUDIO, 960 * n, b"sound %d" % n)
        writer.finish(0.1, {})
    tracks = PacketFile.open(path).tracks
    assert [t.track for t in tracks.values()] == [AUDIO, DESK, DOOR]
    said = {name: [t.payload(i) for i in range(len(t))] for name, t in tracks.items()}
    assert said["desk"] == [b"desk 0", b"desk 1", b"desk 2"]
    assert said["door"] == [b"door 0", b"door 1", b"door 2"]
    assert len(said["audio"]) == 5
    assert tracks["door"].pts.tolist() == [0, 3_000, 6_000]


def test_each_track_is_checked_and_named(tmp_path: Path) -> None:
    with PacketWriter(tmp_path / "a", {DESK: "h264", DOOR: "h264"}) as writer:
        writer.add(DESK, 0, b"x")
        writer.add(DOOR, 0, b"x", key=False)
        with pytest.raises(InstrumentError, match="door has no keyframe at the start"):
            writer.finish(0.1, {})


def test_files_that_name_no_tracks_are_read(tmp_path: Path) -> None:
    """As they were made before tracks had names, and lie in many caches."""
    path = tmp_path / "before"
    sound, picture = [b"s0", b"s1"], [b"p0", b"p1"]
    head = json.dumps({"duration": 0.04, "audio": 2, "info": {"video": "vp8"}}).encode()
    magic, rows, at = b"OMNIPKT1", b"", 8
    body = b"".join((*sound, *picture))
    head += b" " * (-(len(magic) + len(body) + 4 + len(head)) % 8)
    for pts, data in ((0, sound[0]), (960, sound[1]), (0, picture[0]), (1_800, picture[1])):
        rows += struct.pack("<qqi?3x", pts, at, len(data), pts != 1_800)
        at += len(data)
    index = struct.pack("<I", len(head)) + head + rows
    trailer = struct.pack("<QQI8s", at, len(index), zlib.crc32(index), magic)
    path.write_bytes(magic + body + index + trailer)
    tracks = PacketFile.open(path).tracks
    assert [tracks["audio"].payload(i) for i in range(2)] == sound
    assert [tracks["video"].payload(i) for i in range(2)] == picture
    assert tracks["video"].codec == "vp8"
    assert tracks["video"].key.tolist() == [True, False]
