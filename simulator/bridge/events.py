"""What happens on a call, as an agent sees it. Pure.

Counterparts: `simulator.bridge.wire` makes them from the caller's messages, `simulator.bridge.call`
from what is heard; an agent iterates over the call and matches them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simulator.protocol.conduct import Wants


@dataclass(frozen=True, slots=True, kw_only=True)
class CuedTurn:
    """What a cued baseline is told of a turn; no agent that is evaluated ever gets one."""

    id: str
    index: int
    wants: Wants
    answer: str | None
    """What a baseline that is right says."""
    asked: bool
    """The user says something to the agent in it."""
    duration: float
    due_in: float | None
    """Seconds from the turn's start to the time at which the answer falls due."""
    event: bool
    """It falls due by something that happens, not by a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cued:
    """The simulator says which turn comes."""

    turn: CuedTurn
    start: float
    """Local time at which it begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechStarted:
    """The caller began to speak."""

    item: str
    time: float
    """Of the first audible sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechEnded:
    """The caller has stopped speaking (known a quarter of a second later)."""

    item: str
    start: float
    time: float
    """Just after the last audible sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Configured:
    """The caller changed the session's settings; they are in `call.session`."""

    session: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemAdded:
    """The caller put an item into the conversation; it is in `call.items`."""

    item: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseAsked:
    """The caller wants a response now (`response.create`); the next reply is that one."""

    settings: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseCancelled:
    """The caller wants a response to stop (`response.cancel`); its sound has been cut already."""

    response: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Committed:
    """The caller committed the sound so far as one item (`input_audio_buffer.commit`)."""

    item: str


CallEvent = (
    Cued
    | SpeechStarted
    | SpeechEnded
    | Configured
    | ItemAdded
    | ResponseAsked
    | ResponseCancelled
    | Committed
)
