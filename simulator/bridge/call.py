"""One call as an agent sees it: iterate over it for what happens, speak and write through it.

    class Echo:
        async def call(self, call: Call) -> None:
            await call.start()
            async for event in call:
                match event:
                    case SpeechEnded():
                        await call.say("I heard you.")

Counterparts: `simulator.bridge.host` makes one for each caller and runs the responder's `call` on
it; `simulator.bridge.wire` keeps the protocol in order beneath.
"""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from simulator.bridge.babble import babble
from simulator.bridge.events import (
    CallEvent,
    Committed,
    Configured,
    ResponseAsked,
    ResponseCancelled,
    SpeechEnded,
    SpeechStarted,
)
from simulator.bridge.settings import decides, unserved
from simulator.bridge.wire import Clear, ResponseWire, Status, Wire
from simulator.protocol.samples import MonoInt16

if TYPE_CHECKING:
    from simulator.bridge.hearing import Hearing
    from simulator.bridge.seeing import Seeing
    from simulator.bridge.speaking import Speaking, Utterance
    from simulator.bridge.vad import Edge
    from simulator.clock import Clock

EVENTS = 1_000
"""Events that wait for the agent; beyond it the caller is told that it is too fast."""
EARLY = 100
"""Messages kept that come before the agent has started."""
TOLD = 50
"""Settings that the log of a call names, as such that change nothing."""
LEAD = 0.06
"""Seconds before its sound at which a prepared reply is announced on the wire."""


class Responder(Protocol):
    """What answers calls: an object whose `call` runs once for each caller, all at the same time.

    The call ends when it returns; it is cancelled when the caller has gone.
    """

    async def call(self, call: Call) -> None: ...


class Call:
    """A call. Times are local monotonic seconds, those of `call.clock`."""

    def __init__(
        self,
        call_id: str,
        *,
        clock: Clock,
        hearing: Hearing,
        seeing: Seeing,
        speaking: Speaking,
        send: Callable[[str], None],
        spawn: Callable[[Coroutine[Any, Any, None]], object],
        settings: Mapping[str, Any],
    ) -> None:
        self.id = call_id
        self.clock = clock
        self.hearing = hearing
        """What the caller says: decoded, with times."""
        self.seeing = seeing
        """What the caller shows: frames, for whoever asks."""
        self.speaking = speaking
        """Our voice."""
        self.ended = asyncio.Event()
        """Set when the caller has gone."""
        self.dropped = 0
        """Events that the agent was too slow for."""
        self._settings = settings
        """Those that came with the offer."""
        self._told: set[str] = set()
        """Settings of which the log says that they change nothing."""
        self._wire = Wire(call_id, settings, send)
        self._spawn = spawn
        self._open = asyncio.Event()
        self._started = False
        self._early: list[str | bytes] = []
        self._events: asyncio.Queue[CallEvent] = asyncio.Queue(maxsize=EVENTS)
        self._item = ""
        self._speech_start = 0.0
        self._active: Reply | None = None
        self._asked: Mapping[str, Any] | None = None
        """The metadata of a response that was asked for and has not begun."""

    # ------------------------------------------------------------ the agent's side

    @property
    def session(self) -> Mapping[str, Any]:
        """The session's settings as the caller has set them (instructions, modalities...)."""
        return self._wire.session

    @property
    def asked_only(self) -> bool:
        """The caller asks (`ResponseAsked`) whenever it wants a response, and nothing else is to be
        answered: it has turned our turn detection off, and no speech is reported, or told it to
        create no responses."""
        return not decides(self._wire.session)[1]

    @property
    def items(self) -> Mapping[str, Mapping[str, Any]]:
        """The conversation so far, by item id, in order."""
        return self._wire.items

    async def start(self) -> None:
        """Take the call: greet with `session.created`, begin to hear and to send sound.

        Until then nothing at all is sent. Returns when the caller's channel is open.
        """
        await self._open.wait()
        if self._started:
            return
        self._started = True
        self._wire.created()
        self.speaking.start()
        if self._settings:
            self._configured(Configured(session=self._settings))
        early, self._early = self._early, []
        for message in early:
            self.receive(message)

    def __aiter__(self) -> AsyncIterator[CallEvent]:
        return self

    async def __anext__(self) -> CallEvent:
        return await self._events.get()

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something beside the loop over events; it is cancelled when the call ends."""
        self._spawn(work)

    async def say(
        self,
        text: str,
        *,
        samples: MonoInt16 | None = None,
        at: float | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> bool:
        """Say one whole reply; returns when it has been heard, or False if it was cut.

        `text` is its transcript (empty: it has none). `samples` is how it sounds, else it is
        speech-like sound as long as the text takes. Its first sample can be heard at `at`, or as
        soon as possible.
        """
        sound = await asyncio.to_thread(babble, text) if samples is None else samples
        if at is not None:
            await self.clock.sleep_until(at - LEAD)
        reply = Reply(self, self._wire, spoken=True, metadata=metadata)
        said = reply.say(sound, at=at)
        for word in re.findall(r"\S+\s*", text):
            reply.text(word)
        await said.began.wait()
        reply.finish("cancelled" if said.cleared else "completed")
        await said.done.wait()
        return not said.cleared

    async def write(
        self, text: str, *, at: float | None = None, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Give one whole reply in writing, at `at` or at once."""
        if at is not None:
            await self.clock.sleep_until(at)
        reply = Reply(self, self._wire, spoken=False, metadata=metadata)
        reply.text(text)
        reply.finish()

    def reply(self, *, spoken: bool = True, metadata: Mapping[str, Any] | None = None) -> Reply:
        """Begin a reply that is made piece by piece."""
        return Reply(self, self._wire, spoken=spoken, metadata=metadata)

    def interrupt(self, reason: str = "turn_detected") -> bool:
        """Cut our own sound and end the reply that is being made; whether there was any."""
        if self._active is not None:
            self._active.finish("cancelled", reason)
        return self.speaking.clear()

    def tell(self, kind: str, **fields: Any) -> None:
        """Send an event of our own (`omnistage.context`, `omnistage.listened`)."""
        self._wire.emit(kind, **fields)

    # ------------------------------------------------------------ the host's side

    def opened(self) -> None:
        """The caller's channel is open."""
        self._open.set()

    def receive(self, raw: str | bytes) -> None:
        """A message of the caller."""
        if not self._started:
            if len(self._early) < EARLY:
                self._early.append(raw)
            return
        event = self._wire.read(raw, self.clock.now())
        if isinstance(event, Clear):
            self.interrupt("client_cancelled")
        elif isinstance(event, ResponseCancelled):
            active = self._active
            if active is None or event.response not in (None, active.id):
                self._error("response_cancel_not_active", "no such response is being made")
                return
            self.interrupt("client_cancelled")
            self._put(event)
        elif isinstance(event, Configured):
            self._configured(event)
        elif event is not None:
            if isinstance(event, ResponseAsked):
                given = event.settings.get("metadata")
                self._asked = given if isinstance(given, dict) else None
            self._put(event)

    def rtp(self, t: float, kind: str, packet: bytes) -> None:
        """An RTP packet of the caller."""
        if not self._started:
            return
        if kind == "audio":
            self.hearing.feed(t, packet)
        else:
            self.seeing.feed(t, packet)

    def edge(self, edge: Edge) -> None:
        """Speech was found in what the caller says."""
        audio_ms = round((edge.time - (self.hearing.origin or edge.time)) * 1000)
        audio_ms = max(0, audio_ms)
        listens, answers = decides(self._wire.session)
        if not listens:
            return
        if edge.edge == "start":
            self._item, self._speech_start = self._wire.name("item"), edge.time
            self._wire.speech_started(self._item, audio_ms)
            self._put(SpeechStarted(item=self._item, time=edge.time))
            return
        self._wire.speech_stopped(self._item, audio_ms)
        self._wire.commit(self._item)
        if answers:
            self._put(SpeechEnded(item=self._item, start=self._speech_start, time=edge.time))
        else:
            self._put(Committed(item=self._item))

    def failed(self) -> None:
        """The agent's code raised: tell the caller, without the details."""
        self._error("server_error", "the agent failed; its log says why", kind="server_error")

    def _configured(self, event: Configured) -> None:
        """Pass on what has been set, and say what of it the bridge does nothing about."""
        names = [name for name in unserved(event.session) if name not in self._told]
        if names and len(self._told) < TOLD:
            self._told.update(names)
            said = ", ".join(repr(name[:60]) for name in names[:TOLD])
            print(
                f"{self.id}: left to the agent, the bridge does not serve: {said}", file=sys.stderr
            )
        self._put(event)

    def _put(self, event: CallEvent) -> None:
        try:
            self._events.put_nowait(event)
        except asyncio.QueueFull:
            self.dropped += 1
            if not isinstance(event, SpeechStarted | SpeechEnded | Committed):
                self._error("rate_limit_exceeded", "too many messages are waiting")

    def _error(self, code: str, message: str, kind: str = "invalid_request_error") -> None:
        body = {"type": kind, "code": code, "message": message, "param": None, "event_id": None}
        self._wire.emit("error", error=body)


