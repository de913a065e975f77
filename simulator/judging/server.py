"""A server of the chat completions API that knows its answers beforehand: to test judges offline.

    async with JudgeServer(lambda body: verdict(body, 4)) as server:
        judge = load_judge("rubric:any", {"url": server.url})

Public, like `simulator.judging.testing`. It answers from a function of the request, or in order
from a list, and can be slow, refuse, or say nonsense. Counterpart: `simulator.judging.chat`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web

from simulator.clock import WALL
from simulator.judging.replies import DIMENSIONS

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """One answer of the server."""

    text: str | None = None
    """The message's content."""
    status: int = 200
    error: Mapping[str, Any] | str = ""
    """The body, for a status other than 200: the `error` object, or plain text."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    """The whole body instead of a completion, for a status of 200."""
    finish: str = "stop"
    refusal: str | None = None
    delay: float = 0.0
    """Seconds before it answers."""


Answers = Callable[[Body], Say | str] | Sequence[Say | str]


def case_in(body: Body) -> dict[str, Any]:
    """What is to be graded in a request: question, gold, key_points, candidate, case."""
    user = next(m["content"] for m in body["messages"] if m["role"] == "user")
    found: dict[str, Any] = json.loads(user)
    return found


def verdict(body: Body, worth: object = 5, /, **changed: object) -> str:
    """A well-formed reply with labels that suit the score; what is changed to None is left out."""
    right = "Yes" if worth in (4, 5) else "Partly" if worth == 3 else "No"
    reply: dict[str, object] = {
        "case": case_in(body)["case"],
        "rationale": f"worth {worth}",
        **dict.fromkeys(DIMENSIONS, "Not Applicable"),
        "question_understanding": right,
        "semantic_alignment": right,
        "keypoint_coverage": right,
        "redundancy": "No",
        "conversational_tone": "Yes",
        "score": worth,
    }
    return json.dumps({k: v for k, v in (reply | changed).items() if v is not None})


class JudgeServer:
    """The server, on a free port of this machine, while it is entered."""

    def __init__(self, answers: Answers, *, latency: float = 0.0) -> None:
        """A list is used up in order, its last answer again and again."""
        self._answers = answers
        self._latency = latency
        self._runner: web.AppRunner | None = None
        self.url = ""
        self.requests: list[Body] = []
        self.headers: list[Mapping[str, str]] = []
        self.at_once = 0
        """The most requests that it ever had at one time."""
        self._now = 0

    def answer_by(self, answers: Answers) -> None:
        """Answer otherwise from now on."""
        self._answers = answers

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=1 << 24)
        app.router.add_post("/v1/chat/completions", self._completion)
        self._runner = web.AppRunner(app, access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        port = self._runner.addresses[0][1]
        self.url = f"http://127.0.0.1:{port}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._runner is not None:
            await self._runner.cleanup()

    async def _completion(self, request: web.Request) -> web.Response:
        self._now += 1
        self.at_once = max(self.at_once, self._now)
        try:
            body = await request.json()
            self.requests.append(body)
            self.headers.append(request.headers)
            say = self._next(body)
            await WALL.sleep(self._latency + say.delay)
        finally:
            self._now -= 1
        if say.status != 200:
            error = say.error if isinstance(say.error, str) else json.dumps({"error": say.error})
            return web.Response(status=say.status, text=error, headers=say.headers)
        if say.body is not None:
            return web.json_response(say.body, headers=say.headers)
        message = {"role": "assistant", "content": say.text, "refusal": say.refusal}
        choice = {"index": 0, "finish_reason": say.finish, "message": message}
        usage = {"prompt_tokens": 400, "completion_tokens": 80, "total_tokens": 480}
        return web.json_response(
            {"object": "chat.completion", "model": body["model"], "choices": [choice]}
            | {"usage": usage},
            headers=say.headers,
        )

    def _next(self, body: Body) -> Say:
        if callable(self._answers):
            say = self._answers(body)
        else:
            say = self._answers[min(len(self.requests), len(self._answers)) - 1]
        return Say(text=say) if isinstance(say, str) else say
