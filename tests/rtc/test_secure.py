"""The way out: groups in one call where the kernel cuts them, one by one where it does not."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import pytest

from simulator.agent import Dial
from simulator.clock import WallClock
from simulator.media.packets import PacketFile
from simulator.protocol.tap import NullTap
from simulator.rtc import secure
from simulator.rtc.peer import dial

CLOCK = WallClock()
_UNKNOWN = 9_999


@pytest.mark.parametrize("cuts", [True, False])
async def test_the_same_packets_arrive_in_order_with_and_without_the_kernels_help(
    agent: Any, part: PacketFile, monkeypatch: pytest.MonkeyPatch, cuts: bool
) -> None:
    if cuts and sys.platform != "linux":
        pytest.skip("only Linux cuts a buffer into datagrams")
    if not cuts:
        monkeypatch.setattr(secure, "_UDP_SEGMENT", _UNKNOWN)
    done: list[bool] = []
    cut = secure.Outlet._cut

    def told(self: secure.Outlet, ends: list[int]) -> bool:
        done.append(cut(self, ends))
        return done[-1]

    monkeypatch.setattr(secure.Outlet, "_cut", told)
    origin = CLOCK.now()
    target = Dial(url=agent.url)
    async with dial(target, clock=CLOCK, origin=origin, tap=NullTap()) as peer:
        peer.playlist.play(part, round((peer.now() + 0.1) / 0.02) * 0.02)
        await asyncio.sleep(part.duration + 0.5)
        sent = peer.vitals.sent
    heard = [int.from_bytes(p[2:4]) for _, p in agent.heard.of("video")]
    assert heard == list(range(heard[0], heard[0] + len(heard)))
    assert len(heard) + len(agent.heard.of("audio")) == sent
    assert done
    assert any(done) is cuts
