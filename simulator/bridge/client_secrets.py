"""Client secrets: what a page in a browser shows instead of the token, for a while.

Whoever has the token mints one for a session's settings; whoever has the secret can open calls with
those settings until it expires, and nothing else. They are kept in memory only, by their hash: a
secret is in the reply that it is minted with, and in no log. Counterpart: `simulator.bridge.host`.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass

from simulator.bridge.refusal import Refusal
from simulator.bridge.settings import Settings
from simulator.clock import Clock, unix_now

PREFIX = "ek_"
"""How a client secret begins; the official JavaScript SDK looks at it."""
LIVES_FOR = 600
"""Seconds, unless something else is asked for."""
OLDER_LIVES_FOR = 60
"""Seconds of one that is minted in the API's former way, where nothing can be asked for."""
LEAST, MOST = 10, 7200
"""Seconds that can be asked for."""
LIMIT = 1000
"""Secrets that have not expired."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientSecret:
    """One that has just been minted."""

    value: str
    expires_at: int
    """Unix time: what the caller is told."""


class ClientSecrets:
    """The secrets of one host."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._kept: dict[bytes, tuple[float, Settings]] = {}
        """By hash: until when, on our clock, and with what settings."""

    def mint(self, settings: Settings, seconds: int = LIVES_FOR) -> ClientSecret:
        """A new secret for calls with these settings. Raises Refusal if there are too many."""
        now = self._clock.now()
        self._kept = {h: kept for h, kept in self._kept.items() if kept[0] > now}
        if len(self._kept) >= LIMIT:
            words = f"{LIMIT} client secrets have not expired yet; ask for shorter lives"
            raise Refusal("rate_limit_exceeded", words, status=429)
        value = PREFIX + secrets.token_urlsafe(24)
        self._kept[_hash(value)] = (now + seconds, settings)
        return ClientSecret(value=value, expires_at=unix_now() + seconds)

    def settings(self, value: str) -> Settings | None:
        """What calls with this secret begin with; None if it opens none (any more)."""
        until, settings = self._kept.get(_hash(value), (0.0, None))
        return settings if until > self._clock.now() else None


def lifetime(asked: object) -> int:
    """Seconds that a secret shall live, by the API's `expires_after`. Raises Refusal."""
    if asked is None:
        return LIVES_FOR
    seconds = asked.get("seconds", LIVES_FOR) if isinstance(asked, dict) else None
    if type(seconds) is not int or not LEAST <= seconds <= MOST:
        words = f"expires_after has to be an object with seconds from {LEAST} to {MOST}"
        raise Refusal("invalid_value", words, "expires_after.seconds")
    return seconds


def _hash(value: str) -> bytes:
    return hashlib.sha256(value.encode("utf-8", "surrogateescape")).digest()
