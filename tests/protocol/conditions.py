"""Conditions of every kind, made of whatever fields there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from enum import Enum
from types import NoneType
from typing import Any, get_args, get_type_hints

from hypothesis import strategies as st

from simulator.protocol.conditions import USUAL, Conditions

PLAIN: Mapping[type, st.SearchStrategy[Any]] = {
    bool: st.booleans(),
    int: st.integers(0, 1000),
    float: st.floats(0, 1000),
    str: st.text("abcdefgh#.", min_size=1, max_size=12),
    NoneType: st.none(),
}


def values(name: str) -> st.SearchStrategy[Any]:
    """Values of a field, by its annotation."""
    hint = get_type_hints(Conditions)[name]
    kinds = get_args(hint) or (hint,)
    return st.one_of([st.sampled_from(k) if issubclass(k, Enum) else PLAIN[k] for k in kinds])


def any_conditions() -> st.SearchStrategy[Conditions]:
    return st.builds(Conditions, **{f.name: values(f.name) for f in fields(Conditions)})


def another(name: str) -> Any:
    """A value of a field that is not its default."""
    (field,) = (f for f in fields(Conditions) if f.name == name)
    assert field.default is not MISSING, f"{name}: what was so before there was the field?"
    hint = get_type_hints(Conditions)[name]
    kind = next(k for k in (get_args(hint) or (hint,)) if k is not NoneType)
    others = list(kind) if issubclass(kind, Enum) else [kind(7), kind(0)]
    return next(v for v in others if v != field.default)


def all_other() -> Conditions:
    """Conditions of which no field is as usual."""
    made = Conditions(**{f.name: another(f.name) for f in fields(Conditions)})
    assert all(getattr(made, f.name) != getattr(USUAL, f.name) for f in fields(Conditions))
    return made
