"""The content-addressed cache: prepared parts, downloaded clips, and hashes of files seen.

An entry is a folder named by its key. It is filled under a lock of its own and moved into place
as one, so that a reader sees a whole entry or none, and many processes may prepare at once. Entries
are never changed; what cannot be read as what it should be is thrown away and made again.
Counterparts: `simulator.media.prepare` fills it, `simulator.media.clips` finds clips through it.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout
from platformdirs import user_cache_path

from simulator.errors import InputError, InstrumentError
from simulator.whole_file import put_file

_Read = TypeVar("_Read")

_BLOCK = 1 << 20
_PATIENCE = 0.25
"""Seconds between looks whether it is still worth waiting."""


def _nothing() -> None: ...


class Cache:
    """A cache folder: `root`, else the folder named by OMNISTAGE_CACHE, else the user's own."""

    def __init__(self, root: Path | None = None) -> None:
        named = os.environ.get("OMNISTAGE_CACHE")
        self.root = (root or (Path(named) if named else user_cache_path("omnistage"))).absolute()
        self._hashes: dict[str, tuple[int, int, str]] | None = None

    @property
    def clips(self) -> Path:
        """Where downloaded clips lie, each named by its hash."""
        return self.root / "clips"

    def entry(
        self,
        key: str,
        read: Callable[[Path], _Read],
        build: Callable[[Path], None],
        waiting: Callable[[], None] = _nothing,
    ) -> _Read:
        """The entry `key` as `read` understands it, built first if it is not there.

        `read` gets the entry's folder and raises OSError, ValueError or InstrumentError if it is
        damaged; `build` fills an empty folder; `waiting` as for `lock`. Raises InputError if the
        cache cannot be written.
        """
        found = self.find(key, read)
        if found is not None:
            return found
        folder = self._folder(key)
        with self.writing(), self.lock(key, waiting):
            found = self.find(key, read)
            if found is not None:
                return found
            new = folder.parent / f".new-{key}"
            if new.exists():
                # Left by one who was killed: nobody else fills it while we have the lock.
                shutil.rmtree(new)
            new.mkdir(parents=True)
            try:
                build(new)
                for file in new.iterdir():
                    with file.open("rb+") as written:
                        os.fsync(written.fileno())
                if folder.exists():
                    shutil.rmtree(folder)
                new.rename(folder)
            finally:
                if new.exists():
                    shutil.rmtree(new)
            return read(folder)

    def find(self, key: str, read: Callable[[Path], _Read]) -> _Read | None:
        """The entry `key`, or None if it is not there or is damaged."""
        folder = self._folder(key)
        if not folder.is_dir():
            return None
        try:
            return read(folder)
        except (OSError, ValueError, KeyError, InstrumentError):
            return None

    def forget(self, key: str) -> None:
        """Throw an entry away, so that it is made again."""
        folder = self._folder(key)
        with self.writing(), self.lock(key):
            if folder.exists():
                shutil.rmtree(folder)

    def _folder(self, key: str) -> Path:
        return self.root / "parts" / key[:2] / key

    @contextmanager
    def lock(self, name: str, waiting: Callable[[], None] = _nothing) -> Iterator[None]:
        """Only one process at a time goes past for one name. Who has to wait calls `waiting` now
        and then, which may raise to give up."""
        folder = self.root / "locks"
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / f"{name}.lock")
        while not lock.is_locked:
            try:
                lock.acquire(timeout=_PATIENCE)
            except Timeout:
                waiting()
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Turns a failure to write into a line that says which folder and how to choose another."""
        try:
            yield
        except OSError as error:
            if not self._mine(error):
                raise
            raise InputError(
                f"the cache folder {self.root} cannot be written: {error.strerror or error}",
                hint="free some space, or name another folder in OMNISTAGE_CACHE",
            ) from error

    def _mine(self, error: OSError) -> bool:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            return True
        return str(error.filename or "").startswith(str(self.root))

    # ------------------------------------------------------------------ hashes

    def sha256(self, file: Path) -> str:
        """Hash of a file; remembered until its size or modification time changes."""
        file = file.absolute()
        stat = file.stat()
        known = self._known().get(str(file))
        if known is not None and known[:2] == (stat.st_size, stat.st_mtime_ns):
            return known[2]
        digest = hash_file(file)
        self._remember(str(file), (stat.st_size, stat.st_mtime_ns, digest))
        return digest

    @property
    def _index(self) -> Path:
        return self.root / "hashes.json"

    def _known(self) -> dict[str, tuple[int, int, str]]:
        if self._hashes is None:
            self._hashes = self._load()
        return self._hashes

    def _load(self) -> dict[str, tuple[int, int, str]]:
        try:
            listed = json.loads(self._index.read_text())
            return {str(k): (int(v[0]), int(v[1]), str(v[2])) for k, v in listed.items()}
        except (OSError, ValueError, TypeError, IndexError, AttributeError):
            # Only a memory of work done: a missing or damaged one costs hashing again.
            return {}

    def _remember(self, file: str, row: tuple[int, int, str]) -> None:
        with self.writing(), self.lock("hashes"):
            self._hashes = self._load() | {file: row}
            put_file(self._index, json.dumps(self._hashes))


def hash_file(file: Path) -> str:
    """SHA-256 of a file, in lower-case hex."""
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while block := opened.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()


def key_of(*parts: object) -> str:
    """A key from whatever decides an entry's bytes: SHA-256 over its canonical JSON."""
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
