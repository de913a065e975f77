"""`summary.json` on disk. Counterpart: `simulator.report.summary` has what is in it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

from pydantic import TypeAdapter

from simulator.errors import InstrumentError
from simulator.report.summary import Summary

SUMMARY_FILE = "summary.json"
_ADAPTER: TypeAdapter[Summary] = TypeAdapter(Summary)


def write_summary(run: Path, summary: Summary) -> Path:
    """Put `summary.json` in place as a whole. Raises InstrumentError if the disk refuses."""
    path = run / SUMMARY_FILE
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_text(json.dumps(summary_to_dict(summary), indent=1) + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink()
        raise InstrumentError(f"cannot write {path}: {error.strerror}") from None
    return path


def summary_to_dict(summary: Summary) -> dict[str, object]:
    """The object of `summary.json`, numbers rounded to what they can mean."""
    rounded = _rounded(_ADAPTER.dump_python(summary, mode="json"))
    assert isinstance(rounded, dict)
    return rounded


def _rounded(value: object) -> object:
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    return [_rounded(v) for v in value] if isinstance(value, list | tuple) else value
