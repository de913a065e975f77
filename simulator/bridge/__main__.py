"""Runs a responder in a process of its own: `python -m simulator.bridge PATH.py:Class`.

The first line on standard output is JSON: where it listens, and the token that callers need.
Everything printed after that goes to standard error. Counterpart: `simulator.bridge.process` starts
and ends it; by hand it serves any client of the Realtime API's WebRTC calls.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import ctypes
import gc
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import cast

from simulator.bridge.call import Responder
from simulator.bridge.origins import Origins
from simulator.errors import InputError
from simulator.options import parse_options
from simulator.plugins import load

_PR_SET_PDEATHSIG = 1


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m simulator.bridge", description=__doc__)
    parser.add_argument("responder", help="PATH.py:Class with `async def call(self, call)`")
    parser.add_argument("-o", "--option", action="append", default=[], metavar="KEY=VALUE")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument(
        "--token",
        default=os.environ.get("OMNISTAGE_BRIDGE_TOKEN") or None,
        help="what callers have to show; by default a new one each start",
    )
    parser.add_argument(
        "--origin",
        action="append",
        default=[],
        metavar="ORIGIN",
        help="let pages of this origin call (https://app.example, or * for any); repeatable; by "
        "default those that this machine serves may",
    )
    parser.add_argument("--tied", action="store_true", help="die with the process that started it")
    given = parser.parse_args(argv)
    if given.tied:
        _die_with_parent()
    # The first line is the simulator's; what the responder prints must not get into it.
    announce = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        responder = cast(
            Responder, load("responders", given.responder, parse_options(given.option))
        )
        asyncio.run(_serve(responder, given, Origins(given.origin), announce.fileno()))
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(
            f"cannot listen on {given.host}:{given.port}: {os.strerror(error.errno or 0)}",
            file=sys.stderr,
        )
        return 3
    except KeyboardInterrupt:
        return 130
    return 0


async def _serve(
    responder: Responder, given: argparse.Namespace, origins: Origins, announce: int
) -> None:
    from simulator.bridge.host import Host

    serving = Host(responder, token=given.token, origins=origins)
    async with serving.listen(given.host, given.port) as url:
        line = json.dumps({"listening": url, "token": serving.token})
        os.write(announce, line.encode() + b"\n")
        # A full collection stops all calls for tens of milliseconds; what is loaded by now stays.
        gc.collect()
        gc.freeze()
        await asyncio.Event().wait()


def _die_with_parent() -> None:
    """End when the parent does, with all that was started here, even if that was killed: by signal
    on Linux, else by our stdin."""
    _bury_with_parent()
    parent = os.getppid()
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)
    threading.Thread(target=_wait_for_eof, name="parent", daemon=True).start()


def _bury_with_parent() -> None:
    """Let a shell in our group end the group when the parent's end of our stdin closes: we may be
    killed before we could end what a responder has started."""
    if os.name == "posix" and os.getpgrp() == os.getpid():
        subprocess.Popen(
            ["/bin/sh", "-c", "cat >/dev/null; kill -KILL 0"],
            stdin=0,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


def _wait_for_eof() -> None:
    with contextlib.suppress(OSError):
        while os.read(0, 1024):
            pass
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
