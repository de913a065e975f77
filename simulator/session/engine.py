"""Plays one attempt: the only place of a session that awaits. One task group, one script.

The engine feeds the script (`simulator.session.script`) with what the agent does and with the time,
and carries out what it orders: parts and messages go to the link, records to the recording. It
knows no wire and no provider: a `simulator.session.link.Connect` does the talking.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Protocol, assert_never

from simulator.agent import Traits
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
from simulator.protocol.events import (
    OUTCOMES,
    AgentSpeech,
    Cancel,
    Cancelled,
    Command,
    Commit,
    Configure,
    Cue,
    Event,
    Fault,
    Finish,
    Hold,
    Outcome,
    Play,
    Respond,
    TurnChanged,
    TurnState,
    Wake,
    WakeAt,
    Whose,
)
from simulator.protocol.soundness import incomplete, late, stopped
from simulator.recording.manifest import describe
from simulator.recording.records import (
    CommandRecord,
    FaultRecord,
    HealthRecord,
    Record,
    SessionRecord,
)
from simulator.recording.writer import RecordingWriter
from simulator.session.due_records import DueRecords, record_of
from simulator.session.link import Connect, Link
from simulator.session.script import Script

DRAIN = 0.25
"""Seconds that a completed session stays up, so that the last packets and messages arrive."""
HEALTH_EVERY = 1.0
"""Seconds between records of health."""
BACKWARDS = 1e-3
"""Seconds by which a clock may seem to go back before nothing is believed of it."""


class Watcher(Protocol):
    """Hears of turns as they happen; see `simulator.run.progress`."""

    def turn_changed(
        self, attempt_id: str, turn_id: str, state: str, elapsed: float, total: float
    ) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """How an attempt ended."""

    outcome: Outcome
    reason: str
    folder: Path


async def play(
    prepared: Prepared,
    connect: Connect,
    *,
    traits: Traits,
    folder: Path,
    identity: Mapping[str, Any],
    conditions: Conditions,
    instructions: str,
    dialect: str = "",
    secrets: Sequence[str] = (),
    observer: Watcher | None = None,
    stop: asyncio.Event | None = None,
    clock: Clock | None = None,
) -> Result:
    """Play `prepared` to whom `connect` calls and record it in `folder`, which must not exist.

    `identity` says which attempt of which run this is (attempt, agent, options, repeat,
    shared_host...) and goes into the manifest, as does `dialect`; `conditions` are what the run
    imposes, of which `prepared` is made as well; `instructions` is what the agent is told in words;
    `secrets` reach no file. What goes wrong with the agent, the path or the instrument is an
    outcome and does not raise. Setting `stop` ends it as cancelled. Raises InputError if the folder
    exists.
    """
    manifest = describe(
        prepared,
        reference=str(identity.get("agent", "")),
        traits=traits,
        dialect=dialect,
        agent_options=identity.get("options") or {},
        conditions=conditions,
        shared_host=bool(identity.get("shared_host", False)),
        attempt={k: v for k, v in identity.items() if k not in ("options", "shared_host")},
    )
    finish = Finish(outcome=Outcome.INSTRUMENT_INVALID)
    try:
        with RecordingWriter(
            folder, manifest, secrets=secrets, scenario=prepared.scenario.path
        ) as recording:
            attempt = _Attempt(
                prepared,
                cued=traits.cued,
                recording=recording,
                watcher=observer,
                attempt_id=str(identity.get("attempt", "")),
                clock=clock or WALL,
                conditions=conditions,
                instructions=instructions,
            )
            finish = await attempt.run(connect, stop or asyncio.Event())
    except* InstrumentError as group:
        # The disk or the schedule: what was written stays, and the attempt cannot be trusted.
        finish = Finish(outcome=Outcome.INSTRUMENT_INVALID, reason=str(innermost(group)))
    return Result(outcome=finish.outcome, reason=finish.reason, folder=folder)


class _Attempt:
    """One attempt under way."""

    def __init__(
        self,
        prepared: Prepared,
        *,
        cued: bool,
        recording: RecordingWriter,
        watcher: Watcher | None,
        attempt_id: str,
        clock: Clock,
        conditions: Conditions,
        instructions: str,
    ) -> None:
        self._prepared = prepared
        self._conditions = conditions
        self._cued = cued
        self._recording = recording
        self._watcher = watcher
        self._id = attempt_id
        self._clock = clock
        self._origin = clock.now()
        self._due_records = DueRecords(prepared)
        self._script = Script(prepared, instructions=instructions, decide=conditions.decide)
        self._inbox: asyncio.Queue[Event] = asyncio.Queue(maxsize=256)
        self._wake: float | None = None
        self._audible = False
        self._commands = 0
        self._finish: Finish | None = None
        self._connected = False
        self._last = 0.0
        """The time at which we looked last."""

    def now(self) -> float:
        """Session time."""
        return self._clock.now() - self._origin

    async def run(self, connect: Connect, stop: asyncio.Event) -> Finish:
        """Dial, play, hang up; every ending is a Finish. `stop` counts while dialling as well."""
        self._write(SessionRecord(state="dialling"))
        async with asyncio.TaskGroup() as group:
            call = group.create_task(self._call(connect, stop), name="call")
            halt = group.create_task(self._halt(stop, call), name="halt")
            await asyncio.wait([call])
            halt.cancel()
        if call.cancelled():
            finish = Finish(outcome=Outcome.CANCELLED, reason="cancelled while dialling")
        else:
            finish = call.result()
        self._end()
        self._write(
            SessionRecord(state="ended", outcome=finish.outcome.value, reason=finish.reason)
        )
        return finish

    def _end(self) -> None:
        """The stream ends here, unless it has before."""
        now = self.now()
        self._due_records.end(now)
        self._write_due(now)

    async def _call(self, connect: Connect, stop: asyncio.Event) -> Finish:
        failure: BaseException
        try:
            async with connect(clock=self._clock, origin=self._origin, tap=self._recording) as link:
                self._write(SessionRecord(state="connected", negotiated=dict(link.negotiated)))
                self._connected = True
                return await self._session(link, stop)
        except* (AgentError, NetworkError, InputError, InstrumentError) as group:
            # The session's task group wraps what is raised in it.
            failure = innermost(group)
        match failure:
            case AgentError():
                return self._failed(Whose.AGENT, failure, Outcome.AGENT_FAILED)
            case NetworkError():
                return self._failed(Whose.NETWORK, failure, Outcome.NETWORK_FAILED)
            case InstrumentError():
                return self._failed(Whose.INSTRUMENT, failure, Outcome.INSTRUMENT_INVALID)
            case _:
                assert isinstance(failure, InputError)
                return self._failed(Whose.USER, failure, Outcome.UNSUPPORTED)

    async def _halt(self, stop: asyncio.Event, call: asyncio.Task[Finish]) -> None:
        await stop.wait()
        if not self._connected:
            call.cancel()

    def _failed(self, whose: Whose, error: OmnistageError, outcome: Outcome) -> Finish:
        self._write(FaultRecord(whose=whose.value, code="call", message=error.message, fatal=True))
        return Finish(outcome=outcome, reason=str(error))

    # ------------------------------------------------------------ while the call stands

    async def _session(self, link: Link, stop: asyncio.Event) -> Finish:
        async with asyncio.TaskGroup() as group:
            around = [
                group.create_task(self._listen(link), name="listen"),
                group.create_task(self._watch_health(link), name="health"),
                group.create_task(self._await_stop(stop), name="stop"),
            ]
            finish = await self._direct(link)
            if finish.outcome is Outcome.COMPLETED:
                await self._clock.sleep(DRAIN)
            for task in around:
                task.cancel()
        # What is sent while we hang up is no part of the session.
        self._end()
        self._write_health(link)
        self._recording.check()
        return self._believed(finish, link) if finish.outcome is Outcome.COMPLETED else finish

    def _believed(self, finish: Finish, link: Link) -> Finish:
        """How it ended, once it is known whether everything was sent as ordered and came through:
        what was not played was not answered either."""
        sending, now = link.sending(), self.now()
        fault = incomplete(sending, now)
        if fault is not None:
            self._note(fault)
            return Finish(outcome=OUTCOMES[fault.whose], reason=f"{fault.code}: {fault.message}")
        reason = late(sending.p99_ms, sending.held_s / max(now, 1e-3))
        if reason is not None:
            return Finish(outcome=Outcome.INSTRUMENT_INVALID, reason=reason)
        return finish

    async def _listen(self, link: Link) -> None:
        async for _, event in link.events:
            await self._inbox.put(event)
        # After a fault, or when we hang up, this is heard by nobody.
        message = "the call ended without a word"
        await self._inbox.put(
            Fault(whose=Whose.INSTRUMENT, code="link", message=message, fatal=True)
        )

    async def _watch_health(self, link: Link) -> None:
        while True:
            await self._clock.sleep(HEALTH_EVERY)
            self._write_health(link)
            fault = stopped(link.sending(), self._look())
            if fault is not None:
                await self._inbox.put(fault)
                return

    async def _await_stop(self, stop: asyncio.Event) -> None:
        await stop.wait()
        await self._inbox.put(Cancelled())

    async def _direct(self, link: Link) -> Finish:
        """Feed the script with events and time until it says how it ended."""
        self._obey(self._script.start(self._look()), link)
        while self._finish is None:
            times = [t for t in (self._wake, self._due_records.next_at) if t is not None]
            soonest = min(times, default=math.inf)
            event: Event | None = None
            try:
                async with self._clock.until(self._origin + soonest):
                    event = await self._inbox.get()
                now = self._look()
            except TimeoutError:
                # It has come, whatever the last digit of a sum of floats says.
                now = max(self._look(), soonest)
            self._write_due(now)
            if event is not None:
                self._note(event)
                self._obey(self._script.handle(event, now), link)
            if self._wake is not None and self._wake <= now:
                self._wake = None
                self._obey(self._script.handle(Wake(), now), link)
        return self._finish

    def _look(self) -> float:
        """Session time, from a clock that only goes on. Raises InstrumentError."""
        before, self._last = self._last, self.now()
        if self._last < before - BACKWARDS:
            raise InstrumentError(f"the clock went back by {before - self._last:.3f} s")
        return self._last

    def _note(self, event: Event) -> None:
        if isinstance(event, AgentSpeech):
            self._audible = event.edge == "start"
        record = record_of(event)
        if record is not None:
            self._write(record)

    def _obey(self, commands: Sequence[Command], link: Link) -> None:
        for command in commands:
            match command:
                case WakeAt():
                    self._wake = command.at
                case Configure() | Commit() | Respond() | Cancel():
                    self._write_command(type(command).__name__.lower(), asdict(command))
                    link.send(command)
                case Cue():
                    if self._cued:
                        link.send(command)
                case Play():
                    link.play(self._prepared.turns[command.turn].segment, command.at)
                    if self._script.play_at == command.at:
                        self._due_records.note(
                            command.at, SessionRecord(state="playing", play_at=command.at)
                        )
                    self._due_records.ordered(command)
                case Hold():
                    link.play(self._prepared.turns[command.turn].hold, command.at, loop=True)
                    self._due_records.ordered(command)
                case TurnChanged():
                    self._due_records.ordered(command)
                    self._tell(command)
                case Finish():
                    self._finish = command
                case _:
                    assert_never(command)

    def _tell(self, change: TurnChanged) -> None:
        if self._watcher is None:
            return
        turn = self._prepared.turns[change.turn]
        left = self._prepared.duration - turn.stream_start
        if change.state is not TurnState.PLAYING:
            left -= turn.duration
        self._watcher.turn_changed(
            self._id, turn.turn.id, change.state.value, change.at, change.at + left
        )

    # ------------------------------------------------------------ writing down

    def _write(self, record: Record) -> None:
        self._recording.write(self.now(), self._due_records.playing, record)

    def _write_health(self, link: Link) -> None:
        health = link.health()
        self._write(HealthRecord(**{f.name: getattr(health, f.name) for f in fields(health)}))

    def _write_command(self, name: str, args: Mapping[str, Any]) -> None:
        self._commands += 1
        self._write(CommandRecord(id=f"c{self._commands}", name=name, args=args))

    def _write_due(self, now: float) -> None:
        for turn, record in self._due_records.due(now, agent_audible=self._audible):
            self._recording.write(now, turn, record)
