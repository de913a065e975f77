"""A scenario without any media, and a script driven on made-up time as the engine would on real.

Counterparts: `simulator.session.script` is what is driven, `simulator.testing.memory` drives the
whole engine.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

from simulator.media.timeline import Asset, Prepared, PreparedTurn, Spoken
from simulator.protocol.events import Command, Event, Finish, Hold, Play, TurnChanged, Wake, WakeAt
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.expectations.contract import Expectation
from simulator.scenario.expectations.either import Either
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.types import (
    Clip,
    Limits,
    Pace,
    Placement,
    Say,
    Scenario,
    Turn,
)
from simulator.session.script import Script

_AT_END = Placement()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sketch:
    """A turn in a few numbers; all times are seconds from the turn's start."""

    id: str
    seconds: float
    expect: Expectation
    said: tuple[tuple[str, float, float], ...] = ()
    """(voice, first audible sample, end) of each speech."""
    event: float | None = None
    within: float = 8.0
    asked_in: str | None = None
    at: Placement = _AT_END
    """Where its speech is placed: what matters is whether it waits for the agent's."""


def asks(id: str, seconds: float, answer: str = "Yes.", *, speech: float = 1.0) -> Sketch:
    """A turn whose last `speech` seconds are a question to the agent."""
    said = (("user", seconds - speech, seconds),)
    return Sketch(id=id, seconds=seconds, expect=Answer(text=answer), said=said)


def cuts_in(id: str, seconds: float, at: Placement, *, speech: float = 1.0) -> Sketch:
    """A turn that begins with a question to the agent, tied to what the agent does."""
    said = (("user", 0.0, speech),)
    return Sketch(id=id, seconds=seconds, expect=Answer(text="No."), said=said, at=at)


def quiet(id: str, seconds: float, *, guest: tuple[float, float] | None = None) -> Sketch:
    """A turn that wants silence, with a bystander speaking between two times if given."""
    said = (("guest", *guest),) if guest else ()
    return Sketch(id=id, seconds=seconds, expect=Quiet(), said=said)


def standing(id: str, seconds: float, *, speech: float = 1.0) -> Sketch:
    """A turn that ends with a standing instruction, which may be acknowledged."""
    said = (("user", seconds - speech, seconds),)
    return Sketch(id=id, seconds=seconds, expect=Either(), said=said)


def event(
    id: str, seconds: float, *, at: float, within: float = 3.0, asked_in: str | None = None
) -> Sketch:
    """A turn in which an answer falls due at `at` because of what happens."""
    return Sketch(
        id=id,
        seconds=seconds,
        expect=Answer(text="Now."),
        event=at,
        within=within,
        asked_in=asked_in,
    )


def prepared(*sketches: Sketch, pace: Pace = Pace.WAIT, limits: Limits | None = None) -> Prepared:
    """A prepared scenario of these turns; its assets do not exist on disk."""
    turns, out, at = [], [], 0.0
    for index, s in enumerate(sketches):
        turn = Turn(
            id=s.id,
            index=index,
            clip="main",
            start=at,
            end=at + s.seconds,
            instructions=tuple(
                Say(text=f"{s.id} {n}", sound=Path("none.flac"), voice=voice, placement=s.at)
                for n, (voice, _, _) in enumerate(s.said)
            ),
            expect=s.expect,
            event=None if s.event is None else at + s.event,
            within=s.within,
            asked_in=s.asked_in,
        )
        turns.append(turn)
        asset = Asset(key=s.id, path=Path("none"), duration=s.seconds)
        out.append(
            PreparedTurn(
                turn=turn,
                segment=asset,
                hold=asset,
                spoken=tuple(Spoken(index=n, start=b, end=e) for n, (_, b, e) in enumerate(s.said)),
                stream_start=at,
            )
        )
        at += s.seconds
    scenario = Scenario(
        id="rehearsal",
        path=Path("rehearsal.yaml"),
        sha256="0" * 64,
        clips={"main": Clip(name="main", path=Path("none.mp4"))},
        turns=tuple(turns),
        pace=pace,
        limits=limits or Limits(),
    )
    return Prepared(scenario=scenario, turns=tuple(out))


@dataclass(slots=True)
class Rehearsal:
    """Drives a script on made-up time: events at given times, wakes when it asked for them."""

    script: Script
    commands: list[tuple[float, Command]] = field(default_factory=list)
    """Every command with the time at which it was ordered."""

    def run(self, events: Iterable[tuple[float, Event]], until: float = 600.0) -> Rehearsal:
        """Play `events` (time, event) until the script finishes or `until` is reached."""
        order = count()
        queue = [(t, next(order), e) for t, e in events]
        heapq.heapify(queue)
        wake = self._obey(0.0, self.script.start(0.0), None)
        while not self.script.finished:
            event_at = queue[0][0] if queue else until
            now = min(event_at, until if wake is None else max(wake, 0.0))
            if now >= until:
                break
            if queue and event_at <= now:
                now, _, happened = heapq.heappop(queue)
            else:
                happened, wake = Wake(), None
            wake = self._obey(now, self.script.handle(happened, now), wake)
        return self

    def _obey(self, now: float, orders: Sequence[Command], wake: float | None) -> float | None:
        for order in orders:
            self.commands.append((now, order))
            if isinstance(order, WakeAt):
                wake = max(order.at, now)
        return wake

    @property
    def plays(self) -> list[tuple[int, float]]:
        """(turn, session time) of each segment."""
        return [(c.turn, round(c.at, 6)) for _, c in self.commands if isinstance(c, Play)]

    @property
    def holds(self) -> list[tuple[int, float]]:
        """(turn, session time) of each hold."""
        return [(c.turn, round(c.at, 6)) for _, c in self.commands if isinstance(c, Hold)]

    @property
    def states(self) -> list[tuple[int, str, str]]:
        """(turn, state, cause) in order."""
        return [
            (c.turn, c.state.value, c.cause) for _, c in self.commands if isinstance(c, TurnChanged)
        ]

    @property
    def finish(self) -> tuple[float, Finish] | None:
        """When and how it ended; None if it did not."""
        return next(((t, c) for t, c in self.commands if isinstance(c, Finish)), None)
