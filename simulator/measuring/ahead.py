"""Packets that came ahead of their time, and when they would have come in it. Pure.

Some servers push a whole reply, or its first half second, as fast as it is made, with right stamps:
it is heard at the rate of its stamps from where it began, out of a listener's buffer. Least arrival
would take such a sender's last packet for the one that is in time, and all before for late. What
tells the two apart is what was before: who is late has been in time and comes back to it, who is
ahead has been in time and comes in below it. What comes first after a pause in which all before has
been played out is never ahead. A sender that goes on so, and does not come back to its time, counts
it anew from there on. Counterpart: `simulator.measuring.clockmap` draws its lines by this.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LEAST, MOST = 0.03, 0.1
"""Seconds ahead, at least and at most, up to which it may be the path's jitter."""
JITTERS = 12
"""How often what a packet comes later than the one before as a rule."""
PAUSE = 0.3
"""Seconds without packets after which a sender may begin anew."""
JUMP = 1.0
"""Seconds by which stamps jump in one packet; a pause that is left out of a burst is shorter."""
BURSTS = 2
"""Times that a sender waits until what it sent is played out, and sends the next in a burst: it is
one that comes in bursts, and who knows if those are early or late."""
GOES_ON = 1.0
"""Seconds for which a sender may be ahead and send in real time, if it does not come back: what it
had in hand is played out after a silence, and its time is another one."""
COMES_BACK = 30.0
"""And if it does."""
_STAYS = 1.0
"""Seconds after which it has come back; who comes in one burst after the other has not."""
FASTER, SLOWER = 0.05, 0.001
"""Seconds a second by which one in time may gain, and lose: a queue on the path grows faster than
that, and drains."""
_STEP = 0.1
"""Seconds between packets that count for this at most."""
_KEEPS = 0.2
"""Seconds for which one who has caught up is in time, at least for half of them."""
_BURST = 0.3
"""Seconds before, since when it may have been so."""
_FOLLOWED = 0.02
"""What it followed a burst at most before it was one."""

Floats = NDArray[np.float64]


def in_time(x: Floats, y: Floats) -> tuple[Floats, list[int]]:
    """When each packet would have come at the rate of its stamps, which is never earlier than it
    did, and the packets from which on a sender's time is another one.

    `x`: stamps and `y`: arrivals, in seconds and in order, none overtaken by a later one.
    """
    walk = _Walk(x, y)
    k = 1
    while k < len(x):
        k = walk.step(k)
    return walk.due, walk.anew


class _Walk:
    def __init__(self, x: Floats, y: Floats) -> None:
        self._x, self._y, self._delay = x, y, y - x
        self.due = y.copy()
        self.anew: list[int] = []
        self._paused = np.concatenate(([True], np.diff(y) > PAUSE))
        self._jumps = np.concatenate(([False], np.abs(np.diff(x) - np.diff(y)) > JUMP))
        self._level = float(self._delay[0])
        """Delay of what is in time."""
        changes = np.diff(self._delay)
        later = changes[(changes > 0) & ~self._paused[1:]]
        usual = float(np.median(later)) if len(later) else 0.0
        self._least = min(max(JITTERS * usual, LEAST), MOST)
        """Seconds from which on a packet is ahead."""

    def step(self, k: int) -> int:
        """Look at a packet, or at all that come ahead from it on; the one to look at then."""
        delay = float(self._delay[k])
        if self._begins(k):
            if abs(delay - self._level) > self._least and not self._recovers(k):
                self._level = delay
            return k + 1
        if delay < self._level - self._least:
            return self._ahead(k)
        time = min(_STEP, float(self._y[k] - self._y[k - 1]))
        self._level = min(max(delay, self._level - FASTER * time), self._level + SLOWER * time)
        return k + 1

    def _begins(self, k: int) -> bool:
        """Whether all before has been played out, or the stamps are others."""
        idle = self._paused[k] and self._y[k] > self._x[k - 1] + self._level + self._least
        return bool(idle or (self._jumps[k] and not self._paused[k]))

    def _recovers(self, k: int) -> bool:
        """Whether what begins late catches up with its time, and then keeps it."""
        late = self._delay[k : self._after(k, _STAYS)] - self._level > self._least / 2
        caught = k + int(np.argmin(late))
        until = self._after(caught, _KEEPS)
        return (
            bool(late[0] and not late[caught - k])
            and float(self._y[until - 1] - self._y[caught]) > _KEEPS / 2
            and float(self._delay[caught:until].min()) > self._level - self._least / 2
        )

    def _ahead(self, k: int) -> int:
        """What comes ahead from a packet on, until the sender is in its time again."""
        # The first of a burst are ahead by less.
        first, since = k, self._y[k] - _BURST
        while not self._paused[first] and self._y[first - 1] > since:
            first -= 1
        # Up to here its level followed it down a little.
        begins = self._delay[first] if self._paused[first] else self._level
        self._level = float(np.clip(begins, self._level, self._level + _FOLLOWED))
        end, back = self._end(k)
        if back is None:
            self._level = float(self._delay[first:end].min())
            return end
        flow = self._flow(k, end)
        if flow < end and not back:
            self._raise(first, flow)
            self._level = float(self._delay[flow])
            self.anew.append(flow)
            return flow + 1
        self._raise(first, end)
        return end

    def _end(self, k: int) -> tuple[int, bool | None]:
        """One past the last packet that is ahead, and whether the sender then is in its time; None
        if it sends in bursts, none of which is ahead of the one after it."""
        bursts = 0
        for i in range(k + 1, len(self._x)):
            if self._begins(i):
                return i, abs(float(self._delay[i]) - self._level) < self._least
            if self._y[i] - self._y[k] > COMES_BACK:
                return i, False
            in_time = self._level - self._least / 2
            if self._delay[i] >= in_time and self._delay[i - 1] < self._delay[i]:
                until = self._after(i, _STAYS)
                if float(self._delay[i:until].min()) >= in_time:
                    return i, True
                bursts += int(self._paused[i])
                if bursts >= BURSTS:
                    return i, None
        return len(self._x), False

    def _flow(self, k: int, end: int) -> int:
        """The first packet from which on the sender sends in real time, if it does before `end`."""
        for i in range(k, end):
            until = self._after(i, GOES_ON)
            if until >= end:
                break
            evenly = np.ptp(self._delay[i:until]) < self._least / 2
            if evenly and not self._paused[i + 1 : until].any():
                return i
        return end

    def _after(self, k: int, seconds: float) -> int:
        """The first packet that comes more than so long after one."""
        return int(np.searchsorted(self._y, self._y[k] + seconds, "right"))

    def _raise(self, first: int, end: int) -> None:
        here = slice(first, end)
        self.due[here] = np.maximum(self._y[here], self._x[here] + self._level)
