"""Every way in which a call fails is an outcome with its own reason, wherever it was raised."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simulator.agent import Dial, Traits
from simulator.errors import AgentError, InputError, NetworkError
from simulator.protocol.conditions import Conditions
from simulator.recording.reader import Recording
from simulator.recording.records import SessionRecord
from simulator.session import engine
from simulator.testing import prepared


class Deaf:
    """A connected peer that takes no message."""

    negotiated: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, error: Exception) -> None:
        self.error = error

    @property
    async def events(self) -> AsyncIterator[tuple[float, Any]]:
        await asyncio.Event().wait()
        yield 0.0, None

    async def send(self, command: object) -> str:
        raise self.error


@pytest.mark.parametrize("connected", [False, True])
@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (AgentError("its data channel is closed"), "agent_failed"),
        (NetworkError("no path"), "network_failed"),
        (InputError("unknown dialect 'x'", hint="there are: openai"), "unsupported"),
    ],
)
async def test_a_failed_call_is_an_outcome(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    connected: bool,
    error: Exception,
    outcome: str,
) -> None:
    @asynccontextmanager
    async def call(*_: object, **__: object) -> AsyncIterator[Any]:
        if not connected:
            raise error
        yield Deaf(error)

    monkeypatch.setattr(engine, "call", call)
    written = tmp_path / "made.yaml"
    written.write_text("version: 1")
    made = prepared()
    result = await engine.play(
        replace(made, scenario=replace(made.scenario, path=written)),
        Dial(url="http://x"),
        traits=Traits(summary="fake"),
        folder=tmp_path / "made",
        identity={"attempt": "a"},
        conditions=Conditions(),
        instructions="Be brief.",
    )
    assert (str(result.outcome), result.reason) == (outcome, str(error))
    ends = [r for _, r in Recording.open(result.folder).records(SessionRecord)]
    assert (ends[-1].outcome, ends[-1].reason) == (outcome, str(error))


def test_a_session_sent_late_says_so_and_whether_the_machine_was_to_blame() -> None:
    assert engine.late(9.9, 0.5) is None
    assert engine.late(12.3, 0.001) == "pacing: send-time error p99 12.3 ms is over 10 ms"
    assert (engine.late(12.3, 0.06) or "").endswith(
        "; for 6% of the time this core ran at half its usual speed or less"
    )
