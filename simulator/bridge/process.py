"""The simulator's side of a bridge process: starts it, says where to dial, ends it.

Counterparts: `simulator.bridge.__main__` is what runs in it; agents inherit from
`simulator.bridge.local.LocalAgent` rather than call this.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from simulator.agent import Dial
from simulator.clock import WALL
from simulator.errors import AgentError

UP_WITHIN = 60.0
"""Seconds in which it has to listen; a model is loaded after that, or with a longer limit."""
DOWN_WITHIN = 2.0
"""Seconds between asking it to end and killing it with all that it has started."""
_TAIL = 12
"""Lines of its log that an error shows."""


@contextlib.asynccontextmanager
async def bridge_process(
    responder: str,
    *,
    options: Mapping[str, str],
    log: Path,
    host: str = "127.0.0.1",
    port: int = 0,
    up_within: float = UP_WITHIN,
) -> AsyncIterator[Dial]:
    """Run `responder` (PATH.py:Class) in a process while the context lasts; yields where to dial.

    What it prints goes to `log`. It ends with the context and with this process, however that ends.
    Raises AgentError with the end of the log if it does not come up.
    """
    command = [sys.executable, "-P", "-m", "simulator.bridge", responder, "--tied"]
    command += ["--host", host, "--port", str(port)]
    for key, value in options.items():
        command += ["-o", f"{key}={value}"]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as printed:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed,
            env=_environment(),
            # Ctrl-C is the simulator's: it ends the calls in order, then this process.
            start_new_session=True,
        )
    try:
        yield await _listening(process, responder, log, up_within)
    finally:
        await _end(process)


async def _listening(
    process: asyncio.subprocess.Process, responder: str, log: Path, up_within: float
) -> Dial:
    assert process.stdout is not None
    try:
        async with WALL.within(up_within):
            line = await process.stdout.readline()
    except TimeoutError:
        raise AgentError(
            f"{responder} did not come up within {up_within:g} s{_tail(log)}"
        ) from None
    if not line:
        code = await process.wait()
        raise AgentError(f"{responder} ended with status {code} before it listened{_tail(log)}")
    try:
        said = json.loads(line)
        url, token = str(said["listening"]), str(said["token"])
    except (ValueError, KeyError, TypeError):
        raise AgentError(f"{responder} did not say where it listens{_tail(log)}") from None
    return Dial(url=url, dialect="openai", headers={"Authorization": f"Bearer {token}"})


async def _end(process: asyncio.subprocess.Process) -> None:
    """Ask it to end, then make it."""
    try:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        with contextlib.suppress(TimeoutError):
            async with WALL.within(DOWN_WITHIN):
                await process.wait()
    finally:
        # It leads a session of its own: what it has started and left behind is in its group.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _environment() -> dict[str, str]:
    """Ours, with the package's place added: the process starts without its working directory."""
    package = str(Path(__file__).parents[2])
    known = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": f"{known}{os.pathsep}{package}" if known else package}


def _tail(log: Path) -> str:
    """The last lines of its log, for an error."""
    try:
        lines = log.read_text("utf-8", "replace").rstrip().splitlines()
    except OSError:
        return ""
    return "".join(f"\n    {line}" for line in lines[-_TAIL:])
