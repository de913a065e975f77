"""A client of OpenAI-compatible chat completions, for judges: cached, bounded, patient, counted.

It asks with a schema where the server has structured output, else reads what comes and asks once
for a repair. Nothing is paid for twice: replies that could be read are kept by the hash of
everything that decides them. aiohttp and not the vendor's SDK: it is here already, and the SDK
costs more processor time a call than the rest of judging together and does not wait as long as a
server asks. Counterparts: `simulator.judging.spending` counts, `.kept` keeps, `.replies` reads,
`judges/rubric.py` asks.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Self, TypeVar
from urllib.parse import urlsplit

import aiohttp

from simulator.clock import WALL, Clock
from simulator.errors import JudgeError
from simulator.judging.kept import FORMAT, Kept, keep, read_kept
from simulator.judging.replies import Unreadable
from simulator.judging.spending import Budget, Spend, tokens_in
from simulator.protocol.refusals import retry_after
from simulator.recording.redact import Redactor

T = TypeVar("T")
Message = Mapping[str, str]

RAW = 4_000
"""Characters of a raw reply that are kept with a failure."""
_AGAIN = {408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529}
_HOPELESS = {"insufficient_quota", "model_not_found", "invalid_api_key", "account_deactivated"}


class NoReply(JudgeError):
    """Nothing usable came of asking; `raw` is what did come."""

    def __init__(self, message: str, *, raw: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.raw = raw[:RAW]


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Whom to ask, and how."""

    url: str
    """Base URL, with its `/v1`."""
    model: str
    key: str = field(default="", repr=False)
    temperature: float = 0.0
    seed: int = 7
    structured: bool = True
    """Ask for JSON by schema; a server that refuses is asked without."""
    timeout: float = 120.0
    """Seconds that one request may take."""
    tries: int = 6
    """Requests at most for one reply, if they fail in a way that may pass."""
    patience: float = 300.0
    """The longest wait in seconds that a server's Retry-After is granted."""
    concurrency: int = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked(Generic[T]):
    """A reply that could be read."""

    value: T
    reply: Kept
    cached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reply:
    text: str
    tokens_in: int
    tokens_out: int


