"""Response latency: how long after it fell due an answer began. Pure.

``response_latency_s = onset - due`` (ARCHITECTURE.md, words for time): onset is the first
audible speech sample of the response, or its first text if it has no sound; due is the end of the
instruction as sent, or the event. It includes one packet (20 ms) and the agent's Opus (6.5 ms),
which `trace.CodecDelay` states; nothing is subtracted. The same quantity is L_R of
tau-voice and the latency of Full-Duplex-Bench, save that those take the user's end from a detector.
Counterpart: `simulator.measuring.metrics.turns` puts it into a turn's row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from simulator.measuring.trace import Attributed, Response, Trace, TurnSpan

SEND_ERROR_MS = 20.0
"""A larger send-time error near the turn makes a latency invalid."""

Invalid = Literal[
    "not_asked",
    "not_reached",
    "missing",
    "unheard",
    "premature",
    "overlapped",
    "send_error",
]
"""Why there is no latency: nothing was asked that wants one answer; the session ended before; no
answer; it has a transcript, and no voice was heard; it began before it was due; the instruction
began under other speech of the agent; our own packets left too late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """A latency, or why there is none."""

    seconds: float | None
    """onset - due; None if it is invalid."""
    uncertainty_s: float = 0.0
    """By how much the onset and the due time may be wrong together."""
    invalid: Invalid | None = None
    response: str | None = None
    """Id of the response that was measured."""


def answers(trace: Trace, turn: TurnSpan) -> tuple[tuple[Response, Attributed], ...]:
    """What was said in answer to a turn, in order of onset: without decisions to keep quiet. What
    was not heard, though it was to be, comes last."""
    kept = [
        (r, a)
        for r, a in trace.responses_of(turn.id)
        if r.onset is not None and a.by != "token" and not r.listened
    ]
    return tuple(sorted(kept, key=lambda pair: (pair[0].unheard, pair[0].onset or 0.0)))


def response_latency(trace: Trace, turn: TurnSpan) -> Latency:
    """The latency of a turn's first answer. Late answers have one, premature ones have none."""
    if not turn.reached:
        return Latency(seconds=None, invalid="not_reached")
    if not turn.conduct.owed or turn.conduct.many:
        return Latency(seconds=None, invalid="not_asked")
    if turn.due is None:
        return Latency(seconds=None, invalid="not_reached")
    given = answers(trace, turn)
    if not given:
        return Latency(seconds=None, invalid="missing")
    response, attributed = given[0]
    onset = response.onset
    assert onset is not None
    invalid: Invalid | None = None
    if response.unheard:
        invalid = "unheard"
    elif "premature" in attributed.flags or onset < turn.due:
        invalid = "premature"
    elif "overlapped" in attributed.flags:
        invalid = "overlapped"
    elif turn.send_error_ms > SEND_ERROR_MS:
        invalid = "send_error"
    return Latency(
        seconds=None if invalid else onset - turn.due,
        uncertainty_s=response.uncertainty + turn.due_uncertainty,
        invalid=invalid,
        response=response.id,
    )


def first_text_s(trace: Trace, turn: TurnSpan) -> float | None:
    """Seconds from the due time to the first text of the turn's first answer; None without either.

    Negative if text came before the answer fell due. For an answer with sound it tells how far the
    transcript runs ahead of, or behind, the voice.
    """
    given = answers(trace, turn)
    if not given or turn.due is None:
        return None
    text = given[0][0].first_text
    return None if text is None else text - turn.due
