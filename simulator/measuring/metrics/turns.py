"""The numbers of a session: one row a turn, one for the whole. Pure.

Every number is computed from the trace by a function of its own (`latency`, `replies`, `conduct`),
whose docstring has the formula. Further metrics (those of published benchmarks) are functions of a
Trace beside these; they need no change here. Counterparts: `simulator.report` aggregates rows over
sessions, `simulator.measuring.measure` made the trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.measuring.metrics import conduct, latency, replies
from simulator.measuring.trace import Pacing, Trace, TurnSpan


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnMetrics:
    """What was measured of one turn."""

    turn: str
    index: int
    expect: str
    reached: bool
    complete: bool
    latency_s: float | None
    latency_uncertainty_s: float
    latency_invalid: str | None
    """Why there is no latency, one of `latency.Invalid`; None if there is one."""
    latency_in_writing: bool
    """The latency is to the first text: the answer has no voice."""
    first_text_s: float | None
    onset: float | None
    """Session time at which the first answer began."""
    responses: int
    """Answers of the turn, all of them; decisions to keep quiet are not in it."""
    extra: int
    reply_speech_s: float
    reply_span_s: float | None
    reply_words: int | None
    missed: bool
    late: bool
    premature: bool
    false_alarms: int
    unsolicited_s: float
    overlap_s: float
    carried_in_s: float
    overrun_s: float
    kept_by: str | None
    """How silence was kept, for a turn that wants it."""
    opportunity: bool | None
    send_error_ms: float
    disputed: bool
    """The live ear heard the first answer, of which the latency is, begin at another time."""
    stalled_s: float
    """Seconds in which the agent's stream stood still."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionMetrics:
    """What was measured of a whole session."""

    turns: tuple[TurnMetrics, ...]
    latencies_s: tuple[float, ...]
    """The valid ones, in order of turns."""
    answers_due: int
    """Turns in which an answer fell due."""
    answered: int
    """Those of them with an answer, late and premature ones included."""
    missed: int
    late: int
    premature: int
    quiet_reached: int
    """Turns that want silence and were reached."""
    quiet_broken: int
    """Those of them with a false alarm."""
    false_alarms: int
    extra: int
    greetings: int
    """Responses before anything was asked, in no turn."""
    speech_s: float
    """Audible speech of the agent."""
    overlap_s: float
    overrun_s: float
    pacing: Pacing
    lost: int
    shared_host: bool


def turn_metrics(trace: Trace, turn: TurnSpan) -> TurnMetrics:
    """The row of one turn."""
    measured = latency.response_latency(trace, turn)
    given = latency.answers(trace, turn)
    return TurnMetrics(
        turn=turn.id,
        index=turn.index,
        expect=turn.expect,
        reached=turn.reached,
        complete=turn.complete,
        latency_s=measured.seconds,
        latency_uncertainty_s=measured.uncertainty_s,
        latency_invalid=measured.invalid,
        latency_in_writing=measured.seconds is not None and not given[0][0].speech,
        first_text_s=latency.first_text_s(trace, turn),
        onset=given[0][0].onset if given else None,
        responses=len(given),
        extra=conduct.extra(trace, turn),
        reply_speech_s=replies.reply_speech_s(trace, turn),
        reply_span_s=replies.reply_span_s(trace, turn),
        reply_words=replies.reply_words(trace, turn),
        missed=conduct.missed(trace, turn),
        late=conduct.late(trace, turn),
        premature=conduct.premature(trace, turn),
        false_alarms=conduct.false_alarms(trace, turn),
        unsolicited_s=conduct.unsolicited_s(trace, turn),
        overlap_s=conduct.overlap_s(trace, turn),
        carried_in_s=conduct.carried_in_s(trace, turn),
        overrun_s=conduct.overrun_s(trace, turn),
        kept_by=conduct.kept_by(trace, turn),
        opportunity=conduct.opportunity(trace, turn),
        send_error_ms=turn.send_error_ms,
        disputed=measured.seconds is not None and given[0][0].disputed,
        stalled_s=turn.stalled_s,
    )


def session_metrics(trace: Trace) -> SessionMetrics:
    """All rows, and the sums over them."""
    rows = tuple(turn_metrics(trace, t) for t in trace.turns)
    due = [r for t, r in zip(trace.turns, rows, strict=True) if _answer_due(t)]
    quiet = [r for t, r in zip(trace.turns, rows, strict=True) if t.conduct.silent and t.reached]
    return SessionMetrics(
        turns=rows,
        latencies_s=tuple(r.latency_s for r in rows if r.latency_s is not None),
        answers_due=len(due),
        answered=sum(r.responses > 0 for r in due),
        missed=_count(rows, "missed"),
        late=_count(rows, "late"),
        premature=_count(rows, "premature"),
        quiet_reached=len(quiet),
        quiet_broken=sum(r.false_alarms > 0 for r in quiet),
        false_alarms=sum(r.false_alarms for r in rows),
        extra=sum(r.extra for r in rows),
        greetings=sum(a.turn is None and "greeting" in a.flags for a in trace.attribution),
        speech_s=sum(s.end - s.start for s in trace.speech),
        overlap_s=sum(r.overlap_s for r in rows),
        overrun_s=sum(r.overrun_s for r in rows),
        pacing=trace.pacing,
        lost=trace.lost,
        shared_host=trace.shared_host,
    )


def _answer_due(turn: TurnSpan) -> bool:
    return turn.conduct.owed and turn.reached and turn.due is not None


def _count(rows: Sequence[TurnMetrics], field: str) -> int:
    return sum(bool(getattr(r, field)) for r in rows)
