"""`omnistage run`: check everything before anything is spent, then play, judge and report."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from rich.console import Console

from simulator.agent import Agent
from simulator.cli.film import make_films
from simulator.cli.judge import load_judges, tell_judged
from simulator.cli.progress import PrepareProgress, RunProgress
from simulator.clock import utc_now
from simulator.errors import InputError
from simulator.judging.judge import Judge
from simulator.judging.run import judge_run, no_doubles
from simulator.media.cache import Cache
from simulator.media.encode import Encoding
from simulator.media.prepare import prepare
from simulator.options import parse_options, split_words
from simulator.plugins import load_agent
from simulator.protocol.conditions import USUAL, Conditions
from simulator.report.file import write_summary
from simulator.report.gates import check_gates, parse_gates
from simulator.report.plain import plain
from simulator.report.summary import Summary, summarise
from simulator.report.terminal import print_gates, print_status, print_summary
from simulator.run.attempt import play_attempt
from simulator.run.plan import AgentChoice, Plan, make_plan, open_run
from simulator.run.pool import run_plan
from simulator.run.scene import Scene, Scenes
from simulator.scenario.load import load_scenario
from simulator.scenario.types import Scenario
from simulator.session.prompt import TEMPLATES, Template, instructions

CORES = os.cpu_count() or 1


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOrder:
    """What the user asked for, as typed."""

    scenarios: tuple[str, ...]
    agents: tuple[str, ...]
    judges: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    repeat: int = 1
    retries: int = 0
    concurrency: int = 1
    out: Path | None = None
    gates: tuple[str, ...] = ()
    min_coverage: float = 1.0
    share_host: bool = False
    conditions: Conditions = USUAL
    """What is imposed on the scenarios; `prompt` as it was typed, maybe a file's name."""
    film: bool = False
    """Make a session.mkv of every recording."""
    name: str = ""
    """Part of the default run folder's name; empty takes the first scenario's id."""


@dataclass(slots=True)
class _Cast:
    """Who plays and who judges, loaded."""

    choices: list[AgentChoice] = field(default_factory=list)
    agents: dict[str, Agent] = field(default_factory=dict)
    judges: list[Judge] = field(default_factory=list)


def run_order(order: RunOrder, console: Console | None = None) -> int:
    """Carry out an order; returns the exit status. Raises InputError before anything is spent."""
    console = console or Console()
    gates = parse_gates(order.gates)
    template = find_template(order.conditions.prompt)
    conditions = replace(order.conditions, prompt=template.recorded)
    cast = _cast(order)
    scenarios = {s.id: s for s in _load(order.scenarios)}
    out = order.out or _default_out(order.name or next(iter(scenarios)))
    if os.path.exists(out) and (not out.is_dir() or any(out.iterdir())):
        raise InputError(
            f"output folder {out} exists and is not empty",
            hint="give another --out, or move that folder away",
        )
    for scenario in scenarios.values():
        for warning in scenario.warnings:
            console.print(plain(f"{scenario.path.name}: {warning}", "yellow"), soft_wrap=True)
    scenes = _scenes(scenarios.values(), conditions, template, console)
    plan = make_plan(
        list(scenarios.values()),
        cast.choices,
        judges=[j.name for j in cast.judges],
        conditions=[conditions],
        repeats=order.repeat,
        concurrency=order.concurrency,
        share_host=order.share_host,
        retries=order.retries,
        durations={scenario: s.prepared.duration for (scenario, _), s in scenes.items()},
    )
    open_run(out, plan, secrets=_secrets(cast.agents.values()))
    _announce(plan, out, console)
    try:
        summary = asyncio.run(_carry_out(plan, scenes, scenarios, cast, out, console))
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None  # the second Ctrl-C
    print_summary(summary, out, console)
    write_summary(out, summary)
    if order.film:
        if not console.is_terminal:
            console.print("making films")
        with console.status("making films"):
            for problem in make_films(out, plan, scenarios):
                console.print(plain(problem), soft_wrap=True)
    results = check_gates(gates, summary, min_coverage=order.min_coverage)
    print_gates(results, console)
    return print_status(summary, results, console)


