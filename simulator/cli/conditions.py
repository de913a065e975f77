"""Conditions on the command line: an option for each, made of the fields of `Conditions`.

Counterpart: `simulator.protocol.conditions` says what there is, and in which words.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from simulator.protocol.conditions import Conditions, has_option, words_of
from simulator.run.sides import MIX

Mix = Annotated[
    bool, typer.Option(MIX, help="Take attempts under unlike conditions together; it is said so")
]
"""For commands that put attempts into one mean."""


def imposes(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command that takes `conditions` an option for each of its fields in its place."""
    kinds = get_type_hints(Conditions)
    options = [
        inspect.Parameter(
            f.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=f.default,
            annotation=Annotated[
                kinds[f.name], typer.Option(f"--{f.name.replace('_', '-')}", help=words_of(f))
            ],
        )
        for f in fields(Conditions)
        if has_option(f)
    ]
    own = inspect.signature(command, eval_str=True)
    others = [p for p in own.parameters.values() if p.name != "conditions"]

    @wraps(command)
    def with_options(**given: Any) -> None:
        imposed = {option.name: given.pop(option.name) for option in options}
        command(**given, conditions=Conditions(**imposed))

    # What typer reads: the options have defaults, as all of the command's but the first have.
    vars(with_options)["__signature__"] = own.replace(parameters=[*others, *options])
    return with_options
