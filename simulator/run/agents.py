"""Keeps the agents of a run open: each is started once and shared by its attempts.

An agent whose attempt failed may have died, so it is closed and opened again before its next one
(unless it has a method `alive()` that says otherwise). Every open agent has a task of its own that
enters and leaves its context, whatever attempt asked first. Counterpart: `simulator.run.pool`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from simulator.agent import Agent, Dial, Launch
from simulator.clock import WALL
from simulator.errors import AgentError, OmnistageError
from simulator.rtc.dialects import found
from simulator.run.plan import log_name

READY_WITHIN = 120.0
"""Seconds in which an agent has to say where to dial."""
CLOSED_WITHIN = 20.0
"""Seconds that closing an agent may take."""


class Stopped(Exception):
    """The user stopped the run while an agent was starting."""


@dataclass(slots=True)
class _Opened:
    """One open agent."""

    ready: asyncio.Future[Dial]
    closing: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    users: int = 0
    suspect: bool = False
    """Its last attempt failed: it may be dead."""


class OpenAgents:
    """The agents of a run. A context manager: on exit all are closed."""

    def __init__(
        self,
        agents: Mapping[str, Agent],
        logs: Path,
        *,
        secrets: tuple[str, ...] = (),
        stop: asyncio.Event,
    ) -> None:
        self._agents = agents
        self._logs = logs
        self._secrets = secrets
        self._stop = stop
        self._opened: dict[str, _Opened] = {}
        self._free = asyncio.Condition()
        self._group = asyncio.TaskGroup()

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for label in tuple(self._opened):
            self._close(label)
        await self._group.__aexit__(kind, error, trace)

    @asynccontextmanager
    async def dial(self, label: str) -> AsyncIterator[Dial]:
        """Where to dial this agent, which stays open at least that long.

        Raises what the agent raises when it cannot be opened (OmnistageError), and Stopped.
        """
        opened = await self._take(label)
        try:
            yield await self._ready(opened)
        finally:
            async with self._free:
                opened.users -= 1
                self._free.notify_all()

    def doubt(self, label: str) -> None:
        """An attempt with this agent failed: open it anew before the next one."""
        opened = self._opened.get(label)
        alive = getattr(self._agents[label], "alive", None)
        if opened is not None and not (callable(alive) and alive()):
            opened.suspect = True

    async def _take(self, label: str) -> _Opened:
        async with self._free:
            while (opened := self._opened.get(label)) is not None and opened.suspect:
                if opened.users == 0:
                    task = opened.task
                    self._close(label)
                    if task is not None:
                        await asyncio.wait([task])
                else:
                    await self._free.wait()
            if opened is None:
                opened = _Opened(ready=asyncio.get_running_loop().create_future())
                opened.task = self._group.create_task(
                    self._keep(label, opened), name=f"agent {label}"
                )
                self._opened[label] = opened
            opened.users += 1
            return opened

    async def _ready(self, opened: _Opened) -> Dial:
        """Wait until it is open, but no longer than the user wants."""
        if not opened.ready.done():
            stopping = self._group.create_task(self._stop.wait())
            waits: list[asyncio.Future[Any]] = [opened.ready, stopping]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                stopping.cancel()
            if not opened.ready.done():
                opened.suspect = True
                raise Stopped
        try:
            return await asyncio.shield(opened.ready)
        except OmnistageError:
            opened.suspect = True
            raise

    async def _keep(self, label: str, opened: _Opened) -> None:
        """The life of one open agent, in one task."""
        log = self._logs / log_name(label)
        launch = Launch(log=log, secrets=self._secrets)
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            opening = self._agents[label].open(launch)
            if not isinstance(opening, AbstractAsyncContextManager):
                raise AgentError(
                    f"agent {label}: its `open` gives {type(opening).__name__}, no asynchronous "
                    "context manager",
                    hint="write @contextlib.asynccontextmanager above `async def open`",
                )
            async with WALL.within(READY_WITHIN) as limit, opening as dial:
                limit.move(None)
                if not isinstance(dial, Dial):
                    raise AgentError(
                        f"agent {label}: its `open` yielded {type(dial).__name__}, not a Dial",
                        hint="yield Dial(url=...) from simulator.agent",
                    )
                opened.ready.set_result(found(dial, self._agents[label]))
                await opened.closing.wait()
                limit.move(WALL.now() + CLOSED_WITHIN)
        except TimeoutError as error:
            why = str(error) or f"was not ready within {READY_WITHIN:g} s"
            _fail(opened, AgentError(f"agent {label}: {why}", hint=f"what it printed is in {log}"))
        except OmnistageError as error:
            _fail(opened, error)
        except RuntimeError as error:
            what = "its `open` ended without a yield"
            said = what if str(error) == "generator didn't yield" else f"RuntimeError: {error}"
            _fail(opened, AgentError(f"agent {label}: {said}"))
        except Exception as error:  # noqa: BLE001 - a plug-in is other people's code: its bug is the agent's fault
            _fail(opened, AgentError(f"agent {label}: {type(error).__name__}: {error}"))

    def _close(self, label: str) -> None:
        opened = self._opened.pop(label)
        opened.closing.set()
        if opened.task is not None and not opened.ready.done():
            opened.task.cancel()


def _fail(opened: _Opened, error: OmnistageError) -> None:
    """Tell whoever waits for it; an error while closing has nobody left to tell."""
    if not opened.ready.done():
        opened.ready.set_exception(error)
        opened.ready.exception()  # noted here: an attempt may have stopped waiting
