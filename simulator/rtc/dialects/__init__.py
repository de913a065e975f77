"""Signalling dialects: one module a family, each turning its messages into our vocabulary and back.

A dialect knows how to place a call (offer and answer), how to hang up, what a message on the data
channel means as a `WireEvent`, and how a `WireCommand` is written. It holds the state of one call
and does no timing. Counterparts: `simulator.rtc.peer` drives it; `simulator.protocol.events` is the
vocabulary.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import aiohttp

from simulator.agent import Dial
from simulator.errors import InputError
from simulator.protocol.events import WireCommand, WireEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the agent said to our offer."""

    sdp: str
    location: str | None = None
    """Absolute URL of the call, for hanging up."""


class Dialect(Protocol):
    """One call in one family's words."""

    channel: str
    """Label of the data channel that we open."""

    @property
    def dropped(self) -> int:
        """Characters of text beyond the cap of a response, not passed on."""
        ...

    async def call(self, http: aiohttp.ClientSession, offer: str) -> Answer:
        """Post the offer. Raises AgentError if nobody answers or the call is refused."""
        ...

    async def hang_up(self, http: aiohttp.ClientSession, answer: Answer) -> None:
        """Tell the agent that the call is over; an agent that does not listen is no error."""
        ...

    def read(self, message: str | bytes) -> Sequence[WireEvent]:
        """What a message of the data channel means. Raises ValueError if it is malformed."""
        ...

    def write(self, command: WireCommand) -> tuple[str, Sequence[Mapping[str, Any]]]:
        """A command's id and the messages that carry it."""
        ...


def dialect_names() -> tuple[str, ...]:
    """The dialects that there are."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(__path__)))


def speak(target: Dial) -> Dialect:
    """The dialect of `target`, for one call. Raises InputError if there is no such dialect."""
    if target.dialect not in dialect_names():
        known = ", ".join(dialect_names())
        raise InputError(f"unknown dialect {target.dialect!r}", hint=f"there are: {known}")
    module = importlib.import_module(f"{__name__}.{target.dialect}")
    return cast(Dialect, module.Call(target))
