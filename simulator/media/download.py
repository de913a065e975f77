"""Downloading a clip once: streamed, hashed on the way, taken up again where it broke off.

Counterpart: `simulator.media.clips` calls this for what it finds nowhere else.
"""

from __future__ import annotations

import hashlib
import http.client
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

from simulator.errors import InputError
from simulator.media.cache import Cache
from simulator.text import public_url

_BLOCK = 1 << 18
_TIMEOUT = 30.0
_ATTEMPTS = 3
"""Connections that may break off before we give up; what has come is kept for the next run."""

Progress = Callable[[str, float], None]


def download(
    url: str, sha256: str, target: Path, cache: Cache, progress: Progress | None = None
) -> None:
    """Fetch `url` to `target`. Raises InputError if it cannot be had or has another hash."""
    with cache.writing(), cache.lock(f"clip-{sha256}"):
        if target.is_file() and cache.sha256(target) == sha256:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_suffix(target.suffix + ".part")
        broken: Exception | None = None
        for _ in range(_ATTEMPTS):
            try:
                digest, resumed = _fetch(url, part, progress)
            except urllib.error.HTTPError as error:
                with error:
                    raise _failed(
                        url, sha256, f"the server says {error.code} {error.reason}"
                    ) from error
            except urllib.error.URLError as error:
                raise _failed(url, sha256, str(error.reason)) from error
            except http.client.InvalidURL as error:
                # Its words may quote a password.
                raise _failed(url, sha256, "its address cannot be called") from error
            except (
                TimeoutError,
                ConnectionError,
                ssl.SSLError,
                http.client.HTTPException,
            ) as error:
                broken = error
                continue
            except ValueError as error:
                # urllib's word for an address, here or in a redirect, that none can be made of.
                raise _failed(url, sha256, f"its address cannot be called: {error}") from error
            if digest != sha256:
                part.unlink()
                if resumed:
                    # The piece kept from an earlier run may be of another file: from the start.
                    broken = ConnectionError("the kept piece was of another file")
                    continue
                raise _failed(url, sha256, f"what comes from there has sha256 {digest}")
            part.replace(target)
            return
        raise _failed(url, sha256, f"the connection broke off: {broken}") from broken


def _failed(url: str, sha256: str, why: str) -> InputError:
    return InputError(
        f"the clip {public_url(url)} cannot be downloaded: {why}",
        hint=f"put a file with sha256 {sha256} into a folder named by OMNISTAGE_MEDIA",
    )


def _fetch(url: str, part: Path, progress: Progress | None) -> tuple[str, bool]:
    """Fetch what is still missing of `part`; the hash of the whole, and whether any was kept."""
    digest = hashlib.sha256()
    have = 0
    if part.is_file():
        with part.open("rb") as kept:
            while block := kept.read(_BLOCK):
                digest.update(block)
                have += len(block)
    request = urllib.request.Request(_encoded(url), headers={"User-Agent": "omnistage"})
    if have:
        request.add_header("Range", f"bytes={have}-")
    try:
        reply = urllib.request.urlopen(request, timeout=_TIMEOUT)
    except urllib.error.HTTPError as error:
        if error.code != 416 or not have:
            raise
        # Nothing lies beyond what we have: it is the whole file, or it is of another one.
        error.close()
        return digest.hexdigest(), True
    with reply:
        resumed = have > 0 and reply.status == 206
        if not resumed:
            digest, have = hashlib.sha256(), 0
        announced = reply.headers.get("Content-Length")
        known = announced is not None and announced.isascii() and announced.isdigit()
        total = have + int(announced) if announced is not None and known else 0
        with part.open("ab" if have else "wb") as out:
            while block := reply.read(_BLOCK):
                out.write(block)
                digest.update(block)
                have += len(block)
                if progress is not None:
                    progress(f"download {public_url(url)}", have / total if total else 0.0)
    if total and have < total:
        raise ConnectionError(f"{have} of {total} bytes came")
    return digest.hexdigest(), resumed


def _encoded(url: str) -> str:
    """`url` with what stands in it as people write it (é, spaces) percent-encoded."""
    parts = urlsplit(url)
    path, query = (quote(part, safe="/%:@!$&'()*+,;=~?") for part in (parts.path, parts.query))
    return urlunsplit((parts.scheme, parts.netloc, path, query, ""))
