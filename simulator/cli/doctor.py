"""`omnistage doctor`: what is installed, what a missing part needs, does WebRTC work here."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import platform
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

from rich.console import Console
from rich.table import Table

from simulator import __version__
from simulator.clock import WALL
from simulator.errors import OmnistageError, install
from simulator.report.plain import plain

MIN_FREE = 1_000_000_000
"""Bytes free that a comfortable cache and a few runs want."""
EXTRAS = {
    "listen": ("sounddevice", "hear a session while it plays"),
    "recognise": ("moonshine_voice", "transcribe prepared speech, to check that it is understood"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at."""

    what: str
    state: str
    """ok | missing | failed."""
    detail: str = ""


def examine() -> int:
    """Print every finding; status 1 if something that every run needs has failed."""
    console = Console()
    findings = list(_findings())
    table = Table("", "what", "found", box=None, pad_edge=False)
    marks = {"ok": "[green]ok", "missing": "[yellow]--", "failed": "[red]!!"}
    for f in findings:
        table.add_row(marks[f.state], plain(f.what), plain(f.detail))
    console.print(plain(f"omnistage {__version__} on {platform.platform()}"))
    console.print(table)
    return 1 if any(f.state == "failed" for f in findings) else 0


def _findings() -> Iterator[Finding]:
    yield Finding(what="python", state="ok", detail=platform.python_version())
    yield Finding(what="processor cores", state="ok", detail=str(os.cpu_count()))
    for package in ("aiortc", "aioice", "av", "numpy", "aiohttp", "webrtcvad-wheels"):
        yield _package(package)
    for name, check in (
        ("video encoder (H264)", lambda: _codec("libx264")),
        ("sound encoder (Opus)", lambda: _codec("libopus")),
        ("hooks into aiortc", _hooks),
        ("cache", _cache),
        ("clips (OMNISTAGE_MEDIA)", _media),
        ("WebRTC on this host", _webrtc),
    ):
        yield _try(name, check)
    yield _scheduling()
    for extra, (module, purpose) in EXTRAS.items():
        found = importlib.util.find_spec(module) is not None
        yield Finding(
            what=f"extra: {extra}",
            state="ok" if found else "missing",
            detail=purpose if found else f"{purpose}: {install(extra)}",
        )
    yield from _speech()


def _speech() -> Iterator[Finding]:
    from simulator.speech.engines import engines

    for engine in engines():
        lacking = engine.missing()
        yield Finding(
            what=f"speech: {engine.name}",
            state="missing" if lacking else "ok",
            detail=f"{engine.summary}: {lacking or engine.version()}",
        )


def _try(what: str, check: Callable[[], str]) -> Finding:
    try:
        return Finding(what=what, state="ok", detail=check())
    except OmnistageError as error:
        return Finding(what=what, state="failed", detail=str(error))


def _package(name: str) -> Finding:
    try:
        return Finding(what=name, state="ok", detail=version(name))
    except PackageNotFoundError:
        return Finding(what=name, state="failed", detail=f"not installed: pip install {name}")


def _codec(name: str) -> str:
    import av

    try:
        av.Codec(name, "w")
    except av.codec.codec.UnknownCodecError:
        raise OmnistageError(
            f"this build of PyAV has no {name}", hint="install the av wheel from PyPI"
        ) from None
    return name


def _hooks() -> str:
    from simulator.rtc.taps import missing_names

    missing = missing_names()
    if missing:
        raise OmnistageError(
            f"aiortc {version('aiortc')} lacks {', '.join(missing)}",
            hint="install the version that omnistage names",
        )
    return "all there"


def _cache() -> str:
    from simulator.media.cache import Cache

    cache = Cache()
    with cache.writing():
        cache.root.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(cache.root).free
    if free < MIN_FREE:
        raise OmnistageError(f"{cache.root}: only {free / 1e6:.0f} MB free on its disk")
    return f"{cache.root}, {free / 1e9:.0f} GB free"


def _media() -> str:
    named = os.environ.get("OMNISTAGE_MEDIA")
    if not named:
        return "not set: clips named by URL are downloaded once"
    for folder in named.split(os.pathsep):
        if not os.path.isdir(folder):
            raise OmnistageError(f"{folder} is not a folder", hint="mend OMNISTAGE_MEDIA")
    return named


def _scheduling() -> Finding:
    from simulator.rtc.scheduling import HOW, allowed

    granted = allowed()
    return Finding(
        what="real-time scheduling",
        state="ok" if granted else "missing",
        detail="pacing keeps its time on a busy machine too"
        if granted
        else f"without it, other programs' load delays packets; allowed by {HOW}",
    )


def _webrtc() -> str:
    took, addresses = asyncio.run(_loopback_call())
    return f"a call to ourselves stood after {took * 1000:.0f} ms, over {', '.join(addresses)}"


async def _loopback_call() -> tuple[float, list[str]]:
    """Connect two peers of this process. Raises OmnistageError if they do not find each other."""
    from aiortc import RTCConfiguration, RTCPeerConnection

    start = WALL.now()
    a, b = (RTCPeerConnection(RTCConfiguration(iceServers=[])) for _ in range(2))
    connected = asyncio.Event()
    try:
        channel = a.createDataChannel("doctor")
        channel.on("open", connected.set)
        await a.setLocalDescription(await a.createOffer())
        await b.setRemoteDescription(a.localDescription)
        await b.setLocalDescription(await b.createAnswer())
        await a.setRemoteDescription(b.localDescription)
        addresses = sorted(
            {
                line.split()[4]
                for line in a.localDescription.sdp.splitlines()
                if "candidate:" in line
            }
        )
        if not addresses:
            raise OmnistageError(
                "this host has no address but loopback, over which WebRTC never connects",
                hint="give it one: ip addr add 10.99.0.1/32 dev lo",
            )
        try:
            async with WALL.within(10):
                await connected.wait()
        except TimeoutError:
            raise OmnistageError(
                f"two peers on {', '.join(addresses)} did not connect within 10 s",
                hint="does a firewall drop UDP between this host's own addresses?",
            ) from None
        return WALL.now() - start, addresses
    finally:
        await a.close()
        await b.close()
