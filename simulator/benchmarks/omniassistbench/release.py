"""The rows of the release: parquet shards, or `labels.csv` with a folder of videos.

Counterpart: `simulator.benchmarks.omniassistbench.importing` makes scenarios of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.benchmarks.omniassistbench.names import bare
from simulator.benchmarks.omniassistbench.tables import read_table
from simulator.benchmarks.omniassistbench.texts import clean
from simulator.errors import InputError, MissingExtra, install

LABELS = "labels.csv"
COLUMNS = ("video_name", "class", "gt_answer")
"""What a release must have."""
_VIDEOS = (".mp4", ".mkv", ".webm", ".mov", ".avi", ".m4v")
_AT_ONCE = 4
"""Rows of a shard that are read at one time: each holds its video."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Video:
    """A video: its bytes out of a shard, or a file."""

    name: str
    data: bytes | None = None
    path: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One turn as the release has it, cells cleaned of what stands for nothing."""

    where: str
    """`file:row`, for messages."""
    name: str
    task: str
    """Its class as written."""
    source: str
    question: str
    gold: str
    key_points: str
    example_text: str
    video: Video
    example: Video | None

    def same(self, other: Row) -> bool:
        """Whether another row of its name says the same."""
        return (self.question, self.gold, self.key_points) == (
            other.question,
            other.gold,
            other.key_points,
        )


def read_release(source: Path) -> Iterator[Row]:
    """Every row, one after the other. Raises InputError for a folder that holds no release, and
    MissingExtra for shards without pyarrow."""
    if source.is_file():
        files, folder = [source], source.parent
    elif source.is_dir():
        files = sorted(source.rglob("*.parquet")) or sorted(source.rglob(LABELS))
        folder = source
    else:
        raise InputError(f"{source}: no such file or folder")
    if not files:
        raise InputError(f"{source}: holds neither .parquet files nor a {LABELS}")
    videos = _videos(folder)
    for file in files:
        if file.suffix == ".parquet":
            yield from _shard(file, videos)
        else:
            for row in read_table(file, COLUMNS):
                yield _row(f"{file}:{row.number}", row.cells, videos)


def _videos(folder: Path) -> dict[str, Path]:
    """Video files below a folder, by their names without ending."""
    found: dict[str, Path] = {}
    for at, _, files in os.walk(folder):
        for file in sorted(files):
            if file.lower().endswith(_VIDEOS):
                found.setdefault(bare(file), Path(at, file))
    return found


def _shard(file: Path, videos: Mapping[str, Path]) -> Iterator[Row]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra("reading parquet needs pyarrow", hint=install("parquet")) from None
    try:
        with pq.ParquetFile(file) as opened:
            missing = [c for c in COLUMNS if c not in opened.schema_arrow.names]
            if missing:
                raise InputError(f"{file}: has no column {' and no column '.join(missing)}")
            number = 0
            for batch in opened.iter_batches(batch_size=_AT_ONCE):
                for cells in batch.to_pylist():
                    number += 1
                    yield _row(f"{file}:{number}", cells, videos)
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"{file}: not a parquet file that can be read: {error}") from None


def _row(where: str, cells: Mapping[str, Any], videos: Mapping[str, Path]) -> Row:
    name = bare(clean(cells.get("video_name")))
    if not name:
        raise InputError(f"{where}: video_name is empty")
    example = clean(cells.get("example_video"))
    return Row(
        where=where,
        name=name,
        task=clean(cells.get("class")),
        source=clean(cells.get("source")),
        question=clean(cells.get("question")),
        gold=clean(cells.get("gt_answer")),
        key_points=clean(cells.get("key_points")),
        example_text=clean(cells.get("example_text")),
        video=_video(name, cells.get("video_full_path"), videos),
        example=_video(bare(example), cells.get("example_video_full_path"), videos)
        if example
        else None,
    )


def _video(name: str, cell: object, videos: Mapping[str, Path]) -> Video:
    """A struct of bytes and path, a path, or nothing: then a file of that name will do."""
    data = cell.get("bytes") if isinstance(cell, dict) else None
    if isinstance(data, bytes) and data:
        return Video(name=name, data=data)
    written = cell.get("path") if isinstance(cell, dict) else cell
    for candidate in (name, bare(clean(written))):
        if candidate in videos:
            return Video(name=name, path=videos[candidate])
    return Video(name=name)
