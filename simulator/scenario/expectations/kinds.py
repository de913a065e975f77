"""The kinds of things that a turn may expect, in the order in which people are told of them.

Counterpart: `simulator.scenario.expectations.contract` says what a kind is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from simulator.scenario.expectations.answer import Answer
from simulator.scenario.expectations.contract import Expectation
from simulator.scenario.expectations.either import Either
from simulator.scenario.expectations.quiet import Quiet

_KINDS: list[type[Expectation]] = [Answer, Quiet, Either]


def kinds() -> tuple[type[Expectation], ...]:
    return tuple(_KINDS)


def named(some: Sequence[type[Expectation]], joined: str = "and") -> str:
    """Their keys as words for an author."""
    *most, last = (f"`{kind.kind}`" for kind in some)
    return f"{', '.join(most)} {joined} {last}" if most else last


def default_judges() -> tuple[str, ...]:
    """The bundled judges that are asked where none is named."""
    return tuple(dict.fromkeys(kind.judge for kind in _KINDS if kind.judge))


@contextmanager
def trying(kind: type[Expectation]) -> Iterator[None]:
    """With a kind beside the others: for tests, and for trying one out."""
    _KINDS.append(kind)
    try:
        yield
    finally:
        _KINDS.remove(kind)
