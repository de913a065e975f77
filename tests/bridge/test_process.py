"""A bridge in a process of its own: up, down, killed, in the way, and left behind by its parent."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from simulator.bridge.process import bridge_process
from simulator.errors import AgentError

IDLE = """
import asyncio, sys

class Idle:
    def __init__(self, *, loud="no"):
        print("printed while loading" if loud == "yes" else "")

    async def call(self, call):
        await asyncio.Event().wait()
"""


@pytest.fixture
def idle(tmp_path: Path) -> str:
    path = tmp_path / "idle.py"
    path.write_text(IDLE)
    return f"{path}:Idle"


def bridge_of(pids: set[int]) -> int:
    """The bridge among what was started with it."""
    (pid,) = (p for p in pids if "simulator.bridge" in psutil.Process(p).cmdline())
    return pid


def children() -> set[int]:
    return {p.pid for p in psutil.Process().children(recursive=True)}


async def test_it_comes_up_and_goes_and_its_prints_are_in_the_log(
    idle: str, tmp_path: Path
) -> None:
    log = tmp_path / "logs" / "idle.log"
    before = children()
    async with bridge_process(idle, options={"loud": "yes"}, log=log) as dial:
        pid = bridge_of(children() - before)
        assert dial.url.startswith("http://127.0.0.1:")
        assert dial.url.endswith("/v1/realtime/calls")
        assert len(dial.headers["Authorization"]) > len("Bearer ") + 20
    assert not psutil.pid_exists(pid)
    assert "printed while loading" in log.read_text()


async def test_a_port_in_use_and_a_broken_responder_are_told_with_the_log(
    idle: str, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("x = 1\nraise RuntimeError('no model here')\n")

    async def start(responder: str, port: int) -> None:
        log = tmp_path / f"{port}.log"
        async with bridge_process(responder, options={}, log=log, port=port):
            pass

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        used, raised, wrong = await asyncio.gather(
            start(idle, port),
            start(f"{broken}:X", 0),
            start(f"{idle}No", 1),
            return_exceptions=True,
        )
    assert isinstance(used, AgentError)
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in str(used)
    assert isinstance(raised, AgentError)
    assert "broken.py:2: it cannot be loaded: RuntimeError: no model here" in str(raised)
    assert isinstance(wrong, AgentError)
    assert "there is no class 'IdleNo' in the file" in str(wrong)
    assert all("Traceback" not in str(e) for e in (used, raised, wrong))


LEAVES = """
import asyncio, subprocess, sys

class Leaves:
    def __init__(self):
        left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        print("left", left.pid)

    async def call(self, call):
        await asyncio.Event().wait()
"""


async def test_what_it_has_started_ends_with_it(tmp_path: Path) -> None:
    path, log = tmp_path / "leaves.py", tmp_path / "leaves.log"
    path.write_text(LEAVES)
    before = children()
    async with bridge_process(f"{path}:Leaves", options={}, log=log):
        started = [psutil.Process(pid) for pid in children() - before]
        assert len(started) == 4  # the bridge, what it left, and the shell that ends both
    assert psutil.wait_procs(started, timeout=20)[1] == []


PARENT = """
import asyncio, signal, sys
from pathlib import Path
from simulator.bridge.process import bridge_process

async def main():
    async with bridge_process(sys.argv[1], options={}, log=Path(sys.argv[2])):
        print("up", flush=True)
        await asyncio.Event().wait()

# Whoever runs the tests in the background has it ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
asyncio.run(main())
"""


@pytest.mark.kill
@pytest.mark.skipif(sys.platform != "linux", reason="reads the process table of Linux")
def test_it_dies_with_its_parent_however_that_dies(tmp_path: Path) -> None:
    path = tmp_path / "leaves.py"
    path.write_text(LEAVES)
    parents = [
        subprocess.Popen(
            [sys.executable, "-c", PARENT, f"{path}:Leaves", str(tmp_path / f"{n}.log")],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        )
        for n in range(2)
    ]
    killed = dict(zip(parents, (signal.SIGKILL, signal.SIGINT), strict=True))
    for parent, how in killed.items():
        assert parent.stdout is not None
        assert parent.stdout.readline() == b"up\n"
        started = psutil.Process(parent.pid).children(recursive=True)
        assert len(started) == 4
        parent.send_signal(how)
        parent.wait(20)
        parent.stdout.close()
        assert psutil.wait_procs(started, timeout=20)[1] == []
