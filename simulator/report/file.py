"""`summary.json` on disk. Counterpart: `simulator.report.summary` has what is in it."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import TypeAdapter

from simulator.errors import InstrumentError
from simulator.report.summary import Summary
from simulator.whole_file import put_file

SUMMARY_FILE = "summary.json"
_ADAPTER: TypeAdapter[Summary] = TypeAdapter(Summary)


def write_summary(run: Path, summary: Summary) -> Path:
    """Put `summary.json` in place as a whole. Raises InstrumentError if the disk refuses."""
    path = run / SUMMARY_FILE
    try:
        put_file(path, json.dumps(summary_to_dict(summary), indent=1) + "\n")
    except OSError as error:
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
