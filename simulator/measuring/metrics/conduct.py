"""How the agent behaved in a turn: when it spoke, over whom, and when it should not have. Pure.

Intervals of speech are half open, [start, end). Counterparts: `simulator.measuring.attribution` set
the flags read here, `simulator.measuring.metrics.turns` puts the numbers into a turn's row.
"""

from __future__ import annotations

from collections.abc import Iterable

from simulator.measuring.metrics.latency import answers
from simulator.measuring.trace import Speech, Trace, TurnSpan

OCCASION = 1.0
"""Seconds without an earlier answer that a turn must have left for its silence to say anything."""
SHARE = 0.5
"""And the share of it, or of what is said in it: that it is held until an answer is over, and has
rested, leaves no more of it."""


def spoken_between(runs: Iterable[Speech], start: float, end: float) -> float:
    """Seconds of `runs` inside [start, end); runs must not overlap each other."""
    return sum(max(0.0, min(r.end, end) - max(r.start, start)) for r in runs)


def false_alarms(trace: Trace, turn: TurnSpan) -> int:
    """Responses in a turn that wants silence, with nothing owed: the number of false alarms."""
    return sum("false_alarm" in a.flags for _, a in answers(trace, turn))


def missed(trace: Trace, turn: TurnSpan) -> bool:
    """Whether an answer that fell due never came, not even late. False if it never fell due, or if
    the provider says that it failed to give it."""
    due = turn.conduct.owed and turn.due is not None
    return due and not answers(trace, turn) and trace.failure_of(turn.id) is None


def late(trace: Trace, turn: TurnSpan) -> bool:
    """Whether the first answer began after the turn's window."""
    given = answers(trace, turn)
    return turn.conduct.owed and bool(given) and "late" in given[0][1].flags


def premature(trace: Trace, turn: TurnSpan) -> bool:
    """Whether the first answer began before it fell due."""
    given = answers(trace, turn)
    return turn.conduct.owed and bool(given) and "premature" in given[0][1].flags


def extra(trace: Trace, turn: TurnSpan) -> int:
    """Responses after the first that belong to the same answered turn."""
    return sum("extra" in a.flags for _, a in answers(trace, turn))


def overlap_s(trace: Trace, turn: TurnSpan) -> float:
    """Seconds in which the agent and somebody's speech in this turn were audible at once (OV of
    full-duplex work): the sum over the turn's instructions of the agent's speech inside them."""
    return sum(
        spoken_between(trace.speech, h.start, h.end) for h in trace.heard if h.turn == turn.id
    )


def carried_in_s(trace: Trace, turn: TurnSpan) -> float:
    """Seconds of speech inside this turn's time that belong to turns before it (rule 7): the turn
    is not charged for them."""
    if not turn.reached:
        return 0.0
    return spoken_between(_carried_in(trace, turn), turn.start, turn.done)


def talked_through(trace: Trace, turn: TurnSpan) -> bool:
    """Whether what the agent had begun before a turn went on until the turn was as good as over, or
    over most of its segment or of what is said in it: then there was no occasion to keep quiet, and
    silence in it is none."""
    runs = [s for s in _carried_in(trace, turn) if s.end > turn.start]
    if not turn.reached or not runs:
        return False
    said = [(h.start, h.end) for h in trace.heard if h.turn == turn.id]
    over = sum(spoken_between(runs, start, end) for start, end in said)
    return (
        turn.done - max(s.end for s in runs) < OCCASION
        or spoken_between(runs, turn.start, turn.end) > SHARE * (turn.end - turn.start)
        or over > SHARE * sum(end - start for start, end in said)
    )


def unproven(trace: Trace, turn: TurnSpan) -> bool:
    """Whether the agent's sound ceased to be sent before a turn was as good as over, so that
    nothing shows that it kept quiet."""
    return turn.reached and trace.ceased is not None and turn.done - trace.ceased > OCCASION


def _carried_in(trace: Trace, turn: TurnSpan) -> list[Speech]:
    """The speech of responses of turns before, and of greetings that began before this one."""
    before = {t.id for t in trace.turns if t.index < turn.index}
    runs: list[Speech] = []
    for a in trace.attribution:
        speech = trace.response(a.response).speech
        if a.turn in before or (a.turn is None and speech and speech[0].start < turn.start):
            runs += speech
    return runs


def overrun_s(trace: Trace, turn: TurnSpan) -> float:
    """Seconds of this turn's own speech after the turn was left."""
    if not turn.reached:
        return 0.0
    return sum(
        spoken_between(r.speech, turn.done, float("inf")) for r, _ in trace.responses_of(turn.id)
    )


def unsolicited_s(trace: Trace, turn: TurnSpan) -> float:
    """Seconds of false-alarm speech of a turn."""
    return sum(
        s.end - s.start
        for r, a in answers(trace, turn)
        if "false_alarm" in a.flags
        for s in r.speech
    )


def kept_by(trace: Trace, turn: TurnSpan) -> str | None:
    """How a turn that wants silence was kept: ``listened``, ``token``, ``spoken_token`` or
    ``silence``; None if it was not kept, could not be, or does not want silence."""
    if not turn.conduct.silent or not turn.reached or false_alarms(trace, turn):
        return None
    for response, attributed in trace.responses_of(turn.id):
        if response.listened:
            return "listened"
        if "spoken_token" in attributed.flags:
            return "spoken_token"
        if "silence_token" in attributed.flags:
            return "token"
    if trace.failure_of(turn.id) is not None or unproven(trace, turn):
        return None
    return None if talked_through(trace, turn) else "silence"


def opportunity(trace: Trace, turn: TurnSpan) -> bool | None:
    """Whether the agent had an occasion to keep quiet in a turn that wants it: None if that cannot
    be known, or if it does not want silence."""
    if turn.conduct.silent and (talked_through(trace, turn) or unproven(trace, turn)):
        return False
    return turn.opportunity
