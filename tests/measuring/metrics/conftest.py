"""A trace made by hand: five turns of ten seconds, each number easy to check in the head."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from simulator.measuring.trace import (
    Attributed,
    Heard,
    Life,
    Pacing,
    Response,
    Speech,
    Trace,
    TurnSpan,
)


def span(index: int, expect: str, **more: Any) -> TurnSpan:
    start = 10.0 * index
    base = TurnSpan(
        id=f"t{index}", index=index, expect=expect, start=start, end=start + 5, done=start + 10
    )
    return replace(base, **more)


def response(name: str, *runs: tuple[float, float], text: str = "", **more: Any) -> Response:
    return Response(
        id=name,
        speech=tuple(Speech(start=a, end=b, uncertainty=0.001) for a, b in runs),
        text=text,
        transcript_missing=bool(runs) and not text,
        **more,
    )


def trace_of(
    turns: list[TurnSpan],
    responses: list[tuple[Response, str | None, tuple[Any, ...]]],
    heard: list[Heard] | None = None,
) -> Trace:
    runs = sorted((s for r, _, _ in responses for s in r.speech), key=lambda s: s.start)
    by: Any = lambda flags: "token" if any("token" in f for f in flags) else "time"  # noqa: E731
    return Trace(
        scenario="s",
        agent="a",
        outcome="completed",
        play_at=0.0,
        end=100.0,
        turns=tuple(turns),
        heard=tuple(heard or ()),
        speech=tuple(runs),
        responses=tuple(r for r, _, _ in responses),
        attribution=tuple(
            Attributed(response=r.id, turn=turn, by=by(flags), flags=flags)
            for r, turn, flags in responses
        ),
        pacing=Pacing(p50_ms=0.5, p99_ms=2.0, max_ms=3.0, packets=100),
        life=Life(transport=True, session=True, response=True),
        lost=4,
    )


class Hand:
    """The functions above, for tests."""

    span = staticmethod(span)
    response = staticmethod(response)
    trace = staticmethod(trace_of)


@pytest.fixture(scope="session")
def hand() -> type[Hand]:
    return Hand
