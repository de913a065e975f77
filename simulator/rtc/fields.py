"""Messages in JSON: what others have written, of the right kind or ValueError, and ours. Pure.

Counterpart: the codecs of `simulator.rtc.dialects` read and write with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from simulator.text import all_well_formed

_LARGEST = 2**53
"""No number of a report is so large; beyond it JSON's numbers are not exact."""

Fields = Mapping[str, Any]


def parsed(raw: str | bytes) -> Fields:
    """A message that has to be a JSON object; halves of characters in it are replaced."""
    try:
        value = all_well_formed(json.loads(raw))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def compact(fields: Fields) -> str:
    """The JSON that goes out."""
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def seconds(value: float) -> float:
    if not abs(value) < _LARGEST:  # NaN as well
        raise ValueError("span is not two times")
    return float(value)


def whole(fields: Fields, key: str) -> int:
    value = fields.get(key, 0)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _LARGEST:
        raise ValueError(f"{key} is not a whole number from 0")
    return value


def string(fields: Fields, key: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str):
        raise ValueError(f"{key} is not text")
    return value


def optional(fields: Fields, key: str) -> str | None:
    value = fields.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{key} is not text")
    return value


def identity(fields: Fields, key: str) -> str:
    """An id; one that is a number is its digits."""
    value = fields.get(key)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < _LARGEST:
        return str(value)
    return string(fields, key)


def identity_if_any(fields: Fields, key: str) -> str | None:
    return None if fields.get(key) is None else identity(fields, key)


def mapping(fields: Fields, key: str) -> Fields:
    value = fields.get(key)
    if not isinstance(value, dict):
        raise ValueError(f"{key} is not an object")
    return value
