"""How the openai dialect's calls are placed: what is asked over HTTP, and what may be answered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from simulator.agent import Dial
from simulator.errors import AgentError
from simulator.rtc.dialects.openai.signalling import SDP_LIMIT, Signalling
from simulator.run.tries import wait_asked

OFFER = "v=0\r\ns=offer\r\n"
ANSWER = "v=0\r\ns=answer\r\n"


class Server:
    """Set its attributes before calling; `asked` is what came: method, path, token, body."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 201
        self.reason: str | None = None
        self.body: str | bytes = ANSWER
        self.headers = {"Location": "/calls/c1"}
        self.promised: int | None = None
        """Bytes that are announced, of which fewer may come."""
        self.knows_hangup = False
        self.asked: list[tuple[str, str, str, str]] = []
        self.types: list[str] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        token = request.headers.get("Authorization", "none")
        self.asked.append((request.method, request.path, token, await request.text()))
        if request.path != "/calls":
            known = request.method == "DELETE" or self.knows_hangup
            return web.Response(status=200 if known else 404)
        self.types += [request.headers["Content-Type"], request.headers["Accept"]]
        body = self.body if isinstance(self.body, bytes) else self.body.encode()
        if self.promised is None:
            return web.Response(
                status=self.status, reason=self.reason, body=body, headers=self.headers
            )
        response = web.StreamResponse(headers={"Content-Length": str(self.promised)})
        await response.prepare(request)
        await response.write(body)
        assert request.transport is not None
        request.transport.close()
        return response


@asynccontextmanager
async def serving(server: Server) -> AsyncIterator[Server]:
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/calls"
        yield server
    finally:
        await runner.cleanup()


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with serving(Server()) as made:
        yield made


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


def to(url: str) -> Signalling:
    return Signalling(Dial(url=url, headers={"Authorization": "Bearer t0ken"}))


async def refused(server: Server, http: aiohttp.ClientSession) -> AgentError:
    with pytest.raises(AgentError) as caught:
        await to(server.url).call(http, OFFER)
    return caught.value


@pytest.mark.parametrize("status", [200, 201])
async def test_an_offer_is_answered_and_the_call_deleted(
    server: Server, http: aiohttp.ClientSession, status: int
) -> None:
    server.status = status
    signalling = to(server.url)
    assert tuple(await signalling.servers(http)) == ()
    assert await signalling.call(http, OFFER) == ANSWER
    await signalling.hang_up(http)
    assert server.types == ["application/sdp", "application/sdp"]
    assert server.asked == [
        ("POST", "/calls", "Bearer t0ken", OFFER),
        ("POST", "/calls/c1/hangup", "Bearer t0ken", ""),
        ("DELETE", "/calls/c1", "Bearer t0ken", ""),
    ]


async def test_a_server_that_knows_hanging_up_is_not_asked_to_delete(
    server: Server, http: aiohttp.ClientSession
) -> None:
    server.knows_hangup = True
    signalling = to(server.url)
    await signalling.call(http, OFFER)
    await signalling.hang_up(http)
    assert [path for _, path, _, _ in server.asked] == ["/calls", "/calls/c1/hangup"]


async def test_nobody_there(http: aiohttp.ClientSession) -> None:
    async with serving(Server()) as gone:
        pass
    assert str(await refused(gone, http)).startswith("nobody answers at http://127.0.0.1:")


async def test_a_refusal_says_for_how_long_the_server_wants_to_be_left_alone(
    server: Server, http: aiohttp.ClientSession
) -> None:
    server.status, server.body, server.headers = 429, "Slow down.", {"Retry-After": "12"}
    error = await refused(server, http)
    assert error.message.endswith("429 Too Many Requests (retry after 12 s): Slow down.")
    assert wait_asked(error.message) == 12


async def test_a_refusal_does_not_end_in_half_a_token(
    server: Server, http: aiohttp.ClientSession
) -> None:
    server.status, server.body = 401, "No. " * 45 + "Wrong key: t0ken-0123456789"
    assert (await refused(server, http)).message.endswith(" No. No. Wrong key:")


async def test_a_refusal_is_told_with_status_and_reason(
    server: Server, http: aiohttp.ClientSession
) -> None:
    server.status, server.body = 401, '{"error": "no such token"}'
    error = await refused(server, http)
    assert error.message.endswith('refused the call: 401 Unauthorized: {"error": "no such token"}')
    assert "key or token" in error.hint
    server.status = 404
    assert "path" in (await refused(server, http)).hint


async def test_a_redirect_is_named_and_not_followed(
    server: Server, http: aiohttp.ClientSession
) -> None:
    server.status = 302
    server.headers = {"Location": "https://u:p@other/v1/realtime/calls?key=k"}
    error = await refused(server, http)
    assert error.message.endswith(": 302 Found: the call is at https://other/v1/realtime/calls")
    assert len(server.asked) == 1


async def test_a_reason_in_another_encoding_can_be_written(
    server: Server, http: aiohttp.ClientSession
) -> None:
    server.status, server.reason = 500, "caf\udce9"
    said = str(await refused(server, http))
    assert said.encode().decode() == said
    assert "500 caf" in said


async def test_our_token_goes_only_where_we_have_dialled(
    server: Server, http: aiohttp.ClientSession
) -> None:
    async with serving(Server()) as other:
        for location in (
            other.url,
            other.url.replace("http:", "https:"),
            server.url.replace("http:", "https:"),
            "http://[bad",
            "",
        ):
            server.headers = {"Location": location} if location else {}
            signalling = to(server.url)
            await signalling.call(http, OFFER)
            await signalling.hang_up(http)
    assert other.asked == []
    assert {path for _, path, _, _ in server.asked} == {"/calls"}


@pytest.mark.parametrize("url", ["http://[bad/", f"http://{'a' * 70}.example/x", "http://x:99999/"])
async def test_an_address_that_cannot_be_called_is_the_agents_fault(
    http: aiohttp.ClientSession, url: str
) -> None:
    with pytest.raises(AgentError):
        await to(url).call(http, OFFER)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<html>hello</html>", "answered without SDP: <html>hello</html>"),
        ("", "answered without SDP"),
        (b"\xff\xfe", "answered without SDP: \ufffd\ufffd"),
    ],
)
async def test_an_answer_without_sdp(
    server: Server, http: aiohttp.ClientSession, body: str | bytes, said: str
) -> None:
    server.body = body
    assert (await refused(server, http)).message.endswith(said)


async def test_an_answer_that_breaks_off(server: Server, http: aiohttp.ClientSession) -> None:
    server.promised = 1_000
    assert "broke off the call: " in (await refused(server, http)).message


async def test_an_answer_without_end_is_read_so_far(
    server: Server, http: aiohttp.ClientSession
) -> None:
    server.body = "v=0" + "x" * (2 * SDP_LIMIT)
    assert len(await to(server.url).call(http, OFFER)) == SDP_LIMIT


async def test_hanging_up_on_one_that_is_gone_is_no_error(http: aiohttp.ClientSession) -> None:
    async with serving(Server()) as server:
        signalling = to(server.url)
        await signalling.call(http, OFFER)
    await signalling.hang_up(http)


async def test_an_agent_that_is_slow_to_answer_may_be_given_up(
    server: Server, http: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(request: Any) -> web.Response:
        await asyncio.Event().wait()
        return web.Response()

    monkeypatch.setattr(server, "answer", never)
    async with serving(server):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await to(server.url).call(http, OFFER)
