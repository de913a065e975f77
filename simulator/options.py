"""What follows a reference: `-o key=value`, as keyword strings for a plug-in's constructor.

Counterpart: `simulator.plugins` takes references apart and makes what they name.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from simulator.errors import InputError


def parse_options(items: Sequence[str]) -> dict[str, str]:
    """`key=value` strings as a dict. Raises InputError for one without `=` or given twice."""
    options: dict[str, str] = {}
    for item in items:
        key, equals, value = item.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or not key.isidentifier():
            raise InputError(f"option {item!r} is not key=value", hint="for example -o delay=0.6")
        if key in options:
            raise InputError(f"option {key!r} is given twice")
        options[key] = value
    return options


def split_words(text: str, option: str) -> tuple[str, dict[str, str]]:
    """`late -o delay=3`, given to `option`, as a reference and its options. Raises InputError."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise InputError(f"{option} {text!r}: {error}") from None
    if not words:
        raise InputError(f"{option} is empty", hint=f"see: omnistage {option.strip('-')}s")
    reference, rest = words[0], words[1:]
    if len(rest) % 2 or any(flag != "-o" for flag in rest[::2]):
        raise InputError(
            f"{option} {text!r}: after the reference only -o key=value may follow",
            hint=f"for example {option} '{reference} -o key=value'",
        )
    return reference, parse_options(rest[1::2])
