"""A call in memory, on a manual clock: the whole engine in milliseconds, without a wire.

What the agent does is said beforehand, at session times, or by a function of what it is told; what
the engine orders is kept. `perform` plays a session so. Counterparts: `simulator.session.link` is
the contract, `simulator.rtc.peer` the link over WebRTC.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from simulator.agent import Traits
from simulator.clock import Clock, ManualClock
from simulator.media.timeline import Asset, Prepared
from simulator.protocol.conditions import Conditions
from simulator.protocol.events import Fault, LinkEvent, WireCommand
from simulator.protocol.health import Health, Sending, Sent
from simulator.protocol.tap import Tap
from simulator.protocol.tracks import OURS
from simulator.recording.reader import Recording
from simulator.recording.records import Stamped
from simulator.session.engine import Result, play


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part that the engine ordered."""

    asset: str
    """Its key: in a made-up scenario the turn's id."""
    at: float
    """Session time of its first sample."""
    loop: bool = False


Heard = WireCommand | Part
"""What a link is told."""
Act = tuple[float, LinkEvent | None]
"""(session time, what the agent does); None: the call ends without a word."""
Agent = Callable[[Heard, float], Iterable[Act]]
"""What an agent does about what it is told at a session time; what it raises, telling it raises."""


def silent(heard: Heard, now: float) -> Iterable[Act]:
    """An agent that reacts to nothing."""
    return ()


def all_well(now: float) -> Sending:
    """Everything has left, and all of it has arrived."""
    track = Sent(track="", packets=1, left_until=now, arrived_until=now, reports_apart=1.0)
    return Sending(reported_at=now, tracks=tuple(replace(track, track=ours.id) for ours in OURS))


class MemoryLink:
    """A link to nobody. `told` and `parts` are what was ordered of it, with the session times."""

    negotiated: Mapping[str, Any] = {"link": "memory"}

    def __init__(
        self,
        clock: Clock,
        origin: float,
        *,
        agent: Agent = silent,
        sending: Callable[[float], Sending] = all_well,
    ) -> None:
        self.told: list[tuple[float, WireCommand]] = []
        self.parts: list[tuple[float, Part]] = []
        self._clock = clock
        self._origin = origin
        self._agent = agent
        self._sending = sending
        self._acts: list[tuple[float, int, LinkEvent | None]] = []
        self._order = itertools.count()
        self._more = asyncio.Event()

    def now(self) -> float:
        """Session time."""
        return self._clock.now() - self._origin

    def act(self, acts: Iterable[Act]) -> None:
        """The agent will do this, too."""
        for at, event in acts:
            heapq.heappush(self._acts, (at, next(self._order), event))
        self._more.set()

    @property
    async def events(self) -> AsyncIterator[tuple[float, LinkEvent]]:
        while True:
            self._more.clear()
            try:
                async with self._clock.until(self._origin + self._next_at()):
                    await self._more.wait()
                continue
            except TimeoutError:
                _, _, event = heapq.heappop(self._acts)
            if event is None:
                return
            yield self.now(), event
            if isinstance(event, Fault) and event.fatal:
                return

    def _next_at(self) -> float:
        return self._acts[0][0] if self._acts else float("inf")

    def send(self, command: WireCommand) -> str:
        self.told.append((self.now(), command))
        self.act(self._agent(command, self.now()))
        return f"m{len(self.told)}"

    def play(self, asset: Asset, at: float, *, loop: bool = False) -> None:
        part = Part(asset=asset.key, at=at, loop=loop)
        self.parts.append((self.now(), part))
        self.act(self._agent(part, self.now()))

    def health(self) -> Health:
        return Health(tracks=self._sending(self.now()).tracks)

    def sending(self) -> Sending:
        return self._sending(self.now())


@dataclass(frozen=True, slots=True, kw_only=True)
class Performance:
    """A session that was played in memory."""

    result: Result
    link: MemoryLink
    events: tuple[Stamped, ...]
    """What was recorded, read back."""


async def perform(
    prepared: Prepared,
    acts: Iterable[Act] = (),
    *,
    folder: Path,
    agent: Agent = silent,
    sending: Callable[[float], Sending] = all_well,
    conditions: Conditions | None = None,
    instructions: str = "Be brief.",
    cued: bool = False,
    stop_at: float | None = None,
    dialling: float | Exception = 0.0,
    clock: ManualClock | None = None,
) -> Performance:
    """Play `prepared` on a manual clock and record it in `folder`, which must not exist.

    `acts` happen at their times, `agent` reacts to what it is told; `sending` says what becomes of
    what is sent. `stop_at`: session time at which the user stops; `dialling`: how long it takes
    until the call stands, or why it never does. Raises AssertionError if the session waits for
    something that never comes.
    """
    clock, stop = clock or ManualClock(), asyncio.Event()
    link = MemoryLink(clock, clock.now(), agent=agent, sending=sending)
    link.act(acts)

    @asynccontextmanager
    async def connect(*, clock: Clock, origin: float, tap: Tap) -> AsyncIterator[MemoryLink]:
        if isinstance(dialling, Exception):
            raise dialling
        await clock.sleep(dialling)
        yield link

    written = folder.with_name(f"{folder.name}.yaml")
    written.write_text("version: 1\n", encoding="utf-8")
    scenario = replace(prepared.scenario, path=written)
    if stop_at is not None:
        clock.call_at(clock.now() + stop_at, stop.set)
    async with asyncio.TaskGroup() as group:
        playing = group.create_task(
            play(
                replace(prepared, scenario=scenario),
                connect,
                traits=Traits(summary="in memory", cued=cued),
                folder=folder,
                identity={"attempt": "memory"},
                conditions=conditions or Conditions(),
                instructions=instructions,
                clock=clock,
                stop=stop,
            )
        )
        while not playing.done():
            assert await clock.leap() or playing.done(), "the session waits for ever"
    return Performance(result=playing.result(), link=link, events=Recording.open(folder).events())
