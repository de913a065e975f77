"""Where the live ear and the recording disagree: what it took for speech, or missed. Pure.

The ear decides during a session when a turn may go on and when a barge-in begins; onsets are
measured afterwards. Where it erred, a turn was held too long or an instruction came at the wrong
moment, which no latency shows. Counterparts: `simulator.rtc.ear` is the ear,
`simulator.measuring.measure` puts what is found into the trace.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from simulator.measuring.reply import UTTERANCE_GAP
from simulator.measuring.trace import Misheard, Speech
from simulator.measuring.utterances import join

LATE = 0.5
"""Seconds by which it may be late in hearing a voice."""
HELD = 1.0
"""Seconds by which it may go on hearing one that is silent."""
SHORT = 0.5
"""Seconds of sound that it may take for speech, or of speech that it may miss."""


def misheard(
    edges: Iterable[tuple[float, str]], islands: Sequence[Speech], *, until: float
) -> tuple[Misheard, ...]:
    """In order of time. `edges`: when the ear said `start` or `end`; `islands`: what was measured,
    in order, not joined; `until`: when the session ended."""
    live, spoken = _spans(edges, until), join(islands, UTTERANCE_GAP)
    found: list[Misheard] = []
    for voice in spoken:
        heard = [start for start, end in live if start < voice.end and end > voice.start]
        late = min(heard, default=math.inf) - voice.start
        if math.isinf(late) and voice.end - voice.start > SHORT:
            found.append(Misheard(kind="missed", start=voice.start, end=voice.end))
        elif LATE < late < math.inf:
            found.append(Misheard(kind="late", start=voice.start, end=voice.start + late))
    for start, end in live:
        inside = [voice.end for voice in spoken if voice.start < end and voice.end > start]
        silent = max(inside, default=start)
        if inside and end - silent > HELD:
            found.append(Misheard(kind="held", start=silent, end=end))
        elif not inside and end - start > SHORT:
            found.append(Misheard(kind="imagined", start=start, end=end))
    return tuple(sorted(found, key=lambda each: (each.start, each.end)))


def _spans(edges: Iterable[tuple[float, str]], until: float) -> list[tuple[float, float]]:
    """Stretches in which it heard somebody."""
    out: list[tuple[float, float]] = []
    since: float | None = None
    for t, edge in edges:
        if edge == "start":
            since = t if since is None else since
        elif since is not None:
            out.append((since, t))
            since = None
    return [*out, (since, until)] if since is not None else out
