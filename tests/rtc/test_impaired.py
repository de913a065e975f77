"""Calls over a bad path: losses are counted and resent, times stay right, death is noticed."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from simulator.agent import Dial
from simulator.clock import WallClock
from simulator.errors import AgentError, InstrumentError, NetworkError
from simulator.measuring.clockmap import map_runs
from simulator.media.packets import PacketFile
from simulator.protocol.events import Fault, Whose
from simulator.protocol.tap import NullTap
from simulator.rtc import negotiate, watch
from simulator.rtc.peer import Peer, dial
from simulator.rtc.playlist import Playlist

CLOCK = WallClock()


class Log(NullTap):
    def __init__(self) -> None:
        self.sent: list[tuple[float, str, bytes, float | None]] = []
        self.received: list[tuple[float, str, bytes]] = []

    def sent_rtp(self, t: float, track: str, packets: Sequence[bytes], due: float | None) -> None:
        self.sent += [(t, track, packet, due) for packet in packets]

    def received_rtp(self, t: float, track: str, packet: bytes) -> None:
        self.received.append((t, track, packet))


@asynccontextmanager
async def called(agent: Any, tap: NullTap) -> AsyncIterator[tuple[Peer, Playlist]]:
    origin = CLOCK.now()
    target = Dial(url=agent.url)
    async with dial(target, clock=CLOCK, origin=origin, tap=tap) as peer:
        yield peer, peer.playlist


def play(playlist: Playlist, part: PacketFile, *, loop: bool = False) -> None:
    playlist.play(part, round((playlist.now() + 0.1) / 0.02) * 0.02, loop=loop)


async def last_fault(peer: Peer) -> Fault:
    async with asyncio.timeout(8):
        return [e async for _, e in peer.events if isinstance(e, Fault)][-1]


async def test_lost_video_is_resent_as_rtx_and_arrives_whole(
    agent: Any, part: PacketFile, impaired: Any
) -> None:
    log = Log()
    async with called(agent, log) as (peer, playlist):
        with impaired(peer.connection, loss=0.05, seed=5) as path:
            play(playlist, part)
            await asyncio.sleep(2.6)
            resend_type = peer.negotiated["tracks"]["video"]["rtx_payload_type"]
            payload_type = peer.negotiated["tracks"]["video"]["payload_type"]
    resent = [p for _, kind, p, due in log.sent if kind == "video" and due is None]
    sent = [p for _, kind, p, due in log.sent if kind == "video" and due is not None]
    assert path.dropped > 5
    assert resent
    assert {p[1] & 0x7F for p in resent} == {resend_type}
    # RFC 4588: the original's number, then its payload; the rest of the header is the original's.
    whole = {p[2:4]: p for p in sent}
    for packet in resent:
        first = whole[packet[_body(packet) : _body(packet) + 2]]
        assert packet[_body(packet) + 2 :] == first[_body(first) :]
        assert packet[4:8] == first[4:8]
        assert packet[12 : _body(packet)] == first[12 : _body(first)]
        assert packet[1] & 0x80 == first[1] & 0x80
    # What arrived as itself, and what RTX packets name as their original.
    heard = {p[2:4] for _, p in agent.heard.of("video", payload_type)}
    original = {p[start : start + 2] for p in resent for start in [_body(p)]}
    arrived = {p[_body(p) : _body(p) + 2] for _, p in agent.heard.of("video", resend_type)}
    assert arrived <= original
    missing = {p[2:4] for p in sent} - heard - arrived
    assert len(missing) <= 0.01 * len(sent)
    numbers = [int.from_bytes(p[2:4]) for p in sent]
    assert {b - a for a, b in itertools.pairwise(numbers)} <= {1, 1 - 0x10000}


def _body(packet: bytes) -> int:
    return 12 + (4 + 4 * int.from_bytes(packet[14:16]) if packet[0] & 0x10 else 0)


async def test_the_agents_lost_sound_is_counted_and_its_times_stay_right(
    agent: Any, impaired: Any
) -> None:
    log = Log()
    async with called(agent, log) as (peer, _):
        with impaired(agent.calls[0], loss=0.1, delay=0.03, jitter=0.004, seed=2) as path:
            await asyncio.sleep(2.5)
            lost, health = peer.vitals.lost, peer.health()
            shift = CLOCK.now() - peer.now()
    assert path.dropped > 5
    assert abs(lost - path.dropped) <= 3  # at the end, some are still on the way
    assert health.lost == lost
    sent = {p[2:4]: t - shift for t, _, p in agent.heard.sent}
    sound = [(t, p) for t, kind, p in log.received if kind == "audio"]
    late = [(t, p) for t, p in sound if t - sent[p[2:4]] > 0.025]
    mapped = map_runs(
        [int.from_bytes(p[2:4]) for _, p in late],
        [int.from_bytes(p[4:8]) for _, p in late],
        [t for t, _ in late],
        48_000,
    )
    delays = mapped.times - [sent[p[2:4]] for _, p in late]
    assert len(mapped.runs) == 1
    assert np.abs(np.median(delays) - 0.030) < 0.008


@pytest.mark.parametrize(("listening", "whose"), [(True, Whose.NETWORK), (False, Whose.AGENT)])
async def test_silence_is_noticed_and_told_whose_it_is(
    agent: Any, impaired: Any, monkeypatch: pytest.MonkeyPatch, listening: bool, whose: Whose
) -> None:
    monkeypatch.setattr(watch, "LOST_AFTER", 1.0)
    monkeypatch.setattr(watch, "ASK_AFTER", 0.3)
    async with called(agent, NullTap()) as (peer, _):
        if not listening:
            await agent.stop_listening()
        with impaired(agent.calls[0], loss=1.0, everything=True):
            fault = await last_fault(peer)
        assert (fault.whose, fault.fatal) == (whose, True)


def stand_still(seconds: float) -> None:
    """As a process that was stopped, or whose host swaps."""
    time.sleep(seconds)


@pytest.mark.parametrize("ended", [False, True], ids=["silent", "and ended meanwhile"])
async def test_silence_while_we_stood_still_is_ours(
    agent: Any, monkeypatch: pytest.MonkeyPatch, ended: bool
) -> None:
    monkeypatch.setattr(watch, "LOST_AFTER", 1.0)
    async with called(agent, NullTap()) as (peer, _):
        await asyncio.sleep(0.3)
        stand_still(2.4)
        if ended:
            peer.closed("connection_closed", "the agent ended the connection")
        fault = await last_fault(peer)
    assert (fault.whose, fault.code, fault.fatal) == (Whose.INSTRUMENT, "stalled", True)
    assert "did not run for 2." in fault.message


async def test_a_short_delay_of_ours_ends_nothing(agent: Any) -> None:
    async with called(agent, NullTap()) as (peer, _):
        await asyncio.sleep(0.3)
        stand_still(1.2)
        await asyncio.sleep(0.3)
        assert not [e for _, e in peer.events._waiting if isinstance(e, Fault)]
        assert peer.health().loop_lag_ms > 1_000


async def test_a_silent_agent_that_still_answers_probes_is_alive(
    agent: Any, impaired: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watch, "LOST_AFTER", 0.8)
    monkeypatch.setattr(watch, "ASK_AFTER", 0.2)
    async with called(agent, NullTap()) as (peer, _):
        agent.voice.stop()
        with impaired(agent.calls[0], loss=1.0):  # its media only
            await asyncio.sleep(1.5)
        assert not [e for _, e in peer.events._waiting if isinstance(e, Fault)]


async def test_a_recording_that_fails_ends_the_call_as_ours(agent: Any, part: PacketFile) -> None:
    class Full(NullTap):
        def sent_rtp(
            self, t: float, track: str, packets: Sequence[bytes], due: float | None
        ) -> None:
            raise InstrumentError("no space left on device")

    async with called(agent, Full()) as (peer, playlist):
        play(playlist, part)
        fault = await last_fault(peer)
        assert (fault.whose, fault.code) == (Whose.INSTRUMENT, "tap")
        assert "no space" in fault.message


async def test_a_sender_that_breaks_ends_the_call_as_ours(
    agent: Any, part: PacketFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(track: object) -> None:
        raise RuntimeError("surprise")

    monkeypatch.setattr("simulator.rtc.sender.packetised", broken)
    async with called(agent, NullTap()) as (peer, playlist):
        play(playlist, part)
        fault = await last_fault(peer)
        assert (fault.whose, fault.code) == (Whose.INSTRUMENT, "not_sent")


async def test_a_host_with_only_loopback_is_told_what_to_do(
    agent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aioice.ice.get_host_addresses", lambda use_ipv4, use_ipv6: [])
    with pytest.raises(NetworkError, match="loopback") as caught:
        async with called(agent, NullTap()):
            pass
    assert "ip addr add 10.99.0.1/32 dev lo" in caught.value.hint


async def test_no_path_to_the_agent(agent: Any) -> None:
    agent.edit = lambda sdp: (
        "\r\n".join(line for line in sdp.splitlines() if not line.startswith("a=candidate"))
        + "\r\n"
    )
    origin = CLOCK.now()
    with pytest.raises(NetworkError, match="no path"):
        async with dial(
            Dial(url=agent.url),
            clock=CLOCK,
            origin=origin,
            tap=NullTap(),
            connect_timeout=0.6,
        ):
            pass


def test_an_answer_that_is_no_sdp_at_all() -> None:
    for text in ("", "v=0", "m=audio x", "v=0\r\nm=audio 9 UDP/TLS/RTP/SAVPF 96\r\n"):
        with pytest.raises(AgentError):
            negotiate.check_answer(text, "h264", channels=True)
