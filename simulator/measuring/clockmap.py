"""RTP time to session time, run by run of continuous stamps, by minimum arrival. Pure.

A packet arrives when it was sent plus a delay that is never under some minimum, so the line under
all points (RTP time, arrival) maps one clock to the other without a common clock: the fastest
packets are on it. One line for a whole call is wrong by seconds where a sender's RTP clock stands
still in silence, and some do; so stamps are cut into runs, each with a line of its own. The line is
the side of the lower convex hull below the mean point, which is the line under all points with the
least sum of distances (Moon, Skelly and Towsley, INFOCOM 1999). Senders that pace themselves by
sleeping, or lose time with each reply, keep to no line of two clocks: where a line does not hold,
it is drawn steeper, and then piece by piece.
Counterparts: `simulator.measuring.measure` maps the agent's sound, `simulator.bridge` the user's.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from simulator.measuring.ahead import in_time
from simulator.measuring.sources import counts
from simulator.protocol.rtp import unwrap

STEP = 0.1
"""Seconds by which arrival - RTP must step, and stay, for a new run."""
SLOPE_LIMIT = 500e-6
"""No two clocks of computers differ by more."""
STEEP = 0.05
"""A sender that paces itself by sleeping is off by less."""
HOLDS = 0.004
"""Seconds by which a window's fastest packet may lie above a line that holds."""
_WINDOW = 5.1
"""Seconds after which some packet of a sender that is in time is on the line."""
_PAUSE = 0.3
"""Seconds without packets that end a window: what comes after may be on another line."""
_ASTRAY = 1 / 3
"""A line of whose packets more lie in windows above it does not hold: it was no delay."""
SHORT_RUN = 10
"""Packets under which a run's minimum is not to be trusted to the millisecond."""
_BEFORE = 5.0
_AFTER = 10.0
"""Seconds looked back and ahead to tell a step that stays from a delay that recovers."""
_LEVEL_RUN = 5.0
"""Seconds under which a run's slope is more noise than drift: it gets none."""
_UNKNOWN_JITTER = 0.010
"""Mean delay above the minimum assumed where there are too few packets to tell."""
_FEW = 5
_LATE_AT_MOST = 1.0
"""So few packets that step by less than so many seconds are late, and no run of their own."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A stretch of packets whose stamps follow one clock."""

    first: int
    """Its first packet in sequence order,"""
    last: int
    """and its last: indices into the arrays that were given."""
    packets: int
    stamp: int
    """RTP stamp of its first packet,"""
    start: float
    """and the session time that this maps to."""
    slope: float
    """Seconds by which session time runs ahead, per second of RTP time: within ±500e-6, unless only
    a steeper line holds."""
    pieces: int = 1
    """Lines that it took; `start` and `slope` are then of one under all packets."""
    jitter: float
    """Mean of what packets arrived later than the line, in seconds."""
    uncertainty: float
    """Seconds by which `start` may be too late (19 times of 20 it is less)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockMap:
    """The mapping of one stream; arrays are parallel to those given to `map_runs`."""

    runs: tuple[Run, ...]
    """In sequence order."""
    run: Ints
    """Which run each packet belongs to."""
    times: Floats
    """Session time of each packet's first sample."""
    uncertainty: Floats
    """Seconds, of each packet's time."""

    def time(self, index: int) -> tuple[float, float]:
        """Session time and uncertainty of a packet's first sample."""
        return float(self.times[index]), float(self.uncertainty[index])


def map_runs(
    seq: ArrayLike, rtp: ArrayLike, arrival: ArrayLike, clock: int, *, ssrc: ArrayLike | None = None
) -> ClockMap:
    """Map a stream's packets, in order of arrival, to session time.

    `seq`: sequence numbers (16 bits of them are used); `rtp`: stamps; `arrival`: session seconds;
    `clock`: RTP ticks per second; `ssrc`: the source of each packet, if there may be several.
    Reordered and lost packets and wrapping numbers are fine; of duplicates the first counts.
    """
    sequence = np.asarray(seq, np.int64) & 0xFFFF
    stamps = np.asarray(rtp, np.int64) & 0xFFFFFFFF
    arrivals = np.asarray(arrival, np.float64)
    sources = np.zeros(len(sequence), np.int64) if ssrc is None else np.asarray(ssrc, np.int64)
    if len(sequence) == 0:
        nothing = np.zeros(0)
        return ClockMap(runs=(), run=np.zeros(0, np.int64), times=nothing, uncertainty=nothing)
    pieces: list[tuple[Ints, Floats, Floats]] = []
    for chosen in counts(sources, sequence, stamps, clock):
        order, unique = _in_sequence(sequence[chosen])
        ticks = _spread(unwrap(stamps[chosen][order], 32)[unique])
        x = ticks[np.cumsum(unique) - 1] / clock
        y = arrivals[chosen][order]
        numbers = unwrap(sequence[chosen][order], 16)
        y[unique], cuts = _cuts(numbers[unique], x[unique], y[unique])
        starts = np.flatnonzero(unique)[cuts]
        for begin, end in zip(starts, [*starts[1:], len(order)], strict=True):
            pieces.append((chosen[order[begin:end]], x[begin:end], y[begin:end]))
    return _fit_all(pieces, stamps)


