"""Text that others wrote, made fit to be kept: JSON may hold halves of characters, UTF-8 not."""

from __future__ import annotations

from typing import Any


def well_formed(text: str) -> str:
    """`text` with U+FFFD for each lone surrogate, which no file and no terminal takes."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def all_well_formed(value: Any) -> Any:
    """A JSON value with all its texts, keys too, made well-formed."""
    match value:
        case str():
            return well_formed(value)
        case dict():
            return {all_well_formed(k): all_well_formed(v) for k, v in value.items()}
        case list() | tuple():
            return [all_well_formed(v) for v in value]
    return value
