"""Replies of judge models on disk, by the hash of what was asked: never paid for twice.

Only replies that could be read are kept, so that asking again after a failure asks again.
Counterpart: `simulator.judging.chat` makes the hash.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from platformdirs import user_cache_path

from simulator.clock import utc_now
from simulator.whole_file import put_file

FORMAT = 1
"""Part of every hash; raised whenever an entry would mean something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """A reply with what it took."""

    text: str
    repaired: bool
    """The first reply could not be read, this second one could."""
    without: tuple[str, ...]
    """Settings that the server refused and that were left out."""
    tokens_in: int
    tokens_out: int


def judgements() -> Path:
    """The folder: beside the prepared media, so that one folder holds all that may be deleted."""
    named = os.environ.get("OMNISTAGE_CACHE")
    return (Path(named) if named else user_cache_path("omnistage")).absolute() / "judgements"


def read_kept(folder: Path, key: str) -> Kept | None:
    """The entry under a key; None if there is none, or none that can be read."""
    try:
        entry = json.loads(_path(folder, key).read_bytes())
        return Kept(
            text=str(entry["text"]),
            repaired=bool(entry["repaired"]),
            without=tuple(entry["without"]),
            tokens_in=int(entry["tokens_in"]),
            tokens_out=int(entry["tokens_out"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep(folder: Path, key: str, reply: Kept, *, model: str) -> None:
    """Write an entry, as a whole or not at all."""
    path = _path(folder, key)
    entry = {**asdict(reply), "model": model, "at": utc_now()}
    # A cache that cannot be written costs money next time, and no verdict now.
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        put_file(path, json.dumps(entry))


def _path(folder: Path, key: str) -> Path:
    return folder / key[:2] / f"{key}.json"
