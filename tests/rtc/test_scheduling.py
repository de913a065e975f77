"""Ahead of ordinary programs where allowed; as before afterwards, and never for children."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from simulator.rtc.scheduling import Ahead, allowed
from simulator.rtc.undisturbed import Undisturbed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="asks Linux's scheduler")


def policy() -> int:
    return os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK


def test_while_anybody_plays_the_thread_is_ahead_and_nobody_else() -> None:
    if not allowed():
        pytest.skip("real-time scheduling is not allowed here")
    others: list[int] = []
    held = Undisturbed()
    with held, held:
        assert held.realtime
        assert policy() == os.SCHED_RR
        thread = threading.Thread(target=lambda: others.append(policy()))
        thread.start()
        thread.join()
        code = "import os; print(os.sched_getscheduler(0))"
        child = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        others.append(int(child.stdout))
    assert others == [os.SCHED_OTHER, os.SCHED_OTHER]
    assert policy() == os.SCHED_OTHER
    assert not held.realtime


def test_where_it_is_denied_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def denied(pid: int, wanted: int, param: object) -> None:
        asked.append(wanted)
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setscheduler", denied)
    with Undisturbed() as held:
        assert not held.realtime
    assert len(asked) == 1, "what was not given is not given back"


def test_a_choice_of_whoever_started_us_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getscheduler", lambda pid: os.SCHED_FIFO)
    ahead = Ahead()
    assert ahead.take()
    assert not ahead.taken