class Reply:
    """One response in the making: text and sound in any order, then `finish`."""

    def __init__(
        self, call: Call, wire: Wire, *, spoken: bool, metadata: Mapping[str, Any] | None
    ) -> None:
        self._call = call
        # As with a real server, a response has the metadata with which it was asked for.
        metadata, call._asked = metadata or call._asked, None
        self._out = ResponseWire(wire, "audio" if spoken else "text", metadata)
        self._pending = 0
        """Pieces of sound that have not ended."""
        self._sounding = False
        call._active = self

    @property
    def id(self) -> str:
        return self._out.id

    @property
    def finished(self) -> bool:
        return self._out.ended

    def text(self, piece: str) -> None:
        """A piece of the text, or of the transcript of what is said."""
        if piece and not self._out.ended:
            self._out.delta(piece)

    def say(self, samples: MonoInt16, *, at: float | None = None) -> Utterance:
        """Schedule a piece of sound, behind what is scheduled already."""
        self._pending += 1
        return self._call.speaking.say(samples, at=at, on_started=self._begun, on_ended=self._ended)

    def finish(self, status: Status = "completed", reason: str | None = None) -> None:
        """All of it has been generated (its sound may go on), or it ends otherwise."""
        if self._call._active is self:
            self._call._active = None
        self._out.done(status, reason)
        self._drained()

    def _begun(self, _: float) -> None:
        if not self._sounding:
            self._sounding = True
            self._out.sound("started")

    def _ended(self, _: float, cleared: bool) -> None:
        self._pending -= 1
        if cleared and self._sounding:
            self._sounding = False
            self._out.sound("cleared")
        self._drained()

    def _drained(self) -> None:
        if self._sounding and self._out.ended and self._pending == 0:
            self._sounding = False
            self._out.sound("stopped")
