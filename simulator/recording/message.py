"""What is kept of a message on the wire: its name, its size, and its body without secrets. Pure.

Counterpart: `simulator.recording.writer`, whose tap hears the messages.
"""

from __future__ import annotations

import json
import re
from typing import Any, Literal

from simulator.recording.records import WireRecord
from simulator.recording.redact import Redactor

CAP = 16 * 1024
"""Characters of a body that are kept."""
_DEEPEST = 64
_NAME = re.compile(r'"type"\s*:\s*"([^"\\]{1,120})"')


def wire_record(dir: Literal["in", "out"], raw: str | bytes, redactor: Redactor) -> WireRecord:
    """The record of a whole message; never raises, whatever a peer may send."""
    if isinstance(raw, bytes):
        size = len(raw)
        text = raw[: 4 * (CAP + redactor.longest)].decode(errors="replace")
    else:
        # Counting the bytes of megabytes of text is not worth encoding them all.
        size = len(raw) if raw.isascii() else len(raw.encode(errors="surrogatepass"))
        text = raw
    if size <= CAP:
        body, name = _parse(text, redactor)
        return WireRecord(dir=dir, name=name, bytes=size, body=body)
    # A secret that the cut would halve begins less than its own length before the cut.
    head = redactor.text(text[: CAP + redactor.longest])
    head = head[: max(0, min(CAP, len(head) - redactor.longest))]
    found = _NAME.search(head)
    return WireRecord(dir=dir, name=found[1] if found else "", bytes=size, body=head, cut=True)


def _parse(text: str, redactor: Redactor) -> tuple[Any, str]:
    """The message as a JSON value, or as its text where it is none, and its type."""
    if _depth(text) > _DEEPEST:
        return redactor.text(text), ""
    try:
        value = json.loads(text, parse_constant=str)
    except ValueError:
        return redactor.text(text), ""
    value = redactor.value(value)
    name = value.get("type") if isinstance(value, dict) else None
    return value, name if isinstance(name, str) else ""


def _depth(text: str) -> int:
    """How deep brackets nest, at most; a quick upper bound where there are few."""
    opening = text.count("{") + text.count("[")
    if opening <= _DEEPEST:
        return opening
    deepest = depth = 0
    for char in text:
        if char in "{[":
            depth += 1
            deepest = max(deepest, depth)
        elif char in "}]":
            depth -= 1
    return deepest
