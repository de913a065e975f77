"""Where the live ear and the recording disagree: what it took for speech, or missed. Pure.

The ear decides during a session when a turn may go on and when a barge-in begins; onsets are
measured afterwards. Where it erred, a turn was held too long or an instruction came at the wrong
moment, which no latency shows; and where the two put an onset at different times, one of them errs.
Counterparts: `simulator.rtc.ear` is the ear, `simulator.measuring.measure` puts what is found into
the trace.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from simulator.measuring.reply import UTTERANCE_GAP
from simulator.measuring.trace import Misheard, Speech
from simulator.measuring.utterances import join

LATE = 0.5
"""Seconds by which it may be late in hearing a voice."""
HELD = 1.0
"""Seconds by which it may go on hearing one that is silent."""
EARLY = 0.1
"""Seconds by which it may be ahead of an onset, beyond what the onset itself may be off by."""
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


def checked(
    edges: Sequence[tuple[float, str]], islands: Sequence[Speech], *, until: float
) -> tuple[Speech, ...]:
    """The islands; those with which a voice begins that it heard at another time are disputed.

    A recording without a live ear disputes nothing. Other sound that is known to lead up to a voice
    may have been heard first.
    """
    if not edges:
        return tuple(islands)
    live = _spans(edges, until)
    out: list[Speech] = []
    before = -math.inf
    for voice in join(islands, UTTERANCE_GAP):
        first = voice.start if voice.sound_from is None else voice.sound_from
        heard = [start for start, end in live if start < voice.end and end > voice.start]
        # What it was still hearing of the voice before says nothing of this one.
        fresh = [start for start in heard if start > before]
        ahead = any(start < first - voice.uncertainty - EARLY for start in fresh)
        late = bool(fresh) and min(fresh) > voice.start + voice.uncertainty + LATE
        missed = not heard and voice.end - voice.start > SHORT
        mine = [s for s in islands if voice.start <= s.start <= voice.end]
        out += [replace(mine[0], disputed=ahead or (late and len(fresh) == len(heard)) or missed)]
        out += mine[1:]
        before = voice.end
    return tuple(out)


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
