"""A caller for the tests of bridge and agents: the simulator's own peer, with sound made here."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from simulator.agent import Dial
from simulator.bridge.babble import babble
from simulator.clock import WallClock
from simulator.media.encode import Encoding as Settings
from simulator.media.encode import PictureEncoder, encode_sound
from simulator.media.packets import PacketFile, PacketWriter
from simulator.media.timeline import on_grid
from simulator.protocol.rtp import rtp_payload
from simulator.protocol.samples import RATE, MonoInt16
from simulator.protocol.tap import Direction, NullTap
from simulator.protocol.tracks import AUDIO, VIDEO
from simulator.rtc.dialect import Message
from simulator.rtc.dialects.openai.codec import CHANNEL
from simulator.rtc.fields import compact
from simulator.rtc.peer import Peer, dial
from simulator.rtc.playlist import Playlist
from simulator.scenario.types import Canvas

CLOCK = WallClock()
_CANVAS = Canvas(width=320, height=240, fps=10)


def after(seconds: float, samples: MonoInt16, tail: float = 0.0) -> MonoInt16:
    """`samples` with silence before, and after; a whole number of packets."""
    before, behind = (np.zeros(round(s * RATE), np.int16) for s in (seconds, tail))
    joined = np.concatenate([before, samples, behind])
    return np.concatenate([joined, np.zeros(-len(joined) % 960, np.int16)])


@dataclass
class Caller(NullTap):
    """One call to an agent, with all that came back."""

    origin: float
    playlist: Playlist = field(init=False)
    peer: Peer = field(init=False)
    rtp: list[tuple[float, bytes]] = field(default_factory=list)
    said: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def received_rtp(self, t: float, track: str, packet: bytes) -> None:
        if track == "audio":
            self.rtp.append((t, packet))

    def wire(self, t: float, dir: Direction, raw: str | bytes) -> None:
        if dir == "in":
            self.said.append((t, json.loads(raw)))
            self._news.set()

    def types(self) -> list[str]:
        return [m["type"] for _, m in self.said]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [m for _, m in self.said if m["type"] == kind]

    async def until(self, kind: str, count: int = 1, within: float = 8.0) -> dict[str, Any]:
        """Wait for the `count`th message of a type."""
        async with asyncio.timeout(within):
            while len(self.of(kind)) < count:
                self._news.clear()
                await self._news.wait()
        return self.of(kind)[count - 1]

    async def send(self, **message: Any) -> None:
        self.peer.channels.post(Message(channel=CHANNEL, body=compact(message)))

    def sound(self) -> tuple[MonoInt16, float]:
        """What was heard, and the session time of its first sample (by the least arrival)."""
        decoder: Any = av.CodecContext.create("libopus", "r")
        decoder.sample_rate, decoder.layout, decoder.format = RATE, "mono", av.AudioFormat("s16")
        first = int.from_bytes(self.rtp[0][1][4:8])
        places = [(int.from_bytes(p[4:8]) - first) % 2**32 for _, p in self.rtp]
        heard = np.zeros(places[-1] + 960, np.int16)  # the agent leaves silence out when it is late
        for place, (_, packet) in zip(places, self.rtp, strict=True):
            for frame in decoder.decode(av.Packet(rtp_payload(packet))):
                heard[place : place + frame.samples] = frame.to_ndarray().reshape(-1)
        start = min(t - p / RATE for p, (t, _) in zip(places, self.rtp, strict=True))
        return heard, start

    def runs(self, gap: float = 0.3) -> list[tuple[float, float]]:
        """When something was audible, in session time, joined across `gap` seconds."""
        samples, start = self.sound()
        loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > 330)
        out: list[tuple[float, float]] = []
        for at in (start + loud / RATE).tolist():
            if out and at - out[-1][1] < gap:
                out[-1] = (out[-1][0], at)
            else:
                out.append((at, at))
        return out


Play = Callable[..., float]


class Parts:
    """Makes parts to play."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._made = 0

    def make(self, samples: MonoInt16) -> PacketFile:
        """A part with this sound and a grey picture."""
        self._made += 1
        path = self._folder / f"{self._made}.part"
        seconds = len(samples) / RATE
        pictures = PictureEncoder(_CANVAS, Settings(), "bt709")
        stereo = np.stack([samples, samples], axis=1).astype(np.float32) / np.float32(32768)
        with PacketWriter(path, {AUDIO: "opus", VIDEO: "h264"}) as writer:
            units = []
            for n in range(int(np.ceil(seconds * _CANVAS.fps - 1e-9))):
                grey = np.full((240, 320, 3), 40 + n % 100, np.uint8)
                units += pictures.add(av.VideoFrame.from_ndarray(grey, format="rgb24"))
            for unit in [*units, *pictures.finish()]:
                writer.add(VIDEO, unit.pts, unit.data, key=unit.key)
            for n, payload in enumerate(encode_sound(stereo)):
                writer.add(AUDIO, 960 * n, payload)
            writer.finish(seconds, {"profile-level-id": "42e01f"})
        return PacketFile.open(path)


@pytest.fixture(scope="session")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    return Parts(tmp_path_factory.mktemp("parts"))


@pytest.fixture(scope="session")
def question() -> MonoInt16:
    """A second of sound: silence, then speech that ends with it."""
    spoken = babble("How many?")
    return after(1.0 - len(spoken) / RATE, spoken)[:RATE]


@pytest.fixture(scope="session")
def hush(parts: Parts) -> PacketFile:
    """A second of silence, to loop."""
    return parts.make(np.zeros(RATE, np.int16))


@asynccontextmanager
async def calling(target: Dial, hold: PacketFile) -> AsyncIterator[Caller]:
    """A call on which `hold` plays until something else does."""
    origin = CLOCK.now()
    caller = Caller(origin)
    async with dial(target, clock=CLOCK, origin=origin, tap=caller) as peer:
        caller.peer = peer
        caller.playlist = peer.playlist
        caller.playlist.play(hold, on_grid(peer.now() + 0.04), loop=True)
        yield caller


def play(caller: Caller, part: PacketFile, hold: PacketFile, *, lead: float = 0.06) -> float:
    """Play a part, then hold; returns the session time of its first sample."""
    at = on_grid(caller.playlist.now() + lead)
    caller.playlist.play(part, at)
    caller.playlist.play(hold, at + part.duration, loop=True)
    return at


@pytest.fixture(scope="session")
def call() -> Callable[[Dial, PacketFile], Any]:
    """Calls an agent; see `calling`."""
    return calling


@pytest.fixture
def play_part() -> Play:
    return play
