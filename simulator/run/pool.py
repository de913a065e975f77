"""Carries out a plan: attempts side by side, agents opened once, every ending kept.

A failing attempt never stops the others. The first stop request ends what runs as `cancelled` with
its recording kept; cancelling the task ends everything at once. Counterparts: `simulator.run.plan`
says what to do, `simulator.session.engine.play` plays one attempt (given as `play`),
`simulator.run.accounting` keeps the books.
"""

from __future__ import annotations

import asyncio
import shutil
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from simulator.agent import Agent, Dial, Traits
from simulator.clock import WALL, Clock
from simulator.errors import (
    AgentError,
    InputError,
    InstrumentError,
    NetworkError,
    OmnistageError,
    innermost,
)
from simulator.media.timeline import Prepared
from simulator.protocol.conditions import Conditions
from simulator.protocol.events import Outcome
from simulator.run.accounting import AttemptResult, Ledger
from simulator.run.agents import OpenAgents, Stopped
from simulator.run.plan import LOGS, RECORDINGS, Attempt, Plan
from simulator.run.progress import Observer, Unwatched
from simulator.run.scene import Scenes
from simulator.text import well_formed

DISK_FLOOR = 64 * 1024 * 1024
"""Bytes that must be free for another attempt to begin: a recording is a few MB a minute."""


class Played(Protocol):
    """What playing an attempt gives back."""

    @property
    def outcome(self) -> Outcome: ...

    @property
    def reason(self) -> str: ...


class Play(Protocol):
    """How one attempt is played: `simulator.session.engine.play`, or a fake."""

    async def __call__(
        self,
        prepared: Prepared,
        target: Dial,
        /,
        *,
        traits: Traits,
        folder: Path,
        identity: Mapping[str, Any],
        conditions: Conditions,
        instructions: str,
        secrets: tuple[str, ...],
        observer: Observer,
        stop: asyncio.Event,
    ) -> Played:
        """Play `prepared` to the agent at `target` and record it in `folder`, which does not exist.

        `identity` goes into the manifest: attempt, agent (the reference), label, options (without
        secrets), repeat, shared_host. `instructions` is what the agent is told in words. Sets no
        outcome aside: an error is an outcome as well.
        """
        ...


async def run_plan(
    plan: Plan,
    scenes: Scenes,
    agents: Mapping[str, Agent],
    out: Path,
    *,
    play: Play,
    observer: Observer | None = None,
    stop: asyncio.Event | None = None,
    clock: Clock | None = None,
    secrets: tuple[str, ...] = (),
) -> list[AttemptResult]:
    """Carry out `plan` in the run folder `out` (made by `open_run`); results in the plan's order.

    `scenes` has what each attempt plays, `agents` go by label. Cancelling it ends at once; the
    attempts that ran are noted as cancelled before it returns.
    """
    stop = stop or asyncio.Event()
    with Ledger(out) as ledger:
        async with OpenAgents(agents, out / LOGS, secrets=secrets, stop=stop) as open_agents:
            pool = _Pool(
                plan=plan,
                scenes=scenes,
                agents=agents,
                out=out,
                play=play,
                observer=observer or Unwatched(),
                stop=stop,
                clock=clock or WALL,
                secrets=secrets,
                ledger=ledger,
                open_agents=open_agents,
            )
            return await pool.run()


class _Floor:
    """Who may run at one time: many that share, or one alone. First come, first served."""

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._queue: deque[object] = deque()
        self._running = 0
        self._alone = False

    @asynccontextmanager
    async def take(self, *, alone: bool) -> AsyncIterator[None]:
        ticket = object()
        async with self._changed:
            self._queue.append(ticket)
            try:
                await self._changed.wait_for(
                    lambda: (
                        self._queue[0] is ticket
                        and not self._alone
                        and (self._running == 0 or not alone)
                    )
                )
                self._running += 1
                self._alone = alone
            finally:
                self._queue.remove(ticket)
                self._changed.notify_all()
        try:
            yield
        finally:
            async with self._changed:
                self._running -= 1
                self._alone = False
                self._changed.notify_all()


