"""Puts recorded turns before judges and keeps their verdicts; nothing is played.

A judge that fails leaves `judge_failed`, never a zero. Counterparts: `simulator.judging.judge` is
the contract, `simulator.judging.settled` asks no judge, `simulator.judging.verdicts` are the files.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from simulator.errors import InputError, JudgeError, OmnistageError, RecordingError
from simulator.judging.judge import Frugal, Judge, Question, Verdict, VerdictState
from simulator.judging.settled import settle, without_score
from simulator.judging.spending import Estimate
from simulator.judging.verdicts import (
    InputHash,
    JudgedTurn,
    JudgeFile,
    read_judge_file,
    verdict_path,
    write_judge_file,
)
from simulator.measuring.trace import Trace, trace_from_json
from simulator.recording.manifest import MANIFEST
from simulator.run.accounting import AttemptResult, read_attempts
from simulator.run.plan import read_plan
from simulator.scenario.types import Scenario, Turn

AT_ONCE = 32
"""Turns that are before a judge at one time, unless its own `at_once` says otherwise, and
recordings of a run that are open at one time."""

ReadTrace = Callable[[Path, Scenario], Trace]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """What judging a run came to."""

    verdicts: Mapping[str, tuple[Verdict, ...]]
    """By the name of the attempt, or of a later try of it."""
    problems: Mapping[str, str]
    """Attempts whose recording could not be judged, and why."""
    notes: tuple[str, ...] = ()


async def judge_recording(
    folder: Path,
    scenario: Scenario,
    judges: Sequence[Judge],
    *,
    force: bool = False,
    retry_failed: bool = False,
    read: ReadTrace | None = None,
    each: Callable[[Verdict], None] | None = None,
) -> list[Verdict]:
    """The verdicts of `judges` on a recording, stored in its folder.

    What is there already and unchanged is kept, unless `force`, or `retry_failed` for failed ones.
    `each` is called with every verdict. Raises InputError for two judges of one name,
    RecordingError for a recording that is none.
    """
    no_doubles(judges)
    async with _entered(judges):
        docket = Docket(folder, scenario, read=read, force=force, retry_failed=retry_failed)
        return await _judge(docket, judges, _limits(judges), each)


class Docket:
    """One recording before judges: which turns they serve, and what is known already."""

    def __init__(
        self,
        folder: Path,
        scenario: Scenario,
        *,
        read: ReadTrace | None = None,
        force: bool = False,
        retry_failed: bool = False,
    ) -> None:
        """Raises RecordingError for a recording that is none."""
        self.folder = folder
        self.scenario = scenario
        self.trace = (read or recorded_trace)(folder, scenario)
        self._hashes = InputHash(self.trace, scenario)
        self._force = force
        self._retry_failed = retry_failed

    def turns(self, judge: Judge) -> list[tuple[Turn, JudgedTurn | str]]:
        """The turns that a judge serves, each with its verdict, or the hash for one to be made."""
        before = read_judge_file(verdict_path(self.folder, judge.name))
        known = before.known() if before is not None and not self._force else {}
        out: list[tuple[Turn, JudgedTurn | str]] = []
        for turn in self.scenario.turns:
            if turn.expect.kind not in judge.expects:
                continue
            inputs = self._hashes.of(turn, judge)
            old = known.get(turn.id)
            stays = old is not None and old.inputs == inputs
            settled = settle(judge, turn, self.trace)
            if old is not None and settled is not None:
                # What is settled without a judge costs nothing, and may be seen otherwise by now.
                stays = stays and old.verdict.state is settled.state
            if old is not None and stays and not _again(old.verdict, self._retry_failed):
                out.append((turn, old))
            else:
                out.append((turn, inputs))
        return out

    def estimate(self, judge: Judge) -> Estimate:
        """What the verdicts to be made would take of a judge that costs something."""
        total = Estimate()
        if not isinstance(judge, Frugal):
            return total
        for turn, found in self.turns(judge):
            if isinstance(found, str) and settle(judge, turn, self.trace) is None:
                total += judge.estimate(question_on(self.scenario, turn, self.trace, self.folder))
        return total


async def _judge(
    docket: Docket,
    judges: Sequence[Judge],
    limits: Mapping[str, asyncio.Semaphore],
    each: Callable[[Verdict], None] | None,
) -> list[Verdict]:
    async def one(judge: Judge, turn: Turn, found: JudgedTurn | str) -> JudgedTurn:
        if isinstance(found, str):
            async with limits[judge.name]:
                verdict = await judge_turn(
                    judge, docket.scenario, turn, docket.trace, docket.folder
                )
            found = JudgedTurn(inputs=found, verdict=verdict)
        if each is not None:
            each(found.verdict)
        return found

    served = {j.name: docket.turns(j) for j in judges}
    async with asyncio.TaskGroup() as group:
        tasks = {
            j.name: [group.create_task(one(j, t, f)) for t, f in served[j.name]] for j in judges
        }
    out: list[Verdict] = []
    for judge in judges:
        judged = tuple(t.result() for t in tasks[judge.name])
        write_judge_file(
            docket.folder,
            JudgeFile(
                judge=judge.name,
                judge_version=judge.version,
                note="" if judged else serves_nothing(judge, docket.scenario),
                turns=judged,
            ),
        )
        out += [j.verdict for j in judged]
    return out


@asynccontextmanager
async def _entered(judges: Sequence[Judge]) -> AsyncIterator[None]:
    """Judges that keep something open have it open meanwhile."""
    async with AsyncExitStack() as stack:
        for judge in judges:
            if isinstance(judge, AbstractAsyncContextManager):
                await stack.enter_async_context(judge)
        yield


def _limits(judges: Sequence[Judge]) -> dict[str, asyncio.Semaphore]:
    return {j.name: asyncio.Semaphore(getattr(j, "at_once", AT_ONCE)) for j in judges}


def _again(verdict: Verdict, retry_failed: bool) -> bool:
    return retry_failed and verdict.state is VerdictState.JUDGE_FAILED


def serves_nothing(judge: Judge, scenario: Scenario) -> str:
    kinds = ", ".join(sorted({t.expect.kind for t in scenario.turns}))
    serves = ", ".join(sorted(judge.expects))
    return f"judge {judge.name} serves no turn of {scenario.id}: it judges {serves}; here: {kinds}"


async def judge_turn(
    judge: Judge, scenario: Scenario, turn: Turn, trace: Trace, folder: Path
) -> Verdict:
    """One verdict. It never raises: what goes wrong in a judge is `judge_failed`."""
    settled = settle(judge, turn, trace)
    if settled is not None:
        return settled
    try:
        verdict = await judge.judge(question_on(scenario, turn, trace, folder))
    except JudgeError as error:
        return without_score(judge, turn, VerdictState.JUDGE_FAILED, str(error))
    except Exception as error:  # noqa: BLE001 - a judge is other people's code; its bug is no score
        why = f"the judge raised {type(error).__name__}: {error}"
        return without_score(judge, turn, VerdictState.JUDGE_FAILED, why)
    broken = _breach(verdict, turn)
    return without_score(judge, turn, VerdictState.JUDGE_FAILED, broken) if broken else verdict


def question_on(scenario: Scenario, turn: Turn, trace: Trace, folder: Path) -> Question:
    """A turn that was played, as it is put before judges."""
    return Question(
        scenario=scenario,
        turn=turn,
        span=trace.turn(turn.id),
        responses=trace.responses_of(turn.id),
        trace=trace,
        recording=folder,
    )


def _breach(verdict: object, turn: Turn) -> str:
    """How a verdict breaks the contract; empty if it does not."""
    if not isinstance(verdict, Verdict):
        return f"the judge gave {type(verdict).__name__} instead of a Verdict"
    if verdict.turn != turn.id:
        return f"the judge gave a verdict on {verdict.turn!r} when asked for {turn.id!r}"
    scored = verdict.state is VerdictState.SCORED
    if scored != (verdict.score is not None):
        return f"the judge gave state {verdict.state} with score {verdict.score}"
    for name, value in (("score", verdict.score), ("content", verdict.content)):
        if value is not None and not (math.isfinite(value) and 0.0 <= value <= 1.0):
            return f"the judge gave {name} {value}, which is not from 0 to 1"
    return ""


async def judge_run(
    run: Path,
    scenarios: Mapping[str, Scenario],
    judges: Sequence[Judge],
    *,
    force: bool = False,
    retry_failed: bool = False,
    read: ReadTrace | None = None,
    each: Callable[[Verdict], None] | None = None,
) -> JudgedRun:
    """Judge every recording of a run; one that cannot be read stops none of the others.

    `scenarios` by id. `each` is called with every verdict, in whatever order they come.
    """
    no_doubles(judges)
    plan = read_plan(run)
    verdicts: dict[str, tuple[Verdict, ...]] = {}
    problems: dict[str, str] = {}
    notes = [serves_nothing(j, s) for s in scenarios.values() for j in judges if _idle(j, s)]
    limits = _limits(judges)
    open_at_once = asyncio.Semaphore(AT_ONCE)

    async def one(result: AttemptResult, folder: Path) -> None:
        scenario = scenarios.get(result.attempt.scenario)
        if scenario is None:
            problems[result.name] = f"scenario {result.attempt.scenario} was not given"
            return
        try:
            async with open_at_once:
                docket = Docket(folder, scenario, read=read, force=force, retry_failed=retry_failed)
                verdicts[result.name] = tuple(await _judge(docket, judges, limits, each))
        except (OmnistageError, OSError) as error:
            problems[result.name] = str(error)

    tries = [t for result in read_attempts(run, plan) for t in result.tries]
    async with _entered(judges), asyncio.TaskGroup() as group:
        for played in tries:
            if played.folder is not None:  # else the report counts it from the plan
                group.create_task(one(played, played.folder))
    order = [t.name for t in tries]
    return JudgedRun(
        verdicts={a: verdicts[a] for a in order if a in verdicts},
        problems={a: problems[a] for a in order if a in problems},
        notes=tuple(notes),
    )


def _idle(judge: Judge, scenario: Scenario) -> bool:
    return not any(t.expect.kind in judge.expects for t in scenario.turns)


def no_doubles(judges: Sequence[Judge]) -> None:
    names = [j.name for j in judges]
    double = next((n for n in names if names.count(n) > 1), None)
    if double is not None:
        raise InputError(f"judge {double!r} is named twice")


def read_trace(path: Path) -> Trace:
    """A trace as stored. Raises RecordingError if it is none."""
    try:
        return trace_from_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise RecordingError(f"{path}: not a trace of this version: {error}") from None


def recorded_trace(folder: Path, scenario: Scenario) -> Trace:
    from simulator.measuring.stored import TRACE, load_trace

    if (folder / TRACE).is_file() and not (folder / MANIFEST).is_file():
        # Nothing was played: somebody else's answers, of which there is no more than a trace.
        return read_trace(folder / TRACE)
    return load_trace(folder, scenario)
