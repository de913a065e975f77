"""From the release's rows to scenario folders: one a chain of segments, no clip copied.

Clips are named by their hashes and looked for in the folders of OMNISTAGE_MEDIA. Counterparts:
`simulator.benchmarks.omniassistbench.release` reads the rows, `simulator.scenario.load` the result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from simulator.benchmarks.omniassistbench.hearing import Question, listen
from simulator.benchmarks.omniassistbench.names import EXAMPLE, chain_of, id_of
from simulator.benchmarks.omniassistbench.release import Row, Video
from simulator.benchmarks.omniassistbench.texts import MIXED, NEXT_STEP, expectation, steps, task_of
from simulator.errors import InputError, OmnistageError
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.expectations.either import Either
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.load import load_scenario

IMPORT_FILE = "import.json"
PROACTIVE = frozenset({"SER", "MER"})
"""The question is asked once, in the first segment, and copied to every row."""
IN_PICTURE = frozenset({"GPF", "OPF"})
"""The instruction is a gesture or writing."""
_HEAD = """\
# Made by `omnistage import omniassistbench` from {where}
# The benchmark has the model decide once, at the end of each clip: `omnistage run --decide
# turn-end` does that as well. By default the agent decides for itself.
"""


@dataclass(slots=True)
class Imported:
    """What an import came to."""

    rows: int = 0
    scenarios: int = 0
    turns: int = 0
    answers: int = 0
    quiet: int = 0
    unscored: int = 0
    """Turns that are in no mean: without a right answer, or where silence is right as well."""
    notes: list[str] = field(default_factory=list)
    """Everything that was not taken as it stands."""
    failed: list[str] = field(default_factory=list)
    """Rows or chains that could not be imported, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Segment:
    """A row with its place and its clip."""

    row: Row
    chain: str
    number: int
    copy: int
    sha256: str
    heard: Question
    example: tuple[str, float] | None
    """(hash, seconds) of the example video."""


def import_release(
    rows: Iterable[Row],
    out: Path,
    *,
    clips: Path | None = None,
    progress: Callable[[str], None] | None = None,
) -> Imported:
    """Write a scenario for every chain into `out`, which must be empty or not exist.

    `clips`: a folder that videos out of parquet shards are written to, for OMNISTAGE_MEDIA; without
    it they stay in their shards. A row that cannot be used is told in `failed` and stops no other.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InputError(f"{out} exists and is not empty", hint="give another folder")
    done = Imported()
    keeper = _Keeper(clips)
    chains: dict[tuple[str, int], list[_Segment]] = {}
    seen: dict[str, list[Row]] = {}
    for row in rows:
        done.rows += 1
        if progress is not None:
            progress(row.name)
        before = seen.setdefault(row.name, [])
        if before:
            same = "the same once more" if row.same(before[0]) else "another content"
            done.notes.append(f"{row.where}: {row.name} is there again: {same}; both are kept")
        before.append(_light(row))
        try:
            segment = _segment(row, len(before), keeper)
        except OmnistageError as error:
            done.failed.append(f"{row.where}: {error}")
            continue
        chains.setdefault((segment.chain, segment.copy), []).append(segment)
    for segments in chains.values():
        try:
            _write(sorted(segments, key=lambda s: s.number), out, done)
        except OmnistageError as error:
            done.failed.append(f"{segments[0].row.where}: {segments[0].chain}: {error}")
    if not done.scenarios:
        why = done.failed[0] if done.failed else "it has no rows"
        raise InputError(f"nothing could be imported: {why}")
    body = {"rows": done.rows, "scenarios": done.scenarios, "turns": done.turns}
    body |= {"notes": done.notes, "failed": done.failed}  # type: ignore[dict-item]
    (out / IMPORT_FILE).write_text(json.dumps(body, indent=1, ensure_ascii=False) + "\n", "utf-8")
    return done


def _light(row: Row) -> Row:
    """The row without its video's bytes, which are not to be kept for all rows."""
    return replace(
        row,
        video=replace(row.video, data=None),
        example=None if row.example is None else Video(name=row.example.name),
    )


