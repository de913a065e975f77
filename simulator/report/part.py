"""The numbers of a set of attempts: a whole run's, or one side's of it.

Counterparts: `simulator.report.rows` has the attempts, `simulator.report.statistics` does the sums,
`simulator.report.summary` puts the parts of a run together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from simulator.judging.judge import VerdictState
from simulator.measuring.trace import CodecDelay
from simulator.protocol.conditions import Conditions
from simulator.protocol.events import Outcome
from simulator.report.aggregate import TaskUnit, aggregate
from simulator.report.paths import Mode, PathSummary, along, path_summary
from simulator.report.repeats import PassRate, Tries, pass_rates
from simulator.report.rows import MISSING, RIGHT, AttemptRow, TurnRow
from simulator.report.statistics import Score, percentile, withheld
from simulator.run.accounting import count_outcomes

T = TypeVar("T")

UNREPORTED = 20.0
"""Seconds without a report at a session's end from which the other side has stopped to report:
twice as long as any leaves between two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnCounts:
    """What became of the planned turns; planned is the sum of the others."""

    planned: int
    scored: int
    judge_failed: int
    unmeasurable: int
    unproven: int
    agent_error: int
    """The provider said that it could not answer."""
    missing: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerCounts:
    """The turns that want an answer."""

    expected: int
    right: int
    """All points, in time."""
    partial: int
    """Some points, in time."""
    missed: int
    """Fell due and never came."""
    late: int
    premature: int
    overlap_s: float
    """Seconds in which the agent spoke over somebody's speech."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencySummary:
    """Response latency (onset - due), seconds, over the valid ones."""

    n: int
    p50: float | None
    p95: float | None
    wanted: int = 0
    """Turns that want one: those without it were missed, not reached or could not be measured."""
    written: int = 0
    """Those of answers without a voice, to their first text."""
    shared_host: bool = False
    """Some were measured while the agent computed on this machine beside others."""
    packet_s: float = CodecDelay().packet_s
    """What packetisation adds to each: stated, not subtracted."""
    codec_s: float = CodecDelay().codec_s
    """What the decoding of the agent's sound adds to each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuietSummary:
    """The turns that want silence."""

    expected: int
    kept: int
    unproven: int
    """Silent, but so in the whole session: no proof that it could have spoken."""
    false_alarms: int
    """Responses that nothing called for."""
    kept_by: Mapping[str, int] = field(default_factory=dict)
    """How it was kept: silence, token, spoken_token, listened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PacingSummary:
    """Our own send-time errors, milliseconds: the worst session's."""

    p99: float | None
    max: float | None
    unsent: int = 0
    """Pictures and pieces of sound that were due and did not leave, of all sessions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The numbers of a set of attempts: the whole run, or one side's.

    Where the attempts are under unlike conditions and were not to be mixed there are counts, and no
    mean, interval, bound or percentile.
    """

    agent: str | None
    """Whose attempts they are; None if they are of several."""
    conditions: Conditions | None
    """Under which they were all played; None if they are unlike."""
    planned: int
    """Attempts."""
    outcomes: Mapping[str, int]
    """How many ended in each way; they add up to `planned`."""
    turns: TurnCounts
    score: Score
    charged: float | None
    """The mean with every `agent_error` at 0, 0 to 100: who fails gains nothing by it in a gate."""
    by_task: Mapping[str, Score]
    by_major: Mapping[str, Score]
    by_tier: Mapping[str, Score]
    """Like `by_task` and `score` turn-weighted; a task that is not of the taxonomy is its own."""
    excluded: Mapping[str, int]
    """Turns that are not scored at all, by reason."""
    judged_by: Mapping[str, int]
    """Whose verdicts the scores are, with how many."""
    paths: PathSummary | None
    """By the fixed path and by any listed one; None where no turn lists several."""
    repeats: tuple[PassRate, ...]
    """pass@k and pass^k over turns (of one agent: a turn's repeats); empty without repeats."""
    answers: AnswerCounts
    latency_s: LatencySummary
    quiet: QuietSummary
    pacing_ms: PacingSummary
    unreported: int = 0
    """Completed attempts in which the agent's side never reported on our media, or stopped to: that
    they arrived is known by its answers alone."""
    unread: Mapping[str, int] = field(default_factory=dict)
    """Track -> completed attempts in which the agent's side reported on others, and never on it: it
    may have no eyes."""
    detecting: int = 0
    """Attempts in which its turn detection was still at work although we asked at each turn's
    end."""
    misheard: int = 0
    """Completed attempts in which the live ear erred: turns may have gone on, or interruptions
    begun, at a wrong moment."""
    disputed: int = 0
    """Latencies whose onset the live ear heard at another time than both can state."""
    unheard: int = 0
    """Turns whose answer has a transcript, and no voice was heard."""
    measured_again: int = 0
    """Attempts whose times were measured otherwise before, by an older version."""
    stalled: int = 0
    """Turns reached in which the agent's stream stood still for over a second."""


