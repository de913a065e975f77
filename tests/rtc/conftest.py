"""A minimal agent for the tests of `simulator.rtc`: a real aiohttp + aiortc peer on loopback."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from aiohttp import web
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from av.packet import Packet

from simulator.clock import WallClock
from simulator.media.packets import PacketFile, PacketWriter
from simulator.protocol.rtcp import is_rtcp
from simulator.protocol.tap import NullTap
from simulator.protocol.tracks import AUDIO, VIDEO, Track
from simulator.rtc import taps

CLOCK = WallClock()


def opus_packets(samples: np.ndarray[Any, np.dtype[np.int16]]) -> list[bytes]:
    """Mono s16 at 48 kHz as Opus packets of 20 ms."""
    encoder: Any = av.CodecContext.create("libopus", "w")
    encoder.sample_rate, encoder.layout, encoder.format = 48_000, "mono", "s16"
    encoder.options = {"application": "voip"}
    packets: list[bytes] = []
    for start in range(0, len(samples) - 959, 960):
        frame = av.AudioFrame.from_ndarray(
            samples[start : start + 960].reshape(1, -1), format="s16", layout="mono"
        )
        frame.sample_rate, frame.pts = 48_000, start
        packets += [bytes(p) for p in encoder.encode(frame)]
    packets += [bytes(p) for p in encoder.encode(None)]
    return packets[: len(samples) // 960]


def tone(seconds: float, *, level: float = 0.3) -> np.ndarray[Any, np.dtype[np.int16]]:
    t = np.arange(round(seconds * 48_000)) / 48_000
    return (np.sin(2 * np.pi * 440 * t) * level * 32_767).astype(np.int16)


def write_part(
    path: Path,
    seconds: float,
    *,
    fps: int = 30,
    bitrate: int = 400_000,
    pictures: Sequence[Track] = (VIDEO,),
) -> PacketFile:
    """A part of moving noise with a tone, written as the media package does; the same noise in each
    of its pictures."""
    encoder: Any = av.CodecContext.create("libx264", "w")
    encoder.width, encoder.height, encoder.pix_fmt = 320, 240, "yuv420p"
    encoder.time_base, encoder.framerate = Fraction(1, fps), Fraction(fps, 1)
    encoder.bit_rate, encoder.gop_size = bitrate, fps
    encoder.options = {"tune": "zerolatency", "preset": "ultrafast", "forced-idr": "1"}
    encoder.profile = "Baseline"
    rng = np.random.default_rng(7)
    picture = rng.integers(0, 255, (240, 320, 3), dtype=np.uint8)
    codecs = {AUDIO: "opus", **dict.fromkeys(pictures, "h264")}
    with PacketWriter(path, codecs) as writer:
        for index in range(round(seconds * fps)):
            frame = av.VideoFrame.from_ndarray(np.roll(picture, 3 * index, axis=1), format="rgb24")
            frame.pts = index
            for packet in encoder.encode(frame):
                ticks, data = packet.pts * 90_000 // fps, bytes(packet)
                for track in pictures:
                    writer.add(track, ticks, data, key=packet.is_keyframe)
        for index, data in enumerate(opus_packets(tone(seconds))):
            writer.add(AUDIO, 960 * index, data)
        writer.finish(seconds, {"profile-level-id": "42e01f", "width": 320, "height": 240})
    return PacketFile.open(path)


@pytest.fixture(scope="session")
def part(tmp_path_factory: pytest.TempPathFactory) -> PacketFile:
    """Two seconds of picture and sound."""
    return write_part(tmp_path_factory.mktemp("parts") / "two.part", 2.0)


class Voice(MediaStreamTrack):
    """The agent's sound: silence, with what is given `say` in between; 20 ms packets."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self._queue: list[bytes] = []
        self._next: float | None = None
        self._index = 0
        self.began: list[float] = []
        """Monotonic times at which the first packet of something said was handed out."""
        self._beginning = False

    def say(self, seconds: float) -> None:
        self._queue += opus_packets(tone(seconds))
        self._beginning = True

    async def recv(self) -> Packet[Any]:
        if self.readyState != "live":
            raise MediaStreamError
        loop = asyncio.get_running_loop()
        if self._next is None:
            self._next = loop.time()
        self._next += 0.02
        await asyncio.sleep(self._next - loop.time())
        if self._queue and self._beginning:
            self.began.append(loop.time())
            self._beginning = False
        packet: Packet[Any] = Packet(self._queue.pop(0) if self._queue else b"\xd8\xff\xfe")
        packet.pts, packet.time_base = 960 * self._index, Fraction(1, 48_000)
        self._index += 1
        return packet


@dataclass
class Heard(NullTap):
    """Everything that arrived at the agent."""

    rtp: list[tuple[float, str, bytes]] = field(default_factory=list)
    sent: list[tuple[float, str, bytes]] = field(default_factory=list)
    rtcp: list[bytes] = field(default_factory=list)

    def received_rtp(self, t: float, track: str, packet: bytes) -> None:
        self.rtp.append((t, track, packet))

    def sent_rtp(self, t: float, track: str, packets: Sequence[bytes], due: float | None) -> None:
        self.sent += [(t, track, packet) for packet in packets]

    def received_rtcp(self, t: float, packet: bytes) -> None:
        self.rtcp.append(packet)

    def of(self, track: str, payload_type: int | None = None) -> list[tuple[float, bytes]]:
        return [
            (t, p)
            for t, k, p in self.rtp
            if k == track and (payload_type is None or p[1] & 0x7F == payload_type)
        ]


