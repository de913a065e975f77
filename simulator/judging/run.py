"""Puts recorded turns before judges and keeps their verdicts; nothing is played.

What is settled without a judge is settled here, alike for all of them: turns never reached, and
turns that were cut off. A judge that fails leaves `judge_failed`, never a zero. Counterparts:
`simulator.judging.judge` is the contract, `simulator.judging.verdicts` the files.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import ValidationError

from simulator.errors import InputError, JudgeError, OmnistageError, RecordingError
from simulator.judging.judge import Judge, Question, Verdict, VerdictState
from simulator.judging.verdicts import (
    InputHash,
    JudgedTurn,
    JudgeFile,
    read_judge_file,
    verdict_path,
    write_judge_file,
)
from simulator.recording.manifest import MANIFEST
from simulator.recording.trace import Trace, trace_from_json
from simulator.run.accounting import read_attempts
from simulator.run.plan import read_plan
from simulator.scenario.types import Scenario, Turn
from simulator.session.events import Outcome

DEFAULT_JUDGES = ("keypoints", "quiet")
AT_ONCE = 32
"""Turns that are before judges at one time."""

ReadTrace = Callable[[Path, Scenario], Trace]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedRun:
    """What judging a run came to."""

    verdicts: Mapping[str, tuple[Verdict, ...]]
    """By attempt id."""
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
) -> list[Verdict]:
    """The verdicts of `judges` on a recording, stored in its folder.

    What is there already and unchanged is kept, unless `force`, or `retry_failed` for failed ones.
    Raises InputError for two judges of one name, RecordingError for a recording that is none.
    """
    _no_doubles(judges)
    trace = (read or _load_trace)(folder, scenario)
    hashes = InputHash(trace, scenario)
    out: list[Verdict] = []
    for judge in judges:
        turns = [t for t in scenario.turns if t.expect.kind in judge.expects]
        before = read_judge_file(verdict_path(folder, judge.name))
        known = before.known() if before is not None and not force else {}
        limit = asyncio.Semaphore(AT_ONCE)

        async def one(
            turn: Turn,
            judge: Judge = judge,
            known: dict[str, JudgedTurn] = known,
            limit: asyncio.Semaphore = limit,
        ) -> JudgedTurn:
            inputs = hashes.of(turn, judge)
            old = known.get(turn.id)
            if old is not None and old.inputs == inputs and not _again(old.verdict, retry_failed):
                return old
            async with limit:
                verdict = await judge_turn(judge, scenario, turn, trace, folder)
            return JudgedTurn(inputs=inputs, verdict=verdict)

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(t)) for t in turns]
        judged = tuple(t.result() for t in tasks)
        write_judge_file(
            folder,
            JudgeFile(
                judge=judge.name,
                judge_version=judge.version,
                note="" if turns else serves_nothing(judge, scenario),
                turns=judged,
            ),
        )
        out += [j.verdict for j in judged]
    return out


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
    question = Question(
        scenario=scenario,
        turn=turn,
        span=trace.turn(turn.id),
        responses=trace.responses_of(turn.id),
        trace=trace,
        recording=folder,
    )
    try:
        verdict = await judge.judge(question)
    except JudgeError as error:
        return _verdict(judge, turn, VerdictState.JUDGE_FAILED, str(error))
    except Exception as error:  # noqa: BLE001 - a judge is other people's code; its bug is no score
        why = f"the judge raised {type(error).__name__}: {error}"
        return _verdict(judge, turn, VerdictState.JUDGE_FAILED, why)
    broken = _breach(verdict, turn)
    return _verdict(judge, turn, VerdictState.JUDGE_FAILED, broken) if broken else verdict


def settle(judge: Judge, turn: Turn, trace: Trace) -> Verdict | None:
    """The verdict on a turn that was not played to its end; None if a judge is to say.

    After agent_failed it is zero: the agent owed it. After anything else it is missing.
    """
    span = next((t for t in trace.turns if t.id == turn.id), None)
    answered = any(a.by != "token" for _, a in trace.responses_of(turn.id))
    if trace.outcome == Outcome.COMPLETED:
        if span is None or not span.reached:
            return _verdict(judge, turn, VerdictState.UNMEASURABLE, "not in the recording")
        return None
    if span is None or not span.reached:
        what = "not reached"
    elif answered:
        return None
    elif not span.complete:
        what = "cut off"
    elif span.expect == "answer" and (span.due is None or trace.end < span.due + span.within):
        what = "the session ended before its answer was due to have begun"
    else:
        return None
    why = f"{what}: {trace.outcome.replace('_', ' ')}"
    if trace.reason:
        why += f" ({trace.reason})"
    if trace.outcome == Outcome.AGENT_FAILED:
        zero = _verdict(judge, turn, VerdictState.SCORED, why)
        return replace(zero, score=0.0, content=0.0 if turn.expect.kind == "answer" else None)
    return _verdict(judge, turn, VerdictState.UNMEASURABLE, why)


def _verdict(judge: Judge, turn: Turn, state: VerdictState, why: str) -> Verdict:
    return Verdict(
        turn=turn.id,
        judge=judge.name,
        judge_version=judge.version,
        state=state,
        why=why,
        details={"by": "runner"},
    )


def _breach(verdict: Verdict, turn: Turn) -> str:
    """How a verdict breaks the contract; empty if it does not."""
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
    progress: Callable[[str], None] | None = None,
) -> JudgedRun:
    """Judge every recording of a run; one that cannot be read stops none of the others.

    `scenarios` by id. `progress` is called with each attempt's id when it is judged.
    """
    plan = read_plan(run)
    verdicts: dict[str, tuple[Verdict, ...]] = {}
    problems: dict[str, str] = {}
    notes = [serves_nothing(j, s) for s in scenarios.values() for j in judges if _idle(j, s)]
    for result in read_attempts(run, plan):
        attempt = result.attempt
        scenario = scenarios.get(attempt.scenario)
        if result.folder is None:
            continue  # nothing was recorded: the report counts it from the plan
        if scenario is None:
            problems[attempt.id] = f"scenario {attempt.scenario} was not given"
            continue
        try:
            found = await judge_recording(
                result.folder, scenario, judges, force=force, retry_failed=retry_failed, read=read
            )
        except InputError:
            raise
        except OmnistageError as error:
            problems[attempt.id] = str(error)
        else:
            verdicts[attempt.id] = tuple(found)
        if progress is not None:
            progress(attempt.id)
    return JudgedRun(verdicts=verdicts, problems=problems, notes=tuple(notes))


def _idle(judge: Judge, scenario: Scenario) -> bool:
    return not any(t.expect.kind in judge.expects for t in scenario.turns)


def _no_doubles(judges: Sequence[Judge]) -> None:
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


def _load_trace(folder: Path, scenario: Scenario) -> Trace:
    from simulator.recording.measure import TRACE, load_trace

    if (folder / TRACE).is_file() and not (folder / MANIFEST).is_file():
        # Nothing was played: somebody else's answers, of which there is no more than a trace.
        return read_trace(folder / TRACE)
    return load_trace(folder, scenario)
