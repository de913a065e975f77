"""How long it takes to set up a call on loopback: from dialling until media and messages can flow.

python tests/bench/bench_setup.py [--calls N] [--json] [--quick]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
from collections.abc import Sequence
from typing import Any

import aiohttp
from receivers import receivers  # type: ignore[import-not-found]

from simulator.agent import Dial
from simulator.clock import WallClock
from simulator.rtc.peer import dial
from simulator.rtc.playlist import Playlist
from simulator.rtc.taps import NullTap
from simulator.session.events import Ready

CLOCK = WallClock()


async def one_call(base: str, http: aiohttp.ClientSession) -> tuple[float, float, float]:
    """Seconds until connected, until the protocol has answered, and for hanging up."""
    origin = CLOCK.now()
    playlist = Playlist(CLOCK, origin)
    target = Dial(url=f"{base}/v1/realtime/calls")
    async with dial(
        target, clock=CLOCK, origin=origin, playlist=playlist, tap=NullTap(), http=http
    ) as peer:
        connected = peer.now()
        async for t, event in peer.events:
            if isinstance(event, Ready):
                ready = t
                break
        ending = CLOCK.now()
    return connected, ready, CLOCK.now() - ending


async def measure(calls: int) -> dict[str, Any]:
    with receivers(None) as base:
        async with aiohttp.ClientSession() as http:
            await one_call(base, http)
            times = [await one_call(base, http) for _ in range(calls)]
    connected, ready, ended = ([t[i] * 1e3 for t in times] for i in range(3))
    for name, values in (("connected", connected), ("ready", ready), ("hung up", ended)):
        print(f"{name:10} median {statistics.median(values):6.1f} ms   worst {max(values):6.1f} ms")
    return {
        "bench": "setup",
        "calls": calls,
        "median_ms": statistics.median(connected),
        "max_ms": max(connected),
        "ready_median_ms": statistics.median(ready),
        "hang_up_median_ms": statistics.median(ended),
    }


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args(arguments)
    figures = asyncio.run(measure(10 if args.quick else args.calls))
    if args.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1:])
