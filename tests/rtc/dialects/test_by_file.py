"""Dialects of users' files in real calls: the example of the README, and channels of all kinds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aioice import stun

from simulator.agent import Dial, Launch
from simulator.clock import WallClock
from simulator.errors import AgentError, InputError
from simulator.plugins import load_agent
from simulator.protocol.events import Commit, Configure, Fault, Ready, Text
from simulator.protocol.tap import NullTap
from simulator.rtc import channels
from simulator.rtc.dialects import found
from simulator.rtc.peer import Peer, dial

CLOCK = WallClock()
README = Path(__file__).parents[3] / "agents" / "README.md"

AGENT = """
import contextlib
from simulator.agent import Dial, Traits

class Mine:
    traits = Traits(summary="mine")
    def __init__(self, *, url):
        self._url = url
    def secrets(self):
        return ()
    @contextlib.asynccontextmanager
    async def open(self, launch):
        yield Dial(url=self._url, dialect="words.py", session={"mood": "brief"})
"""
HEAD = """
from simulator.protocol.events import Ready, Text
from simulator.rtc.dialect import Codec, Message, Written
from simulator.rtc.dialects.openai import signalling
"""
TAIL = """
    def read(self, message):
        return [Text(text=repr((message.channel, message.body)))]
    def write(self, command):
        return Written(messages=[self.said])

class Mine:
    codec = Words
    signalling = signalling.Signalling
"""


class Wire(NullTap):
    def __init__(self) -> None:
        self.said: list[tuple[str, str | bytes]] = []

    def wire(self, t: float, dir: str, raw: str | bytes) -> None:
        self.said.append((dir, raw))


@asynccontextmanager
async def called(target: Dial, tap: NullTap | None = None) -> AsyncIterator[Peer]:
    origin = CLOCK.now()
    async with dial(target, clock=CLOCK, origin=origin, tap=tap or NullTap()) as peer:
        yield peer


async def next_event(peer: Peer, kind: type) -> Any:
    async with asyncio.timeout(5):
        async for _, event in peer.events:
            if isinstance(event, kind):
                return event
    raise AssertionError(f"the events ended without {kind.__name__}")


class Heard:
    """What the agent has heard, by channel."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str | bytes]] = []
        self._news = asyncio.Event()

    def listen(self, channel: Any) -> None:
        channel.on("message", lambda raw: self._hear(channel.label, raw))

    def _hear(self, label: str, raw: str | bytes) -> None:
        self.said.append((label, raw))
        self._news.set()

    async def until(self, label: str, raw: str | bytes, count: int = 1) -> None:
        async with asyncio.timeout(5):
            while self.said.count((label, raw)) < count:
                self._news.clear()
                await self._news.wait()


def words(tmp_path: Path, source: str, tail: str = TAIL) -> str:
    path = tmp_path / "words.py"
    path.write_text(HEAD + source + tail)
    return str(path)


async def test_the_readmes_dialect(agent: Any, tmp_path: Path) -> None:
    blocks = README.read_text(encoding="utf-8").split("```python\n")
    (source,) = [b.split("```")[0] for b in blocks if "class Words(Codec)" in b]
    (tmp_path / "words.py").write_text(source)
    (tmp_path / "mine.py").write_text(AGENT)
    mine = load_agent(str(tmp_path / "mine.py"), {"url": agent.url})
    heard = Heard()

    def open(channel: Any) -> None:
        heard.listen(channel)
        agent.channels.append(channel)
        agent.say({"kind": "hello"})

    agent.open = open
    wire = Wire()
    async with mine.open(Launch(log=tmp_path / "log")) as yielded:
        target = found(yielded, mine)
    async with called(target, wire) as peer:
        assert [c.label for c in agent.channels] == ["chat"]
        await next_event(peer, Ready)
        assert peer.send(Configure(instructions="Be kind.")) == ""
        agent.say({"kind": "text", "text": "Three."})
        assert await next_event(peer, Text) == Text(text="Three.", final=True)
        agent.say({"kind": "bye"})
        await heard.until("chat", '{"kind":"bye"}')
        agent.say({"kind": "text"})
        assert (await next_event(peer, Fault)).message.startswith("text is not text: ")
        with pytest.raises(InputError, match=r"decides itself.*\(play it with --decide agent"):
            peer.send(Commit())
    told = '{"kind":"told","text":"Be kind.","mood":"brief"}'
    assert heard.said == [("chat", told), ("chat", '{"kind":"bye"}')]
    assert wire.said == [
        ("in", '{"kind": "hello"}'),
        ("out", told),
        ("in", '{"kind": "text", "text": "Three."}'),
        ("in", '{"kind": "bye"}'),
        ("out", '{"kind":"bye"}'),
        ("in", '{"kind": "text"}'),
    ]
    assert agent.hung_up == ["DELETE /v1/realtime/calls/call_1"]


