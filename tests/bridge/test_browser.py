"""Pages in Chromium call the bridge: the documented code, the official SDK, one that may not.

The pages are in `tests/bridge/browser/`; they tell the test what they saw, and the responder here
says what was true. The microphone is a file, so what is spoken is known.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import wave
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
import pytest
from aiohttp import web

from simulator.bridge.babble import babble
from simulator.bridge.call import Call
from simulator.bridge.events import ResponseAsked, SpeechEnded
from simulator.bridge.host import Host
from simulator.bridge.origins import Origins
from simulator.media.sound import load
from simulator.protocol.samples import RATE

from .conftest import after

PAGES = Path(__file__).parent / "browser"
SDK = PAGES / "node_modules" / "@openai" / "agents-realtime" / "dist" / "bundle"
QUESTION = Path(__file__).parents[2] / "scenarios" / "demo" / "speech" / "count.flac"
AUDIBLE = 0.006
"""Full scale being 1: where the voice in it begins and ends."""
Show = Callable[..., Awaitable[Any]]
TOKEN = "the-token"
FLAGS = (
    *("--headless", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    *("--autoplay-policy=no-user-gesture-required", "--use-fake-ui-for-media-stream"),
    "--use-fake-device-for-media-stream",
)
SPOKEN_AT = 2.0
"""Seconds after its start at which the microphone has speech: the call stands by then."""
WITHIN = 60.0
"""Seconds that a page may take; it is a few seconds' work, on a machine that may be busy."""
SAID = "There are three"
LOUD, QUIET = 0.02, 0.001
"""Root mean square, full scale 1: over it a stream has a voice, under it none."""


class Clerk:
    """Answers what it hears, and what it is asked, with what it was told; keeps what was true."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.heard: list[SpeechEnded] = []
        self.said: list[str] = []

    async def call(self, call: Call) -> None:
        self.calls.append(call)
        await call.start()
        async for event in call:
            if isinstance(event, SpeechEnded | ResponseAsked):
                if isinstance(event, SpeechEnded):
                    self.heard.append(event)
                text = f"{SAID}. {call.session['instructions']}"
                self.said.append(text)
                call.later(self._say(call, text))

    async def _say(self, call: Call, text: str) -> None:
        await call.say(text)


class Site:
    """The developer's own server: pages, secrets minted with the token, and what pages report."""

    def __init__(self, bridge: str) -> None:
        self.bridge = bridge
        self.reports: asyncio.Queue[Any] = asyncio.Queue()

    @contextlib.asynccontextmanager
    async def listen(self) -> AsyncIterator[int]:
        app = web.Application()
        app.router.add_get("/token", self._token)
        app.router.add_post("/session", self._session)
        app.router.add_post("/report", self._report)
        app.router.add_static("/sdk", SDK)
        app.router.add_static("/", PAGES)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1.0)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            yield runner.addresses[0][1]
        finally:
            await runner.cleanup()

    async def _token(self, request: web.Request) -> web.Response:
        root = self.bridge.removesuffix("/calls")
        way = request.query["way"]
        if way == "model":
            older = {"modalities": ["audio", "text"], "turn_detection": None}
            return await self._forward(
                f"{root}/sessions", json={**older, "instructions": f"By {way}."}
            )
        session = {"type": "realtime", "model": "m", "instructions": f"By {way}."}
        return await self._forward(f"{root}/client_secrets", json={"session": session})

    async def _session(self, request: web.Request) -> web.Response:
        form = aiohttp.FormData(default_to_multipart=True)
        form.add_field("sdp", await request.text())
        session = {
            "type": "realtime",
            "model": "m",
            "instructions": "By unified.",
            "audio": {"input": {"turn_detection": None}},
        }
        form.add_field("session", json.dumps(session))
        return await self._forward(self.bridge, data=form)

    async def _forward(self, url: str, **given: Any) -> web.Response:
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            aiohttp.ClientSession() as http,
            http.post(url, headers=bearer, **given) as said,
        ):
            return web.Response(
                status=said.status, body=await said.read(), content_type=said.content_type
            )

    async def _report(self, request: web.Request) -> web.Response:
        self.reports.put_nowait(json.loads(await request.read()))
        return web.json_response({})


