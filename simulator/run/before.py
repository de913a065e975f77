"""`run.json` as it was in version 1: one set of conditions for a whole run, of which it named two.

The others are in what was recorded. Counterpart: `simulator.run.plan` has the present version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simulator.errors import RecordingError
from simulator.recording.reader import Recording


def of_version_1(body: Mapping[str, Any], recordings: Path) -> dict[str, Any]:
    """The same in version 2: conditions in each attempt."""
    attempts = body.get("attempts")
    if not isinstance(attempts, list) or not all(isinstance(a, dict) for a in attempts):
        return {**body, "version": 2}
    named = {name: body[name] for name in ("decide", "prompt") if name in body}
    folders = (recordings / str(a.get("id")) for a in attempts)
    conditions = named | next(filter(None, map(_recorded, folders)), {})
    return {
        **body,
        "version": 2,
        "attempts": [{**a, "conditions": conditions} for a in attempts],
    }


def _recorded(folder: Path) -> dict[str, Any]:
    """What a recording says of the run's conditions that its plan did not; empty if nothing."""
    try:
        codec = Recording.open(folder).codec
        return {} if codec is None else {"video": codec}
    except RecordingError:
        pass
    try:
        # Answers out of a CSV have no recording, but a trace.
        conditions = json.loads((folder / "trace.json").read_bytes())["conditions"]
        return {"source": conditions["source"]}
    except (OSError, ValueError, LookupError, TypeError):
        return {}
