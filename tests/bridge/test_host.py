"""Calls to a host over real connections: who gets in, what is answered, what breaks what."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import aiohttp
import aiortc
import numpy as np
import pytest
from aiortc import RTCConfiguration, RTCPeerConnection

from simulator.agent import Dial
from simulator.bridge.babble import babble
from simulator.bridge.call import Call, Responder
from simulator.bridge.connection import PRIVATE
from simulator.bridge.events import (
    Configured,
    ResponseAsked,
    ResponseCancelled,
    SpeechEnded,
)
from simulator.bridge.host import OFFER_LIMIT, Host
from simulator.bridge.origins import Origins
from simulator.media.packets import PacketFile
from simulator.protocol.samples import MonoInt16
from simulator.rtc.dialect import Message
from simulator.rtc.dialects.openai.codec import CHANNEL

TOKEN = "the-token"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


class Recorder:
    """A responder that does as the test says and keeps what it saw."""

    def __init__(self) -> None:
        self.events: list[Any] = []
        self.calls: list[Call] = []
        self.act: Callable[[Call, Any], Any] = lambda call, event: None
        self.seen: list[Any] = []
        self.look = False

    async def call(self, call: Call) -> None:
        self.calls.append(call)
        await call.start()
        if self.look:
            call.later(self._look(call))
        async for event in call:
            self.events.append(event)
            self.act(call, event)

    async def _look(self, call: Call) -> None:
        async for seen in call.seeing.frames(fps=5):
            self.seen.append((seen.time, seen.image(160)))


@contextlib.asynccontextmanager
async def hosting(
    responder: Responder, origins: Origins | None = None
) -> AsyncIterator[tuple[Host, Dial]]:
    host = Host(responder, token=TOKEN, origins=origins)
    async with host.listen() as url:
        yield host, Dial(url=url, headers=BEARER)


@pytest.mark.parametrize("owner", PRIVATE)
async def test_the_private_names_of_aiortc_are_there(owner: str) -> None:
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    transceiver = connection.addTransceiver("audio")
    has = transceiver if owner == "RTCRtpTransceiver" else getattr(aiortc, owner)
    assert all(hasattr(has, name) for name in PRIVATE[owner])
    await connection.close()


async def test_who_is_let_in_and_with_what() -> None:
    audio = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    audio.createDataChannel("oai-events")
    silent = (await audio.createOffer()).sdp
    audio.addTransceiver("audio")
    whole = (await audio.createOffer()).sdp
    sdp = {**BEARER, "Content-Type": "application/sdp"}
    odd = "application/sdp; charset=undefined"
    form = aiohttp.FormData()
    form.add_field("session", "{}", content_type="application/json")
    secret = {"Authorization": "Bearer ek_made_up"}
    cases: list[tuple[int, str, dict[str, str], Any]] = [
        (401, "invalid_api_key", {}, "v=0"),
        (401, "invalid_api_key", {"Authorization": "Bearer wrong"}, "v=0"),
        (401, "invalid_api_key", {"Authorization": f"Basic {TOKEN}"}, "v=0"),
        (401, "invalid_api_key", {"Authorization": "Bearer caf\udce9"}, "v=0"),
        (401, "invalid_api_key", secret, "v=0"),
        (415, "unsupported_content_type", {**BEARER, "Content-Type": "text/plain"}, "v=0"),
        (400, "invalid_offer", sdp, "this is no SDP"),
        (400, "invalid_offer", sdp, "v=0\r\nm=audio x y z\r\n"),
        (400, "invalid_offer", sdp, silent),
        (400, "invalid_offer", sdp, whole.replace("a=fingerprint", "a=imprint")),
        # Its data channel is in a group of which nothing else is.
        (400, "invalid_offer", sdp, whole.replace("a=mid:0", "a=mid:zero")),
        (400, "invalid_encoding", {**sdp, "Content-Type": odd}, "v=0"),
        (400, "missing_sdp", BEARER, form),
        (413, "request_too_large", sdp, "v" * (OFFER_LIMIT + 1)),
    ]
    async with hosting(Recorder()) as (host, dial), aiohttp.ClientSession() as http:
        for status, code, headers, body in cases:
            async with http.post(dial.url, data=body, headers=headers) as said:
                error = (await said.json())["error"]
                assert (said.status, error["code"]) == (status, code)
                assert error["message"]
        by_its_scheme = {"Authorization": f"bearer {TOKEN}"}
        async with http.delete(f"{dial.url}/call_none", headers=by_its_scheme) as said:
            assert said.status == 404
            assert (await said.json())["error"]["code"] == "call_id_not_found"
        assert host.calls == 0
    await audio.close()


def form_of(*parts: tuple[str, str]) -> aiohttp.FormData:
    form = aiohttp.FormData()
    for name, text in parts:
        form.add_field(name, text, content_type="text/plain")
    return form


OFFER = ("sdp", "v=0")


@pytest.mark.parametrize(
    ("parts", "code", "param"),
    [
        ([OFFER, ("sesion", "{}")], "unknown_parameter", None),
        ([OFFER, OFFER], "invalid_form", "sdp"),
        ([OFFER, ("session", "{")], "invalid_json", "session"),
        ([OFFER, ("session", "[]")], "invalid_type", "session"),
        ([OFFER, ("session", '{"type": "transcription"}')], "invalid_value", "session.type"),
        ([OFFER, ("session", '{"instructions": 3}')], "invalid_type", "session.instructions"),
    ],
)
async def test_a_form_that_says_something_else_is_refused(
    parts: list[tuple[str, str]], code: str, param: str | None
) -> None:
    async with hosting(Recorder()) as (host, dial), aiohttp.ClientSession() as http:
        async with http.post(dial.url, data=form_of(*parts), headers=BEARER) as said:
            error = (await said.json())["error"]
        assert (said.status, error["code"], error["param"]) == (400, code, param)
        assert error["message"]
        assert host.calls == 0


@pytest.mark.parametrize(
    "header",
    ["Content-Type: text/plain; charset=no", "Content-Transfer-Encoding: no", "no header at all"],
)
async def test_a_form_of_unknown_encoding_is_refused(header: str) -> None:
    part = f'--x\r\nContent-Disposition: form-data; name="sdp"\r\n{header}\r\n\r\nv=0\r\n--x--'
    form = {**BEARER, "Content-Type": "multipart/form-data; boundary=x"}
    async with (
        hosting(Recorder()) as (_, dial),
        aiohttp.ClientSession() as http,
        http.post(dial.url, data=part.encode(), headers=form) as said,
    ):
        assert (said.status, (await said.json())["error"]["code"]) == (400, "invalid_form")


@contextlib.asynccontextmanager
async def offering() -> AsyncIterator[str]:
    """An offer that can be answered."""
    caller = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    caller.addTransceiver("audio")
    caller.createDataChannel("oai-events")
    await caller.setLocalDescription(await caller.createOffer())
    yield caller.localDescription.sdp
    await caller.close()


async def test_a_secret_opens_calls_with_its_settings_and_nothing_else() -> None:
    responder = Recorder()
    async with (
        hosting(responder) as (host, dial),
        aiohttp.ClientSession() as http,
        offering() as offer,
    ):
        root = dial.url.removesuffix("/calls")

        async def post(path: str, token: str, **given: Any) -> tuple[int, Any]:
            sent = {"Authorization": f"Bearer {token}", **given.pop("headers", {})}
            async with http.post(root + path, headers=sent, **given) as said:
                text = await said.text()
                json = said.content_type == "application/json"
                return said.status, await said.json() if json else text

        session = {"type": "realtime", "model": "m", "instructions": "Be brief."}
        asked = {"session": session, "expires_after": {"anchor": "created_at", "seconds": 60}}
        status, minted = await post("/client_secrets", TOKEN, json=asked)
        assert status == 200
        assert minted["value"].startswith("ek_")
        assert minted["session"].items() > session.items()
        assert minted["expires_at"] > 1_700_000_000
        older = {"model": "n", "modalities": ["text"], "turn_detection": None}
        status, before = await post("/sessions", TOKEN, json=older)
        assert status == 200
        assert before["output_modalities"] == ["text"]

        secret, former = minted["value"], before["client_secret"]["value"]
        sdp = {"headers": {"Content-Type": "application/sdp"}, "data": offer}
        assert (await post("/client_secrets", secret, json={}))[0] == 403
        assert (await post("/calls/call_1/hangup", secret))[0] == 403
        assert (await post("/calls", secret, **sdp))[0] == 201
        assert (await post("?model=other", former, **sdp))[0] == 201
        assert (await post("?model=other", TOKEN, **sdp))[0] == 201
        form = form_of(("sdp", offer), ("session", '{"instructions": "Be kind."}'))
        assert (await post("/calls", secret, data=form))[0] == 201
        assert host.calls == 4
        sessions = [call.session for call in responder.calls]
        assert [(s["model"], s["instructions"]) for s in sessions] == [
            ("m", "Be brief."),
            ("other", ""),
            ("other", ""),
            ("m", "Be kind."),
        ]
        assert [call.asked_only for call in responder.calls] == [False, True, False, False]
        wrongs: list[Any] = [{"session": []}, {"expires_after": 3}, [], {"session": {"audio": 1}}]
        for wrong in wrongs:
            status, body = await post("/client_secrets", TOKEN, json=wrong)
            assert (status, body["error"]["type"]) == (400, "invalid_request_error")
        status, body = await post("/client_secrets", TOKEN, data="{")
        assert (status, body["error"]["code"]) == (400, "invalid_json")


async def test_settings_that_came_with_the_offer_reach_the_agent_first(
    call: Any, hush: PacketFile, capfd: pytest.CaptureFixture[str]
) -> None:
    responder = Recorder()
    async with hosting(responder) as (_, dial), aiohttp.ClientSession() as http:
        root = dial.url.removesuffix("/calls")
        asked = {"session": {"instructions": "Be brief.", "tracing": "auto", "m\n": 1}}
        async with http.post(f"{root}/client_secrets", json=asked, headers=BEARER) as said:
            secret = (await said.json())["value"]
        bound = Dial(url=dial.url, headers={"Authorization": f"Bearer {secret}"})
        async with call(bound, hush) as line:
            created = await line.until("session.created")
            assert created["session"]["instructions"] == "Be brief."
            await line.send(type="session.update", session={"tracing": "auto"})
            await line.until("session.updated")
            first, _ = responder.events
            assert first == Configured(session=asked["session"])
    (told,) = capfd.readouterr().err.splitlines()
    assert told.endswith(r"left to the agent, the bridge does not serve: 'tracing', 'm\n'")
    assert secret not in told


async def test_pages_of_origins_that_are_allowed_may_call(
    capfd: pytest.CaptureFixture[str],
) -> None:
    page = {"Origin": "https://app.example"}
    stranger = {"Origin": "https://evil.example\u2028"}
    asks = {
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,content-type,x-openai-agents-sdk",
    }
    async with (
        hosting(Recorder(), Origins(["https://app.example"])) as (host, dial),
        aiohttp.ClientSession() as http,
        offering() as offer,
    ):
        sdp = {**BEARER, "Content-Type": "application/sdp"}
        async with http.options(dial.url, headers=page | asks) as said:
            assert said.status == 204
            allowed = said.headers["Access-Control-Allow-Headers"]
            assert allowed == asks["Access-Control-Request-Headers"]
            assert said.headers["Access-Control-Allow-Origin"] == page["Origin"]
        for headers, data, status in ((page | sdp, offer, 201), (page, "", 401), (sdp, offer, 201)):
            async with http.post(dial.url, headers=headers, data=data) as said:
                assert said.status == status
                named = said.headers.get("Access-Control-Allow-Origin")
                assert named == headers.get("Origin")
        assert host.calls == 2
        for method in ("OPTIONS", "POST", "POST"):
            refused = http.request(method, dial.url, headers=stranger | sdp | asks, data=offer)
            async with refused as said:
                assert said.status == 403
                assert not [h for h in said.headers if h.startswith("Access-Control")]
                error = (await said.json())["error"]
                assert error["code"] == "origin_not_allowed"
                assert "--origin" in error["message"]
        assert host.calls == 2
        async with http.options(dial.url) as said:
            assert said.status == 401
    (told,) = capfd.readouterr().err.splitlines()
    assert told.startswith("pages of 'https://evil.example")


async def test_a_form_with_the_offer_is_answered_and_hung_up() -> None:
    caller = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    caller.addTransceiver("audio")
    caller.createDataChannel("oai-events")
    await caller.setLocalDescription(await caller.createOffer())
    form = aiohttp.FormData()
    form.add_field("sdp", caller.localDescription.sdp, content_type="application/sdp")
    form.add_field("session", '{"type":"realtime"}', content_type="application/json")
    async with hosting(Recorder()) as (host, dial), aiohttp.ClientSession() as http:
        async with http.post(dial.url, data=form, headers=BEARER) as said:
            assert said.status == 201
            assert said.content_type == "application/sdp"
            assert "m=audio" in await said.text()
            where = said.headers["Location"]
        assert where.startswith("/v1/realtime/calls/call_")
        assert host.calls == 1
        base = dial.url.removesuffix("/v1/realtime/calls")
        async with http.post(f"{base}{where}/hangup", headers=BEARER) as said:
            assert said.status == 200
        async with asyncio.timeout(3):
            while host.calls:  # noqa: ASYNC110 the host tells nobody that a call is over
                await asyncio.sleep(0.01)
    await caller.close()


async def test_two_calls_at_once_and_one_that_breaks(
    call: Any, hush: PacketFile, capfd: pytest.CaptureFixture[str]
) -> None:
    responder = Recorder()

    def act(on: Call, event: Any) -> None:
        if isinstance(event, ResponseAsked):
            raise ZeroDivisionError("a bug of the agent's")
        if isinstance(event, Configured):
            on.later(_say(on, "Still here."))

    responder.act = act
    async with hosting(responder) as (host, dial), call(dial, hush) as well:
        async with call(dial, hush) as broken:
            await broken.until("session.created")
            assert host.calls == 2
            await broken.send(type="response.create")
            error = (await broken.until("error"))["error"]
            assert error["type"] == "server_error"
            assert "bug" not in error["message"]
        await well.send(type="session.update", session={"instructions": "x"})
        done = await well.until("output_audio_buffer.stopped")
        assert done["response_id"] == well.of("response.created")[0]["response"]["id"]
        assert not well.of("error")
        assert well.runs()
    assert "a bug of the agent's" in capfd.readouterr().err


async def _say(call: Call, text: str, samples: MonoInt16 | None = None) -> None:
    await call.say(text, samples=samples)


async def test_messages_of_all_kinds(call: Any, hush: PacketFile) -> None:
    responder = Recorder()
    async with hosting(responder) as (_, dial), call(dial, hush) as line:
        await line.until("session.created")
        for raw in ("{", "[]", b"\x00\xff", '{"type": "no.such"}', "x" * 60_000):
            line.peer.channels.post(Message(channel=CHANNEL, body=raw))
        await line.until("error", 5)
        await line.send(
            type="conversation.item.create",
            item={"type": "message", "role": "user", "content": [{"type": "input_text"}]},
        )
        added = await line.until("conversation.item.added")
        assert list(responder.calls[0].items) == [added["item"]["id"]]
        await line.send(type="session.update", session={"instructions": "Be brief."})
        await line.until("session.updated")
        assert responder.calls[0].session["instructions"] == "Be brief."
        await line.send(type="response.cancel")
        assert (await line.until("error", 6))["error"]["code"] == "response_cancel_not_active"
        assert [type(e).__name__ for e in responder.events] == ["ItemAdded", "Configured"]


async def test_a_reply_can_be_cancelled_or_cut(call: Any, hush: PacketFile) -> None:
    responder = Recorder()
    long = np.tile(babble("one two three four"), 3)

    def act(on: Call, event: Any) -> None:
        if isinstance(event, ResponseAsked):
            if event.settings.get("slow"):
                on.reply().text("I am still ")
            else:
                on.later(_say(on, "one two three", long))

    responder.act = act
    async with hosting(responder) as (_, dial), call(dial, hush) as line:
        await line.until("session.created")
        await line.send(type="response.create", response={"slow": True})
        await line.until("response.output_audio_transcript.delta")
        await line.send(type="response.cancel")
        done = (await line.until("response.done"))["response"]
        assert (done["status"], done["status_details"]["reason"]) == (
            "cancelled",
            "client_cancelled",
        )
        assert isinstance(responder.events[-1], ResponseCancelled)
        await line.send(type="response.create")
        await line.until("output_audio_buffer.started")
        await asyncio.sleep(0.3)
        await line.send(type="output_audio_buffer.clear")
        cleared = await line.until("output_audio_buffer.cleared")
        assert cleared["response_id"] == line.of("response.done")[1]["response"]["id"]
        await asyncio.sleep(0.2)
        assert not line.of("output_audio_buffer.stopped")
        (start, end), *others = line.runs()
        assert 0.2 < end - start < 0.8
        assert not others


async def test_it_hears_and_sees_while_asked(
    call: Any, play_part: Any, parts: Any, question: MonoInt16, hush: PacketFile
) -> None:
    responder = Recorder()
    responder.look = True
    async with hosting(responder) as (_, dial), call(dial, hush) as line:
        await line.until("session.created")
        at = play_part(line, parts.make(question), hush)
        stopped = await line.until("input_audio_buffer.speech_stopped")
        committed = await line.until("input_audio_buffer.committed")
        assert stopped["item_id"] == committed["item_id"]
        (ended,) = [e for e in responder.events if isinstance(e, SpeechEnded)]
        # One packet later than spoken, less the fade that nobody hears.
        assert ended.time - line.origin - (at + 1.0) == pytest.approx(0.018, abs=0.008)
        times = [t for t, _ in responder.seen]
        assert len(times) >= 4
        assert np.median(np.diff(times)) == pytest.approx(0.2, abs=0.05)
        assert responder.seen[0][1].size == (160, 120)
        assert responder.calls[0].seeing.broken == 0


async def test_nobody_looks_and_nothing_is_kept(call: Any, hush: PacketFile) -> None:
    responder = Recorder()
    async with hosting(responder) as (_, dial), call(dial, hush) as line:
        await line.until("session.created")
        await asyncio.sleep(0.5)
        seeing = responder.calls[0].seeing
        assert not seeing.wanted
        assert seeing._decoder is None
        assert not seeing._unit
