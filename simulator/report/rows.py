"""A run folder as rows: one an attempt, one a planned turn, with nothing left out.

Everything is read from the folder: plan, ledger, recordings and verdicts. Counterpart:
`simulator.report.part` adds the rows up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from simulator.errors import InputError, OmnistageError, RecordingError
from simulator.judging.judge import Verdict, VerdictState
from simulator.judging.verdicts import VERDICTS, read_verdicts
from simulator.measuring.metrics.turns import SessionMetrics, TurnMetrics, session_metrics
from simulator.measuring.trace import TRACE_VERSION, Trace
from simulator.protocol.conditions import Conditions, differences, told
from simulator.protocol.events import Outcome
from simulator.recording.manifest import MANIFEST
from simulator.run.accounting import AttemptResult, read_attempts
from simulator.run.plan import RECORDINGS, Attempt, Plan, PlannedScenario, PlannedTurn, read_plan
from simulator.run.sides import side_names

MISSING = "missing"
"""State of a planned turn on which there is no verdict at all."""
RIGHT = 1.0 - 1e-9
"""An answer is right if it scores at least this: all of its points, in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRow:
    """One planned turn of one attempt that is to be scored."""

    turn: PlannedTurn
    state: str
    """scored | judge_failed | unmeasurable | unproven | agent_error | missing."""
    score: float | None
    """0 to 1, if it is scored."""
    why: str
    verdict: Verdict | None
    """The verdict that counts: of the first judge named that serves the turn."""
    metrics: TurnMetrics | None
    """What was measured of it; None without a recording, or if it cannot be trusted."""

    @property
    def charged(self) -> float | None:
        """The score, 0 for what the provider failed at; None if it has neither."""
        return 0.0 if self.state == VerdictState.AGENT_ERROR else self.score


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptRow:
    """One attempt."""

    result: AttemptResult
    scenario: PlannedScenario
    turns: tuple[TurnRow, ...]
    metrics: SessionMetrics | None
    trace: Trace | None
    problem: str = ""
    """Why its recording or its verdicts could not be read."""
    others: tuple[AttemptRow, ...] = ()
    """Its other tries, which are shown and in no mean."""

    @property
    def conditions(self) -> Conditions:
        """What the run imposed on it."""
        return self.result.attempt.conditions

    @property
    def trusted(self) -> bool:
        """Whether its times count: our instrument did not fail in it."""
        return self.result.outcome is not Outcome.INSTRUMENT_INVALID


def read_rows(run: Path, judge: str | None = None) -> tuple[Plan, tuple[AttemptRow, ...]]:
    """The plan and a row for each attempt of it. `judge`: whose verdicts count first.

    Raises RecordingError if it is no run folder, InputError if nothing was judged by that judge.
    """
    plan = read_plan(run)
    judges = [_judge_name(r) for r in plan.judges]
    if judge is not None:
        there = judges_of(run)
        if judge not in there:
            raise InputError(
                f"{run} has no verdicts of judge {judge!r}",
                hint=f"it has those of: {', '.join(there) or 'none'}",
            )
        judges.insert(0, judge)
    rows = tuple(
        _attempt(r, plan.scenario(r.attempt.scenario), judges) for r in read_attempts(run, plan)
    )
    return plan, rows


def judges_of(run: Path) -> list[str]:
    """The judges that have verdicts in a run, by the names of their files."""
    return sorted({p.stem for p in (run / RECORDINGS).glob(f"*/{VERDICTS}/*.json")})


def _judge_name(reference: str) -> str:
    """What a judge's reference begins with; verdict files go by the judge's own name."""
    return reference.partition(":")[0].partition("@")[0]


