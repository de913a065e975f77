"""How much was said in answer: seconds of sound and words. Pure.

Counterpart: `simulator.measuring.metrics.turns` puts it into a turn's row.
"""

from __future__ import annotations

import re

from simulator.measuring.metrics.latency import answers
from simulator.measuring.trace import Trace, TurnSpan

_WORD = re.compile(r"\w+(?:['’.,]\w+)*")


def words(text: str) -> int:
    """Words of a text: runs of letters and digits; ``don't``, ``3.5`` and ``12,000`` are one."""
    return len(_WORD.findall(text))


def reply_speech_s(trace: Trace, turn: TurnSpan) -> float:
    """Seconds of audible speech in answer to a turn, pauses inside runs included: the sum over all
    its responses of ``end - start`` of each run."""
    return sum(s.end - s.start for r, _ in answers(trace, turn) for s in r.speech)


def reply_span_s(trace: Trace, turn: TurnSpan) -> float | None:
    """Seconds from the onset of the first answer to the end of the last one; None without any."""
    given = answers(trace, turn)
    if not given:
        return None
    first = given[0][0].onset
    last = max(r.end or 0.0 for r, _ in given)
    return None if first is None else last - first


def reply_words(trace: Trace, turn: TurnSpan) -> int | None:
    """Words in answer to a turn; None if something was heard of which there is no text."""
    given = answers(trace, turn)
    if any(r.transcript_missing for r, _ in given):
        return None
    return sum(words(r.text) for r, _ in given)
