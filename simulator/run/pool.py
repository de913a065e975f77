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
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
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
from simulator.measuring.stored import load_trace
from simulator.media.timeline import Prepared
from simulator.protocol.conditions import Conditions
from simulator.protocol.events import Outcome
from simulator.recording.redact import Redactor
from simulator.run.accounting import AttemptResult, Ledger, read_attempts
from simulator.run.agents import OpenAgents, Stopped
from simulator.run.plan import LOGS, RECORDINGS, Attempt, Plan
from simulator.run.progress import Observer, Unwatched
from simulator.run.scene import Scenes
from simulator.run.tries import next_try, wait_asked
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

    `scenes` has what each attempt plays, `agents` go by label. What failed is played again after
    all others, as far as the plan has retries; where the folder holds some of it already, the rest
    is played. Cancelling it ends at once; the attempts that ran are noted as cancelled before it
    returns.
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
            await pool.run()
    return list(read_attempts(out, plan))


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
        self._waiting: deque[tuple[Attempt, int]] = deque()
        """The tries of this round that are still to be played."""
        self._halt = ""
        """Why no further attempt begins (our own failure), if so."""

    async def run(self) -> None:
        """Play in rounds: first each attempt, then again each that failed and may be retried."""
        owed = await self._owed()
        while owed:
            await self._hold_back(before.reason for before, _ in owed)
            self._waiting.extend((before.attempt, number) for before, number in owed)
            async with asyncio.TaskGroup() as group:
                for number in range(min(self._plan.concurrency, len(owed))):
                    group.create_task(self._work(), name=f"worker {number}")
            owed = await self._owed()
            if self._halt or self._stop.is_set():
                return

    async def _owed(self) -> list[tuple[AttemptResult, int]]:
        """The tries that are to be played now, each with the one before it.

        What an attempt came to is measured here, when nothing plays: decoding beside a session
        would take the processor from its sender.
        """
        for result in read_attempts(self._out, self._plan):
            await self._measure(result.tries[-1])
        results = read_attempts(self._out, self._plan)
        tries = ((r.tries[-1], next_try(r, self._plan.retries)) for r in results)
        return [(last, number) for last, number in tries if number is not None]

    async def _work(self) -> None:
        while self._waiting:
            attempt, number = self._waiting.popleft()
            alone = self._plan.alone(attempt) and self._plan.concurrency > 1
            async with self._floor.take(alone=alone):
                why_not = self._why_not()
                if not why_not:
                    await self._attempt(attempt, number)
                elif number == 1:
                    self._end(
                        AttemptResult(attempt=attempt, outcome=Outcome.CANCELLED, reason=why_not),
                        begun=False,
                    )

    async def _hold_back(self, reasons: Iterable[str]) -> None:
        """Wait before a round for as long as the providers that failed in the last one want, or
        until the user stops the run."""
        seconds = max(map(wait_asked, reasons))
        if seconds:
            self._observer.waiting(seconds, "a provider asked for it")
            with suppress(TimeoutError):
                async with self._clock.within(seconds):
                    await self._stop.wait()

    async def _measure(self, result: AttemptResult) -> None:
        """What its recording shows counts, whatever the session believed of itself."""
        if result.outcome is not Outcome.COMPLETED or result.folder is None:
            return
        scene = self._scenes[result.attempt.scenario, result.attempt.conditions]
        try:
            trace = await asyncio.to_thread(load_trace, result.folder, scene.prepared.scenario)
        except (OmnistageError, OSError):
            return  # judging says it
        if trace.outcome != Outcome.COMPLETED:
            shown = replace(result, outcome=Outcome(trace.outcome), reason=trace.reason)
            self._write(lambda: self._ledger.measured(shown))
            self._observer.attempt_measured(shown.name, str(shown.outcome), shown.reason)

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

    async def _attempt(self, attempt: Attempt, number: int) -> None:
        choice = self._plan.agent(attempt.agent)
        shared = choice.computes_here and self._plan.concurrency > 1 and self._plan.share_host
        began = self._clock.now()
        name = attempt.named(number)
        folder = self._out / RECORDINGS / name
        self._write(lambda: self._ledger.started(attempt, number))
        self._observer.attempt_started(name, attempt.scenario, attempt.agent, attempt.estimate_s)
        outcome, reason = Outcome.CANCELLED, "ended at once"
        try:
            outcome, reason = await self._one(attempt, number, folder, shared)
        finally:
            self._end(
                AttemptResult(
                    attempt=attempt,
                    number=number,
                    outcome=outcome,
                    reason=reason,
                    folder=folder if folder.is_dir() else None,
                    seconds=self._clock.now() - began,
                    shared_host=shared,
                )
            )

    async def _one(
        self, attempt: Attempt, number: int, folder: Path, shared: bool
    ) -> tuple[Outcome, str]:
        """Play one attempt; every error but a cancellation is an outcome."""
        agent = self._agents[attempt.agent]
        choice = self._plan.agent(attempt.agent)
        scene = self._scenes[attempt.scenario, attempt.conditions]
        secrets = self._secrets
        try:
            secrets = (*secrets, *agent.secrets())
            async with self._open_agents.dial(attempt.agent) as dial:
                secrets = (*secrets, *_tokens(dial))
                played = await self._play(
                    scene.prepared,
                    dial,
                    traits=agent.traits,
                    folder=folder,
                    identity={
                        "attempt": attempt.named(number),
                        "agent": choice.reference,
                        "label": choice.label,
                        "options": choice.shown_options(),
                        "repeat": attempt.repeat,
                        "try": number,
                        "shared_host": shared,
                    },
                    conditions=attempt.conditions,
                    instructions=scene.instructions,
                    secrets=secrets,
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
        # It may quote the agent, which was told the secrets.
        return outcome, Redactor(secrets).text(well_formed(reason))

    def _end(self, result: AttemptResult, *, begun: bool = True) -> None:
        self._write(lambda: self._ledger.ended(result))
        if begun:
            self._observer.attempt_ended(result.name, str(result.outcome), result.reason)

    def _write(self, line: Callable[[], None]) -> None:
        """Write into the ledger; if it cannot be written, nothing further begins."""
        try:
            line()
        except InstrumentError as error:
            self._halt = error.message


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