async def test_channels_of_ours_and_of_the_agents(agent: Any, tmp_path: Path) -> None:
    """Two of ours; one that the agent opens late, for which a message waits; keep-alives."""
    source = """
class Words(Codec):
    channels = ("a", "b")
    said = Message(channel="late", body=b"\\x01")
    def __init__(self, settings):
        self.pinged = None
    def connected(self):
        return [Ready(), Message(channel="b", body="hello")]
    def tick(self, now):
        if self.pinged is not None and now < self.pinged + 0.25:
            return []
        self.pinged = now
        return [Message(channel="a", body="ping")]
"""
    heard = Heard()

    def open(channel: Any) -> None:
        heard.listen(channel)
        agent.channels.append(channel)

    agent.open = open
    wire = Wire()
    target = Dial(url=agent.url, dialect=words(tmp_path, source))
    async with called(target, wire) as peer:
        await next_event(peer, Ready)
        peer.send(Configure(instructions=""))
        await heard.until("b", "hello")
        await heard.until("a", "ping", 3)
        assert ("out", b"\x01") not in wire.said
        open(agent.calls[0].createDataChannel("late"))
        await heard.until("late", b"\x01")
        agent.channels[-1].send(b"\x02")
        assert await next_event(peer, Text) == Text(text="('late', b'\\x02')")
        agent.channels[-1].close()
        await asyncio.sleep(0.3)
        assert peer.connection.connectionState == "connected"
        with pytest.raises(AgentError, match="closed"):
            peer.send(Configure(instructions=""))
    assert sorted(c.label for c in agent.channels) == ["a", "b", "late"]


async def test_a_channel_that_never_opens_takes_only_so_much(
    agent: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(channels, "BUFFER_LIMIT", 50)
    source = """
class Words(Codec):
    channels = ("a",)
    said = Message(channel="late", body="x" * 40)
    def __init__(self, settings): ...
"""
    async with called(Dial(url=agent.url, dialect=words(tmp_path, source))) as peer:
        peer.send(Configure(instructions=""))
        with pytest.raises(AgentError, match="has not opened the data channel 'late'"):
            peer.send(Configure(instructions=""))


async def test_no_channel_at_all(agent: Any, tmp_path: Path) -> None:
    source = """
class Words(Codec):
    def __init__(self, settings): ...
    def connected(self):
        return [Ready()]
"""
    async with called(Dial(url=agent.url, dialect=words(tmp_path, source))) as peer:
        await next_event(peer, Ready)
        assert "m=application" not in agent.calls[0].remoteDescription.sdp
        assert peer.negotiated["path"]["local"].startswith("host ")


async def test_a_codec_that_breaks_ends_the_call_with_its_place(agent: Any, tmp_path: Path) -> None:
    source = """
class Words(Codec):
    channels = ("a",)
    def __init__(self, settings): ...
    def connected(self):
        return [1 / 0]
"""
    async with called(Dial(url=agent.url, dialect=words(tmp_path, source))) as peer:
        fault = await next_event(peer, Fault)
        assert (fault.whose, fault.code, fault.fatal) == ("agent", "dialect", True)
        assert fault.message == (
            "its dialect failed: ZeroDivisionError: division by zero (words.py:10)"
        )
        assert [event async for event in peer.events] == []


class Reflector(asyncio.DatagramProtocol):
    """A STUN server: tells who asks where it is seen."""

    def __init__(self) -> None:
        self.asked = 0

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, address: Any) -> None:
        self.asked += 1
        request = stun.parse_message(data)
        answer = stun.Message(
            message_method=stun.Method.BINDING,
            message_class=stun.Class.RESPONSE,
            transaction_id=request.transaction_id,
        )
        answer.attributes["XOR-MAPPED-ADDRESS"] = ("203.0.113.7", 7)
        self._transport.sendto(bytes(answer), address)


async def test_a_dialect_may_name_servers_by_which_the_agent_is_reached(
    agent: Any, tmp_path: Path
) -> None:
    reflector = Reflector()
    transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(
        lambda: reflector, ("0.0.0.0", 0)
    )
    port = transport.get_extra_info("sockname")[1]
    source = f"""
from aiortc import RTCIceServer

class Found(signalling.Signalling):
    async def servers(self, http):
        return [RTCIceServer("stun:127.0.0.1:{port}")]

class Words(Codec):
    def __init__(self, settings): ...
"""
    path = words(tmp_path, source, TAIL.replace("signalling.Signalling", "Found"))
    try:
        async with called(Dial(url=agent.url, dialect=path)):
            assert reflector.asked
            assert "203.0.113.7 7 typ srflx" in agent.calls[0].remoteDescription.sdp
    finally:
        transport.close()
