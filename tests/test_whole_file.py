from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from simulator.whole_file import put_file, whole_file


def test_what_was_written_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "summary.json"
    put_file(path, "é\n")
    assert path.read_bytes() == b"\xc3\xa9\n"
    put_file(path, b"\xff")
    assert path.read_bytes() == b"\xff"
    assert os.listdir(tmp_path) == ["summary.json"]


def test_it_may_be_read_by_those_who_may_read_any_other_file(tmp_path: Path) -> None:
    (tmp_path / "usual").touch()
    put_file(tmp_path / "whole", b"")
    usual, whole = (stat.S_IMODE((tmp_path / n).stat().st_mode) for n in ("usual", "whole"))
    assert whole == usual


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, error: type[BaseException]
) -> None:
    path = tmp_path / "film.mkv"
    path.write_bytes(b"old")

    def fail() -> None:
        with whole_file(path) as part:
            part.write_bytes(b"half of the ne")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["film.mkv"]


def test_a_failure_before_anything_was_written_is_the_one_that_is_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no film"), whole_file(tmp_path / "film.mkv"):
        raise ValueError("no film")
    with pytest.raises(FileNotFoundError):
        put_file(tmp_path / "no such folder" / "file", b"")
    assert os.listdir(tmp_path) == []


def test_a_place_that_cannot_be_taken_keeps_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "run.json").mkdir()
    (tmp_path / "run.json" / "mine").touch()
    with pytest.raises(OSError, match=r"run\.json"):
        put_file(tmp_path / "run.json", b"new")
    assert os.listdir(tmp_path) == ["run.json"]
    assert os.listdir(tmp_path / "run.json") == ["mine"]


@contextmanager
def no_file_over(size: int) -> Iterator[None]:
    """A disk that takes no more: writing past `size` fails, as it does where the disk is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_fills_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    path.write_bytes(b"old")
    with no_file_over(1_000), pytest.raises(OSError, match="too large"):
        put_file(path, bytes(10_000))
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["trace.json"]


def test_two_who_write_one_file_do_not_write_one_part(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.json"
    with whole_file(path) as first:
        first.write_bytes(b"first")
        with whole_file(path) as second:
            second.write_bytes(b"second")
        assert path.read_bytes() == b"second"
    assert path.read_bytes() == b"first"
    assert os.listdir(tmp_path) == ["verdicts.json"]


def test_a_reader_never_sees_half_of_it(tmp_path: Path) -> None:
    path = tmp_path / "lock.json"
    whole = [bytes([n]) * 100_000 for n in range(2)]
    put_file(path, whole[0])

    def write(data: bytes) -> None:
        for _ in range(100):
            put_file(path, data)

    writers = [threading.Thread(target=write, args=(data,)) for data in whole]
    for writer in writers:
        writer.start()
    seen = 0
    while any(w.is_alive() for w in writers):
        assert path.read_bytes() in whole
        seen += 1
    assert seen > 10
    assert os.listdir(tmp_path) == ["lock.json"]


@pytest.mark.parametrize("name", ["n" * 255, "名" * 85])
def test_the_part_has_room_wherever_the_file_has(tmp_path: Path, name: str) -> None:
    put_file(tmp_path / name, b"whole")
    assert os.listdir(tmp_path) == [name]


def test_whoever_is_killed_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(b"old")
    killed = subprocess.run(
        [
            sys.executable,
            "-c",
            "import os, pathlib, sys\n"
            "from simulator.whole_file import whole_file\n"
            "with whole_file(pathlib.Path(sys.argv[1])) as part:\n"
            "    part.write_bytes(b'half')\n"
            "    os.kill(os.getpid(), 9)\n",
            str(path),
        ],
        check=False,
    )
    assert killed.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