# ---------------------------------------------------------------- order


def _in_sequence(sequence: Ints) -> tuple[Ints, NDArray[np.bool_]]:
    """Order by sequence number (the first to arrive first), and which are no duplicates."""
    numbers = unwrap(sequence, 16)
    order = np.argsort(numbers, kind="stable")
    unique = np.concatenate(([True], np.diff(numbers[order]) != 0))
    return order, unique


def _spread(stamps: Ints) -> Floats:
    """Stamps with those of packets that share one spread up to the next.

    aiortc stamps all packets of one long frame alike.
    """
    spread = stamps.astype(np.float64)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(stamps)) + 1))
    for begin, end in itertools.pairwise(starts):
        if end - begin > 1:
            step = (stamps[end] - stamps[begin]) / (end - begin)
            spread[begin:end] += step * np.arange(end - begin)
    return spread


# ---------------------------------------------------------------- runs


def _cuts(numbers: Ints, x: Floats, y: Floats) -> tuple[Floats, Ints]:
    """Arrivals as they would be had nothing come ahead of its time, and where runs begin; in
    sequence order, x is RTP time, y arrival."""
    # A packet overtaken by a later one says nothing about the clock: its own delay moved it.
    timely = np.flatnonzero(y <= np.minimum.accumulate(y[::-1])[::-1])
    if len(timely) < 2:
        return y, np.zeros(1, np.int64)
    number, stamp = numbers[timely], x[timely]
    arrived, anew = in_time(stamp, y[timely])
    early = np.zeros(len(y))
    early[timely] = arrived - y[timely]
    y = y + early
    delay = arrived - stamp
    apart = np.diff(number)
    pace = float(np.median(np.diff(stamp) / apart))
    jumps = np.abs(np.diff(stamp) - apart * pace) > STEP
    breaks = np.flatnonzero(jumps) + 1
    steps = np.union1d(np.flatnonzero(np.abs(np.diff(delay)) > STEP) + 1, anew).astype(np.int64)
    cuts = [0]
    begin = 0
    for k, following in itertools.pairwise([*steps.tolist(), len(delay)]):
        back = max(begin, int(np.searchsorted(arrived, arrived[k - 1] - _BEFORE)))
        later = breaks[np.searchsorted(breaks, k, "right") :]
        ahead = int(np.searchsorted(arrived, arrived[k] + _AFTER, "right"))
        ahead = min(ahead, int(later[0])) if len(later) else ahead
        before, after = float(delay[back:k].min()), float(delay[k:ahead].min())
        jumped = bool(jumps[k - 1])
        # Without a jump of the stamps, only a clock that stood still makes a step, and upwards:
        # downwards it is a delay that has gone. A few packets that come late before a silence look
        # the same, for nobody sees them recover.
        stayed = after - before > STEP or (jumped and before - after > STEP) or k in anew
        late = not jumped and k not in anew
        few = late and following - k < _FEW and after - before < _LATE_AT_MOST
        if few and following < ahead:
            few = float(delay[following:ahead].min()) - after > STEP
        if stayed and not few:
            passed = np.arange(timely[k - 1] + 1, timely[k] + 1)
            lateness = (y - x)[passed]
            ours = lateness > after - STEP / 2 if after > before else lateness < before - STEP / 2
            cuts.append(int(passed[np.argmax(ours)]))
            begin = k
    return y, np.asarray(cuts, np.int64)


# ---------------------------------------------------------------- lines