class Chat:
    """One endpoint, shared by all who ask it; `async with` it (nested is fine)."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        budget: Budget | None = None,
        cache: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.endpoint = endpoint
        self.spend = Spend()
        self._budget = budget or Budget()
        self._cache = cache
        self._clock = clock or WALL
        self._redact = Redactor([endpoint.key])
        self._random = random.Random(endpoint.seed)
        self._session: aiohttp.ClientSession | None = None
        self._slots: asyncio.Semaphore | None = None
        self._users = 0
        self._resume_at = 0.0
        self._without: set[str] = set() if endpoint.structured else {"response_format"}
        self._hopeless: NoReply | None = None
        self._locks: dict[str, asyncio.Lock] = {}

    async def __aenter__(self) -> Self:
        self._users += 1
        if self._session is None:
            host = urlsplit(self.endpoint.url).hostname or ""
            self._slots = asyncio.Semaphore(self.endpoint.concurrency)
            self._session = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=self.endpoint.timeout),
                connector=aiohttp.TCPConnector(limit=self.endpoint.concurrency),
                trust_env=host not in ("localhost", "127.0.0.1", "::1"),
            )
        return self

    async def __aexit__(self, *_: object) -> None:
        self._users -= 1
        if self._users == 0 and self._session is not None:
            await self._session.close()
            self._session = self._slots = None
            self._locks.clear()

    # ------------------------------------------------------------------ asking

    async def ask(
        self,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        read: Callable[[str], T],
        repair: Callable[[str], str],
    ) -> Asked[T]:
        """The reply as `read` understands it (it raises Unreadable), from the cache if it is there.

        `repair` makes the second request's text from what was wrong with the first reply. Raises
        NoReply; what failed is not kept in the cache, so that asking again asks again.
        """
        key = self.address(messages, schema)
        async with self._locks.setdefault(key, asyncio.Lock()):
            if kept := self.find(key, read):
                self.spend.cached += 1
                return kept
            async with self:
                asked = await self._ask(messages, schema, read, repair)
            if self._cache is not None:
                keep(self._cache, key, asked.reply, model=self.endpoint.model)
            return asked

    async def _ask(
        self,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        read: Callable[[str], T],
        repair: Callable[[str], str],
    ) -> Asked[T]:
        first = await self._complete(messages, schema)
        reply, spent_in, spent_out, repaired = first, first.tokens_in, first.tokens_out, False
        try:
            value = read(first.text)
        except Unreadable as why:
            self.spend.repairs += 1
            again = [
                *messages,
                {"role": "assistant", "content": first.text[:RAW]},
                {"role": "user", "content": repair(str(why))},
            ]
            reply = await self._complete(again, schema)
            spent_in, spent_out = spent_in + reply.tokens_in, spent_out + reply.tokens_out
            repaired = True
            try:
                value = read(reply.text)
            except Unreadable as still:
                raise NoReply(
                    f"its reply cannot be read, nor the one after it was asked to mend it: {still}",
                    raw=self._redact.text(f"{first.text}\n--- asked again:\n{reply.text}"),
                ) from None
        kept = Kept(
            text=reply.text,
            repaired=repaired,
            without=tuple(sorted(self._without)),
            tokens_in=spent_in,
            tokens_out=spent_out,
        )
        return Asked(value=value, reply=kept, cached=False)

    async def _complete(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> _Reply:
        assert self._slots is not None
        async with self._slots:
            tries = 0
            while True:
                if self._hopeless is not None:
                    raise self._hopeless
                await self._clock.sleep_until(self._resume_at)
                without = frozenset(self._without)
                body = self._body(messages, schema, without)
                guess = sum(tokens_in(m["content"]) for m in messages)
                self._budget.reserve(self.spend, guess)
                try:
                    status, headers, text = await self._post(body)
                finally:
                    self._budget.release(guess)
                if status == 200 and (reply := self._read(text, guess)):
                    return reply
                text = self._redact.text(text)
                if refused := self._refused(status, text, without):
                    self._without.add(refused)
                    continue
                tries += 1
                self._give_up(status, text)
                if tries >= self.endpoint.tries:
                    times = f"{tries} time{'' if tries == 1 else 's'}"
                    raise NoReply(f"{_what(status, text)}, {times}", raw=text)
                self.spend.retries += 1
                wait = self._wait(headers, tries, status, text)
                # One refusal for being too fast is meant for all who ask.
                if status in (429, 503):
                    self._resume_at = max(self._resume_at, self._clock.now() + wait)
                else:
                    await self._clock.sleep_until(self._clock.now() + wait)

    async def _post(self, body: bytes) -> tuple[int, Mapping[str, str], str]:
        """Status, headers and text; status 0 if there was no answer."""
        assert self._session is not None
        headers = {"Content-Type": "application/json"}
        if self.endpoint.key:
            headers["Authorization"] = f"Bearer {self.endpoint.key}"
        self.spend.calls += 1
        address = f"{self.endpoint.url.rstrip('/')}/chat/completions"
        try:
            async with self._session.post(
                address, data=body, headers=headers, allow_redirects=False
            ) as response:
                return response.status, response.headers, await response.text(errors="replace")
        except TimeoutError:
            return 0, {}, f"no answer within {self.endpoint.timeout:g} s"
        except aiohttp.ClientConnectorError as error:
            return 0, {}, f"nobody answers at {self.endpoint.url}: {error.os_error}"
        except (aiohttp.ClientError, OSError) as error:
            return 0, {}, f"{type(error).__name__}: {error}"

    def _body(
        self, messages: Sequence[Message], schema: Mapping[str, Any], without: frozenset[str]
    ) -> bytes:
        body: dict[str, Any] = {
            "model": self.endpoint.model,
            "messages": list(messages),
            "temperature": self.endpoint.temperature,
            "seed": self.endpoint.seed,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "verdict", "strict": True, "schema": schema},
            },
        }
        return json.dumps({k: v for k, v in body.items() if k not in without}).encode()

    # ------------------------------------------------------------------ what came

    def _read(self, text: str, guess: int) -> _Reply | None:
        """The completion in a body; None if it is none. Raises NoReply for a refusal."""
        try:
            body = json.loads(text)
            choice = body["choices"][0]
            message = choice["message"]
            content = message.get("content")
            refusal, finish = message.get("refusal"), choice.get("finish_reason")
            if isinstance(content, list):  # in parts
                content = "".join(str(part.get("text", "")) for part in content)
        except (ValueError, LookupError, TypeError, AttributeError):
            return None
        said = content if isinstance(content, str) else ""
        usage = body.get("usage")
        used_in = _count(usage, "prompt_tokens", guess)
        used_out = _count(usage, "completion_tokens", tokens_in(said))
        self.spend.add(used_in, used_out)
        if finish == "content_filter":
            raise NoReply("the server's content filter stopped it", raw=self._redact.text(text))
        if refusal:
            raise NoReply("the model refused to judge", raw=self._redact.text(str(refusal)))
        return _Reply(text=said, tokens_in=used_in, tokens_out=used_out)

    def _refused(self, status: int, text: str, without: frozenset[str]) -> str | None:
        """The setting that a server refused; None if that was not it."""
        if status not in (400, 404, 422):
            return None
        low = text.lower()
        for name, words in (
            ("response_format", ("response_format", "json_schema", "structured output")),
            ("temperature", ("temperature",)),
            ("seed", ("seed",)),
        ):
            if name not in without and any(w in low for w in words):
                return name
        return None

    def _give_up(self, status: int, text: str) -> None:
        """Raise NoReply for what will not pass by waiting; for good if it is so for every turn."""
        code, said = _error(text)
        where = f"{self.endpoint.model} at {self.endpoint.url}"
        if code == "content_filter":
            raise NoReply("the server's content filter refused the request", raw=text)
        hopeless = code in _HOPELESS or status in (401, 403, 404)
        if hopeless:
            hint = {
                401: "check the key in the environment",
                403: "check what the key allows",
                404: "check the model's name and the URL, with its /v1",
            }.get(status, "")
            self._hopeless = NoReply(f"{where}: {said or _what(status, text)}", raw=text, hint=hint)
            raise self._hopeless
        if status not in _AGAIN and status not in (0, 200):
            raise NoReply(f"{where}: {_what(status, text)}: {said}", raw=text)

    def _wait(self, headers: Mapping[str, str], tries: int, status: int, text: str) -> float:
        """Seconds until the next try: what the server asks for, else longer each time."""
        asked = retry_after(headers)
        if asked is not None and asked > self.endpoint.patience:
            raise NoReply(
                f"{_what(status, text)}; it asks to wait {asked:.0f} s, more than "
                f"{self.endpoint.patience:g} s",
                raw=text,
            )
        own: float = min(30.0, 0.5 * 2 ** (tries - 1)) * (0.75 + self._random.random() / 2)
        return own if asked is None else asked

    # ------------------------------------------------------------------ cache

    def address(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> str:
        """The hash of all that decides a reply; never of the key."""
        e = self.endpoint
        parts = [FORMAT, e.url.rstrip("/"), e.model, e.temperature, e.seed, e.structured]
        text = json.dumps([*parts, list(messages), schema], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def find(self, key: str, read: Callable[[str], T]) -> Asked[T] | None:
        """What is kept under a key; None if nothing is, or if it cannot be read."""
        kept = None if self._cache is None else read_kept(self._cache, key)
        try:
            return None if kept is None else Asked(value=read(kept.text), cached=True, reply=kept)
        except Unreadable:
            return None


def _count(usage: object, name: str, guess: int) -> int:
    """A count of tokens, where the server has a sensible one."""
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and value > 0 else guess


def _error(text: str) -> tuple[str, str]:
    """Code and words of an error's body, as far as it has them."""
    with suppress(ValueError):
        body = json.loads(text)
        error = body.get("error", body) if isinstance(body, dict) else {}
        if isinstance(error, dict):
            said = " ".join(str(error.get("message") or "").split())
            return str(error.get("code") or ""), said[:300]
        return "", str(error)[:300]
    return "", " ".join(text.split())[:200]


def _what(status: int, text: str) -> str:
    if status == 0:
        return text
    return "status 200 without a completion" if status == 200 else f"status {status}"