def find_template(reference: str) -> Template:
    """A template by its name or its file. Raises InputError."""
    if reference in TEMPLATES:
        return TEMPLATES[reference]
    path = Path(reference).expanduser()
    if not path.is_file():
        raise InputError(
            f"--prompt {reference!r}: no such template or file",
            hint=f"named ones: {', '.join(TEMPLATES)}",
        )
    try:
        return Template(name=path.name, text=path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--prompt {reference}: cannot be read as UTF-8 text: {error}") from None


def _cast(order: RunOrder) -> _Cast:
    cast = _Cast()
    shared = parse_options(order.options)
    for text in order.agents:
        reference, own = split_words(text, "--agent")
        options = {**shared, **own}
        agent = load_agent(reference, options)
        cast.choices.append(
            AgentChoice(
                label=text,
                reference=reference,
                options=options,
                computes_here=agent.traits.computes_here,
            )
        )
        cast.agents[text] = agent
    cast.judges = load_judges(order.judges)
    no_doubles(cast.judges)
    return cast


def _load(names: Sequence[str]) -> list[Scenario]:
    scenarios = [load_scenario(name) for name in names]
    ids = [s.id for s in scenarios]
    for scenario in scenarios:
        if ids.count(scenario.id) > 1:
            paths = ", ".join(str(s.path) for s in scenarios if s.id == scenario.id)
            raise InputError(
                f"scenario id {scenario.id!r} is used more than once: {paths}",
                hint="use --repeat to play a scenario more than once",
            )
    return scenarios


def _default_out(name: str) -> Path:
    stamp = utc_now()[:19].replace("-", "").replace(":", "").replace("T", "-")
    out = Path("runs") / f"{stamp}-{name}"
    n = 2
    while out.exists():
        out, n = Path("runs") / f"{stamp}-{name}-{n}", n + 1
    return out


def _scenes(
    scenarios: Iterable[Scenario], conditions: Conditions, template: Template, console: Console
) -> Scenes:
    """Prepare the media of each scenario as the conditions have it."""
    made: dict[tuple[str, Conditions], Scene] = {}
    cache = Cache()
    if not console.is_terminal:
        console.print("preparing the media (quick if they are in the cache)")
    with PrepareProgress(console) as progress:
        for scenario in scenarios:
            prepared = prepare(
                scenario,
                cache=cache,
                progress=progress.for_scenario(scenario.id),
                workers=CORES,
                encoding=Encoding(codec=conditions.video.value),
            )
            if conditions.no_video:
                prepared = prepared.without_pictures
            told = instructions(scenario, template)
            made[scenario.id, conditions] = Scene(prepared=prepared, instructions=told)
    return made


def _secrets(agents: Iterable[Agent]) -> list[str]:
    """What the agents name as secrets; one that breaks at it will say so when it is played to."""
    found: list[str] = []
    for agent in agents:
        with suppress(Exception):
            found.extend(agent.secrets())
    return found


def _announce(plan: Plan, out: Path, console: Console) -> None:
    minutes, seconds = divmod(round(plan.estimate_s), 60)
    count = len(plan.attempts)
    attempts = f"{count} attempt{'s' if count != 1 else ''}"
    line = f"{attempts}, about {minutes}:{seconds:02d} of wall-clock time -> {out}"
    console.print(plain(line), soft_wrap=True)


async def _carry_out(
    plan: Plan,
    scenes: Scenes,
    scenarios: Mapping[str, Scenario],
    cast: _Cast,
    out: Path,
    console: Console,
) -> Summary:
    stop = asyncio.Event()
    with RunProgress(plan, console) as progress, _Interrupts(stop, console):
        await run_plan(
            plan, scenes, cast.agents, out, play=play_attempt, observer=progress, stop=stop
        )
    judged = await judge_run(out, scenarios, cast.judges)
    tell_judged(judged, cast.judges, console)
    return summarise(out)


class _Interrupts:
    """The first Ctrl-C asks the run to end cleanly, the second ends it at once."""

    def __init__(self, stop: asyncio.Event, console: Console) -> None:
        self._stop = stop
        self._console = console
        self._task = asyncio.current_task()

    def __enter__(self) -> None:
        with suppress(NotImplementedError):  # Windows has no signal handlers in its event loop
            asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._interrupt)

    def __exit__(self, *_: object) -> None:
        with suppress(NotImplementedError):
            asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)

    def _interrupt(self) -> None:
        if self._stop.is_set():
            if self._task is not None:
                self._task.cancel()
            return
        self._console.print("ending cleanly; what was recorded is kept (Ctrl-C again: at once)")
        self._stop.set()