def _fit_all(pieces: Sequence[tuple[Ints, Floats, Floats]], stamps: Ints) -> ClockMap:
    fits = [_under(x, y) for _, x, y in pieces]
    late = np.concatenate([y - fit.times for fit, (_, _, y) in zip(fits, pieces, strict=True)])
    jitter = float(late.mean()) if len(late) >= SHORT_RUN else _UNKNOWN_JITTER
    count = len(late)
    run, times, uncertainty = np.zeros(count, np.int64), np.zeros(count), np.zeros(count)
    runs = []
    for number, (fit, (index, _, y)) in enumerate(zip(fits, pieces, strict=True)):
        own = float((y - fit.times).mean())
        # The least of n exponential delays is itself exponential, with 1/n of their mean.
        doubt = 3 * (own if len(index) >= SHORT_RUN else max(own, jitter)) / len(index)
        run[index], times[index], uncertainty[index] = number, fit.times, doubt
        runs.append(
            Run(
                first=int(index[0]),
                last=int(index[-1]),
                packets=len(index),
                stamp=int(stamps[index[0]]),
                start=float(fit.times[0]),
                slope=fit.slope,
                pieces=fit.pieces,
                jitter=own,
                uncertainty=doubt,
            )
        )
    return ClockMap(runs=tuple(runs), run=run, times=times, uncertainty=uncertainty)


@dataclass(frozen=True, slots=True)
class _Fit:
    times: Floats
    """Session time of each packet of a run."""
    slope: float
    pieces: int = 1


def _under(x: Floats, y: Floats) -> _Fit:
    """What lies under the points of a run: the first of a line of two clocks, a steeper one, and
    several, that holds."""
    windows = _windows(x, y)
    gentle = _slope(x, y - x, SLOPE_LIMIT)
    times = _line(x, y, gentle)
    if _holds(y - times, windows):
        return _Fit(times, gentle)
    steep = _slope(x, y - x, STEEP)
    times = _line(x, y, steep)
    pieced = np.concatenate([_closest(x[a:b], y[a:b], (0.0, steep)) for a, b in windows])
    # A clock that leaps between replies is touched by a steep line, too, once in each.
    if _holds(y - times, windows) and float((pieced - times).mean()) < HOLDS / 4:
        return _Fit(times, steep)
    return _Fit(pieced, steep, len(windows))


def _closest(x: Floats, y: Floats, slopes: tuple[float, ...]) -> Floats:
    """The line under the points that is nearest to them, of these slopes and their own."""
    own = _slope(x, y - x, STEEP)
    return max((_line(x, y, slope) for slope in (*slopes, own)), key=lambda line: float(line.sum()))


def _windows(x: Floats, y: Floats) -> list[tuple[int, int]]:
    """Stretches of packets, parted by pauses, in each of which a sender in time touches its line;
    the few packets that may be left at an end are joined to what is before."""
    pauses = np.maximum(np.diff(x), np.diff(y)) > _PAUSE
    borders = [0]
    for k in range(1, len(x)):
        if (pauses[k - 1] or x[k] - x[borders[-1]] > _WINDOW) and k - borders[-1] >= SHORT_RUN:
            borders.append(k)
    if len(borders) > 1 and len(x) - borders[-1] < SHORT_RUN:
        borders.pop()
    return list(itertools.pairwise([*borders, len(x)]))


def _holds(late: Floats, windows: Sequence[tuple[int, int]]) -> bool:
    """Whether the fastest packets of most windows are on the line above which they are `late`."""
    astray = 0
    for a, b in windows:
        least = float(late[a:b].min())
        least_of_delays = 3 * float(late[a:b].mean() - least) / (b - a)
        astray += b - a if least > HOLDS + least_of_delays else 0
    return astray <= _ASTRAY * len(late)


def _line(x: Floats, y: Floats, slope: float) -> Floats:
    """The line of this slope under the points, at each of them."""
    delay = y - x
    return np.asarray(float((delay - slope * x).min()) + (1 + slope) * x)


def _slope(x: Floats, delay: Floats, limit: float) -> float:
    """Slope of the line under the points; none where there are too few to tell."""
    if x[-1] - x[0] < _LEVEL_RUN or len(x) < SHORT_RUN:
        return 0.0
    return float(np.clip(_hull_slope(x, delay), -limit, limit))


def _hull_slope(x: Floats, y: Floats) -> float:
    """Slope of the lower hull's side below the mean of x."""
    hull: list[tuple[float, float]] = []
    order = np.lexsort((y, x))
    for px, py in zip(x[order].tolist(), y[order].tolist(), strict=True):
        if hull and px == hull[-1][0]:
            continue
        while len(hull) > 1:
            (ax, ay), (bx, by) = hull[-2], hull[-1]
            if (by - ay) * (px - ax) >= (py - ay) * (bx - ax):
                hull.pop()
            else:
                break
        hull.append((px, py))
    middle = float(x.mean())
    for (ax, ay), (bx, by) in itertools.pairwise(hull):
        if bx >= middle:
            return (by - ay) / (bx - ax)
    return 0.0
