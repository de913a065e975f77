"""What the agent says: sound on an absolute schedule, sample-exact, over a clock that never stops.

A packet of 20 ms leaves every 20 ms from the start of the call, silent ones in between, so that RTP
time runs on. Packets leave at the START of their 20 ms: unlike a microphone's, this sound is known
beforehand, and what counts for an agent is when a sample can first be heard. The first sample of
`say(at=t)` is placed inside its packet so that it could be heard at t, but for the codec's delay of
6.5 ms, which is stated beside every latency and not subtracted. Counterparts:
`simulator.bridge.call` speaks through this, aiortc's sender pulls the packets.
"""

from __future__ import annotations

import asyncio
import math
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

import av
import numpy as np
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from av.packet import Packet

from simulator.clock import Clock
from simulator.protocol.samples import PACKET, RATE, MonoInt16

_PACKET_S = PACKET / RATE
_LEAD_S = 0.003
"""A packet is made this long before it leaves at the latest; speech cannot begin earlier."""
_BEHIND, _FAR_BEHIND = 2, 50
"""Packets by which sending may be late before it leaves out silence, and before it leaves out
whatever there is."""
_TIME_BASE = Fraction(1, RATE)
_BIT_RATE = 48_000
_WARM_UP = 2
"""Silent packets that an encoder makes before those that count: its filters have settled then."""
_EFFORT = "5"
"""libopus' complexity: a packet costs two thirds of what it does at 10, and sounds the same."""


class Encoder:
    """Opus, mono, 20 ms. Each utterance has its own, so nothing is carried from one to the next."""

    def __init__(self) -> None:
        codec = av.CodecContext.create("libopus", "w")
        codec.sample_rate = RATE
        codec.layout = "mono"
        codec.format = av.AudioFormat("s16")
        codec.bit_rate = _BIT_RATE
        codec.time_base = _TIME_BASE
        codec.options = {"application": "audio", "compression_level": _EFFORT}
        self._codec = codec
        for _ in range(_WARM_UP):
            self.encode(np.zeros(PACKET, np.int16))

    def encode(self, frame: MonoInt16) -> bytes:
        """One packet of 960 samples."""
        made = av.AudioFrame.from_ndarray(frame.reshape(1, PACKET), format="s16", layout="mono")
        made.sample_rate = RATE
        made.time_base = _TIME_BASE
        made.pts = None
        return b"".join(bytes(p) for p in self._codec.encode(made))


@lru_cache(maxsize=1)
def silence() -> bytes:
    """A packet of silence, as the encoder makes it once it has settled."""
    return Encoder().encode(np.zeros(PACKET, np.int16))


