"""Streams that stop on the way, over real calls: such an attempt is never completed.

All kinds are played side by side, each to a peer of its own.
"""

from __future__ import annotations

import asyncio
import errno
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from simulator.agent import Dial, Traits
from simulator.clock import WALL, Clock, WallClock
from simulator.measuring.measure import measure
from simulator.measuring.trace import Trace
from simulator.media.timeline import Asset, Prepared, PreparedTurn
from simulator.protocol.conditions import Conditions
from simulator.protocol.events import Outcome
from simulator.recording.reader import Recording
from simulator.recording.rtplog import Flow, scan
from simulator.rtc import peer as peers
from simulator.rtc import secure
from simulator.rtc.peer import Peer
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.types import Canvas, Clip, Scenario, Turn
from simulator.session import engine
from simulator.session.engine import Result

from .conftest import StandIn, listening, write_part

SECONDS = 12.0
AT = 2.0
"""Seconds after which each stream stops."""


def scene(folder: Path) -> Prepared:
    """Twelve seconds in which nothing is asked."""
    part = write_part(folder / "part", SECONDS, fps=10, bitrate=100_000)
    asset = Asset(key="part", path=part.path, duration=SECONDS)
    file = folder / "scene.yaml"
    file.write_text("version: 1\n")
    turn = Turn(id="t", index=0, clip="main", start=0, end=SECONDS, expect=Quiet())
    clips = {"main": Clip(name="main", path=file)}
    canvas = Canvas(width=320, height=240, fps=10)
    scenario = Scenario(
        id="scene", path=file, sha256="0" * 64, clips=clips, turns=(turn,), canvas=canvas
    )
    return Prepared(scenario=scenario, turns=(PreparedTurn(turn=turn, segment=asset, hold=asset),))


class Between:
    """A socket of ours with something between it and the network."""

    def __init__(self, inner: Any, passes: Callable[[bytes], bool]) -> None:
        self._inner = inner
        self._passes = passes

    def sendto(self, data: Any, address: Any) -> None:
        if self._passes(bytes(data)):
            self._inner.sendto(data, address)

    def sendmsg(self, *_: object) -> None:
        raise OSError(errno.EINVAL, "no groups")


def between(peer: Peer, passes: Callable[[bytes], bool]) -> None:
    for sender in peer._senders:
        outlet: Any = sender._outlet
        outlet._socket = Between(outlet._socket, passes)


async def path_lost(peer: Peer, agent: StandIn) -> None:
    ice: Any = peer.connection.getTransceivers()[0].receiver.transport.transport
    ice._connection._nominated.clear()


async def only_video_lost(peer: Peer, agent: StandIn) -> None:
    ours = peer.negotiated["tracks"]["video"]
    lost = {ours["payload_type"], ours["rtx_payload_type"]}
    between(peer, lambda data: data[1] & 0x7F not in lost)


async def refused(peer: Peer, agent: StandIn) -> None:
    def refuse(data: bytes) -> bool:
        raise OSError(errno.ENETUNREACH, "Network is unreachable")

    between(peer, refuse)


async def not_encrypted(peer: Peer, agent: StandIn) -> None:
    class Refusing:
        srtp_protect = staticmethod(lambda *_: 9)

    def protect(outlet: secure.Outlet, packets: Any) -> Any:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(secure, "lib", Refusing)
            return secure.Outlet._protect(outlet, packets)

    for sender in peer._senders:
        assert sender._outlet is not None
        sender._outlet._protect = protect.__get__(sender._outlet)  # type: ignore[method-assign]


async def loop_ended(peer: Peer, agent: StandIn) -> None:
    """As by a fault that nobody has thought of."""
    sender = peer._senders[1]
    assert sender._over is not None
    sender._over.set_result(None)


async def reports_stop(peer: Peer, agent: StandIn) -> None:
    async def silent(*_: object) -> None:
        return

    for transceiver in agent.calls[0].getTransceivers():
        receiver: Any = transceiver.receiver
        receiver._send_rtcp = silent