class _Keeper:
    """Hashes of videos, and copies of those that are in no file, if a folder was given."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def keep(self, video: Video) -> str:
        """The SHA-256 of a video. Raises InputError if there is none."""
        if video.data is not None:
            digest = hashlib.sha256(video.data).hexdigest()
            if self._folder is not None:
                self._folder.mkdir(parents=True, exist_ok=True)
                path = self._folder / f"{id_of(video.name)}.mp4"
                if not path.is_file() or path.stat().st_size != len(video.data):
                    path.write_bytes(video.data)
            return digest
        if video.path is None:
            raise InputError(f"{video.name}: there is no video of that name")
        with video.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()


def _segment(row: Row, copy: int, keeper: _Keeper) -> _Segment:
    chain, number = chain_of(row.name)
    example = None
    sha256 = keeper.keep(row.video)
    if row.example is not None and number == 1:
        example = keeper.keep(row.example), _listen(row.example).duration
    return _Segment(
        row=_light(row),
        chain=chain,
        number=number,
        copy=copy,
        sha256=sha256,
        heard=_listen(row.video),
        example=example,
    )


def _listen(video: Video) -> Question:
    source = video.data if video.data is not None else video.path
    assert source is not None
    return listen(source, video.name)


def _write(segments: list[_Segment], out: Path, done: Imported) -> None:
    """One chain as one scenario."""
    first = segments[0]
    row = first.row
    task = task_of(row.task)
    if task is None:
        done.notes.append(f"{row.where}: class {row.task!r} is not known: custom")
    numbers = [s.number for s in segments]
    if numbers != list(range(1, len(numbers) + 1)):
        done.notes.append(f"{row.where}: {first.chain} has segments {numbers}: played as they are")
    scenario_id = id_of(first.chain, first.copy)
    clips: dict[str, Any] = {}
    turns: list[dict[str, Any]] = []
    if first.example is not None:
        sha256, seconds = first.example
        clips[EXAMPLE] = _clip(sha256, row.example, "")
        turns.append({"id": EXAMPLE, "clip": EXAMPLE, "until": _down(seconds), "either": True})
    for segment in segments:
        name = f"seg{segment.number}"
        clips[name] = _clip(segment.sha256, segment.row.video, segment.row.source)
        turns.append({"id": id_of(segment.row.name, segment.copy), "clip": name})
        turns[-1] |= _turn(segment, task, segments, done)
    body: dict[str, Any] = {"version": 1, "id": scenario_id, "task": task or "custom"}
    body["clips"] = clips
    told = steps(row.example_text)
    if first.example is not None:
        told = ("An example is shown to you first; what comes after it is live.", *told)
    if told:
        body["prior"] = {"as": ["text"], "steps": list(told)}
    body["turns"] = turns
    folder = out / scenario_id
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{scenario_id}.yaml"
    written = yaml.safe_dump(body, allow_unicode=True, sort_keys=False, width=96)
    path.write_text(_HEAD.format(where=Path(row.where).name) + written, encoding="utf-8")
    try:
        load_scenario(path)
    except InputError:
        path.unlink()
        folder.rmdir()
        raise
    done.scenarios += 1
    done.turns += len(segments)


def _clip(sha256: str, video: Video | None, source: str) -> dict[str, str]:
    named = "" if video is None else f"{id_of(video.name)}.mp4" if video.path is None else ""
    if video is not None and video.path is not None:
        named = video.path.name
    licence = f"not cleared ({source})" if source else "not cleared"
    return {"sha256": sha256, "named": named or "unknown", "licence": licence}


def _turn(
    segment: _Segment, task: str | None, chain: list[_Segment], done: Imported
) -> dict[str, Any]:
    """The keys of a turn, from `until` on."""
    row, heard = segment.row, segment.heard
    until = _down(heard.duration)
    body: dict[str, Any] = {"until": until}
    expect, note = expectation(row.gold, row.key_points)
    standing = task in PROACTIVE and segment is not chain[0]
    if not standing:
        body["embedded"] = _embedded(row, heard, task, until)
    match expect:
        case Answer():
            done.answers += 1
            body["answer"] = expect.text
            if expect.accept:
                body["accept"] = list(expect.accept)
            if expect.key_points:
                body["key_points"] = [p[0] if len(p) == 1 else list(p) for p in expect.key_points]
            if standing:
                body |= {"event": until, "asked_in": id_of(chain[0].row.name, chain[0].copy)}
        case Quiet():
            done.quiet += 1
            body["quiet"] = True
        case Either():
            done.unscored += 1
            body["either"] = True
            more = f" (silence, or {row.gold!r})" if note == MIXED else ""
            done.notes.append(f"{row.where}: {row.name}: {note}: it is in no mean{more}")
    return body


def _embedded(row: Row, heard: Question, task: str | None, until: float) -> dict[str, Any]:
    seen = task in IN_PICTURE
    end = until if seen else min(_down(heard.end), until)
    start = 0.0 if seen or heard.start is None else min(_down(heard.start), end - 0.001)
    return {
        "text": row.question or NEXT_STEP,
        "in": "picture" if seen or heard.start is None else "sound",
        "from": max(0.0, start),
        "end": end,
        "uncertainty": round(heard.duration if seen else heard.uncertainty, 3),
    }


def _down(seconds: float) -> float:
    """Whole milliseconds, not beyond the end."""
    return int(seconds * 1000) / 1000