def _attempt(result: AttemptResult, scenario: PlannedScenario, judges: list[str]) -> AttemptRow:
    trace, verdicts, problem = None, dict[str, list[Verdict]](), ""
    if result.folder is not None:
        try:
            trace = planned_trace(result.folder, result.attempt)
            verdicts = _verdicts(result.folder, judges)
        except (OmnistageError, OSError) as error:
            problem = str(error)
    elif result.outcome is Outcome.COMPLETED:
        problem = f"its recording is not in {RECORDINGS}/ any more"
    if trace is not None and (result.outcome is Outcome.COMPLETED or result.measured):
        # What the recording shows counts, by the rules of today, whatever the session believed of
        # itself.
        known = tuple(Outcome)
        found = Outcome(trace.outcome) if trace.outcome in known else Outcome.INSTRUMENT_INVALID
        result = replace(result, outcome=found, reason=trace.reason or result.reason)
    metrics = session_metrics(trace) if trace is not None else None
    measured = {t.turn: t for t in metrics.turns} if metrics is not None else {}
    return AttemptRow(
        result=result,
        scenario=scenario,
        turns=tuple(
            _turn(result, t, verdicts.get(t.id, []), measured.get(t.id), problem)
            for t in scenario.scored_turns
        ),
        metrics=metrics,
        trace=trace,
        problem=problem,
        others=tuple(_attempt(other, scenario, judges) for other in result.others),
    )


def planned_trace(folder: Path, attempt: Attempt) -> Trace:
    """The trace of an attempt. Raises OmnistageError as `find_trace`, and for what was played under
    other conditions than the run's plan says.

    Nothing is said by a trace of before, which had no codec, nor where nothing was played.
    """
    trace = find_trace(folder)
    apart = differences([trace.conditions, attempt.conditions])
    if apart and trace.version == TRACE_VERSION and trace.play_at is not None:
        raise RecordingError(
            f"{attempt.id}: what was recorded and what was planned differ: {told(apart)}",
            hint="it is the recording of another run",
        )
    return trace


def _turn(
    result: AttemptResult,
    turn: PlannedTurn,
    verdicts: list[Verdict],
    metrics: TurnMetrics | None,
    problem: str,
) -> TurnRow:
    verdict = verdicts[0] if verdicts else None
    state, score, why = MISSING, None, problem or result.reason or "no verdict"
    if result.outcome is Outcome.INSTRUMENT_INVALID:
        # Judged or not, it cannot be trusted: counted as not scored.
        state, why = VerdictState.UNMEASURABLE.value, f"instrument invalid: {result.reason}"
    elif verdict is not None:
        state, score, why = verdict.state.value, verdict.score, verdict.why
    elif result.outcome is Outcome.AGENT_FAILED and metrics is None:
        # It failed before anything could be recorded or judged: the answers were owed.
        state, score = VerdictState.SCORED.value, 0.0
        why = f"not reached: agent failed ({result.reason})"
    return TurnRow(turn=turn, state=state, score=score, why=why, verdict=verdict, metrics=metrics)


def _verdicts(folder: Path, judges: list[str]) -> dict[str, list[Verdict]]:
    """The verdicts on each turn, of the judges in the order in which the run named them."""
    files = read_verdicts(folder)
    order = sorted(files, key=lambda name: judges.index(name) if name in judges else len(judges))
    out: dict[str, list[Verdict]] = {}
    for name in order:
        for judged in files[name].turns:
            out.setdefault(judged.verdict.turn, []).append(judged.verdict)
    return out


def find_trace(folder: Path) -> Trace:
    """The trace of a recording, measured if that has not been done. Raises OmnistageError."""
    from simulator.measuring.stored import load_trace, stored_trace
    from simulator.scenario.load import load_recorded_scenario

    try:
        if (folder / MANIFEST).is_file():
            return load_trace(folder, load_recorded_scenario(folder))
        raise RecordingError(f"{folder}: not a recording", hint=f"it has no {MANIFEST}")
    except (InputError, RecordingError):
        # The scenario's copy cannot be loaded here (its clips are elsewhere), or nothing was
        # played: what was measured where it was still holds, as long as it is of what lies there.
        trace = stored_trace(folder)
        if trace is None:
            raise
        return trace


def by_side(rows: Sequence[AttemptRow]) -> Mapping[str, tuple[AttemptRow, ...]]:
    """The attempts of each side (an agent under one set of conditions), in the plan's order."""
    names = side_names(r.result.attempt for r in rows)
    out: dict[str, list[AttemptRow]] = {}
    for row in rows:
        out.setdefault(names[row.result.attempt.id], []).append(row)
    return {name: tuple(own) for name, own in out.items()}
