"""Carrying out a plan with a fake engine: who runs beside whom, and that every ending is kept."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from simulator.agent import Dial, Launch, Traits
from simulator.clock import ManualClock, settle
from simulator.errors import AgentError, InputError, InstrumentError, NetworkError
from simulator.judging.testing import quiet, scenario, trace
from simulator.measuring.trace import Trace
from simulator.media.timeline import Prepared
from simulator.protocol.conditions import Conditions, Video
from simulator.protocol.events import Outcome
from simulator.run import agents as open_agents
from simulator.run import pool
from simulator.run.accounting import AttemptResult, read_attempts
from simulator.run.plan import AgentChoice, Plan, make_plan, open_run
from simulator.run.pool import run_plan
from simulator.run.progress import Observer
from simulator.run.scene import Scene
from simulator.scenario.types import Scenario

PREPARED = Prepared(scenario=scenario(quiet("q"), id="s"), turns=())


def scene(conditions: Conditions) -> Scene:
    made = replace(PREPARED, codec=conditions.video.value)
    return Scene(prepared=made, instructions=f"Do as is {conditions.prompt}.")


@dataclass(frozen=True)
class Ended:
    outcome: Outcome = Outcome.COMPLETED
    reason: str = ""


@dataclass
class FakeAgent:
    """Counts how often it is opened, and by whom it is held."""

    here: bool = False
    fails: Exception | None = None
    slow: asyncio.Event | None = None
    opened: int = 0
    opening: asyncio.Event = field(default_factory=asyncio.Event)
    holding: int = 0
    traits: Traits = field(init=False)

    def __post_init__(self) -> None:
        self.traits = Traits(summary="fake", computes_here=self.here)

    def secrets(self) -> tuple[str, ...]:
        return ("s3cret",)

    def open(self, launch: Launch) -> AbstractAsyncContextManager[Dial]:
        return self._open(launch)

    @asynccontextmanager
    async def _open(self, launch: Launch) -> AsyncIterator[Dial]:
        self.opened += 1
        self.opening.set()
        if self.slow is not None:
            await self.slow.wait()
        if self.fails is not None:
            raise self.fails
        self.holding += 1
        owner = asyncio.current_task()
        try:
            yield Dial(url=f"http://x/{self.opened}", headers={"Authorization": "Bearer t0ken"})
        finally:
            assert asyncio.current_task() is owner
            self.holding -= 1


class Stage:
    """A fake engine: notes what runs at one time, and ends each attempt as told."""

    def __init__(self) -> None:
        self.ends: dict[str, Callable[[], Ended]] = {}
        self.running: set[str] = set()
        self.order: list[str] = []
        self.crowds: list[frozenset[str]] = []
        self.seen: dict[str, Mapping[str, Any]] = {}
        self.played: dict[str, tuple[str, Conditions, str]] = {}
        self.secrets: tuple[str, ...] = ()
        self.waits: asyncio.Event | None = None
        self.started = asyncio.Event()

    async def __call__(
        self,
        prepared: Prepared,
        target: Dial,
        *,
        traits: Traits,
        folder: Path,
        identity: Mapping[str, Any],
        conditions: Conditions,
        instructions: str,
        secrets: tuple[str, ...],
        observer: Observer,
        stop: asyncio.Event,
    ) -> Ended:
        name = str(identity["attempt"])
        self.seen[name] = identity
        self.played[name] = (prepared.codec, conditions, instructions)
        self.secrets = secrets
        record(folder)
        self.order.append(name)
        self.running.add(name)
        self.started.set()
        try:
            for _ in range(5):
                self.crowds.append(frozenset(self.running))
                await asyncio.sleep(0)
            if self.waits is not None:
                await self.waits.wait()
            if stop.is_set():
                return Ended(Outcome.CANCELLED, "cancelled by the user")
            return self.ends.get(name, Ended)()
        finally:
            self.running.discard(name)


def record(folder: Path) -> None:
    folder.mkdir()
    (folder / "events.jsonl").write_text("kept")


class Watching:
    """An observer that keeps what it hears."""

    def __init__(self) -> None:
        self.heard: list[tuple[str, ...]] = []

    def attempt_started(
        self, attempt_id: str, scenario_id: str, agent: str, estimate_s: float
    ) -> None:
        self.heard.append(("start", attempt_id))

    def turn_changed(
        self, attempt_id: str, turn_id: str, state: str, elapsed: float, total: float
    ) -> None:
        raise AssertionError("the fake engine reports no turns")

    def attempt_ended(self, attempt_id: str, outcome: str, reason: str) -> None:
        self.heard.append(("end", attempt_id, outcome))

    def attempt_measured(self, attempt_id: str, outcome: str, reason: str) -> None:
        self.heard.append(("measured", attempt_id, outcome))

    def waiting(self, seconds: float, why: str) -> None:
        raise AssertionError("nobody asked for it")


@pytest.fixture
def stage() -> Stage:
    return Stage()


class Setting:
    """A run folder, its plan and its agents."""

    def __init__(
        self, out: Path, agents: Mapping[str, FakeAgent], *, repeats: int = 1, **options: Any
    ) -> None:
        self.out = out / "run"
        self.agents = agents
        choices = [
            AgentChoice(label=k, reference=k, computes_here=a.here) for k, a in agents.items()
        ]
        self.plan: Plan = make_plan(
            [PREPARED.scenario], choices, judges=[], repeats=repeats, **options
        )
        open_run(self.out, self.plan)

    async def run(self, stage: Stage, **options: Any) -> list[AttemptResult]:
        return await run_plan(
            self.plan,
            {("s", c): scene(c) for c in {a.conditions for a in self.plan.attempts}},
            self.agents,
            self.out,
            play=stage,
            clock=ManualClock(),
            **options,
        )


def outcomes(results: list[AttemptResult]) -> list[str]:
    return [str(r.outcome) for r in results]


async def test_agents_are_opened_once_and_closed(tmp_path: Path, stage: Stage) -> None:
    agents = {"a": FakeAgent(), "b": FakeAgent()}
    setting = Setting(tmp_path, agents, repeats=3, concurrency=2)
    watching = Watching()
    results = await setting.run(stage, observer=watching)
    assert outcomes(results) == ["completed"] * 6
    assert [(a.opened, a.holding) for a in agents.values()] == [(1, 0), (1, 0)]
    assert max(len(c) for c in stage.crowds) == 2
    assert results == list(read_attempts(setting.out, setting.plan))
    assert [h[1] for h in watching.heard if h[0] == "start"] == [
        a.id for a in setting.plan.attempts
    ]
    assert sum(h[0] == "end" for h in watching.heard) == 6


async def test_identity_and_secrets_reach_the_engine(tmp_path: Path, stage: Stage) -> None:
    await Setting(tmp_path, {"a": FakeAgent()}).run(stage, secrets=("mine",))
    assert stage.seen["s--a--1"] == {
        "attempt": "s--a--1",
        "agent": "a",
        "label": "a",
        "options": {},
        "repeat": 1,
        "try": 1,
        "shared_host": False,
    }
    assert stage.secrets == ("mine", "s3cret", "t0ken")


async def test_no_reason_tells_a_secret(tmp_path: Path, stage: Stage) -> None:
    def breaks() -> Ended:
        raise AgentError("it knows s3cret")

    stage.ends = {
        "s--a--1": lambda: Ended(Outcome.AGENT_FAILED, "the wrong key t0ken of mine"),
        "s--b--1": breaks,
    }
    closed = FakeAgent(fails=AgentError("no s3cret here"))
    setting = Setting(tmp_path, {"a": FakeAgent(), "b": FakeAgent(), "c": closed})
    watching = Watching()
    results = await setting.run(stage, observer=watching, secrets=("mine",))
    assert [r.reason for r in results] == [
        "the wrong key [secret] of [secret]",
        "it knows [secret]",
        "no [secret] here",
    ]
    assert not {"t0ken", "s3cret", "mine"} & set(" ".join(map(str, watching.heard)).split())


async def test_each_attempt_is_played_as_its_conditions_have_it(
    tmp_path: Path, stage: Stage
) -> None:
    unlike = (Conditions(), Conditions(video=Video.VP8, prompt="spoken"))
    await Setting(tmp_path, {"a": FakeAgent()}, conditions=unlike).run(stage)
    assert stage.played == {
        "s--a--video-h264-prompt-written--1": ("h264", unlike[0], "Do as is written."),
        "s--a--video-vp8-prompt-spoken--1": ("vp8", unlike[1], "Do as is spoken."),
    }


async def test_what_computes_here_runs_alone(tmp_path: Path, stage: Stage) -> None:
    agents = {"far": FakeAgent(), "near": FakeAgent(here=True), "far2": FakeAgent()}
    results = await Setting(tmp_path, agents, repeats=3, concurrency=4).run(stage)
    assert outcomes(results) == ["completed"] * 9
    assert all(len(c) == 1 for c in stage.crowds if any("near" in n for n in c))
    assert max(len(c) for c in stage.crowds) >= 2
    assert not any(r.shared_host for r in results)


async def test_sharing_the_host_is_marked(tmp_path: Path, stage: Stage) -> None:
    agents = {"far": FakeAgent(), "near": FakeAgent(here=True)}
    setting = Setting(tmp_path, agents, concurrency=2, share_host=True)
    results = await setting.run(stage)
    assert [r.shared_host for r in results] == [False, True]
    assert stage.seen["s--near--1"]["shared_host"] is True
    assert max(len(c) for c in stage.crowds) == 2


async def test_one_failure_stops_nobody(tmp_path: Path, stage: Stage) -> None:
    def raising(error: Exception) -> Callable[[], Ended]:
        def end() -> Ended:
            raise error

        return end

    stage.ends = {
        "s--a--1": raising(AgentError("it died")),
        "s--a--2": raising(NetworkError("no path")),
        "s--a--3": raising(InputError("no video in its offer")),
        "s--a--4": raising(RuntimeError("a bug")),
        "s--a--5": lambda: Ended(Outcome.INSTRUMENT_INVALID, "pacing"),
        "s--a--7": raising(ExceptionGroup("", [ExceptionGroup("", [AgentError("it hung up")])])),
        "s--a--8": raising(ExceptionGroup("", [KeyError("x")])),
    }
    results = await Setting(tmp_path, {"a": FakeAgent()}, repeats=8).run(stage)
    assert outcomes(results) == [
        "agent_failed",
        "network_failed",
        "unsupported",
        "instrument_invalid",
        "instrument_invalid",
        "completed",
        "agent_failed",
        "instrument_invalid",
    ]
    assert results[6].reason == "it hung up"
    assert results[7].reason == "a bug of the simulator: KeyError: 'x'"
    assert results[3].reason == "a bug of the simulator: RuntimeError: a bug"
    assert all(r.folder is not None for r in results)


@pytest.mark.parametrize(
    ("fails", "outcome"),
    [
        (AgentError("it did not come up"), "agent_failed"),
        (InputError("no key", hint="set X_KEY"), "unsupported"),
        (RuntimeError("a plug-in's bug"), "agent_failed"),
    ],
)
async def test_an_agent_that_cannot_be_opened(
    tmp_path: Path, stage: Stage, fails: Exception, outcome: str
) -> None:
    agents = {"bad": FakeAgent(fails=fails), "good": FakeAgent()}
    results = await Setting(tmp_path, agents, repeats=2).run(stage)
    assert outcomes(results) == [outcome, "completed"] * 2
    assert [r.folder is None for r in results] == [True, False] * 2
    assert agents["good"].opened == 1


def _undecorated(self: object, launch: Launch) -> object:
    async def opening() -> AsyncIterator[Dial]:
        yield Dial(url="http://x")

    return opening()


@asynccontextmanager
async def _no_dial(self: object, launch: Launch) -> AsyncIterator[Any]:
    yield "http://x"


@asynccontextmanager
async def _no_yield(self: object, launch: Launch) -> AsyncIterator[Dial]:
    if self is None:
        yield Dial(url="http://x")


@pytest.mark.parametrize(
    ("opens", "said"),
    [
        (_no_dial, "agent bad: its `open` yielded str, not a Dial (yield Dial(url=...)"),
        (_no_yield, "agent bad: its `open` ended without a yield"),
        (_undecorated, "no asynchronous context manager (write @contextlib.asynccontextmanager"),
    ],
)
async def test_an_agent_that_does_not_say_where_to_dial(
    tmp_path: Path, stage: Stage, opens: Any, said: str
) -> None:
    bad = type("Bad", (FakeAgent,), {"open": opens})()
    results = await Setting(tmp_path, {"bad": bad, "good": FakeAgent()}).run(stage)
    assert outcomes(results) == ["agent_failed", "completed"]
    assert said in results[0].reason


async def test_an_agent_whose_dialect_is_not_there_cannot_be_played(
    tmp_path: Path, stage: Stage
) -> None:
    class Wordless(FakeAgent):
        @asynccontextmanager
        async def _open(self, launch: Launch) -> AsyncIterator[Dial]:
            yield Dial(url="http://x", dialect="no_words.py")

    results = await Setting(tmp_path, {"bad": Wordless(), "good": FakeAgent()}).run(stage)
    assert outcomes(results) == ["unsupported", "completed"]
    assert results[0].reason == f"{Path(__file__).with_name('no_words.py')}: no such file"
    assert results[0].folder is None, "nothing is dialled"


async def test_an_agent_that_never_opens_has_failed(
    tmp_path: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_agents, "READY_WITHIN", 0.05)
    agents = {"bad": FakeAgent(slow=asyncio.Event()), "good": FakeAgent()}
    results = await asyncio.wait_for(Setting(tmp_path, agents).run(stage), 5)
    assert outcomes(results) == ["agent_failed", "completed"]
    assert results[0].reason.startswith("agent bad: was not ready within 0.05 s")


async def test_an_agent_that_never_closes_holds_up_no_run(
    tmp_path: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Clinging(FakeAgent):
        @asynccontextmanager
        async def _open(self, launch: Launch) -> AsyncIterator[Dial]:
            yield Dial(url="http://x")
            await asyncio.Event().wait()

    monkeypatch.setattr(open_agents, "CLOSED_WITHIN", 0.05)
    results = await asyncio.wait_for(Setting(tmp_path, {"a": Clinging()}).run(stage), 5)
    assert outcomes(results) == ["completed"]


async def test_an_agent_that_failed_is_opened_anew(tmp_path: Path, stage: Stage) -> None:
    agent = FakeAgent()
    stage.ends = {"s--a--1": lambda: Ended(Outcome.AGENT_FAILED, "no reply")}
    results = await Setting(tmp_path, {"a": agent}, repeats=3).run(stage)
    assert outcomes(results) == ["agent_failed", "completed", "completed"]
    assert (agent.opened, agent.holding) == (2, 0)


async def test_an_agent_that_says_it_lives_stays_open(tmp_path: Path, stage: Stage) -> None:
    class Living(FakeAgent):
        def alive(self) -> bool:
            return True

    agent = Living()
    stage.ends = {"s--a--1": lambda: Ended(Outcome.AGENT_FAILED, "it refused")}
    await Setting(tmp_path, {"a": agent}, repeats=2).run(stage)
    assert agent.opened == 1


async def test_the_first_stop_ends_cleanly(tmp_path: Path, stage: Stage) -> None:
    stop, stage.waits = asyncio.Event(), asyncio.Event()
    agent = FakeAgent()
    setting = Setting(tmp_path, {"a": agent}, repeats=3)
    running = asyncio.ensure_future(setting.run(stage, stop=stop))
    await stage.started.wait()
    stop.set()
    stage.waits.set()
    results = await running
    assert outcomes(results) == ["cancelled"] * 3
    assert results[0].folder is not None
    assert (results[0].folder / "events.jsonl").read_text() == "kept"
    assert results[1].reason == "not begun: the run was stopped"
    assert agent.holding == 0
    assert results == list(read_attempts(setting.out, setting.plan))


async def test_a_stop_while_an_agent_starts(tmp_path: Path, stage: Stage) -> None:
    stop = asyncio.Event()
    agent = FakeAgent(slow=asyncio.Event())
    running = asyncio.ensure_future(Setting(tmp_path, {"a": agent}).run(stage, stop=stop))
    await agent.opening.wait()
    stop.set()
    results = await asyncio.wait_for(running, 5)
    assert outcomes(results) == ["cancelled"]
    assert "while the agent was starting" in results[0].reason


async def test_the_second_stop_ends_at_once_and_is_noted(tmp_path: Path, stage: Stage) -> None:
    stage.waits = asyncio.Event()
    agent = FakeAgent()
    setting = Setting(tmp_path, {"a": agent}, repeats=2)
    running = asyncio.ensure_future(setting.run(stage))
    await stage.started.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert agent.holding == 0
    found = read_attempts(setting.out, setting.plan)
    assert [(str(r.outcome), r.reason) for r in found] == [
        ("cancelled", "ended at once"),
        ("cancelled", "never started"),
    ]


async def test_our_own_failure_ends_the_run_with_what_there_is(
    tmp_path: Path, stage: Stage
) -> None:
    def full() -> Ended:
        raise InstrumentError("cannot write events.jsonl: No space left on device")

    stage.ends = {"s--a--2": full}
    results = await Setting(tmp_path, {"a": FakeAgent()}, repeats=4).run(stage)
    assert outcomes(results) == ["completed", "instrument_invalid", "cancelled", "cancelled"]
    assert "No space left" in results[2].reason


async def test_a_full_disk_begins_no_attempt(
    tmp_path: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(pool, "DISK_FLOOR", free.total * 2)
    results = await Setting(tmp_path, {"a": FakeAgent()}, repeats=2).run(stage)
    assert outcomes(results) == ["cancelled", "cancelled"]
    assert "the disk is full" in results[0].reason
    assert stage.seen == {}


def fails(reason: str = "no reply", outcome: Outcome = Outcome.AGENT_FAILED) -> Callable[[], Ended]:
    return lambda: Ended(outcome, reason)


async def test_what_failed_is_played_again_as_a_whole_after_all_others(
    tmp_path: Path, stage: Stage
) -> None:
    stage.ends = {"s--a--1": fails(), "s--a--1--try2": fails()}
    setting = Setting(tmp_path, {"a": FakeAgent()}, repeats=2, retries=2)
    first, second = await setting.run(stage)
    assert stage.order == ["s--a--1", "s--a--2", "s--a--1--try2", "s--a--1--try3"]
    assert (first.number, first.outcome) == (1, Outcome.AGENT_FAILED), "the first try counts"
    assert [(t.number, str(t.outcome)) for t in first.others] == [
        (2, "agent_failed"),
        (3, "completed"),
    ]
    assert all(t.folder is not None and t.folder.name == t.name for t in first.tries)
    assert (second.outcome, second.others) == (Outcome.COMPLETED, ())
    assert stage.seen["s--a--1--try3"]["try"] == 3
    assert stage.seen["s--a--1--try3"]["repeat"] == 1


@pytest.mark.parametrize(
    ("outcome", "retries", "tries"),
    [
        (Outcome.AGENT_FAILED, 0, 1),
        (Outcome.AGENT_FAILED, 3, 4),
        (Outcome.NETWORK_FAILED, 1, 2),
        (Outcome.INSTRUMENT_INVALID, 1, 2),
        (Outcome.UNSUPPORTED, 2, 1),
        (Outcome.COMPLETED, 2, 1),
    ],
)
async def test_which_outcomes_are_tried_again_and_how_often(
    tmp_path: Path, stage: Stage, outcome: Outcome, retries: int, tries: int
) -> None:
    names = ["s--a--1", *(f"s--a--1--try{n}" for n in range(2, 9))]
    stage.ends = dict.fromkeys(names, fails("why", outcome))
    (result,) = await Setting(tmp_path, {"a": FakeAgent()}, retries=retries).run(stage)
    assert stage.order == names[:tries]
    assert len(result.tries) == tries


async def test_a_try_that_our_instrument_spoilt_gives_way(tmp_path: Path, stage: Stage) -> None:
    stage.ends = {
        "s--a--1": fails("pacing", Outcome.INSTRUMENT_INVALID),
        "s--a--1--try2": fails(),
    }
    (result,) = await Setting(tmp_path, {"a": FakeAgent()}, retries=2).run(stage)
    assert (result.number, result.outcome) == (2, Outcome.AGENT_FAILED)
    assert [t.number for t in result.others] == [1, 3], "a later one is no better for being right"


async def test_a_stopped_run_plays_nothing_again(tmp_path: Path, stage: Stage) -> None:
    stop = asyncio.Event()

    def end() -> Ended:
        stop.set()
        return Ended(Outcome.AGENT_FAILED, "no reply")

    stage.ends = {"s--a--1": end}
    (result,) = await Setting(tmp_path, {"a": FakeAgent()}, retries=2).run(stage, stop=stop)
    assert (result.outcome, result.others) == (Outcome.AGENT_FAILED, ())


async def test_a_provider_that_says_how_long_is_waited_for(tmp_path: Path, stage: Stage) -> None:
    setting, clock, asked = (
        Setting(tmp_path, {"a": FakeAgent()}, retries=1),
        ManualClock(),
        asyncio.Event(),
    )

    class Waiting(Watching):
        def waiting(self, seconds: float, why: str) -> None:
            assert seconds == 20
            asked.set()

    stage.ends = {"s--a--1": fails("rate_limit_exceeded: please try again in 20s")}
    running = asyncio.ensure_future(
        run_plan(
            setting.plan,
            {("s", c): scene(c) for c in {a.conditions for a in setting.plan.attempts}},
            setting.agents,
            setting.out,
            play=stage,
            clock=clock,
            observer=Waiting(),
        )
    )
    await asked.wait()
    await settle()
    await clock.advance(19.9)
    assert stage.order == ["s--a--1"]
    await clock.advance(0.2)
    await asyncio.wait_for(running, 5)
    assert stage.order == ["s--a--1", "s--a--1--try2"]


async def test_a_run_killed_at_any_line_goes_on_and_plays_nothing_twice(
    tmp_path: Path, stage: Stage
) -> None:
    """Killed after each line of its ledger in turn: what had ended is not played again, what had
    not is, under a name of its own."""
    stage.ends = {"s--a--1": fails(), "s--a--2--try2": fails(), "s--a--2": fails()}
    whole = Setting(tmp_path, {"a": FakeAgent()}, repeats=2, retries=2)
    await whole.run(stage)
    lines = (whole.out / "attempts.jsonl").read_text().splitlines(keepends=True)
    assert len(lines) == 2 * len(stage.order) == 10
    for count in range(len(lines) + 1):
        setting = Setting(tmp_path / str(count), {"a": FakeAgent()}, repeats=2, retries=2)
        kept = lines[:count]
        (setting.out / "attempts.jsonl").write_text("".join(kept))
        begun = [json.loads(x)["attempt"] for x in kept if '"start"' in x]
        for name in begun:
            record(setting.out / "recordings" / name)
        again = Stage()
        again.ends = stage.ends
        results = await setting.run(again)
        assert not set(begun) & set(again.order)
        played = [*begun, *again.order]
        assert sorted(t.name for r in results for t in r.tries) == sorted(played)
        assert all(t.folder is not None for r in results for t in r.tries)
        cut = count % 2
        ended = [t for r in results for t in r.tries if t.ended]
        assert len(ended) == len(played) - cut
        # What was cut is made up for: each attempt has all the tries that it may have.
        assert [r.tries[-1].outcome for r in results] == [Outcome.COMPLETED] * 2


async def test_what_the_recording_shows_counts_before_anything_is_counted(
    tmp_path: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(folder: Path, played: Scenario) -> Trace:
        bad = folder.name == "s--a--1"
        return trace(
            played,
            outcome=Outcome.AGENT_FAILED if bad else Outcome.COMPLETED,
            reason="agent_error: in 1 of 1 turns, first quota: Pay." if bad else "",
        )

    monkeypatch.setattr(pool, "load_trace", shown)
    setting, watching = Setting(tmp_path, {"a": FakeAgent()}, retries=1), Watching()
    (result,) = await setting.run(stage, observer=watching)
    assert (result.outcome, result.measured) == (Outcome.AGENT_FAILED, True)
    assert result.reason.startswith("agent_error: in 1 of 1")
    assert [str(t.outcome) for t in result.others] == ["completed"]
    assert watching.heard == [
        ("start", "s--a--1"),
        ("end", "s--a--1", "completed"),
        ("measured", "s--a--1", "agent_failed"),
        ("start", "s--a--1--try2"),
        ("end", "s--a--1--try2", "completed"),
    ]
