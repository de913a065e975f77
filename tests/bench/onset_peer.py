"""A peer that says replies with known onsets over real calls, and logs what it sent, and when.

A process of its own: aiohttp and aiortc answer the call, but each packet of sound is put on the
wire by itself, at the time at which the kind of call (`onset_cases`) wants it there: late, in
bursts, out of order, twice, never. `bench_onset_calls` starts it with the kinds to play; it prints
its port once all is encoded, takes a call at /NUMBER of the kind, and tells its log at /NUMBER/log.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import struct
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from aiohttp import web
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

from simulator.clock import WALL
from tests.bench.onset_cases import CARRIED, Track, Voice, Way, replies, track, voices, way

LEAD = 0.5
"""Seconds from the call being up to the first packet."""


@dataclass
class Player:
    """One kind: what is said, how it is to go, and what became of it."""

    made: Track
    how: Way
    connection: RTCPeerConnection | None = None
    began: float | None = None
    """Monotonic time of the sender's clock at its zero."""
    left: list[tuple[int, float]] = field(default_factory=list)
    """Which packet left, and when."""
    done: asyncio.Event = field(default_factory=asyncio.Event)

    async def offer(self, request: web.Request) -> web.Response:
        self.connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.connection.on("datachannel", self._greet)
        await self.connection.setRemoteDescription(
            RTCSessionDescription(await request.text(), "offer")
        )
        for transceiver in self.connection.getTransceivers():
            if transceiver.kind == "audio":
                transceiver.direction = "sendrecv"
        await self.connection.setLocalDescription(await self.connection.createAnswer())
        return web.Response(
            status=201,
            text=self.connection.localDescription.sdp,
            content_type="application/sdp",
            headers={"Location": f"{request.path}/hangup"},
        )

    def _greet(self, channel: Any) -> None:
        channel.send(json.dumps({"type": "session.created", "session": {}}))
        self._task = asyncio.ensure_future(self._play())

        def told(raw: str) -> None:
            if json.loads(raw)["type"] == "session.update":
                channel.send(json.dumps({"type": "session.updated", "session": {}}))

        channel.on("message", told)

    async def _play(self) -> None:
        try:
            await self._send()
        finally:
            self.done.set()

    async def _send(self) -> None:
        assert self.connection is not None
        transceiver = next(t for t in self.connection.getTransceivers() if t.kind == "audio")
        sender: Any = transceiver.sender
        payload_type = next(
            c.payloadType for c in transceiver._codecs if c.mimeType.lower() == "audio/opus"
        )
        self.began = WALL.now() + LEAD - float(self.how.sent[0])
        again = np.random.default_rng(7).random(len(self.how.sent)) < self.how.twice
        plan = [(float(self.how.arrival[i]), i) for i in np.flatnonzero(self.how.came).tolist()]
        plan += [(t + 0.007, i) for t, i in plan if again[i]]
        for t, i in sorted(plan):
            await WALL.sleep_until(self.began + t)
            head = struct.pack(
                "!BBHII",
                0x80,
                payload_type,
                (100 + int(self.how.numbers[i])) & 0xFFFF,
                int(self.how.stamps[i]) & 0xFFFFFFFF,
                sender._ssrc,
            )
            try:
                await sender.transport._send_rtp(head + self.made.payloads[i])
            except ConnectionError:
                break
            self.left.append((i, WALL.now()))

    async def log(self, request: web.Request) -> web.Response:
        """When each onset truly left, and which packet holds it: once all is said."""
        await self.done.wait()
        assert self.began is not None
        truths = [
            {
                "sent": self.began + sent,
                "number": (100 + int(self.how.numbers[k])) & 0xFFFF,
                "stamp": int(self.how.stamps[k]) & 0xFFFFFFFF,
                "into": sent - float(self.how.sent[k]),
                "left": next((t for i, t in self.left if i == k), None),
            }
            for k, (_, sent) in zip(
                (self.made.onsets // self.made.packet).tolist(),
                replies(self.made, self.how),
                strict=True,
            )
        ]
        return web.json_response({"onsets": truths, "packets": len(self.left)})

    async def hang_up(self, request: web.Request) -> web.Response:
        if self.connection is not None:
            await self.connection.close()
        return web.Response()


def players(names: str, media: str, kinds: list[str], count: int) -> list[Player]:
    """Each kind by another voice of the set."""
    found = voices(names, media)
    out = []
    for number, kind in enumerate(kinds):
        wanted = "soft" if kind.startswith("soft") else "strong"
        able: list[Voice] = [v for v in found if len(getattr(v, wanted)) >= 3]
        voice = able[number % len(able)]
        said = track(voice, "clean" if kind in CARRIED else kind, count, np.random.default_rng(9))
        out.append(Player(said, way(kind, said, np.random.default_rng(60 + number))))
    return out


async def serve(made: list[Player]) -> None:
    app = web.Application()
    for number, player in enumerate(made):
        app.router.add_post(f"/{number}", player.offer)
        app.router.add_get(f"/{number}/log", player.log)
        app.router.add_route("*", f"/{number}/hangup", player.hang_up)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    print(runner.addresses[0][1], flush=True)
    await asyncio.to_thread(sys.stdin.read)  # until whoever started it has gone
    await runner.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--voices", default="bundled")
    parser.add_argument("--media", default="")
    parser.add_argument("--count", type=int, default=4)
    parser.add_argument("kinds", nargs="+")
    arguments = parser.parse_args()
    made = players(arguments.voices, arguments.media, arguments.kinds, arguments.count)
    asyncio.run(serve(made))


if __name__ == "__main__":
    main()