class StandIn:
    """The agent. Set its attributes before calling; look at them afterwards."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 201
        self.body = ""
        self.location = "/v1/realtime/calls/call_1"
        self.edit: Callable[[str], str] = lambda sdp: sdp
        """Changes the answer."""
        self.greet = True
        self.codecs: Callable[[RTCPeerConnection], None] = lambda connection: None
        self.calls: list[RTCPeerConnection] = []
        self.channels: list[Any] = []
        self.messages: list[Any] = []
        self.headers: list[dict[str, str]] = []
        self.hung_up: list[str] = []
        self.heard = Heard()
        self.voice = Voice()
        self.answered = asyncio.Event()
        self.stop_listening: Callable[[], Awaitable[None]]

    async def offer(self, request: web.Request) -> web.Response:
        self.headers.append(dict(request.headers))
        if self.status not in (200, 201):
            return web.Response(status=self.status, text=self.body)
        connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.calls.append(connection)
        connection.on("datachannel", self.open)
        sdp = await request.text()
        await connection.setRemoteDescription(RTCSessionDescription(sdp, "offer"))
        taps.hook(connection, self.heard, CLOCK.now)
        self.codecs(connection)
        connection.addTrack(self.voice)
        await connection.setLocalDescription(await connection.createAnswer())
        self.answered.set()
        return web.Response(
            status=self.status,
            text=self.edit(connection.localDescription.sdp),
            content_type="application/sdp",
            headers={"Location": self.location},
        )

    def open(self, channel: Any) -> None:
        self.channels.append(channel)
        channel.on("message", self.message)
        if self.greet:
            self.say({"type": "session.created", "session": {}})

    def message(self, raw: str) -> None:
        self.messages.append(json.loads(raw))
        if self.messages[-1]["type"] == "session.update":
            self.say({"type": "session.updated", "session": {}})

    def say(self, body: Any) -> None:
        self.channels[-1].send(body if isinstance(body, str | bytes) else json.dumps(body))

    async def hang_up(self, request: web.Request) -> web.Response:
        self.hung_up.append(f"{request.method} {request.path}")
        return web.Response()

    async def close(self) -> None:
        for connection in self.calls:
            await connection.close()


@pytest.fixture
async def agent() -> AsyncIterator[StandIn]:
    """A stand-in agent, listening."""
    async with listening() as stand_in:
        yield stand_in


@asynccontextmanager
async def listening() -> AsyncIterator[StandIn]:
    stand_in = StandIn()
    app = web.Application()
    app.router.add_post("/v1/realtime/calls", stand_in.offer)
    app.router.add_delete("/v1/realtime/calls/{id}", stand_in.hang_up)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    stand_in.url = f"http://127.0.0.1:{port}/v1/realtime/calls"
    stand_in.stop_listening = runner.cleanup
    try:
        yield stand_in
    finally:
        await stand_in.close()
        await runner.cleanup()


class Impaired:
    """A socket that loses and delays what is sent through it; RTP only, unless `everything`."""

    _sock = None  # so that nobody sends past it

    def __init__(
        self,
        transport: Any,
        *,
        loss: float,
        delay: float,
        jitter: float,
        everything: bool,
        seed: int,
    ) -> None:
        self._transport = transport
        self._loss, self._delay, self._jitter = loss, delay, jitter
        self._everything = everything
        self._rng = random.Random(seed)
        self.sent = 0
        self.dropped = 0

    def sendto(self, data: bytes, address: Any = None) -> None:
        is_rtp = 127 < data[0] < 192 and not is_rtcp(data)
        if not (is_rtp or self._everything):
            self._transport.sendto(data, address)
            return
        self.sent += 1
        if self._rng.random() < self._loss:
            self.dropped += 1
            return
        wait = self._delay + (self._rng.expovariate(1 / self._jitter) if self._jitter else 0.0)
        if wait:
            asyncio.get_running_loop().call_later(wait, self._late, data, address)
        else:
            self._transport.sendto(data, address)

    def _late(self, data: bytes, address: Any) -> None:
        if not self._transport.is_closing():
            self._transport.sendto(data, address)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


@pytest.fixture
def impaired() -> Callable[..., Any]:
    """A context manager that loses and delays what one connected side sends."""

    @contextmanager
    def impair(
        connection: RTCPeerConnection,
        *,
        loss: float = 0.0,
        delay: float = 0.0,
        jitter: float = 0.0,
        everything: bool = False,
        seed: int = 1,
    ) -> Iterator[Impaired]:
        ice: Any = connection.getTransceivers()[0].receiver.transport.transport
        protocol = ice._connection._nominated[1].protocol
        plain = protocol.transport
        protocol.transport = Impaired(
            plain, loss=loss, delay=delay, jitter=jitter, everything=everything, seed=seed
        )
        try:
            yield protocol.transport
        finally:
            protocol.transport = plain

    return impair
