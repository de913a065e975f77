"""Fields of messages that others have written: of the right kind, or ValueError. Pure.

Counterpart: the modules of `simulator.rtc.dialects` read messages with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LARGEST = 2**53
"""No number of a report is so large; beyond it JSON's numbers are not exact."""

Message = Mapping[str, Any]


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def seconds(value: float) -> float:
    if not abs(value) < _LARGEST:  # NaN as well
        raise ValueError("span is not two times")
    return float(value)


def whole(message: Message, key: str) -> int:
    value = message.get(key, 0)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _LARGEST:
        raise ValueError(f"{key} is not a whole number from 0")
    return value


def string(message: Message, key: str) -> str:
    value = message.get(key)
    if not isinstance(value, str):
        raise ValueError(f"{key} is not text")
    return value


def optional(message: Message, key: str) -> str | None:
    value = message.get(key)
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{key} is not text")
    return value


def mapping(message: Message, key: str) -> Message:
    value = message.get(key)
    if not isinstance(value, dict):
        raise ValueError(f"{key} is not an object")
    return value
