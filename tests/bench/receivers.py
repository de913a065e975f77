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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from aiohttp import web
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from av.packet import Packet

from simulator.rtc import taps
from simulator.rtc.taps import Kind, NullTap

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


class Hum(MediaStreamTrack):
    """Packets of 20 ms, without end."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self._start: float | None = None
        self._index = 0

    async def recv(self) -> Packet[Any]:
        if self.readyState != "live":
            raise MediaStreamError
        loop = asyncio.get_running_loop()
        self._start = self._start or loop.time()
        await asyncio.sleep(self._start + 0.02 * self._index - loop.time())
        packet: Packet[Any] = Packet(SILENCE)
        packet.pts, packet.time_base = 960 * self._index, Fraction(1, 48_000)
        self._index += 1
        return packet


@dataclass
class Count(NullTap):
    """Packets of one call by kind; SSRC and sequence numbers tell what was lost."""

    received: dict[str, int] = field(default_factory=lambda: {"audio": 0, "video": 0})
    sent: int = 0
    ranges: dict[int, list[int]] = field(default_factory=dict)

    def received_rtp(self, t: float, kind: Kind, packet: bytes) -> None:
        self.received[kind] += 1
        ssrc, sequence = int.from_bytes(packet[8:12]), int.from_bytes(packet[2:4])
        row = self.ranges.setdefault(ssrc, [sequence, sequence, 0])
        step = (sequence - row[1]) & 0xFFFF
        row[1] += step if step < 0x8000 else 0
        row[2] += 1

    def sent_rtp(self, t: float, kind: Kind, packets: Sequence[bytes], due: float | None) -> None:
        self.sent += len(packets)

    @property
    def lost(self) -> int:
        return sum(last - first + 1 - count for first, last, count in self.ranges.values())


def count_only(connection: RTCPeerConnection, count: Count) -> None:
    """Count RTP and do nothing else with it: these ends must not be what limits a benchmark."""
    kinds: dict[int, Kind] = {}
    for transceiver in connection.getTransceivers():
        for codec in transceiver._codecs:
            kinds[int(codec.payloadType or 0)] = "audio" if transceiver.kind == "audio" else "video"

    async def counted(data: bytes, arrival_time_ms: int) -> None:
        count.received_rtp(0.0, kinds[data[1] & 0x7F], data)

    transport: Any = connection.getTransceivers()[0].receiver.transport
    transport._handle_rtp_data = counted


class Server:
    """Answers calls on the usual endpoint; `/counts` tells of them; `/clear` ends them."""

    def __init__(self) -> None:
        self.calls: list[tuple[RTCPeerConnection, Count]] = []

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
        count_only(connection, count)
        connection.addTrack(Hum())
        await connection.setLocalDescription(await connection.createAnswer())
        return web.Response(
            status=201, text=connection.localDescription.sdp, content_type="application/sdp"
        )

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
    server = Server()
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
