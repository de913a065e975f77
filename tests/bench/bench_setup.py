"""How long it takes to set up a call on loopback: from dialling until media and messages can flow.
Calls one after the other to receivers that do nothing else; then many at once to the host of a
bundled agent, as `omnistage run --concurrency` makes them.

    python tests/bench/bench_setup.py [--calls N] [--at-once N] [--json] [--quick]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import aiohttp
from receivers import receivers  # type: ignore[import-not-found]

from simulator.agent import Dial, Launch
from simulator.clock import WallClock
from simulator.plugins import load_agent
from simulator.protocol.events import Ready
from simulator.protocol.tap import NullTap
from simulator.rtc.peer import dial

CLOCK = WallClock()


async def one_call(base: str, http: aiohttp.ClientSession) -> tuple[float, float, float]:
    """Seconds until connected, until the protocol has answered, and for hanging up."""
    origin = CLOCK.now()
    target = Dial(url=f"{base}/v1/realtime/calls")
    async with dial(target, clock=CLOCK, origin=origin, tap=NullTap(), http=http) as peer:
        connected = peer.now()
        async for t, event in peer.events:
            if isinstance(event, Ready):
                ready = t
                break
        ending = CLOCK.now()
    return connected, ready, CLOCK.now() - ending


async def all_at_once(calls: int) -> tuple[float, int]:
    """Seconds until all have been answered by one host, and how many were refused or lost."""
    with tempfile.TemporaryDirectory() as folder:
        agent = load_agent("silent")
        async with (
            agent.open(Launch(log=Path(folder) / "log")) as target,
            AsyncExitStack() as open_,
        ):

            async def one() -> None:
                origin = CLOCK.now()
                call = dial(target, clock=CLOCK, origin=origin, tap=NullTap())
                await open_.enter_async_context(call)

            began = CLOCK.now()
            done = await asyncio.gather(*(one() for _ in range(calls)), return_exceptions=True)
            return CLOCK.now() - began, sum(isinstance(d, BaseException) for d in done)


async def measure(calls: int, many: int) -> dict[str, Any]:
    with receivers(None) as base:
        async with aiohttp.ClientSession() as http:
            await one_call(base, http)
            times = [await one_call(base, http) for _ in range(calls)]
    connected, ready, ended = ([t[i] * 1e3 for t in times] for i in range(3))
    for name, values in (("connected", connected), ("ready", ready), ("hung up", ended)):
        print(f"{name:10} median {statistics.median(values):6.1f} ms   worst {max(values):6.1f} ms")
    took, failed = await all_at_once(many)
    print(f"{many} calls at once to one host: {took:.2f} s, {failed} failed")
    return {
        "bench": "setup",
        "at_once": many,
        "at_once_s": took,
        "at_once_failed": failed,
        "calls": calls,
        "median_ms": statistics.median(connected),
        "max_ms": max(connected),
        "ready_median_ms": statistics.median(ready),
        "hang_up_median_ms": statistics.median(ended),
    }


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--at-once", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args(arguments)
    figures = asyncio.run(measure(10 if args.quick else args.calls, args.at_once))
    if args.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1:])
