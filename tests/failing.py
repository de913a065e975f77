"""A server whose provider fails, one way for each caller, as tests/test_failing_agents.py has it.

One process answers all calls: what it is to do stands in the session's instructions. It prints what
it sent, as the truth that recordings are held against.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from simulator.agent import Dial, Launch, Traits
from simulator.bridge.babble import babble
from simulator.bridge.call import Call
from simulator.bridge.events import Configured, ResponseAsked, SpeechEnded
from simulator.protocol.samples import MonoInt16

RIGHT = "Three windows."
LOUD = 2_000
"""A sample that is somebody's voice."""

calls: Counter[str] = Counter()
"""How often each way was asked for."""


class Failing:
    """The agent, which says where that process listens, and the responder in it."""

    traits = Traits(summary="fails in some way")

    def __init__(self, *, does: str = "") -> None:
        self._does = does

    def secrets(self) -> tuple[str, ...]:
        return ()

    @contextlib.asynccontextmanager
    async def open(self, launch: Launch) -> AsyncIterator[Dial]:
        token = os.environ["FAILING_TOKEN"]
        yield Dial(
            url=os.environ["FAILING_URL"],
            headers={"Authorization": f"Bearer {token}"},
            session={"instructions": self._does},
        )

    async def call(self, call: Call) -> None:
        await call.start()
        await _until(call, Configured)
        does = str(call.session["instructions"])
        calls[does] += 1
        await WAYS[does](Peer(call, does))
        await asyncio.Event().wait()


async def _until(call: Call, kind: type[Any]) -> None:
    async for event in call:
        if isinstance(event, kind):
            return


class Peer:
    """One call, and what is said in it."""

    def __init__(self, call: Call, does: str) -> None:
        self.call = call
        self.does = does
        self.created = ""
        """The name of the last `response.create`."""
        self._read = call._wire.read
        call._wire.read = self._note  # type: ignore[method-assign]
        self._loud = asyncio.Event()
        call.hearing.on_samples = self._hear

    def _note(self, raw: str | bytes, now: float) -> Any:
        said = json.loads(raw)
        if said["type"] == "response.create":
            self.created = said["event_id"]
        return self._read(raw, now)

    def _hear(self, samples: MonoInt16, _: float) -> None:
        if abs(samples.astype(int)).max() > LOUD:
            self._loud.set()

    async def asked(self) -> None:
        """The question has been asked: it was heard, or we are asked to answer."""
        await _until(self.call, ResponseAsked if self.call.asked_only else SpeechEnded)

    async def spoken_to(self) -> None:
        """Somebody speaks, and we were not asked yet."""
        await self._loud.wait()
        await self.wait(0.6)

    async def wait(self, seconds: float) -> None:
        await self.call.clock.sleep(seconds)

    def log(self, **what: Any) -> None:
        print(json.dumps({"does": self.does, "call": calls[self.does], **what}), flush=True)

    def emit(self, kind: str, **fields: Any) -> None:
        self.call._wire.emit(kind, **fields)

    def error(self, **error: Any) -> None:
        self.log(code=error.get("code") or error.get("type") or "error", words=error["message"])
        self.emit("error", error=error)

    def begin(self) -> str:
        name = self.call._wire.name("resp")
        self.emit("response.created", response={"id": name, "status": "in_progress"})
        return name

    def end(self, name: str, status: str, **details: Any) -> None:
        error: Mapping[str, Any] = details.get("error") or {}
        code = error.get("code") or error.get("type") or details.get("reason")
        self.log(code=code, words=error.get("message", ""), status=status)
        done = {"id": name, "status": status, "output": [], "status_details": details}
        self.emit("response.done", response=done)

    async def fail(self, status: str, **details: Any) -> None:
        """Begin a response to the question, and end it without a word."""
        await self.asked()
        name = self.begin()
        await self.wait(0.2)
        self.end(name, status, **details)


def _failed(code: str | None, words: str) -> Callable[[Peer], Awaitable[None]]:
    error = {"type": "server_error", "code": code, "message": words}
    return lambda peer: peer.fail("failed", type="failed", error=error)


