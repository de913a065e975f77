"""The cache: one builder, whole entries, and clear words when it cannot write."""

from __future__ import annotations

import errno
import threading
from pathlib import Path

import pytest

from simulator.errors import InputError
from simulator.media.cache import Cache, hash_file, key_of


def read(folder: Path) -> str:
    text = (folder / "value").read_text()
    if not text.startswith("whole"):
        raise ValueError("damaged")
    return text


def test_an_entry_is_built_once(tmp_path: Path) -> None:
    built: list[str] = []
    cache = Cache(tmp_path)

    def build(folder: Path) -> None:
        built.append("x")
        (folder / "value").write_text("whole")

    assert cache.find("ab12", read) is None
    assert cache.entry("ab12", read, build) == "whole"
    assert cache.entry("ab12", read, build) == "whole"
    assert Cache(tmp_path).entry("ab12", read, build) == "whole"
    assert built == ["x"]


def test_what_a_killed_builder_left_is_swept(tmp_path: Path) -> None:
    left = tmp_path / "parts" / "ab" / ".new-ab12"
    left.mkdir(parents=True)
    (left / "half").write_text("x" * 100)

    def build(folder: Path) -> None:
        assert not list(folder.iterdir())
        (folder / "value").write_text("whole")

    assert Cache(tmp_path).entry("ab12", read, build) == "whole"
    assert [p.name for p in left.parent.iterdir()] == ["ab12"]


def test_who_waits_for_a_lock_may_give_up(tmp_path: Path) -> None:
    cache, asked = Cache(tmp_path), list[int]()

    def enough() -> None:
        asked.append(1)
        if len(asked) == 2:
            raise InputError("enough")

    def build(folder: Path) -> None:
        (folder / "value").write_text("whole")

    with cache.lock("ab12"), pytest.raises(InputError, match="enough"):
        Cache(tmp_path).entry("ab12", read, build, waiting=enough)
    assert cache.entry("ab12", read, build, waiting=enough) == "whole"
    assert len(asked) == 2


def test_many_writers_at_once(tmp_path: Path) -> None:
    built: list[int] = []
    go = threading.Barrier(8)

    def build(folder: Path) -> None:
        built.append(1)
        (folder / "value").write_text("whole")

    def one() -> None:
        cache = Cache(tmp_path)
        go.wait()
        assert cache.entry("ab12", read, build) == "whole"

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == [1]
    assert [p.name for p in (tmp_path / "parts" / "ab").iterdir()] == ["ab12"]


def test_a_damaged_entry_is_replaced(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    folder = tmp_path / "parts" / "ab" / "ab12"
    folder.mkdir(parents=True)
    (folder / "value").write_text("wh")

    def build(new: Path) -> None:
        (new / "value").write_text("whole again")

    assert cache.entry("ab12", read, build) == "whole again"


def test_a_failed_build_leaves_nothing(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def build(folder: Path) -> None:
        (folder / "value").write_text("whole")
        raise InputError("a broken clip")

    with pytest.raises(InputError, match="a broken clip"):
        cache.entry("ab12", read, build)
    assert cache.find("ab12", read) is None
    assert list((tmp_path / "parts" / "ab").iterdir()) == []


def test_a_full_disk_is_told_of(tmp_path: Path) -> None:
    cache = Cache(tmp_path)

    def build(folder: Path) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(InputError, match=r"cannot be written: No space.*OMNISTAGE_CACHE"):
        cache.entry("ab12", read, build)


def test_an_error_of_somebody_else_is_not_ours(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")

    def build(folder: Path) -> None:
        (tmp_path / "gone").read_text()

    with pytest.raises(FileNotFoundError):
        cache.entry("ab12", read, build)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache")
    with pytest.raises(InputError, match="cannot be written"):
        cache.entry("ab12", read, lambda folder: None)


def test_hashes_are_remembered_until_the_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "clip"
    file.write_bytes(b"one")
    first = Cache(tmp_path / "cache").sha256(file)
    assert first == hash_file(file)
    monkeypatch.setattr("simulator.media.cache.hash_file", lambda _: "looked again")
    assert Cache(tmp_path / "cache").sha256(file) == first
    file.write_bytes(b"other")
    assert Cache(tmp_path / "cache").sha256(file) == "looked again"
    (tmp_path / "cache" / "hashes.json").write_text('{"cut off')
    assert Cache(tmp_path / "cache").sha256(file) == "looked again"


def test_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMNISTAGE_CACHE", str(tmp_path / "named"))
    assert Cache().root == tmp_path / "named"
    assert Cache(tmp_path / "given").root == tmp_path / "given"
    monkeypatch.delenv("OMNISTAGE_CACHE")
    assert "omnistage" in str(Cache().root)


def test_keys_differ_with_what_goes_in() -> None:
    assert key_of("a", 1, {"x": 2, "y": 3}) == key_of("a", 1, {"y": 3, "x": 2})
    assert key_of("a", 1) != key_of("a", "1")