class _Pool:
    """One run under way."""

    def __init__(
        self,
        *,
        plan: Plan,
        scenes: Scenes,
        agents: Mapping[str, Agent],
        out: Path,
        play: Play,
        observer: Observer,
        stop: asyncio.Event,
        clock: Clock,
        secrets: tuple[str, ...],
        ledger: Ledger,
        open_agents: OpenAgents,
    ) -> None:
        self._plan = plan
        self._scenes = scenes
        self._agents = agents
        self._out = out
        self._play = play
        self._observer = observer
        self._stop = stop
        self._clock = clock
        self._secrets = secrets
        self._ledger = ledger
        self._open_agents = open_agents
        self._floor = _Floor()
        self._waiting = deque(plan.attempts)
        self._results: dict[str, AttemptResult] = {}
        self._halt = ""
        """Why no further attempt begins (our own failure), if so."""

    async def run(self) -> list[AttemptResult]:
        async with asyncio.TaskGroup() as group:
            for number in range(min(self._plan.concurrency, len(self._plan.attempts))):
                group.create_task(self._work(), name=f"worker {number}")
        return [self._results[a.id] for a in self._plan.attempts]

    async def _work(self) -> None:
        while self._waiting:
            attempt = self._waiting.popleft()
            alone = self._plan.alone(attempt) and self._plan.concurrency > 1
            async with self._floor.take(alone=alone):
                why_not = self._why_not()
                if why_not:
                    self._end(
                        AttemptResult(attempt=attempt, outcome=Outcome.CANCELLED, reason=why_not),
                        begun=False,
                    )
                else:
                    await self._attempt(attempt)

    def _why_not(self) -> str:
        if self._halt:
            return f"not begun: {self._halt}"
        if self._stop.is_set():
            return "not begun: the run was stopped"
        free = shutil.disk_usage(self._out).free
        if free < DISK_FLOOR:
            self._halt = f"the disk is full ({free // 2**20} MB left)"
            return f"not begun: {self._halt}"
        return ""

    async def _attempt(self, attempt: Attempt) -> None:
        choice = self._plan.agent(attempt.agent)
        shared = choice.computes_here and self._plan.concurrency > 1 and self._plan.share_host
        began = self._clock.now()
        folder = self._out / RECORDINGS / attempt.id
        try:
            self._ledger.started(attempt)
        except InstrumentError as error:
            self._halt = error.message
        self._observer.attempt_started(
            attempt.id, attempt.scenario, attempt.agent, attempt.estimate_s
        )
        outcome, reason = Outcome.CANCELLED, "ended at once"
        try:
            outcome, reason = await self._one(attempt, folder, shared)
        finally:
            self._end(
                AttemptResult(
                    attempt=attempt,
                    outcome=outcome,
                    reason=reason,
                    folder=folder if folder.is_dir() else None,
                    seconds=self._clock.now() - began,
                    shared_host=shared,
                )
            )

    async def _one(self, attempt: Attempt, folder: Path, shared: bool) -> tuple[Outcome, str]:
        """Play one attempt; every error but a cancellation is an outcome."""
        agent = self._agents[attempt.agent]
        choice = self._plan.agent(attempt.agent)
        scene = self._scenes[attempt.scenario, attempt.conditions]
        try:
            async with self._open_agents.dial(attempt.agent) as dial:
                played = await self._play(
                    scene.prepared,
                    dial,
                    traits=agent.traits,
                    folder=folder,
                    identity={
                        "attempt": attempt.id,
                        "agent": choice.reference,
                        "label": choice.label,
                        "options": choice.shown_options(),
                        "repeat": attempt.repeat,
                        "shared_host": shared,
                    },
                    conditions=attempt.conditions,
                    instructions=scene.instructions,
                    secrets=(*self._secrets, *agent.secrets(), *_tokens(dial)),
                    observer=self._observer,
                    stop=self._stop,
                )
                outcome, reason = played.outcome, played.reason
        except Stopped:
            return Outcome.CANCELLED, "stopped while the agent was starting"
        except Exception as raised:  # noqa: BLE001 - a bug in one attempt must not end the others
            error = innermost(raised)
            if isinstance(error, OmnistageError):
                outcome, reason = outcome_of(error), str(error)
            else:
                outcome = Outcome.INSTRUMENT_INVALID
                reason = f"a bug of the simulator: {type(error).__name__}: {error}"
            if isinstance(error, InstrumentError):
                self._halt = error.message
        if outcome is Outcome.AGENT_FAILED:
            self._open_agents.doubt(attempt.agent)
        return outcome, well_formed(reason)

    def _end(self, result: AttemptResult, *, begun: bool = True) -> None:
        self._results[result.attempt.id] = result
        try:
            self._ledger.ended(result)
        except InstrumentError as error:
            self._halt = error.message
        if begun:
            self._observer.attempt_ended(result.attempt.id, str(result.outcome), result.reason)


def _tokens(dial: Dial) -> tuple[str, ...]:
    """The secrets in the headers, without the name of their scheme (`Bearer`)."""
    return tuple(v.split()[-1] for v in dial.headers.values() if v.strip())


def outcome_of(error: OmnistageError) -> Outcome:
    """The outcome of an attempt that ended with this error."""
    if isinstance(error, AgentError):
        return Outcome.AGENT_FAILED
    if isinstance(error, NetworkError):
        return Outcome.NETWORK_FAILED
    if isinstance(error, InputError):
        return Outcome.UNSUPPORTED
    return Outcome.INSTRUMENT_INVALID