def part_of(rows: Sequence[AttemptRow], *, mix: bool = False) -> Part:
    """The numbers of some attempts. Across unlike conditions there are means only to `mix`."""
    conditions = {r.conditions for r in rows}
    agents = {r.result.attempt.agent for r in rows}
    turns = [(row, turn) for row in rows for turn in row.turns]
    table = aggregate(task_units(rows))
    part = Part(
        agent=_one(agents),
        conditions=_one(conditions),
        planned=len(rows),
        outcomes=count_outcomes([r.result for r in rows]),
        turns=_turns([t for _, t in turns]),
        score=table.overall,
        charged=_charged([t for _, t in turns]),
        by_task=table.by_task,
        by_major=table.by_major,
        by_tier=table.by_tier,
        excluded=table.excluded,
        judged_by=Counter(t.verdict.judge for _, t in turns if t.verdict is not None),
        paths=path_summary([t for _, t in turns]),
        repeats=_repeats(rows),
        answers=_answers(rows),
        latency_s=latency_of(rows),
        quiet=_quiet(rows),
        pacing_ms=_pacing(rows),
        unreported=sum(_unreported(r) for r in rows),
        misheard=sum(_misheard(r) for r in rows),
        disputed=sum(bool(t.metrics and t.metrics.disputed) for _, t in turns),
        unheard=sum(bool(t.metrics and t.metrics.latency_invalid == "unheard") for _, t in turns),
        measured_again=sum(bool(r.trace and r.trace.before) for r in rows),
        detecting=sum(r.trace is not None and r.trace.detecting for r in rows),
        stalled=sum(bool(t.metrics and t.metrics.stalled_s) for _, t in turns),
        unread=Counter(track for r in rows for track in _unread(r)),
    )
    return part if mix or len(conditions) <= 1 else _without_means(part)


def _one(values: set[T]) -> T | None:
    return next(iter(values)) if len(values) == 1 else None


def _charged(turns: Sequence[TurnRow]) -> float | None:
    scores = [s for t in turns if (s := t.charged) is not None]
    return 100 * sum(scores) / len(scores) if scores else None


def _without_means(part: Part) -> Part:
    return replace(
        part,
        score=withheld(part.score),
        charged=None,
        by_task={},
        by_major={},
        by_tier={},
        paths=None,
        repeats=(),
        latency_s=replace(part.latency_s, p50=None, p95=None),
    )


def task_units(rows: Sequence[AttemptRow], mode: Mode | None = None) -> list[TaskUnit]:
    """The planned turns of some attempts as a mean sees them, with those that it leaves out.

    `mode`: scored by the fixed path alone or by any listed one, whatever the judge was set to.
    """

    def score(turn: TurnRow) -> float | None:
        both = along(turn)
        if mode is None or both is None:
            return turn.score if turn.state == VerdictState.SCORED else None
        return both.strict if mode == "strict" else both.open

    units = [
        TaskUnit(
            score=score(turn),
            scenario=row.scenario.id,
            turn=turn.turn.id,
            task=row.scenario.task,
        )
        for row in rows
        for turn in row.turns
    ]
    units += [
        TaskUnit(
            score=None,
            scenario=row.scenario.id,
            turn=t.id,
            task=row.scenario.task,
            excluded=f"marked `{t.expect}`",
        )
        for row in rows
        for t in row.scenario.turns
        if not t.conduct.scored
    ]
    return units


