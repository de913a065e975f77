"""What is settled without a judge, alike for all of them.

Turns that were never reached or were cut off, that did not arrive, that gave no occasion to keep
quiet, and those that the agent's provider says it failed at. Counterpart: `simulator.judging.run`
asks here before it asks a judge.
"""

from __future__ import annotations

from dataclasses import replace

from simulator.judging.judge import Judge, Verdict, VerdictState
from simulator.measuring.metrics.conduct import carried_in_s, talked_through, unproven
from simulator.measuring.trace import Trace, TurnSpan
from simulator.protocol.conduct import Wants
from simulator.protocol.events import Outcome
from simulator.protocol.soundness import UNHEARD, UNHEARD_LEAST, behind
from simulator.scenario.types import Turn


def settle(judge: Judge, turn: Turn, trace: Trace) -> Verdict | None:
    """The verdict on a turn that was not played to its end, of which nothing shows that it came
    through, that gave no occasion, or that the provider failed at; None if a judge is to say.

    After agent_failed it is zero: the agent owed it. After anything else it is missing.
    """
    span = next((t for t in trace.turns if t.id == turn.id), None)
    failure = trace.failure_of(turn.id)
    if failure is not None:
        why, code, words = f"the agent failed: {failure.told}", failure.code, failure.message
        return without_score(judge, turn, VerdictState.AGENT_ERROR, why, code=code, message=words)
    answered = any(a.by != "token" for _, a in trace.responses_of(turn.id))
    if trace.outcome == Outcome.COMPLETED:
        if span is None or not span.reached:
            return without_score(judge, turn, VerdictState.UNMEASURABLE, "not in the recording")
        if answered:
            return None
        why = _unheard(trace, span) or _no_occasion(trace, span)
        return without_score(judge, turn, VerdictState.UNMEASURABLE, why) if why else None
    if span is None or not span.reached:
        what = "not reached"
    elif trace.outcome == Outcome.NETWORK_FAILED and (lost := _lost(trace, span)):
        what = lost
    elif answered:
        return None
    elif not span.complete:
        what = "cut off"
    elif span.conduct.owed and (span.due is None or trace.end < span.due + span.within):
        what = "the session ended before its answer was due to have begun"
    else:
        return None
    why = f"{what}: {trace.outcome.replace('_', ' ')}"
    if trace.reason:
        why += f" ({trace.reason})"
    if trace.outcome == Outcome.AGENT_FAILED:
        zero = without_score(judge, turn, VerdictState.SCORED, why)
        return replace(zero, score=0.0, content=0.0 if turn.expect.wants is Wants.ANSWER else None)
    return without_score(judge, turn, VerdictState.UNMEASURABLE, why)


def _lost(trace: Trace, span: TurnSpan) -> str:
    """What of a turn did not arrive although the other side reported on; empty if it did."""
    for sent in trace.sent:
        until = sent.arrived_until
        stopped = behind(sent, trace.reported_at) > UNHEARD_LEAST
        if until is not None and span.done > until and stopped:
            return f"{sent.track} had stopped arriving"
    return ""


def _unheard(trace: Trace, span: TurnSpan) -> str:
    """Why it cannot be told whether our media arrived in a turn in which nothing was said; empty if
    it can, or if the agent has shown otherwise that it hears us."""
    if not trace.life.transport and not trace.life.response:
        return "nothing shows that our media arrived: the agent's side never reported on them"
    if trace.reported_at is None:
        return ""
    onsets = [r.onset for r in trace.responses if r.onset is not None]
    last = max(trace.reported_at, *onsets, 0.0)
    if span.start <= last + UNHEARD:
        return ""
    return (
        "nothing shows that our media still arrived: the last report of the agent's side came "
        f"{span.start - trace.reported_at:.0f} s before the turn"
    )


def _no_occasion(trace: Trace, span: TurnSpan) -> str:
    """Why a turn that wants silence gave no occasion to keep it, or none that was taken; empty if
    it did."""
    if not span.conduct.silent or trace.responses_of(span.id):
        return ""
    asked = {r.trigger for r in trace.responses} - {None}
    if asked and span.id not in asked:
        return "no decision to keep quiet: it was asked for one, and began none"
    if unproven(trace, span):
        return (
            f"nothing shows that it kept quiet: none of its sound came after {trace.ceased:.1f} s, "
            "though it had been sent in silence as well"
        )
    if not talked_through(trace, span):
        return ""
    spoken = carried_in_s(trace, span)
    return f"no occasion to keep quiet: it talked through the turn ({spoken:.1f} s of speech)"


def without_score(
    judge: Judge, turn: Turn, state: VerdictState, why: str, **details: str
) -> Verdict:
    """A verdict that no judge gave."""
    return Verdict(
        turn=turn.id,
        judge=judge.name,
        judge_version=judge.version,
        state=state,
        why=why,
        details={"by": "runner", **details},
    )
