"""Verdicts on disk: `verdicts/<judge>.json` in a recording's folder.

Each verdict is kept with a hash of what it was made from, so that judging again does only what has
changed. Counterparts: `simulator.judging.run` writes them, `simulator.report` reads them.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from simulator.errors import InstrumentError, RecordingError
from simulator.judging.judge import Judge, Verdict, VerdictState
from simulator.measuring.trace import Trace, json_of, trace_to_json
from simulator.protocol.conditions import Decide, Source
from simulator.scenario.types import Scenario, Turn
from simulator.whole_file import put_file

VERDICTS = "verdicts"
VERDICTS_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedTurn:
    """A verdict with the hash of what it was made from."""

    inputs: str
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFile:
    """All verdicts of one judge on one recording."""

    version: int = VERDICTS_VERSION
    judge: str
    judge_version: str
    note: str = ""
    """What there is to say of all of it, e.g. that the judge serves no turn of the scenario."""
    turns: tuple[JudgedTurn, ...] = ()

    def known(self) -> dict[str, JudgedTurn]:
        return {t.verdict.turn: t for t in self.turns}


_ADAPTER: TypeAdapter[JudgeFile] = TypeAdapter(JudgeFile)


def verdict_path(folder: Path, judge: str) -> Path:
    return folder / VERDICTS / f"{judge}.json"


def read_verdicts(folder: Path) -> dict[str, JudgeFile]:
    """Every judge's verdicts on a recording, by name. Raises RecordingError for a broken file."""
    found: dict[str, JudgeFile] = {}
    for path in sorted((folder / VERDICTS).glob("*.json")):
        kept = read_judge_file(path)
        if kept is not None:
            found[kept.judge] = kept
    return found


def read_judge_file(path: Path) -> JudgeFile | None:
    """One judge's file; None if there is none. Raises RecordingError if it is not one."""
    try:
        kept = _ADAPTER.validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        hint = "delete it and judge again"
        what = error.errors()[0]["msg"]
        raise RecordingError(f"{path}: not a file of verdicts: {what}", hint=hint) from None
    for judged in kept.turns:
        score, scored = judged.verdict.score, judged.verdict.state is VerdictState.SCORED
        if scored != (score is not None) or not 0.0 <= (score or 0.0) <= 1.0:
            what = f"turn {judged.verdict.turn!r} is {judged.verdict.state} with score {score}"
            raise RecordingError(f"{path}: {what}", hint="delete it and judge again")
    return kept if kept.version == VERDICTS_VERSION else None


def write_judge_file(folder: Path, kept: JudgeFile) -> None:
    """Put it in place as a whole or not at all. Raises InstrumentError if the disk refuses."""
    path = verdict_path(folder, kept.judge)
    try:
        path.parent.mkdir(exist_ok=True)
        put_file(path, json_of(_ADAPTER, kept) + b"\n")
    except OSError as error:
        raise InstrumentError(f"cannot write {path}: {error.strerror}") from None


_PLACED: Mapping[str, Any] = {"__all__": {"sent", "sent_end", "sound_from", "disputed"}}
_APART: Mapping[str, Any] = {
    "speech": _PLACED,
    "responses": {"__all__": {"speech": _PLACED, "unheard": True}},
    "turns": {"__all__": {"conduct", "stalled_s"}},
    "sent": True,
    "reported_at": True,
    "misheard": True,
    "detecting": True,
    "damaged": True,
    "unread": True,
    "ceased": True,
    "stalls": True,
    "before": True,
    "pacing": {"unsent"},
}
"""What is in a trace and no matter for a judge: it follows from what the turns expect, which is in
their hashes, or it is about our sending, whose faults are in the outcome, or beside an onset."""


class InputHash:
    """Hashes of what a judge is given, for the turns of one recording."""

    def __init__(self, trace: Trace, scenario: Scenario) -> None:
        body = json.loads(trace_to_json(trace, without=_APART)) | _of_version_1(trace, scenario)
        _leave_out_unused(body)
        self._trace = hashlib.sha256(to_json(body, indent=1)).hexdigest()
        self._scenario = scenario

    def of(self, turn: Turn, judge: Judge) -> str:
        """The trace, the turn with the one that asked for it, and the judge with its settings.

        A judge whose options change its verdicts has them in an attribute `settings`.
        """
        settings: Mapping[str, Any] = getattr(judge, "settings", {})
        turns = [turn, *(t for t in self._scenario.turns if t.id == turn.asked_in)]
        parts = (
            self._trace,
            self._scenario.goal,
            turns,
            judge.name,
            judge.version,
            dict(settings),
        )
        text = json.dumps(parts, default=_plain, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


def _of_version_1(trace: Trace, scenario: Scenario) -> dict[str, Any]:
    """What version 1 of a trace had otherwise, so that what was judged before is not judged again.

    Conditions in no later shape, since those of one recording never change.
    """
    decide, source = trace.conditions.decide, trace.conditions.source
    conditions: dict[str, Any] = {
        "pace": scenario.pace,
        "decide": decide,
        "commit": "agent" if decide is Decide.AGENT else "simulator",
        "prompt": trace.conditions.prompt,
        "shared_host": trace.shared_host,
    }
    if source is Source.CSV:
        conditions = {n: conditions[n] for n in ("decide", "commit")} | {"source": source}
    return {"version": 1, "conditions": conditions}


def _leave_out_unused(body: dict[str, Any]) -> None:
    """Keys that a later version added count only where they say something."""
    if not body["failures"]:
        del body["failures"]
    for response in body["responses"]:
        for key in ("reason", "message"):
            if response[key] is None:
                del response[key]


def _plain(value: object) -> object:
    """A part of a turn for a hash. Of files only the names, since the same recording judged
    elsewhere is the same; a key that a later version added counts only where it is used."""
    if dataclasses.is_dataclass(value):
        # dataclasses.asdict copies everything, which took a tenth of a whole judging.
        body = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
        if not body.get("paths", True):
            del body["paths"]
        return body
    return value.name if isinstance(value, Path) else str(value)
