"""What a run will do, fixed before it starts: scenarios x agents x conditions x repeats, as
`run.json`.

Coverage is counted against this plan, so that nothing which fails later drops out of a mean.
Counterparts: `simulator.run.pool` carries it out, `simulator.run.accounting` keeps what became of
each attempt, `simulator.report.summary` reads all of it back from the run folder.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from simulator import __version__
from simulator.clock import utc_now
from simulator.errors import InputError, RecordingError
from simulator.protocol.conditions import USUAL, Conditions, Decide, differences, marks
from simulator.protocol.conduct import BY_NAME, Conduct, Wants, stated
from simulator.recording.redact import Redactor
from simulator.run.before import of_version_1
from simulator.scenario.types import Pace, Scenario, Turn
from simulator.whole_file import put_file

RUN_VERSION = 2
RUN_FILE = "run.json"
RECORDINGS = "recordings"
LOGS = "logs"

SETUP_S = 1.0
"""Seconds from dialling to the first picture, for the estimate."""
REPLY_S = 3.0
"""How long a reply is taken to last, for the estimate."""
REST_S = 1.2
"""From the end of its sound until a reply counts as ended, for the estimate."""

_SECRET_NAME = re.compile(r"key|token|secret|passw|auth", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentChoice:
    """An agent as the user named it."""

    label: str
    """How tables name it; unique in a run."""
    reference: str
    """`name[:model][@url]`, a file, or an installed entry point."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of the constructor; secret ones are never written down."""
    computes_here: bool = False
    """It does real computing on this machine (`Traits.computes_here`)."""

    def shown_options(self) -> dict[str, str]:
        """The options without the values of those that look secret."""
        return {k: "***" if _SECRET_NAME.search(k) else v for k, v in self.options.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTurn:
    """One turn as the plan counts it."""

    id: str
    index: int
    expect: str
    """Name of what it expects (`simulator.scenario.expectations`)."""
    conduct: Conduct = BY_NAME
    """How it is treated, and whether it is scored."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "conduct", stated(self.conduct, self.expect))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedScenario:
    """A scenario as the plan counts it."""

    id: str
    path: str
    """As the file was named when the run was planned."""
    sha256: str
    task: str
    duration: float
    """Seconds of stream, without holds."""
    turns: tuple[PlannedTurn, ...]

    @property
    def scored_turns(self) -> tuple[PlannedTurn, ...]:
        return tuple(t for t in self.turns if t.conduct.scored)


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One playing of one scenario to one agent."""

    id: str
    """Names its folder in `recordings/`."""
    scenario: str
    """Scenario id."""
    agent: str
    """Label of the agent."""
    conditions: Conditions
    """What the run imposes on it."""
    repeat: int
    """From 1."""
    estimate_s: float
    """Wall-clock seconds that it will take, about."""

    def named(self, number: int) -> str:
        """What names a try of it: the first has the attempt's own name. No attempt's name ends as
        a later try's, since each ends with its repeat."""
        return self.id if number == 1 else f"{self.id}--try{number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The whole run."""

    version: int = RUN_VERSION
    omnistage: str = __version__
    created: str
    """UTC, ISO 8601."""
    scenarios: tuple[PlannedScenario, ...]
    agents: tuple[AgentChoice, ...]
    judges: tuple[str, ...]
    """Their names, in order: the first that serves a kind of turn gives its score."""
    repeats: int
    concurrency: int
    share_host: bool = False
    """Agents that compute on this machine run beside others; their latencies are marked."""
    retries: int = 0
    """How often an attempt that failed is played again. No condition: each try is played like any
    other attempt, and no mean holds more than one of them."""
    attempts: tuple[Attempt, ...]

    def scenario(self, scenario_id: str) -> PlannedScenario:
        return next(s for s in self.scenarios if s.id == scenario_id)

    def agent(self, label: str) -> AgentChoice:
        return next(a for a in self.agents if a.label == label)

    def alone(self, attempt: Attempt) -> bool:
        """Whether nothing else may run beside this attempt."""
        return self.agent(attempt.agent).computes_here and not self.share_host

    @property
    def estimate_s(self) -> float:
        """Wall-clock seconds of the whole run, about: attempts side by side where they may be."""
        alone = sum(a.estimate_s for a in self.attempts if self.alone(a))
        shared = [a.estimate_s for a in self.attempts if not self.alone(a)]
        return alone + _makespan(shared, self.concurrency)


def log_name(label: str) -> str:
    """The file in `LOGS` that keeps what an agent's process prints."""
    name = "".join(c if c.isalnum() or c in "._-" else "-" for c in label)
    # A name that begins with a dot would be hidden.
    return f"{name.lstrip('.-') or 'agent'}.log"


def estimate(scenario: Scenario, *, duration: float | None = None) -> float:
    """Wall-clock seconds that playing a scenario takes, about: its stream and the likely holds.

    `duration`: seconds of prepared stream, if known; else the sum of the turns.
    """
    stream = duration if duration is not None else sum(t.duration for t in scenario.turns)
    waits = scenario.pace is Pace.WAIT
    holds = sum(_hold(t, scenario) for t in (scenario.turns if waits else scenario.turns[-1:]))
    return SETUP_S + stream + holds


def _hold(turn: Turn, scenario: Scenario) -> float:
    if turn.expect.wants is Wants.ANSWER:
        left = 0.0 if turn.event is None else max(0.0, turn.end - turn.event)
        return max(0.0, REPLY_S + REST_S - left)
    return scenario.limits.quiet_tail if turn.instructions else 0.0


def _makespan(jobs: Sequence[float], workers: int) -> float:
    """How long `workers` take for `jobs` in order, each taking the next when free."""
    free = [0.0] * max(1, workers)
    for job in jobs:
        first = free.index(min(free))
        free[first] += job
    return max(free)


def make_plan(
    scenarios: Sequence[Scenario],
    agents: Sequence[AgentChoice],
    *,
    judges: Sequence[str],
    conditions: Sequence[Conditions] = (USUAL,),
    repeats: int = 1,
    concurrency: int = 1,
    share_host: bool = False,
    retries: int = 0,
    durations: Mapping[str, float] | None = None,
) -> Plan:
    """The plan of a run. Raises InputError for doubles, for counts that make no sense, and for
    scenarios in which nobody can be asked at the end of a turn.

    Attempts are ordered by repeat, then scenario, agent and conditions, so that a run cut short has
    compared all of them on what it did play.
    """
    if not scenarios or not agents or not conditions:
        raise InputError("nothing to run", hint="name at least one scenario and one --agent")
    if repeats < 1 or concurrency < 1:
        raise InputError("--repeat and --concurrency must be at least 1")
    if retries < 0:
        raise InputError("--retries cannot be below 0")
    _no_doubles("scenario", [s.id for s in scenarios])
    _no_doubles("agent", [a.label for a in agents])
    flowing = [s.id for s in scenarios if s.pace is Pace.CONTINUOUS]
    if flowing and any(c.decide is Decide.TURN_END for c in conditions):
        raise InputError(
            f"scenario {flowing[0]!r} plays on with pace: continuous, so its turns have no end at "
            "which the agent could be asked",
            hint="--decide turn-end goes with pace: wait",
        )
    known = durations or {}
    slugs = _slugs([a.label for a in agents])
    marked = {c: marks(c, differences(conditions)) for c in conditions}
    under = _slugs([m for m in marked.values() if m])
    attempts = tuple(
        Attempt(
            id="--".join(
                filter(None, (_slug(s.id), slugs[a.label], under.get(marked[c]), str(repeat)))
            ),
            scenario=s.id,
            agent=a.label,
            conditions=c,
            repeat=repeat,
            estimate_s=round(estimate(s, duration=known.get(s.id)), 1),
        )
        for repeat in range(1, repeats + 1)
        for s in scenarios
        for a in agents
        for c in marked
    )
    return Plan(
        created=utc_now(),
        scenarios=tuple(_planned(s, known.get(s.id)) for s in scenarios),
        agents=tuple(agents),
        judges=tuple(judges),
        repeats=repeats,
        concurrency=concurrency,
        share_host=share_host,
        retries=retries,
        attempts=attempts,
    )


def _planned(scenario: Scenario, duration: float | None) -> PlannedScenario:
    return PlannedScenario(
        id=scenario.id,
        path=str(scenario.path),
        sha256=scenario.sha256,
        task=scenario.task,
        duration=duration if duration is not None else sum(t.duration for t in scenario.turns),
        turns=tuple(_planned_turn(t) for t in scenario.turns),
    )


def _planned_turn(turn: Turn) -> PlannedTurn:
    expect = turn.expect
    return PlannedTurn(id=turn.id, index=turn.index, expect=expect.kind, conduct=expect.conduct)


def _no_doubles(what: str, names: Sequence[str]) -> None:
    double = next((n for n in names if names.count(n) > 1), None)
    if double is not None:
        raise InputError(
            f"{what} {double!r} is named twice",
            hint="use --repeat to play it more than once"
            if what == "scenario"
            else "give each agent its own options, or use --repeat",
        )


def _agent_slug(label: str) -> str:
    """Of a file by its path its stem (`polite` of `/home/me/agents/polite.py -o x=1`)."""
    return _slug(re.sub(r"(?:\S*/)?([^/\s]+)\.py\b", r"\1", label))


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:60] or "x"


