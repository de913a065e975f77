"""How the openai dialect's calls are placed: SDP by HTTP POST.

    POST url            application/sdp, Bearer in the target's headers
    201 (or 200)        application/sdp, Location of the call
    hang up             POST Location/hangup, or DELETE Location where that is not known

Counterpart: `simulator.bridge.host` answers.
"""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import aiohttp

from simulator.agent import Dial
from simulator.errors import AgentError
from simulator.protocol.refusals import retry_after
from simulator.rtc import dialect
from simulator.text import excerpt, public_url, well_formed

SDP_LIMIT = 1_000_000
"""Bytes of an answer that we are ready to read."""
_EXCERPT = 200


class Signalling(dialect.Signalling):
    """One call to `target`."""

    def __init__(self, target: Dial) -> None:
        self._target = target
        self._location: str | None = None
        """Absolute URL of the call, for hanging up."""

    async def call(self, http: aiohttp.ClientSession, offer: str) -> str:
        where = public_url(self._target.url)
        headers = {
            **self._target.headers,
            "Content-Type": "application/sdp",
            "Accept": "application/sdp",
        }
        try:
            # A redirected POST would become a GET, and take the token to another place.
            async with http.post(
                self._target.url, data=offer, headers=headers, allow_redirects=False
            ) as response:
                text = await _body(response)
                location = response.headers.get("Location")
                if response.status not in (200, 201):
                    said = well_formed(response.reason or "")
                    more = _excerpt(text)
                    if location is not None and 300 <= response.status < 400:
                        more = f": the call is at {public_url(location)}"
                    wait = retry_after(response.headers)
                    when = "" if wait is None else f" (retry after {wait:.10g} s)"
                    raise AgentError(
                        f"{where} refused the call: {response.status} {said}{when}{more}",
                        hint=_remedy(response.status),
                    )
                # Whatever is wrong with the answer, the call stands there until it is ended.
                self._location = _absolute(self._target.url, location)
        except TimeoutError:
            raise AgentError(f"{where} did not answer the call in time") from None
        except (aiohttp.InvalidURL, UnicodeError):
            raise AgentError(f"{where} is not an address that can be called") from None
        except aiohttp.ClientConnectorError as error:
            raise AgentError(f"nobody answers at {where}: {error.os_error}") from None
        except aiohttp.ClientError as error:
            raise AgentError(
                f"{where} broke off the call: {well_formed(str(error)) or type(error).__name__}"
            ) from None
        except ValueError as error:
            raise AgentError(f"{where} cannot be called: {well_formed(str(error))}") from None
        if not text.lstrip().startswith("v="):
            raise AgentError(f"{where} answered without SDP{_excerpt(text)}")
        return text

    async def hang_up(self, http: aiohttp.ClientSession) -> None:
        where = self._location
        # The agent chose that address: our token goes nowhere but where we have dialled.
        if where is None or _origin(where) != _origin(self._target.url):
            return
        headers = dict(self._target.headers)
        try:
            async with http.post(
                f"{where.rstrip('/')}/hangup", headers=headers, allow_redirects=False
            ) as said:
                known = said.status not in (404, 405, 501)
            if not known:
                async with http.delete(where, headers=headers, allow_redirects=False):
                    pass
        except (aiohttp.ClientError, TimeoutError, ValueError):
            return


async def _body(response: aiohttp.ClientResponse) -> str:
    """The body as text, as far as `SDP_LIMIT`."""
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > SDP_LIMIT:
            break
    return bytes(body[:SDP_LIMIT]).decode("utf-8", "replace")


def _excerpt(body: str) -> str:
    words = excerpt(" ".join(body.split()), _EXCERPT)
    return f": {words}" if words else ""


def _remedy(status: int) -> str:
    if status in (401, 403):
        return "check the key or token in the agent's options"
    if 300 <= status < 400:
        return "give the agent's URL as it is after the redirect"
    if status == 404:
        return "check the path of the agent's URL"
    return ""


def _absolute(base: str, location: str | None) -> str | None:
    """Where the call is, for hanging up; None if that was not said, or cannot be read."""
    try:
        return location and urljoin(base, location)
    except ValueError:
        return None


def _origin(url: str) -> tuple[str, str | None, int | None] | None:
    """Scheme, host and port; None if they cannot be read, which is nobody's origin."""
    try:
        parts = urlsplit(url)
        usual = {"http": 80, "https": 443}.get(parts.scheme)
        return parts.scheme, parts.hostname, parts.port or usual
    except ValueError:
        return None