@dataclass(eq=False, slots=True)
class Utterance:
    """Something that is being said; await `done`."""

    samples: MonoInt16
    start: float
    """Local time of its first sample."""
    on_started: Callable[[float], None] | None = None
    on_ended: Callable[[float, bool], None] | None = None
    began: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it begins, or is cut before that."""
    done: asyncio.Event = field(default_factory=asyncio.Event)
    cut: asyncio.Event = field(default_factory=asyncio.Event)
    cleared: bool = False
    """It was cut before its end."""
    _encoder: Encoder | None = None

    @property
    def end(self) -> float:
        """Local time just after its last sample."""
        return self.start + len(self.samples) / RATE

    def packet(self, begin: float) -> bytes:
        """The packet whose 20 ms begin at local time `begin`."""
        if self._encoder is None:
            self._encoder = Encoder()
        first = round((begin - self.start) * RATE)
        frame = np.zeros(PACKET, np.int16)
        piece = self.samples[max(0, first) : max(0, first + PACKET)]
        offset = max(0, -first)
        frame[offset : offset + len(piece)] = piece
        return self._encoder.encode(frame)


class Speaking:
    """The agent's voice on one call."""

    def __init__(self, clock: Clock, spawn: Callable[[Coroutine[Any, Any, None]], object]) -> None:
        self._clock = clock
        self._spawn = spawn
        self._queue: deque[Utterance] = deque()
        self._origin: float | None = None
        self._started = asyncio.Event()
        self._made = 0
        """Packets made (and all but the last of them sent)."""
        self.track: MediaStreamTrack = _Track(self)

    def start(self) -> None:
        """Begin to send: silence, until something is said."""
        if self._origin is None:
            silence()  # made once a process, and not while a packet is due
            self._origin = self._clock.now() + 0.005
            self._started.set()

    def say(
        self,
        samples: MonoInt16,
        *,
        at: float | None = None,
        on_started: Callable[[float], None] | None = None,
        on_ended: Callable[[float, bool], None] | None = None,
    ) -> Utterance:
        """Say `samples` so that the first could be heard at local time `at`.

        Without `at`, or where it is too late for it, as soon as possible; never over what is being
        said already. `on_started(t)` and `on_ended(t, cleared)` are called when the sound begins
        and has ended. Raises RuntimeError before `start`.
        """
        if self._origin is None:
            raise RuntimeError("the call has not been started: await call.start() first")
        earliest = self._clock.now() + _LEAD_S
        if self._queue:
            earliest = max(earliest, self._queue[-1].end)
        said = Utterance(samples, max(earliest, at or 0.0), on_started, on_ended)
        self._queue.append(said)
        self._spawn(self._follow(said))
        return said

    def clear(self) -> bool:
        """Cut what is being said and forget what is scheduled; whether there was anything."""
        cut = list(self._queue)
        for said in cut:
            said.cleared = True
            said.cut.set()
        self._queue.clear()
        return bool(cut)

    async def _follow(self, said: Utterance) -> None:
        """Tell when it begins and ends, at the times at which that can be heard."""
        if await self._reached(said, said.start):
            if said.on_started is not None:
                said.on_started(said.start)
            said.began.set()
            await self._reached(said, said.end)
        said.began.set()
        if said in self._queue:
            self._queue.remove(said)
        if said.on_ended is not None:
            said.on_ended(self._clock.now(), said.cleared)
        said.done.set()

    async def _reached(self, said: Utterance, when: float) -> bool:
        """Wait for a time; False if it is cut before."""
        try:
            async with self._clock.until(when):
                await said.cut.wait()
        except TimeoutError:
            return True
        return False

    # ------------------------------------------------------------ the track's side

    async def next_packet(self) -> Packet[Any]:
        """The next packet, at its time."""
        await self._started.wait()
        assert self._origin is not None
        number = self._catch_up(self._made, self._origin)
        self._made = number + 1
        due = self._origin + number * _PACKET_S
        source, payload = self._make(due)
        if due > self._clock.now():
            await self._clock.sleep_until(due)
        else:
            await asyncio.sleep(0)  # behind: the others' packets are due as well
        current = self._source(due)
        if current is not source:
            # Something was said, or cut, after the packet had been made.
            source, payload = self._make(due)
        packet: Packet[Any] = Packet(payload)
        packet.pts = number * PACKET
        packet.time_base = _TIME_BASE
        return packet

    def _catch_up(self, number: int, origin: float) -> int:
        """The packet to make next: where we are behind, silence that is past is left out.

        The stamps run on, so that this is a pause in sending and no shift. Of speech nothing is
        left out, unless we are over a second behind.
        """
        behind = math.floor((self._clock.now() - origin) / _PACKET_S) - number
        if behind <= _BEHIND:
            return number
        if behind <= _FAR_BEHIND and self._queue:
            speech = math.floor((self._queue[0].start - origin) / _PACKET_S)
            behind = max(0, min(behind, speech - number))
        return number + behind

    def _source(self, begin: float) -> Utterance | None:
        for said in self._queue:
            if not said.cleared and said.start < begin + _PACKET_S and said.end > begin:
                return said
        return None

    def _make(self, begin: float) -> tuple[Utterance | None, bytes]:
        said = self._source(begin)
        return said, silence() if said is None else said.packet(begin)


class _Track(MediaStreamTrack):
    kind = "audio"

    def __init__(self, speaking: Speaking) -> None:
        super().__init__()
        self._speaking = speaking

    async def recv(self) -> Packet[Any]:
        if self.readyState != "live":
            raise MediaStreamError
        return await self._speaking.next_packet()