@pytest.fixture(scope="session")
def chromium() -> str:
    """The browser. Where OMNISTAGE_CHROMIUM names one, what is missing fails instead of skips."""
    named = os.environ.get("OMNISTAGE_CHROMIUM")
    found = shutil.which(named) if named else shutil.which("chromium") or shutil.which("chrome")
    missing = None
    if found is None:
        missing = f"no browser at {named or 'chromium'}: apt-get install chromium"
    elif not SDK.is_dir():
        missing = f"the JavaScript SDK is not installed: npm ci --prefix {os.path.relpath(PAGES)}"
    if missing is not None:
        (pytest.fail if named else pytest.skip)(missing)
    assert found is not None
    return found


@pytest.fixture(scope="session")
def microphone(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, float]:
    """A file in which a voice asks something at `SPOKEN_AT`, and for how long."""
    mono = load(QUESTION).mean(axis=1)
    audible = np.flatnonzero(np.abs(mono) > AUDIBLE)
    speech = (mono[audible[0] : audible[-1] + 1] * 32767).astype(np.int16)
    path = tmp_path_factory.mktemp("microphone") / "spoken.wav"
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes(after(SPOKEN_AT, speech, 30.0).tobytes())
    return path, len(speech) / RATE


@contextlib.asynccontextmanager
async def browsing(chromium: str, url: str, microphone: Path, folder: Path) -> AsyncIterator[None]:
    """A page is open while the context lasts, in a browser of its own."""
    log = folder / "chromium.log"
    with log.open("wb") as printed:
        process = await asyncio.create_subprocess_exec(
            chromium,
            *FLAGS,
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
            f"--user-data-dir={folder / 'profile'}",
            f"--use-file-for-fake-audio-capture={microphone}%noloop",
            url,
            stdout=printed,
            stderr=printed,
            start_new_session=True,
        )
    try:
        yield
    except TimeoutError:
        said = log.read_text("utf-8", "replace")
        pytest.fail(f"the page's word or its call's end did not come; the browser said: {said}")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


@pytest.fixture
def show(chromium: str, microphone: tuple[Path, float], tmp_path: Path) -> Show:
    """Shows a page that calls the clerk, until the call is over; what the page tells."""

    async def show(clerk: Clerk, page: str, origins: Sequence[str] = ()) -> Any:
        host = Host(clerk, token=TOKEN, origins=Origins(origins))
        async with host.listen() as url, (site := Site(url)).listen() as port:
            where = f"http://localhost:{port}/{page}bridge={url}"
            async with browsing(chromium, where, microphone[0], tmp_path):
                async with asyncio.timeout(WITHIN):
                    told = await site.reports.get()
                # The page has ended its calls, though the browser is still there.
                async with asyncio.timeout(5):
                    while host.calls:  # noqa: ASYNC110 the host tells nobody that a call is over
                        await asyncio.sleep(0.02)
        return told

    return show


def loud(levels: list[list[float]], begin: float, end: float) -> float:
    """The level between two times in milliseconds; the median, since a voice dips."""
    return float(np.median([level for at, level in levels if begin <= at <= end]))


ANSWER = [
    "response.created",
    "response.output_item.added",
    "conversation.item.added",
    "response.content_part.added",
    "response.output_audio_transcript.delta",
    "output_audio_buffer.started",
    "response.output_audio.done",
    "response.output_audio_transcript.done",
    "response.content_part.done",
    "conversation.item.done",
    "response.output_item.done",
    "response.done",
    "output_audio_buffer.stopped",
]
SPOKEN = [
    "session.created",
    "input_audio_buffer.speech_started",
    "input_audio_buffer.speech_stopped",
    "input_audio_buffer.committed",
    "conversation.item.added",
    "conversation.item.done",
    *ANSWER,
]
WRITTEN = ["session.created", "conversation.item.added", "conversation.item.done", *ANSWER]


