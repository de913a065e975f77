"""Where a scenario's clips are on this machine.

A clip that is a file is where the scenario says. A clip named by URL and hash is looked for, by its
hash, in the folders of OMNISTAGE_MEDIA, then in the cache, and downloaded once if it is in neither.
A clip named by its hash alone is nowhere else than in OMNISTAGE_MEDIA.
Counterparts: `simulator.media.download` fetches, `simulator.media.cache` keeps.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from simulator.errors import InputError
from simulator.media.cache import Cache
from simulator.media.download import download
from simulator.scenario.types import Clip

_DEEPEST = 4
"""Levels of folders below one of OMNISTAGE_MEDIA that are searched."""
_KINDS = frozenset(
    "." + kind
    for kind in (
        *("3gp", "avi", "m4v", "mkv", "mov", "mp4", "mpeg", "mpg", "mts", "ogv", "ts", "webm"),
        *("aac", "flac", "m4a", "mp3", "ogg", "opus", "wav", "wmv"),
    )
)


@dataclass(frozen=True, slots=True)
class Located:
    """A clip on this machine."""

    path: Path
    sha256: str


def locate(
    clip: Clip, cache: Cache, progress: Callable[[str, float], None] | None = None
) -> Located:
    """Find a clip, downloading it if need be.

    Raises InputError if it is not there, cannot be downloaded or has another hash; `progress` gets
    what is being done and the share of it that is done.
    """
    found = local(clip, cache)
    if found is not None:
        return found
    assert clip.url is not None
    assert clip.sha256 is not None
    kept = _kept(clip, cache)
    download(clip.url, clip.sha256, kept, cache, progress)
    return Located(kept, clip.sha256)


def local(clip: Clip, cache: Cache) -> Located | None:
    """Find a clip on this machine; None if it would have to be downloaded.

    Raises InputError if it is a file that is not there.
    """
    if clip.path is not None:
        if not clip.path.is_file():
            raise InputError(f"clip {clip.name}: {clip.path}: no such file")
        return Located(clip.path, cache.sha256(clip.path))
    if clip.url is None and clip.sha256 is not None:
        found = search(clip, cache)
        if found is None:
            raise InputError(
                f"clip {clip.name}: no file of that hash ({clip.sha256[:12]}..., once called "
                f"{clip.named or 'nobody knows what'}) is in the folders of OMNISTAGE_MEDIA",
                hint="set OMNISTAGE_MEDIA to the folder that it is in; it cannot be downloaded",
            )
        return Located(found, clip.sha256)
    if clip.url is None or clip.sha256 is None:
        raise InputError(f"clip {clip.name}: neither a file nor a URL with its sha256")
    found = search(clip, cache)
    if found is not None:
        return Located(found, clip.sha256)
    kept = _kept(clip, cache)
    if kept.is_file() and cache.sha256(kept) == clip.sha256:
        return Located(kept, clip.sha256)
    return None


def _kept(clip: Clip, cache: Cache) -> Path:
    """Where the cache keeps a clip that was downloaded."""
    assert clip.url is not None
    suffix = _name(clip.url).suffix.lower()
    return cache.clips / f"{clip.sha256}{suffix if suffix in _KINDS else ''}"


def search(clip: Clip, cache: Cache) -> Path | None:
    """The file with the clip's hash in the folders of OMNISTAGE_MEDIA, likely ones first."""
    name = PurePosixPath(clip.named) if clip.named else _name(clip.url or "")

    def unlikely(file: Path) -> tuple[bool, bool, str]:
        other = file.suffix.lower() != name.suffix.lower()
        return file.name != name.name, other, str(file)

    for file in sorted(_files(), key=unlikely):
        try:
            if cache.sha256(file) == clip.sha256:
                return file
        except OSError:
            # A file that may not be read, or has just gone, is not the one.
            continue
    return None


def _name(url: str) -> PurePosixPath:
    """The path that a URL names; empty where it cannot be read, which downloading will tell."""
    try:
        return PurePosixPath(unquote(urlsplit(url).path))
    except ValueError:
        return PurePosixPath()


def _files() -> Iterator[Path]:
    for folder in os.environ.get("OMNISTAGE_MEDIA", "").split(os.pathsep):
        if not folder:
            continue
        root = Path(folder).expanduser()
        if not root.is_dir():
            raise InputError(f"OMNISTAGE_MEDIA names {folder}, which is not a folder")
        for at, below, files in os.walk(root):
            if len(Path(at).relative_to(root).parts) >= _DEEPEST:
                below.clear()
            yield from (Path(at, f) for f in files if Path(f).suffix.lower() in _KINDS)
