"""The other end of the WebRTC benchmarks: answers calls in a process and on a core of its own.

It taps only (nothing is decoded), sends Opus back, and counts what arrived and what was lost.
Started by the benchmarks; prints its port.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

from simulator.clock import WallClock
from simulator.media.packets import PacketFile, PacketWriter
from simulator.protocol.rtcp import is_rtcp
from simulator.protocol.tap import NullTap
from simulator.protocol.tracks import AUDIO, VIDEO, Kind
from simulator.rtc import taps
from simulator.rtc.playlist import Playlist
from simulator.rtc.sender import PacedSender

CLOCK = WallClock()
SILENCE = b"\xd8\xff\xfe"
"""An Opus packet of 20 ms of silence."""


@contextmanager
def receivers(core: int | None) -> Iterator[str]:
    """Start them; yields the base URL."""
    command = [sys.executable, __file__] + ([] if core is None else ["--core", str(core)])
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


def pin(core: int | None) -> None:
    if core is not None and core < (os.cpu_count() or 1):
        os.sched_setaffinity(0, {core})


def hum(path: Path) -> PacketFile:
    """Two seconds of silence, to be sent over and over."""
    with PacketWriter(path, {AUDIO: "opus", VIDEO: "h264"}) as writer:
        writer.add(VIDEO, 0, b"\0")  # a part has a picture; nobody asks for it
        for index in range(100):
            writer.add(AUDIO, 960 * index, SILENCE)
        writer.finish(2.0, {})
    return PacketFile.open(path)


@dataclass
class Count(NullTap):
    """Packets of one call by kind; SSRC and sequence numbers tell what was lost."""

    received: dict[str, int] = field(default_factory=lambda: {"audio": 0, "video": 0})
    sent: int = 0
    ranges: dict[int, list[int]] = field(default_factory=dict)

    def received_rtp(self, t: float, track: str, packet: bytes) -> None:
        self.received[track] += 1
        ssrc, sequence = int.from_bytes(packet[8:12]), int.from_bytes(packet[2:4])
        row = self.ranges.setdefault(ssrc, [sequence, sequence, 0])
        step = (sequence - row[1]) & 0xFFFF
        row[1] += step if step < 0x8000 else 0
        row[2] += 1

    def sent_rtp(self, t: float, track: str, packets: Sequence[bytes], due: float | None) -> None:
        self.sent += len(packets)

    @property
    def lost(self) -> int:
        return sum(last - first + 1 - count for first, last, count in self.ranges.values())


def count_only(connection: RTCPeerConnection, count: Count) -> None:
    """Count RTP by its header, which is in clear, and do nothing else with it: these ends must not
    be what limits a benchmark, least of all on two hyper-threads of one core."""
    kinds: dict[int, Kind] = {}
    for transceiver in connection.getTransceivers():
        for codec in transceiver._codecs:
            kinds[int(codec.payloadType or 0)] = "audio" if transceiver.kind == "audio" else "video"
    transport: Any = connection.getTransceivers()[0].receiver.transport
    for protocol in transport.transport._connection._protocols:
        _count(protocol, kinds, count)


def _count(protocol: Any, kinds: dict[int, Kind], count: Count) -> None:
    usual = protocol.datagram_received

    def counted(data: bytes, address: Any) -> None:
        if len(data) < 12 or not 127 < data[0] < 192 or is_rtcp(data):
            usual(data, address)
        else:
            count.received_rtp(0.0, kinds[data[1] & 0x7F], data)

    protocol.datagram_received = counted


class Server:
    """Answers calls on the usual endpoint; `/counts` tells of them; `/clear` ends them."""

    def __init__(self, sound: PacketFile) -> None:
        self.calls: list[tuple[RTCPeerConnection, Count]] = []
        self._sound = sound

    async def answer(self, request: web.Request) -> web.Response:
        connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        count = Count()
        self.calls.append((connection, count))
        connection.on(
            "datachannel", lambda channel: channel.send('{"type":"session.created","session":{}}')
        )
        offer = RTCSessionDescription(await request.text(), "offer")
        await connection.setRemoteDescription(offer)
        taps.hook(connection, count, asyncio.get_running_loop().time)
        self._speak(connection, count)
        await connection.setLocalDescription(await connection.createAnswer())
        count_only(connection, count)
        return web.Response(
            status=201, text=connection.localDescription.sdp, content_type="application/sdp"
        )

    def _speak(self, connection: RTCPeerConnection, count: Count) -> None:
        """Send sound, as cheaply as we can."""
        audio = next(t for t in connection.getTransceivers() if t.kind == "audio")
        audio.direction = "sendrecv"
        playlist = Playlist(CLOCK, CLOCK.now())
        PacedSender(audio, AUDIO, playlist, count, CLOCK, print).install()
        playlist.play(self._sound, 0.0, loop=True)

    async def counts(self, request: web.Request) -> web.Response:
        return web.json_response(
            [{**c.received, "lost": c.lost, "sent": c.sent} for _, c in self.calls]
        )

    async def clear(self, request: web.Request) -> web.Response:
        calls, self.calls = self.calls, []
        for connection, _ in calls:
            await connection.close()
        return web.Response()

    async def quiet(self, request: web.Request) -> web.Response:
        """Collect now and never again: these ends are not what is measured."""
        gc.collect()
        gc.freeze()
        gc.disable()
        return web.Response()


async def main(core: int | None) -> None:
    pin(core)
    folder = tempfile.TemporaryDirectory()
    server = Server(hum(Path(folder.name) / "hum"))
    app = web.Application()
    app.router.add_post("/v1/realtime/calls", server.answer)
    app.router.add_get("/counts", server.counts)
    app.router.add_post("/clear", server.clear)
    app.router.add_post("/quiet", server.quiet)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--core", type=int)
    asyncio.run(main(parser.parse_args().core))