def in_order(events: list[Any]) -> list[str]:
    """The types as they came, one for a row of the same."""
    kinds = [event["type"] for event in events]
    return [kind for n, kind in enumerate(kinds) if kinds[n - 1 : n] != [kind]]


async def test_the_documented_page_calls_in_all_three_ways(
    show: Show, microphone: tuple[Path, float]
) -> None:
    clerk = Clerk()
    told = await show(clerk, "documented.html?ways=secret,unified,model&")
    assert "broke" not in told, told["broke"]
    calls = told["calls"]
    assert [c["way"] for c in calls] == ["secret", "unified", "model"]
    (heard,) = clerk.heard
    assert heard.time - heard.start == pytest.approx(microphone[1], abs=0.15)
    for call, mine, said in zip(calls, clerk.calls, clerk.said, strict=True):
        events, levels = call["events"], call["levels"]
        assert in_order(events) == (SPOKEN if call["way"] == "secret" else WRITTEN)
        assert said == f"{SAID}. By {call['way']}."
        by_type = {event["type"]: event for event in events}
        deltas = [e["delta"] for e in events if e["type"].endswith("transcript.delta")]
        transcript = by_type["response.output_audio_transcript.done"]["transcript"]
        assert "".join(deltas) == transcript == said
        done = ("conversation.item.done", "response.output_item.done")
        items = [by_type[kind]["item"] for kind in done]
        items += by_type["response.done"]["response"]["output"]
        assert items == [mine.items[items[0]["id"]]] * 3
        if call["way"] != "unified":  # whose own server does not hand it on
            assert call["location"] == f"/v1/realtime/calls/{mine.id}"
        # It sounds from where it is announced to where it ends, and no longer.
        begin, end = (by_type[f"output_audio_buffer.{e}"]["at"] for e in ("started", "stopped"))
        assert (end - begin) / 1000 == pytest.approx(len(babble(said)) / RATE, abs=0.3)
        assert loud(levels, begin + 200, end - 200) > LOUD
        assert loud(levels, end + 250, levels[-1][0]) < QUIET
        assert call["energy"] > 0


async def test_the_official_sdk_calls_is_answered_and_interrupts(
    show: Show, microphone: tuple[Path, float]
) -> None:
    clerk = Clerk()
    told = await show(clerk, "sdk.html?")
    assert "broke" not in told, told["broke"]
    (call,) = clerk.calls
    assert told["errors"] == []
    assert told["callId"] == call.id
    (heard,) = clerk.heard
    assert heard.time - heard.start == pytest.approx(microphone[1], abs=0.15)
    # It sets the instructions of its agent itself, over those of the secret.
    assert clerk.said == [f"{SAID}. By the SDK."] * 2
    history = [(i["role"], i["status"], i["content"][0]) for i in told["history"]]
    assert [(role, status) for role, status, _ in history] == [
        ("user", "completed"),
        ("assistant", "completed"),
        ("user", "completed"),
        ("assistant", "completed"),
    ]
    assert [c["transcript"] for r, _, c in history if r == "assistant"] == clerk.said
    assert history[2][2]["text"] == "And once more?"
    events, levels = told["events"], told["levels"]
    started, again = (e["at"] for e in events if e["type"] == "output_audio_buffer.started")
    (stopped,) = (e["at"] for e in events if e["type"] == "output_audio_buffer.stopped")
    (cleared,) = (e["at"] for e in events if e["type"] == "output_audio_buffer.cleared")
    assert loud(levels, started + 200, stopped - 200) > LOUD
    assert loud(levels, again + 100, cleared - 50) > LOUD
    assert loud(levels, cleared + 250, levels[-1][0]) < QUIET


async def test_a_page_of_another_origin_is_refused_before_a_call(
    show: Show, capfd: pytest.CaptureFixture[str]
) -> None:
    clerk = Clerk()
    told = await show(clerk, "documented.html?ways=secret&", ["http://localhost"])
    assert "Failed to fetch" in told.get("broke", "it called")
    assert clerk.calls == []
    assert re.search(r"pages of 'http://localhost:\d+' may not call", capfd.readouterr().err)