async def nothing(peer: Peer, agent: StandIn) -> None:
    return


async def a_clock_that_is_off(peer: Peer, agent: StandIn) -> None:
    """Five seconds ahead of the event loop's: once, no packet left and all was well."""


async def a_clock_that_leaps(peer: Peer, agent: StandIn) -> None:
    """Half a minute ahead at once, as where a machine was put to sleep."""
    clock = peer._clock
    assert isinstance(clock, Off)
    clock.by = 30.0


class Off(WallClock):
    """A clock that is ahead of the machine's."""

    def __init__(self, by: float) -> None:
        self.by = by

    def now(self) -> float:
        return WALL.now() + self.by


CLOCKS: Mapping[str, Clock] = {"a_clock_that_is_off": Off(5.0), "a_clock_that_leaps": Off(0.0)}


@dataclass
class Played:
    result: Result
    trace: Trace


Kind = Callable[[Peer, StandIn], Awaitable[None]]
KINDS: tuple[Kind, ...] = (
    path_lost,
    only_video_lost,
    refused,
    not_encrypted,
    loop_ended,
    reports_stop,
    nothing,
    a_clock_that_is_off,
    a_clock_that_leaps,
)


async def play(kind: Kind, folder: Path, prepared: Prepared) -> Played:
    @asynccontextmanager
    async def watched(*args: Any, **rest: Any) -> AsyncIterator[Peer]:
        async with peers.dial(*args, **rest) as peer, asyncio.TaskGroup() as group:

            async def later() -> None:
                await WALL.sleep(AT)
                await kind(peer, agent)

            group.create_task(later())
            yield peer

    async with listening() as agent:
        target = Dial(url=agent.url)
        result = await engine.play(
            prepared,
            partial(watched, target, parts=prepared.assets),
            traits=Traits(summary="stand-in"),
            folder=folder / kind.__name__,
            identity={"attempt": kind.__name__},
            conditions=Conditions(),
            instructions="",
            clock=CLOCKS.get(kind.__name__),
        )
    recording = Recording.open(result.folder)
    return Played(result=result, trace=measure(recording, prepared.scenario))


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Played]:
    folder = tmp_path_factory.mktemp("stopping")
    prepared = scene(folder)

    async def all_of_them() -> Mapping[str, Played]:
        with pytest.MonkeyPatch.context() as patch:
            # How evenly so many sessions of a test send is not the matter.
            patch.setattr("simulator.protocol.soundness.PACING_LIMIT_MS", 900.0)
            done = await asyncio.gather(*(play(kind, folder, prepared) for kind in KINDS))
        return {kind.__name__: one for kind, one in zip(KINDS, done, strict=True)}

    return asyncio.run(all_of_them())


@pytest.mark.parametrize(
    ("kind", "outcome", "reason"),
    [
        ("path_lost", Outcome.NETWORK_FAILED, "no_path: "),
        ("only_video_lost", Outcome.NETWORK_FAILED, "not_arriving: video has stopped arriving"),
        ("refused", Outcome.NETWORK_FAILED, "refused: this host's network has refused every"),
        ("not_encrypted", Outcome.INSTRUMENT_INVALID, "not_sent: "),
        ("loop_ended", Outcome.INSTRUMENT_INVALID, "not_sent: video has stopped"),
        # Whichever is noticed first: that we came late to all, that it was sent so, or is overdue.
        ("a_clock_that_leaps", Outcome.INSTRUMENT_INVALID, "stalled: |pacing: |not_sent: "),
    ],
)
def test_a_stream_that_stops_is_told(
    played: Mapping[str, Played], kind: str, outcome: Outcome, reason: str
) -> None:
    one = played[kind]
    assert one.result.outcome == outcome
    assert re.match(reason, one.result.reason)
    assert one.trace.outcome == outcome
    assert one.trace.end < SECONDS - 1 or kind == "a_clock_that_leaps"


