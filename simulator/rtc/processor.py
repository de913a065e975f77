"""How fast the processor core is from moment to moment, as the thread that paces packets finds it.

A machine shared with others may take nine tenths of a core away for a twentieth of a second. No
timer shows it and no load average: everything simply takes ten times as long, and packets are late.
So between packets the same little arithmetic is timed again and again; what takes far longer than
usual tells when. Counterparts: `simulator.rtc.pacer` asks for samples, `simulator.rtc.vitals` puts
the time into each second's record.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from statistics import median

EVERY = 0.001
"""Seconds between samples; each takes some two thousandths of that."""
SLOW = 2.0
"""Times the usual duration from which the core counts as held back."""
_KEPT = 1_000
"""Samples that say what is usual."""
_FEWEST = 100
"""Samples before anything is said."""
_SPELL = 2
"""Slow samples in a row that make a spell."""
_GAP = 0.050
"""Seconds that a sample speaks for at most: nobody looked in longer pauses."""
_ARITHMETIC = range(60)


class Core:
    """Keeps `held`: seconds, so far, in which the core ran at half its usual speed or less."""

    def __init__(self, time: Callable[[], float]) -> None:
        self._time = time
        self._took: deque[float] = deque(maxlen=_KEPT)
        self._limit = float("inf")
        self._settled = 0
        self._before = self._last = 0.0
        """When the last two samples ended."""
        self._slow = 0
        """Slow samples in a row."""
        self.next = 0.0
        """When a sample is wanted again."""
        self.held = 0.0
        self.spells: deque[tuple[float, float]] = deque(maxlen=_KEPT)
        """The last of these times, each from when until when on the clock given."""

    def sample(self, now: float) -> None:
        """Take one, at `now`."""
        for _ in _ARITHMETIC:
            pass
        then = self._time()
        self.next = then + EVERY
        self.add(then, then - now)

    def add(self, now: float, took: float) -> None:
        """The same arithmetic took so many seconds, and ended at `now`."""
        self._took.append(took)
        # One slow sample is an interrupt; from the second on it is a spell, the first one included.
        self._slow = self._slow + 1 if took > self._limit else 0
        if self._slow >= _SPELL:
            start = max(self._before if self._slow == _SPELL else self._last, now - _GAP)
            self.held += now - start
            if self.spells and start <= self.spells[-1][1]:
                start = self.spells.pop()[0]
            self.spells.append((start, now))
        self._before, self._last = self._last, now
        self._settled -= 1
        if self._settled <= 0 and len(self._took) >= _FEWEST:
            self._settled = _KEPT
            self._limit = SLOW * median(self._took)
