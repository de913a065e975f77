"""A trace in a recording's folder: made once, and anew when anything that it was made from changes.

Counterparts: `simulator.measuring.measure` makes it, judges and reports ask for it here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from simulator.measuring import measure as measuring
from simulator.measuring.trace import TRACE_VERSION, Trace, trace_from_json, trace_to_json
from simulator.recording.manifest import EVENTS, MANIFEST, RTP_LOG
from simulator.recording.reader import Recording
from simulator.scenario.types import Scenario
from simulator.whole_file import put_file

TRACE = "trace.json"


def load_trace(
    folder: Path,
    scenario: Scenario,
    *,
    progress: Callable[[str], None] | None = None,
) -> Trace:
    """The trace of a recording, from its trace.json if that was made from the same inputs by the
    same method; else measured and, where the folder can be written to, stored."""
    recording = Recording.open(folder)
    inputs = _inputs(folder, scenario.sha256)
    path = folder / TRACE
    before = ""
    try:
        data = path.read_bytes()
        head = json.loads(data)
        if isinstance(head, dict):
            if head.get("inputs") == inputs:
                return trace_from_json(data)
            before = _otherwise(head.get("inputs"))
    except (OSError, ValueError, ValidationError):
        # There is none yet, or of another version: it is made anew.
        pass
    if progress is not None:
        progress(f"measuring {folder.name}{' again' if before else ''}")
    trace = replace(measuring.measure(recording, scenario), before=before)
    whole = {"inputs": inputs, **json.loads(trace_to_json(trace))}
    # A trace is only a cache; a recording on a read-only disk can be measured as well.
    with suppress(OSError):
        put_file(path, json.dumps(whole, indent=1))
    return trace


def _otherwise(inputs: object) -> str:
    """By what way a trace was made that is not this version's; empty if it is."""
    told = inputs if isinstance(inputs, dict) else {}
    version, method = told.get("trace"), told.get("method")
    return "" if (version, method) == (TRACE_VERSION, measuring.METHOD) else f"{version}.{method}"


def stored_trace(folder: Path) -> Trace | None:
    """The trace that lies in a folder, if it is that of the recording in it, by whatever method, or
    of no recording at all (somebody else's answers). Raises RecordingError for a recording that is
    refused."""
    try:
        data = (folder / TRACE).read_bytes()
        told = json.loads(data).get("inputs", {})
        trace = trace_from_json(data)
    except (OSError, ValueError, AttributeError, ValidationError):
        return None
    if not (folder / MANIFEST).is_file():
        return trace
    now = _inputs(folder, Recording.open(folder).manifest.scenario.sha256)
    same = all(told.get(name) == now[name] for name in (MANIFEST, EVENTS, RTP_LOG))
    return trace if same else None


def _inputs(folder: Path, scenario: str) -> dict[str, Any]:
    """What a trace depends on."""
    out: dict[str, Any] = {
        "trace": TRACE_VERSION,
        "method": measuring.METHOD,
        "scenario": scenario,
    }
    for name in (MANIFEST, EVENTS, RTP_LOG):
        try:
            out[name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        except FileNotFoundError:
            out[name] = None
    return out
