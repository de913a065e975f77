"""An agent and its responder in one class, for agents that run here in a process of their own.

The simulator makes an instance to open it; the process that this starts makes another, with the
same options, to answer calls. So an agent's file holds one short class. Counterparts:
`simulator.agent` is the contract towards the simulator, `simulator.bridge.call` the one towards
callers.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, ClassVar

from simulator.agent import Dial, Launch, Traits
from simulator.bridge.process import bridge_process
from simulator.errors import InputError

if TYPE_CHECKING:
    from simulator.bridge.call import Call


class LocalAgent:
    """Base of agents that answer calls themselves: set `traits`, write `call`.

    Options arrive as keyword strings; hand all of them on to `super().__init__`, so that the
    process gets the same ones.
    """

    traits: Traits
    port: ClassVar[int] = 0
    """The port to listen on; 0 takes any that is free."""

    def __init__(self, **options: str) -> None:
        self._options = options
        self._token = ""

    async def call(self, call: Call) -> None:
        """Answer one call; see `simulator.bridge.call`."""
        raise NotImplementedError

    def secrets(self) -> tuple[str, ...]:
        return (self._token,) if self._token else ()

    @contextlib.asynccontextmanager
    async def open(self, launch: Launch) -> AsyncIterator[Dial]:
        file = inspect.getfile(type(self))
        responder = f"{file}:{type(self).__name__}"
        async with bridge_process(
            responder, options=self._options, log=launch.log, port=self.port
        ) as dial:
            self._token = dial.headers["Authorization"].removeprefix("Bearer ")
            yield dial


def seconds(name: str, value: str, *, least: float = 0.0) -> float:
    """An option as seconds. Raises InputError."""
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if not least <= number < float("inf"):
        raise InputError(
            f"option {name!r} is {value!r}, but has to be seconds of {least:g} or more"
        )
    return number


def yes(name: str, value: str) -> bool:
    """An option as a yes or no. Raises InputError."""
    said = value.strip().lower()
    if said in ("true", "yes", "on", "1"):
        return True
    if said in ("false", "no", "off", "0"):
        return False
    raise InputError(f"option {name!r} is {value!r}, but has to be yes or no")
