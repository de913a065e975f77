"""Which words cannot both be true of one thing: numbers, sides, colours, opposites. Pure.

Counterpart: `simulator.judging.lexicon` lists them.
"""

from __future__ import annotations

from simulator.judging.lexicon import RIVALS
from simulator.judging.stems import stem

_RIVAL_KEYS: dict[str, frozenset[str]] = {}
for _group in RIVALS:
    _keys = frozenset(stem(w) for w in _group)
    for _key in _keys:
        _RIVAL_KEYS[_key] = _RIVAL_KEYS.get(_key, frozenset()) | (_keys - {_key})


def has_rival(key: str) -> bool:
    """Whether a word is one of several that exclude each other: a number, a side, a colour."""
    return key in _RIVAL_KEYS or key[:1].isdigit() or key.startswith("#")


def rivals(one: str, other: str) -> bool:
    """Whether two keys cannot both be true of one thing."""
    if one == other:
        return False
    if one[:1].isdigit():
        return other[:1].isdigit()
    if one.startswith("#"):
        return other.startswith("#")
    return other in _RIVAL_KEYS.get(one, ())
