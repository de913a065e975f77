"""Which pages in browsers may call: by the origin that the browser names, never by the page's word.

A browser asks before it lets a page call another server (a preflight), and lets the page read the
answer only if that allows the page's origin (CORS). Programs name no origin, and need none: what
keeps strangers out is the token. Pure. Counterpart: `simulator.bridge.host`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from simulator.errors import InputError

ANY = "*"
_OF_NO_PLACE = "null"
"""The origin of a page from a file, or of a frame that is shut in."""
_HERE = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?", re.IGNORECASE)
"""The origins of pages that this machine serves."""
_PORTS = {"http": 80, "https": 443}
_REMEMBERED = "600"
"""Seconds for which a browser need not ask again."""


class Origins:
    """The origins that are allowed; without any, those of pages that this machine serves itself.

    Raises InputError for what is no origin.
    """

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self._allowed = frozenset(_origin(one) for one in allowed)

    def allow(self, origin: str) -> bool:
        """Whether a page of this origin may call."""
        if not self._allowed:
            return _HERE.fullmatch(origin) is not None
        return ANY in self._allowed or origin.lower() in self._allowed

    def headers(self, origin: str) -> dict[str, str]:
        """What lets a page of an allowed origin read an answer."""
        return {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Expose-Headers": "Location",
            "Vary": "Origin",
        }

    def preflight(self, origin: str, asked: Mapping[str, str]) -> dict[str, str]:
        """What a browser is answered that asks for a page of an allowed origin; `asked` are the
        headers of its question."""
        headers = self.headers(origin) | {
            "Access-Control-Allow-Methods": "POST, DELETE",
            "Access-Control-Max-Age": _REMEMBERED,
        }
        # SDKs name headers of their own; none of them gives a right, so none is refused.
        for name, answer in (
            ("Access-Control-Request-Headers", "Access-Control-Allow-Headers"),
            ("Access-Control-Request-Private-Network", "Access-Control-Allow-Private-Network"),
        ):
            if name in asked:
                headers[answer] = asked[name]
        return headers


def _origin(text: str) -> str:
    """An origin as browsers write it. Raises InputError."""
    if text in (ANY, _OF_NO_PLACE):
        return text
    wrong = InputError(
        f"{text!r} is no origin of pages", hint="for example https://app.example:8443, or *"
    )
    try:
        parts = urlsplit(text)
        name, port = parts.hostname or "", parts.port
        host = f"[{name}]" if ":" in name else name.encode("idna").decode()
    except ValueError:
        raise wrong from None
    more = parts.path not in ("", "/") or parts.query or parts.fragment
    if parts.scheme not in _PORTS or not host or parts.username is not None or more:
        raise wrong
    usual = port in (None, _PORTS[parts.scheme])
    return f"{parts.scheme}://{host}" if usual else f"{parts.scheme}://{host}:{port}"