def _repeats(rows: Sequence[AttemptRow]) -> tuple[PassRate, ...]:
    """A turn passes a try if its answer is right, or its silence was kept."""
    scores: dict[tuple[Hashable, ...], list[float]] = {}
    for row in rows:
        for turn in row.turns:
            key = (row.result.attempt.agent, row.conditions, row.scenario.id, turn.turn.id)
            own = scores.setdefault(key, [])
            if turn.state == VerdictState.SCORED and turn.score is not None:
                own.append(turn.score)
    tries = [Tries(right=sum(s >= RIGHT for s in v), scored=len(v)) for v in scores.values()]
    return pass_rates(tries, max((r.result.attempt.repeat for r in rows), default=0))


def _turns(turns: Sequence[TurnRow]) -> TurnCounts:
    def count(state: str) -> int:
        return sum(t.state == state for t in turns)

    return TurnCounts(
        planned=len(turns),
        scored=count(VerdictState.SCORED),
        judge_failed=count(VerdictState.JUDGE_FAILED),
        unmeasurable=count(VerdictState.UNMEASURABLE),
        unproven=count(VerdictState.UNPROVEN),
        agent_error=count(VerdictState.AGENT_ERROR),
        missing=count(MISSING),
    )


def _answers(rows: Sequence[AttemptRow]) -> AnswerCounts:
    turns = [t for r in rows for t in r.turns if t.turn.conduct.owed]
    trusted = [r for r in rows if r.trusted and r.metrics is not None]
    scores = [t.score for t in turns if t.score is not None]
    measured = [r.metrics for r in trusted if r.metrics is not None]
    return AnswerCounts(
        expected=len(turns),
        right=sum(s >= RIGHT for s in scores),
        partial=sum(0.0 < s < RIGHT for s in scores),
        missed=sum(m.missed for m in measured),
        late=sum(m.late for m in measured),
        premature=sum(m.premature for m in measured),
        overlap_s=round(sum(m.overlap_s for m in measured), 3),
    )


def latency_of(rows: Sequence[AttemptRow]) -> LatencySummary:
    measured = [r.metrics for r in rows if r.trusted and r.metrics is not None]
    values = [s for m in measured for s in m.latencies_s]
    return LatencySummary(
        n=len(values),
        p50=percentile(values, 50),
        p95=percentile(values, 95),
        wanted=sum(t.latency_invalid != "not_asked" for m in measured for t in m.turns),
        written=sum(t.latency_in_writing for m in measured for t in m.turns),
        shared_host=any(r.result.shared_host for r in rows) or any(m.shared_host for m in measured),
    )


def _quiet(rows: Sequence[AttemptRow]) -> QuietSummary:
    turns = [t for r in rows for t in r.turns if t.turn.conduct.silent]
    kept = [t for t in turns if t.score is not None and t.score >= RIGHT]
    how: dict[str, int] = {}
    for turn in kept:
        by = turn.metrics.kept_by if turn.metrics is not None else None
        how[by or "silence"] = how.get(by or "silence", 0) + 1
    return QuietSummary(
        expected=len(turns),
        kept=len(kept),
        unproven=sum(t.state == VerdictState.UNPROVEN for t in turns),
        false_alarms=sum(
            r.metrics.false_alarms for r in rows if r.trusted and r.metrics is not None
        ),
        kept_by=how,
    )


def _pacing(rows: Sequence[AttemptRow]) -> PacingSummary:
    sent = [r.metrics.pacing for r in rows if r.metrics is not None and r.metrics.pacing.packets]
    return PacingSummary(
        p99=max((p.p99_ms for p in sent), default=None),
        max=max((p.max_ms for p in sent), default=None),
        unsent=sum(p.unsent for p in sent),
    )


def _unreported(row: AttemptRow) -> bool:
    trace = row.trace
    if trace is None or trace.outcome != Outcome.COMPLETED or not trace.sent:
        return False
    return trace.reported_at is None or trace.end - trace.reported_at > UNREPORTED


def _unread(row: AttemptRow) -> tuple[str, ...]:
    """The tracks on which the agent's side never reported, though it did on others."""
    trace = row.trace
    if trace is None or trace.outcome != Outcome.COMPLETED or trace.reported_at is None:
        return ()
    return tuple(s.track for s in trace.sent if s.packets and s.arrived_until is None)


def _misheard(row: AttemptRow) -> bool:
    trace = row.trace
    return trace is not None and trace.outcome == Outcome.COMPLETED and bool(trace.misheard)