@pytest.mark.parametrize("kind", ["nothing", "a_clock_that_is_off"])
def test_what_plays_to_its_end_is_completed_and_all_of_it_left(
    played: Mapping[str, Played], kind: str
) -> None:
    one = played[kind]
    assert (one.result.outcome, one.result.reason) == (Outcome.COMPLETED, "")
    assert one.trace.outcome == Outcome.COMPLETED
    assert one.trace.pacing.unsent == 0
    assert one.trace.life.transport
    for sent in one.trace.sent:
        assert sent.left_until == pytest.approx(one.trace.end, abs=0.6)
        assert sent.arrived_until == pytest.approx(one.trace.end, abs=2.5)


def test_a_peer_that_stops_its_reports_is_said_so(played: Mapping[str, Played]) -> None:
    one = played["reports_stop"]
    assert one.result.outcome is Outcome.COMPLETED
    assert one.trace.reported_at is not None
    assert one.trace.reported_at < AT + 3
    for sent in one.trace.sent:
        assert sent.left_until == pytest.approx(one.trace.end, abs=0.6)


def test_a_recording_says_so_itself(played: Mapping[str, Played], tmp_path: Path) -> None:
    """Of a session that believed itself completed: as recordings were before this was looked at."""
    one = played["loop_ended"]
    folder = one.result.folder
    events = folder / "events.jsonl"
    text = events.read_text()
    assert '"outcome":"instrument_invalid"' in text
    events.write_text(text.replace('"outcome":"instrument_invalid"', '"outcome":"completed"'))
    trace = measure(Recording.open(folder), scene(tmp_path).scenario)
    assert trace.outcome == Outcome.INSTRUMENT_INVALID
    assert trace.reason.startswith("not_sent: video has stopped")


@pytest.mark.parametrize(
    ("spoilt", "reason"),
    [
        ("gone", "log_damaged: it holds 0 of the"),
        ("empty", "log_damaged: it holds 0 of the"),
        ("no video", "log_damaged: it holds "),
        ("half the sound", "not_sent: "),
        ("no first seconds of sound", "not_sent: "),
    ],
)
def test_a_log_that_lacks_packets_is_no_session_played(
    played: Mapping[str, Played], tmp_path: Path, spoilt: str, reason: str
) -> None:
    """A good recording, as a partial copy leaves it. Where the session's own count is not at hand,
    as in recordings of before, the packets are missed by what was due."""
    folder = tmp_path / "copy"
    shutil.copytree(played["nothing"].result.folder, folder)
    log, events = folder / "rtp.pcap", folder / "events.jsonl"
    data = log.read_bytes()
    if spoilt == "gone":
        log.unlink()
    elif spoilt == "empty":
        log.write_bytes(b"")
    else:
        sound = sent_of(data, 5004)
        gone = {
            "no video": sent_of(data, 5006),
            "half the sound": sound[::2],
            "no first seconds of sound": sound[:150],
        }[spoilt]
        kept = bytearray(data)
        for begin, end in reversed(gone):
            del kept[begin:end]
        log.write_bytes(bytes(kept))
        if reason.startswith("not_sent"):
            lines = events.read_text().splitlines(keepends=True)
            events.write_text("".join(re.sub(r',"tracks":\[\{"track.*\]', "", x) for x in lines))
    trace = measure(Recording.open(folder), scene(tmp_path).scenario)
    assert trace.outcome != Outcome.COMPLETED
    assert trace.reason.startswith(reason)


def sent_of(data: bytes, port: int) -> list[tuple[int, int]]:
    """Where the records of what we sent from a port lie in a log, resends and all."""
    return [
        (packet.start - 44, packet.start + packet.kept)
        for packet in scan(data)
        if packet.flow == Flow(True, port)
    ]
