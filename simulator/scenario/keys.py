"""Which keys a part of a scenario takes, in words for its author.

Counterpart: `simulator.scenario.load` says these where a key is wrong.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any

from pydantic import BaseModel

from simulator.scenario.schema import LATER


def keys(kind: type[BaseModel]) -> list[str]:
    """The keys of a model that this version reads."""
    fields = kind.model_fields.items()
    return [field.alias or name for name, field in fields if LATER not in field.metadata]


def unknown(kind: type[BaseModel], at: Sequence[Any]) -> str:
    key = str(at[-1])
    inner = model_at(kind, at[:-1]) or kind
    allowed = keys(inner)
    near = difflib.get_close_matches(key.lower(), allowed, n=1, cutoff=0.6)
    meant = f"; did you mean `{near[0]}`?" if near else ""
    quote = "" if re.fullmatch(r"[a-z_]+", key) else "; if it is part of a text, quote the text"
    return f"unknown key{meant}{quote}; allowed: {', '.join(allowed)}"


def model_at(kind: type[BaseModel], at: Iterable[Any]) -> type[BaseModel] | None:
    """The model that lies at a place within another."""
    model: type[BaseModel] | None = kind
    for step in at:
        if isinstance(step, int) or model is None:
            continue
        by_key = {f.alias or n: f for n, f in model.model_fields.items()}
        if step in by_key:
            model = _model_in(by_key[step].annotation)
    return model


def _model_in(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation mentions, if any."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for inner in getattr(annotation, "__args__", ()):
        found = _model_in(inner)
        if found is not None:
            return found
    return None
