"""Calls to a real aiortc peer on loopback: what is sent, what is heard, what goes wrong."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from simulator.agent import Dial
from simulator.clock import WallClock
from simulator.errors import (
    AgentError,
    InputError,
    InstrumentError,
    NetworkError,
    OmnistageError,
)
from simulator.media.packets import PacketFile
from simulator.media.timeline import Asset, spread
from simulator.protocol.events import (
    Acknowledged,
    AgentSpeech,
    Configure,
    Fault,
    Ready,
    ResponseStarted,
    Text,
    Whose,
)
from simulator.protocol.tap import NullTap
from simulator.protocol.tracks import AUDIO, Track
from simulator.rtc.peer import Peer, dial
from simulator.rtc.playlist import Playlist

from .conftest import write_part

CLOCK = WallClock()


class Log(NullTap):
    """Keeps what crossed."""

    def __init__(self) -> None:
        self.sent: list[tuple[float, str, bytes, float | None]] = []
        self.received: list[tuple[float, str, bytes]] = []
        self.messages: list[tuple[str, str | bytes]] = []
        self.rtcp: list[bytes] = []

    def sent_rtp(self, t: float, track: str, packets: Sequence[bytes], due: float | None) -> None:
        self.sent += [(t, track, packet, due) for packet in packets]

    def received_rtp(self, t: float, track: str, packet: bytes) -> None:
        self.received.append((t, track, packet))

    def received_rtcp(self, t: float, packet: bytes) -> None:
        self.rtcp.append(packet)

    def wire(self, t: float, dir: str, raw: str | bytes) -> None:
        self.messages.append((dir, raw))


@asynccontextmanager
async def called(
    agent: Any, tap: NullTap | None = None, **options: Any
) -> AsyncIterator[tuple[Peer, Playlist]]:
    origin = CLOCK.now()
    target = Dial(url=agent.url, headers={"Authorization": "Bearer t0ken"})
    async with dial(target, clock=CLOCK, origin=origin, tap=tap or NullTap(), **options) as peer:
        yield peer, peer.playlist


async def next_event(peer: Peer, kind: type, within: float = 5.0) -> Any:
    async with asyncio.timeout(within):
        async for _, event in peer.events:
            if isinstance(event, kind):
                return event
    raise AssertionError(f"the events ended without {kind.__name__}")


def soon(playlist: Playlist, ahead: float = 0.1) -> float:
    return round((playlist.now() + ahead) / 0.02) * 0.02


async def test_an_agent_without_eyes_is_offered_no_video(agent: Any, part: PacketFile) -> None:
    log = Log()
    async with called(agent, log, tracks=(AUDIO,)) as (peer, playlist):
        playlist.play(part, soon(playlist))
        await asyncio.sleep(0.5)
        offered = agent.calls[0].remoteDescription.sdp
        negotiated = peer.negotiated["tracks"]
        sending = peer.sending()
    assert "m=audio" in offered
    assert "m=video" not in offered
    assert list(negotiated) == ["audio"]
    assert {track for _, track, *_ in log.sent} == {"audio"}
    assert [(sent.track, sent.unsent) for sent in sending.tracks] == [("audio", 0)]
    assert len(agent.heard.of("audio")) > 10


async def test_a_call_sends_every_packet_on_time_and_says_what_was_negotiated(
    agent: Any, part: PacketFile
) -> None:
    log = Log()
    async with called(agent, log) as (peer, playlist):
        assert isinstance(await next_event(peer, Ready), Ready)
        assert log.sent == []  # nothing is scheduled, nothing is sent
        at = soon(playlist)
        playlist.play(part, at)
        await CLOCK.sleep_until(CLOCK.now() - playlist.now() + at + 1.0)
        health = peer.health()
        await CLOCK.sleep_until(CLOCK.now() - playlist.now() + at + 2.15)
        audio = [(t, p, due) for t, kind, p, due in log.sent if kind == "audio"]
        video = [(t, p, due) for t, kind, p, due in log.sent if kind == "video"]
        assert [due for _, _, due in audio] == pytest.approx(
            [at + 0.02 * (i + 1) for i in range(100)]
        )
        frames: dict[bytes, list[float]] = {}
        for _, packet, due in video:
            if due is not None:
                frames.setdefault(packet[4:8], []).append(due)
        dues = list(frames.values())
        assert [leaving[0] for leaving in dues] == pytest.approx([at + i / 30 for i in range(60)])
        for leaving in dues:  # groups of eight, a millisecond apart
            expected = [spread(i, len(leaving)) for i in range(len(leaving))]
            assert [d - leaving[0] for d in leaving] == pytest.approx(expected)
        assert max(map(len, dues)) > 8
        stamps = [int.from_bytes(p[4:8]) for _, p, _ in audio]
        assert {(b - a) % 2**32 for a, b in itertools.pairwise(stamps)} == {960}
        assert len(agent.heard.of("audio")) == 100
        assert len(agent.heard.of("video")) == len(video)
        assert peer.negotiated["tracks"]["video"]["codec"] == "H264"
        assert peer.negotiated["tracks"]["video"]["parameters"]["profile-level-id"] == "42e01f"
        assert peer.negotiated["tracks"]["audio"]["clock"] == 48_000
        assert peer.negotiated["tracks"]["audio"]["ssrc"] == int.from_bytes(audio[0][1][8:12])
        assert peer.negotiated["path"]["local"].startswith("host ")
        assert 0 < health.send_p99_ms <= health.send_max_ms < 60
    assert agent.headers[0]["Authorization"] == "Bearer t0ken"
    assert agent.headers[0]["Content-Type"] == "application/sdp"
    assert agent.hung_up == ["DELETE /v1/realtime/calls/call_1"]


async def test_commands_and_messages_cross_in_the_dialects_words(agent: Any) -> None:
    log = Log()
    async with called(agent, log) as (peer, _):
        await next_event(peer, Ready)
        command = peer.send(Configure(instructions="Be brief."))
        assert (await next_event(peer, Acknowledged)).command == command
        agent.say({"type": "response.created", "response": {"id": "r1"}})
        agent.say({"type": "response.output_text.delta", "response_id": "r1", "delta": "Hi"})
        assert (await next_event(peer, ResponseStarted)).response == "r1"
        assert (await next_event(peer, Text)).text == "Hi"
    session = agent.messages[0]["session"]
    assert session["instructions"] == "Be brief."
    assert session["output_modalities"] == ["audio"]
    assert [d for d, _ in log.messages] == ["in", "out", "in", "in", "in"]


async def test_the_agents_speech_is_heard_live(agent: Any) -> None:
    async with called(agent) as (peer, _):
        await next_event(peer, Ready)
        agent.voice.say(0.5)
        edges = []
        async with asyncio.timeout(5):
            async for t, event in peer.events:
                if isinstance(event, AgentSpeech):
                    edges.append((event.edge, t + CLOCK.now() - peer.now()))
                    if event.edge == "end":
                        break
    assert [edge for edge, _ in edges] == ["start", "end"]
    assert 0.0 < edges[0][1] - agent.voice.began[0] < 0.15
    assert 0.5 < edges[1][1] - edges[0][1] < 0.85


async def test_receiver_reports_go_both_ways(agent: Any, part: PacketFile) -> None:
    async with called(agent) as (peer, playlist):
        playlist.play(part, soon(playlist), loop=True)
        await asyncio.sleep(3.2)  # each end reports at least each 1.5 s
        assert peer.vitals.reported >= 2
        assert peer.vitals.rtt is not None
        assert peer.vitals.rtt < 0.2
        assert any(201 in packet[1:2] for packet in agent.heard.rtcp)
        assert peer.vitals.lost_there == 0


# ---------------------------------------------------------------- refused, or not fit


async def test_a_refusal_is_told_with_status_and_reason(agent: Any) -> None:
    agent.status, agent.body = 401, '{"error": "no such token"}'
    with pytest.raises(AgentError, match=r"refused the call: 401.*no such token") as caught:
        async with called(agent):
            pass
    assert "key or token" in caught.value.hint


async def test_an_answer_without_audio(agent: Any) -> None:
    agent.edit = lambda sdp: sdp.replace(
        "m=audio " + sdp.split("m=audio ")[1].split()[0], "m=audio 0"
    )
    with pytest.raises(AgentError, match="without audio"):
        async with called(agent):
            pass


async def test_an_answer_without_a_fingerprint(agent: Any) -> None:
    agent.edit = lambda sdp: re.sub(r"a=fingerprint:.*\r\n", "", sdp)
    with pytest.raises(AgentError, match="no fingerprint"):
        async with called(agent):
            pass


@pytest.mark.parametrize("broken", ["m=video x y", "a=fingerprint:x"])
async def test_an_answer_that_is_no_sdp(agent: Any, broken: str) -> None:
    agent.edit = lambda sdp: f"{sdp}{broken}\r\n"
    with pytest.raises(AgentError, match=r"SDP answer cannot be read: \w"):
        async with called(agent):
            pass


async def test_an_agent_that_knows_only_vp8(agent: Any) -> None:
    def only_vp8(connection: Any) -> None:
        video = next(t for t in connection.getTransceivers() if t.kind == "video")
        video._codecs = [c for c in video._codecs if c.name == "VP8"]

    agent.codecs = only_vp8
    with pytest.raises(InputError, match="takes no H264 video, only VP8") as raised:
        async with called(agent):
            pass
    assert raised.value.hint == "play it with --video vp8"


async def test_an_agent_that_rejects_our_picture_is_not_made_for_it(agent: Any) -> None:
    agent.edit = lambda sdp: re.sub("m=video [0-9]+", "m=video 0", sdp)
    with pytest.raises(InputError, match="rejected our video"):
        async with called(agent):
            pass


@pytest.mark.parametrize("body", ["v=0\r\nwell?", "v=0\r\n<html>\r\n"])
async def test_an_answer_that_is_something_else(agent: Any, body: str) -> None:
    agent.edit = lambda sdp: body
    with pytest.raises(AgentError, match="answered with what is no SDP: 'v=0 "):
        async with called(agent):
            pass


# What is wrong with a call that was answered, and the error that it ends in.
ANSWERED_AND_FAILED: Mapping[str, tuple[Callable[[str], str], type[OmnistageError]]] = {
    "no SDP": (lambda sdp: "Welcome!", AgentError),
    "rejected picture": (lambda sdp: re.sub("m=video [0-9]+", "m=video 0", sdp), InputError),
    "no path": (lambda sdp: re.sub(r"a=candidate:.*\r\n", "", sdp), NetworkError),
    "not as offered": (lambda sdp: sdp.replace("a=mid:0", "a=mid:7"), OmnistageError),
}


@pytest.mark.parametrize("what", ANSWERED_AND_FAILED)
async def test_a_call_that_fails_after_its_answer_is_hung_up(agent: Any, what: str) -> None:
    """Else a server with one place stays busy with a call that nobody is in."""
    agent.edit, error = ANSWERED_AND_FAILED[what]
    with pytest.raises(error):
        async with called(agent, connect_timeout=1.0):
            pass
    assert agent.hung_up == ["DELETE /v1/realtime/calls/call_1"]


async def test_a_call_that_was_refused_is_not_hung_up(agent: Any) -> None:
    agent.status = 503
    with pytest.raises(AgentError):
        async with called(agent):
            pass
    assert agent.hung_up == []


# ---------------------------------------------------------------- going wrong on the way


async def test_malformed_messages_are_told_and_counted(agent: Any) -> None:
    async with called(agent) as (peer, _):
        await next_event(peer, Ready)
        agent.say("{not json " + "x" * 1000)
        fault = await next_event(peer, Fault)
        assert (fault.whose, fault.code, fault.fatal) == (Whose.AGENT, "malformed", False)
        assert "{not json" in fault.message
        assert len(fault.message) < 400
        for raw in (
            "[]",
            "3",
            '{"type": 3}',
            '{"type": "response.created"}',
            '{"type": "omnistage.context", "op": "x", "span": [1' + "0" * 400 + ", 2]}",
            "[" * 50_000,
            b"\xff",
        ):
            agent.say(raw)
            assert (await next_event(peer, Fault)).code == "malformed"
        agent.say({"type": "response.output_text.delta", "response_id": "r", "delta": "still"})
        assert (await next_event(peer, Text)).text == "still"


async def test_megabytes_of_text_are_cut_and_told(agent: Any) -> None:
    async with called(agent) as (peer, _):
        await next_event(peer, Ready)
        body = {"type": "response.output_text.delta", "response_id": "r", "delta": "x" * 60_000}
        for _ in range(10):
            agent.say(body)
        agent.say({"type": "response.created", "response": {"id": "done"}})
        total, cut = 0, []
        async with asyncio.timeout(10):
            async for _, event in peer.events:
                if isinstance(event, Text):
                    total += len(event.text)
                if isinstance(event, Fault):
                    cut.append(event.code)
                if isinstance(event, ResponseStarted):
                    break
        assert total == 200_000
        assert cut == ["text_cut"]


async def test_an_error_of_the_agents_is_a_fault_but_not_the_end(agent: Any) -> None:
    async with called(agent) as (peer, _):
        agent_error = {"type": "error", "error": {"code": "busy", "message": "try later"}}
        await next_event(peer, Ready)
        agent.say(agent_error)
        fault = await next_event(peer, Fault)
        assert (fault.code, fault.message, fault.fatal) == ("busy", "try later", False)


async def test_an_agent_that_ends_the_call_is_at_fault(agent: Any) -> None:
    async with called(agent) as (peer, _):
        await next_event(peer, Ready)
        await agent.close()
        fault = await next_event(peer, Fault)
        assert (fault.whose, fault.fatal) == (Whose.AGENT, True)
        assert [event async for event in peer.events] == []


async def test_closing_twice_is_harmless(agent: Any) -> None:
    async with called(agent) as (peer, _):
        await peer.close()
        await peer.close()


# ---------------------------------------------------------------- more than one picture

DESK, DOOR = Track(id="desk", kind="video"), Track(id="door", kind="video")


async def test_tracks_of_a_kind_are_told_apart_by_their_names(agent: Any, tmp_path: Path) -> None:
    """Two pictures in one call: each has its own packets, on our side and on the other."""
    path = tmp_path / "views"
    write_part(path, 2.0, pictures=(DESK, DOOR))
    asset = Asset(key="views", path=path, duration=2.0)
    log = Log()
    async with called(agent, log, parts=(asset,)) as (peer, playlist):
        await next_event(peer, Ready)
        peer.play(asset, at := soon(playlist))
        await CLOCK.sleep_until(CLOCK.now() - playlist.now() + at + 2.3)
        sending = {sent.track: sent for sent in peer.sending().tracks}
        negotiated = peer.negotiated["tracks"]
    assert set(sending) == set(negotiated) == {"audio", "desk", "door"}
    assert len({n["ssrc"] for n in negotiated.values()}) == 3
    for name, sent in sending.items():
        mine = [p for _, track, p, due in log.sent if track == name and due is not None]
        assert sent.packets == len(mine) > 50
        assert {int.from_bytes(p[8:12]) for p in mine} == {negotiated[name]["ssrc"]}
        assert sent.arrived_until is not None
    # The other side knows no names of ours: it counts its sections.
    assert {track for _, track, _ in agent.heard.rtp} == {"audio", "video", "video-2"}
    for name, theirs in (("desk", "video"), ("door", "video-2")):
        sources = {int.from_bytes(p[8:12]) for _, p in agent.heard.of(theirs)}
        assert sources == {negotiated[name]["ssrc"]}
        assert len(agent.heard.of(theirs)) == sending[name].packets


async def test_parts_that_differ_in_their_tracks_are_refused(agent: Any, tmp_path: Path) -> None:
    write_part(tmp_path / "one", 0.5)
    write_part(tmp_path / "two", 0.5, pictures=(DESK, DOOR))
    parts = [Asset(key=n, path=tmp_path / n, duration=0.5) for n in ("one", "two")]
    with pytest.raises(InstrumentError, match="two has other tracks than the parts before it"):
        async with called(agent, parts=parts):
            pass
    assert agent.headers == []


async def test_an_agent_that_takes_fewer_pictures_is_refused(agent: Any, tmp_path: Path) -> None:
    write_part(tmp_path / "two", 0.5, pictures=(DESK, DOOR))
    parts = [Asset(key="two", path=tmp_path / "two", duration=0.5)]

    def without_the_second(sdp: str) -> str:
        before, video, second = sdp.rpartition("m=video ")
        return before + video + "0 " + second.partition(" ")[2]

    agent.edit = without_the_second
    with pytest.raises(InputError, match="takes 1 of our 2 pictures"):
        async with called(agent, parts=parts):
            pass
