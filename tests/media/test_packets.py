"""Packet files: what goes in comes out, and a damaged file is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.errors import InstrumentError
from simulator.media.packets import BrokenPartError, PacketFile, PacketWriter


def write(path: Path, audio: list[bytes], video: list[tuple[int, bool, bytes]]) -> None:
    with PacketWriter(path) as writer:
        for pts, key, data in video:
            writer.add_video(pts, key, data)
        for i, data in enumerate(audio):
            writer.add_audio(i * 960, data)
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
    assert [part.audio.payload(i) for i in range(len(part.audio))] == audio
    assert [part.video.payload(i) for i in range(len(part.video))] == [v[2] for v in video]
    assert part.video.pts.tolist() == [v[0] for v in video]
    assert part.video.key.tolist() == [v[1] for v in video]
    assert part.audio.pts.dtype == np.int64
    assert part.audio.key.all()
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
    with PacketWriter(tmp_path / "a") as writer:
        writer.add_audio(0, b"x")
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