def _slugs(labels: Sequence[str]) -> dict[str, str]:
    """A folder-safe name for each label, different for different labels."""
    out: dict[str, str] = {}
    for label in labels:
        slug, n = _agent_slug(label), 2
        while slug in out.values():
            slug, n = f"{_agent_slug(label)}-{n}", n + 1
        out[label] = slug
    return out


_ADAPTER: TypeAdapter[Plan] = TypeAdapter(Plan)


def open_run(out: Path, plan: Plan, *, secrets: Iterable[str] = ()) -> None:
    """Create the run folder with its `run.json`, in which no option is one of the `secrets`. Raises
    InputError if `out` holds anything."""
    if os.path.exists(out) and (not out.is_dir() or any(out.iterdir())):
        raise InputError(
            f"output folder {out} exists and is not empty",
            hint="give another --out, or move that folder away",
        )
    try:
        (out / RECORDINGS).mkdir(parents=True, exist_ok=True)
        redactor = Redactor(secrets)
        body: dict[str, Any] = json.loads(_ADAPTER.dump_json(plan))
        for agent, choice in zip(body["agents"], plan.agents, strict=True):
            agent["options"] = redactor.value(choice.shown_options())
        body["estimate_s"] = round(plan.estimate_s, 1)
        put_file(out / RUN_FILE, json.dumps(body, indent=1) + "\n")
    except OSError as error:
        # Nothing half-made stays behind.
        with suppress(OSError):
            (out / RECORDINGS).rmdir()
        raise InputError(f"cannot write to {out}: {error.strerror}") from None


def read_plan(run: Path) -> Plan:
    """The plan of a run folder. Raises RecordingError if it is not one."""
    path = run / RUN_FILE
    if not os.path.isfile(path):
        raise RecordingError(f"{run} is not a run folder", hint=f"it has no {RUN_FILE}")
    try:
        body = json.loads(path.read_bytes())
        version = body.get("version") if isinstance(body, dict) else None
        if version == 1:
            body = of_version_1(body, run / RECORDINGS)
        elif version != RUN_VERSION:
            raise RecordingError(f"{path}: version {version}; this reads 1 and {RUN_VERSION}")
        plan = _ADAPTER.validate_python(body)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(p) for p in first["loc"])
        raise RecordingError(f"{path}: {where}: {first['msg']}") from None
    except ValueError as error:
        raise RecordingError(f"{path}: is not JSON: {error}") from None
    scenarios, labels = {s.id for s in plan.scenarios}, {a.label for a in plan.agents}
    for attempt in plan.attempts:
        if attempt.scenario not in scenarios or attempt.agent not in labels:
            raise RecordingError(f"{path}: the scenario or agent of {attempt.id} is not in it")
    return plan
