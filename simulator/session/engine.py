"""Plays one attempt: the only place of a session that awaits. One task group, one script.

The engine feeds the script (`simulator.session.script`) with what the agent does and with the time,
and carries out what it orders: parts go to the playlist, messages to the peer, records to the
recording. It knows no provider: `simulator.rtc` does the talking.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from simulator.agent import Dial, Traits
from simulator.clock import Clock, WallClock
from simulator.errors import (
    AgentError,
    InputError,
    InstrumentError,
    NetworkError,
    OmnistageError,
    innermost,
)
from simulator.media.packets import PacketFile
from simulator.media.timeline import Prepared
from simulator.protocol.conditions import Conditions
from simulator.protocol.events import (
    AgentSpeech,
    Cancel,
    Cancelled,
    Command,
    Commit,
    Configure,
    Cue,
    Event,
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
from simulator.recording.manifest import describe
from simulator.recording.records import CommandRecord, FaultRecord, Record, SessionRecord
from simulator.recording.writer import RecordingWriter
from simulator.rtc.peer import Peer
from simulator.rtc.peer import dial as call
from simulator.rtc.playlist import Playlist
from simulator.session.due_records import DueRecords, record_of
from simulator.session.script import Script

DRAIN = 0.25
"""Seconds that a completed session stays up, so that the last packets and messages arrive."""
PACING_LIMIT_MS = 10.0
"""A session whose send-time error p99 is over this has not been played as written."""
HELD_WORTH_SAYING = 0.01
"""Share of a call in which the core was held back from which that may be what was wrong."""


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
    dial: Dial,
    *,
    traits: Traits,
    folder: Path,
    identity: Mapping[str, Any],
    conditions: Conditions,
    instructions: str,
    secrets: Sequence[str] = (),
    observer: Watcher | None = None,
    stop: asyncio.Event | None = None,
    clock: Clock | None = None,
) -> Result:
    """Play `prepared` to the agent at `dial` and record it in `folder`, which must not exist.

    `identity` says which attempt of which run this is (attempt, agent, options, repeat,
    shared_host...) and goes into the manifest; `conditions` are what the run imposes, of which
    `prepared` is made as well; `instructions` is what the agent is told in words. What goes wrong
    with the agent, the path or the instrument is an outcome and does not raise. Setting `stop` ends
    it as cancelled. Raises InputError if the folder exists.
    """
    manifest = describe(
        prepared,
        reference=str(identity.get("agent", "")),
        traits=traits,
        dialect=dial.dialect,
        agent_options=identity.get("options") or {},
        options={
            "decide": conditions.decide.value,
            "commit": conditions.decide.commits,
            "prompt": conditions.prompt,
            "shared_host": bool(identity.get("shared_host", False)),
        },
        attempt={k: v for k, v in identity.items() if k != "options"},
    )
    hidden = (*secrets, *dial.headers.values())
    finish = Finish(outcome=Outcome.INSTRUMENT_INVALID)
    try:
        with RecordingWriter(
            folder, manifest, secrets=hidden, scenario=prepared.scenario.path
        ) as recording:
            attempt = _Attempt(
                prepared,
                cued=traits.cued,
                recording=recording,
                watcher=observer,
                attempt_id=str(identity.get("attempt", "")),
                clock=clock or WallClock(),
                conditions=conditions,
                instructions=instructions,
            )
            finish = await attempt.run(dial, stop or asyncio.Event())
    except* InstrumentError as group:
        # The disk or the schedule: what was written stays, and the attempt cannot be trusted.
        finish = Finish(outcome=Outcome.INSTRUMENT_INVALID, reason=str(innermost(group)))
    return Result(outcome=finish.outcome, reason=finish.reason, folder=folder)


def late(p99_ms: float, held: float) -> str | None:
    """What is wrong with a session that sent with this error, the core held back for a share `held`
    of it; None: nothing."""
    if p99_ms <= PACING_LIMIT_MS:
        return None
    reason = f"pacing: send-time error p99 {p99_ms:.1f} ms is over {PACING_LIMIT_MS:g} ms"
    if held > HELD_WORTH_SAYING:
        reason += f"; for {held:.0%} of the time this core ran at half its usual speed or less"
    return reason


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
        self._playlist = Playlist(clock, self._origin)
        self._due_records = DueRecords(prepared)
        self._script = Script(prepared, instructions=instructions, decide=conditions.decide)
        self._parts = [
            (PacketFile.open(t.segment.path), PacketFile.open(t.hold.path)) for t in prepared.turns
        ]
        self._inbox: asyncio.Queue[Event] = asyncio.Queue(maxsize=256)
        self._wake: float | None = None
        self._audible = False
        self._commands = 0
        self._finish: Finish | None = None
        self._connected = False

    def now(self) -> float:
        """Session time."""
        return self._clock.now() - self._origin

    async def run(self, target: Dial, stop: asyncio.Event) -> Finish:
        """Dial, play, hang up; every ending is a Finish. `stop` counts while dialling as well."""
        self._write(SessionRecord(state="dialling"))
        async with asyncio.TaskGroup() as group:
            call = group.create_task(self._call(target, stop), name="call")
            halt = group.create_task(self._halt(stop, call), name="halt")
            await asyncio.wait([call])
            halt.cancel()
        if call.cancelled():
            finish = Finish(outcome=Outcome.CANCELLED, reason="cancelled while dialling")
        else:
            finish = call.result()
        now = self.now()
        self._due_records.end(now)
        self._write_due(now)
        self._write(
            SessionRecord(state="ended", outcome=finish.outcome.value, reason=finish.reason)
        )
        return finish

    async def _call(self, target: Dial, stop: asyncio.Event) -> Finish:
        failure: BaseException
        try:
            async with call(
                target,
                clock=self._clock,
                origin=self._origin,
                playlist=self._playlist,
                tap=self._recording,
                video=self._prepared.codec,
            ) as peer:
                self._write(SessionRecord(state="connected", negotiated=dict(peer.negotiated)))
                self._connected = True
                return await self._session(peer, stop)
        except* (AgentError, NetworkError, InputError) as group:
            # The session's task group wraps what is raised in it.
            failure = innermost(group)
        if isinstance(failure, AgentError):
            return self._failed(Whose.AGENT, failure, Outcome.AGENT_FAILED)
        if isinstance(failure, NetworkError):
            return self._failed(Whose.NETWORK, failure, Outcome.NETWORK_FAILED)
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

    async def _session(self, peer: Peer, stop: asyncio.Event) -> Finish:
        async with asyncio.TaskGroup() as group:
            around = [
                group.create_task(self._listen(peer), name="listen"),
                group.create_task(self._report_health(peer), name="health"),
                group.create_task(self._await_stop(stop), name="stop"),
            ]
            finish = await self._direct(peer)
            if finish.outcome is Outcome.COMPLETED:
                await self._clock.sleep_until(self._clock.now() + DRAIN)
            for task in around:
                task.cancel()
        self._write(peer.health())
        fault = late(peer.send_p99_ms(), peer.held_s() / max(self.now(), 1e-3))
        if finish.outcome is Outcome.COMPLETED and fault is not None:
            return Finish(outcome=Outcome.INSTRUMENT_INVALID, reason=fault)
        return finish

    async def _listen(self, peer: Peer) -> None:
        async for _, event in peer.events:
            await self._inbox.put(event)

    async def _report_health(self, peer: Peer) -> None:
        while True:
            await self._clock.sleep_until(self._clock.now() + 1.0)
            self._write(peer.health())

    async def _await_stop(self, stop: asyncio.Event) -> None:
        await stop.wait()
        await self._inbox.put(Cancelled())

    async def _direct(self, peer: Peer) -> Finish:
        """Feed the script with events and time until it says how it ended."""
        await self._obey(self._script.start(self.now()), peer)
        while self._finish is None:
            times = [t for t in (self._wake, self._due_records.next_at) if t is not None]
            event: Event | None = None
            try:
                async with asyncio.timeout(max(min(times, default=1.0) - self.now(), 0.0)):
                    event = await self._inbox.get()
            except TimeoutError:
                pass
            now = self.now()
            self._write_due(now)
            if event is not None:
                self._note(event)
                await self._obey(self._script.handle(event, now), peer)
            if self._wake is not None and self._wake <= now:
                self._wake = None
                await self._obey(self._script.handle(Wake(), now), peer)
        return self._finish

    def _note(self, event: Event) -> None:
        if isinstance(event, AgentSpeech):
            self._audible = event.edge == "start"
        record = record_of(event)
        if record is not None:
            self._write(record)

    async def _obey(self, commands: Sequence[Command], peer: Peer) -> None:
        for command in commands:
            match command:
                case WakeAt():
                    self._wake = command.at
                case Configure() | Commit() | Respond() | Cancel():
                    self._write_command(type(command).__name__.lower(), asdict(command))
                    await peer.send(command)
                case Cue():
                    if self._cued:
                        await peer.send(command)
                case Play():
                    self._playlist.play(self._parts[command.turn][0], command.at)
                    if self._script.play_at == command.at:
                        self._due_records.note(
                            command.at, SessionRecord(state="playing", play_at=command.at)
                        )
                    self._due_records.ordered(command)
                case Hold():
                    self._playlist.play(self._parts[command.turn][1], command.at, loop=True)
                    self._due_records.ordered(command)
                case TurnChanged():
                    self._due_records.ordered(command)
                    self._tell(command)
                case Finish():
                    self._finish = command

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

    def _write_command(self, name: str, args: Mapping[str, Any]) -> None:
        self._commands += 1
        self._write(CommandRecord(id=f"c{self._commands}", name=name, args=args))

    def _write_due(self, now: float) -> None:
        for turn, record in self._due_records.due(now, agent_audible=self._audible):
            self._recording.write(now, turn, record)