async def cut_said(peer: Peer) -> None:
    """It is cut by its limit of tokens when it has said the answer."""
    await peer.asked()
    reply = peer.call.reply()
    reply.text("Three windows and")
    await reply.say(babble("Three windows and")).began.wait()
    reply.finish("incomplete", "max_output_tokens")
    peer.log(code="max_output_tokens", words="", status="incomplete")


async def session_error(peer: Peer) -> None:
    await peer.asked()
    peer.error(type="server_error", message="The session broke down.", event_id=None)


async def untyped(peer: Peer) -> None:
    await peer.asked()
    peer.error(message="Something went wrong.")


async def told_only(peer: Peer) -> None:
    """It tells of an error, and answers all the same."""
    await peer.asked()
    peer.error(type="server_error", code="hiccup", message="Once more.")
    await peer.call.say(RIGHT)


async def quiet_error(peer: Peer) -> None:
    """It answers, and fails in the turn in which nothing is asked of it."""
    await peer.asked()
    await peer.call.say(RIGHT)
    await peer.wait(1.5)
    peer.error(type="rate_limit_error", code="rate_limit_exceeded", message="Too many.")


async def tries_again(peer: Peer) -> None:
    """A response fails, and it makes another by itself."""
    await peer.fail("failed", type="failed", error={"code": "overloaded", "message": "Again."})
    await peer.wait(0.5)
    await peer.call.say(RIGHT)


async def hangs(peer: Peer) -> None:
    """It begins a response, of which nothing more is heard."""
    await peer.asked()
    peer.begin()


# ---------------------------------------------------------------- asked at each turn's end


async def refuses(peer: Peer) -> None:
    while True:
        await peer.asked()
        peer.error(
            type="invalid_request_error",
            code="insufficient_quota",
            message="Pay first.",
            event_id=peer.created,
        )


async def decides_itself(peer: Peer) -> None:
    await peer.spoken_to()
    peer.log(code="turn_detection", words="")
    await peer.call.say(RIGHT)


async def commits_itself(peer: Peer) -> None:
    await peer.spoken_to()
    peer.log(code="turn_detection", words="")
    peer.emit("input_audio_buffer.committed", item_id="own_1")


async def comes_back(peer: Peer) -> None:
    await peer.spoken_to()
    peer.log(code="turn_detection", words="")
    peer.emit("session.updated", session={"turn_detection": {"type": "server_vad"}})


async def keeps_telling(peer: Peer) -> None:
    await peer.spoken_to()
    peer.emit("input_audio_buffer.speech_started", item_id="own_1", audio_start_ms=0)
    peer.emit("input_audio_buffer.speech_stopped", item_id="own_1", audio_end_ms=500)
    await answers(peer)


async def answers(peer: Peer) -> None:
    await peer.asked()
    await peer.call.say(RIGHT)
    await peer.asked()
    await peer.call.write("[KEEP QUIET]")


async def recovers(peer: Peer) -> None:
    """It fails in its first call, and in that alone."""
    if calls[peer.does] > 1:
        await answers(peer)
        return
    for words in ("Please try again in 0.5s.", "And again."):
        await peer.fail("failed", type="failed", error={"code": "overloaded", "message": words})


WAYS: Mapping[str, Callable[[Peer], Awaitable[None]]] = {
    "rate_limit": _failed("rate_limit_exceeded", "Please try again in 20s."),
    "quota": _failed("insufficient_quota", "You exceeded your current quota."),
    "server_error": _failed(None, "The server had an error."),
    "cut_empty": lambda peer: peer.fail("incomplete", reason="max_output_tokens"),
    "filtered": lambda peer: peer.fail("incomplete", reason="content_filter"),
    "cut_said": cut_said,
    "session_error": session_error,
    "untyped": untyped,
    "told_only": told_only,
    "quiet_error": quiet_error,
    "tries_again": tries_again,
    "hangs": hangs,
    "refuses": refuses,
    "decides_itself": decides_itself,
    "commits_itself": commits_itself,
    "comes_back": comes_back,
    "keeps_telling": keeps_telling,
    "recovers": recovers,
}
