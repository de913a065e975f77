"""How well onsets are placed on session time when an agent's RTP clock misbehaves.

Synthetic agents talk for ten minutes through a path with exponential jitter. Three ways to time the
first packet of each utterance: the fit per run, one fit for the whole call, and plain arrival.

    python tests/bench/bench_clockmap.py [--json] [--quick]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from simulator.clock import WallClock
from simulator.measuring import clockmap
from simulator.measuring.clockmap import map_runs
from simulator.protocol.rtp import unwrap

RATE = 48_000
LEAST = 0.020
"""The path's least delay, in seconds."""
CASES = ("steady", "drifts 100 ppm", "stalls and re-bases", "restarts")
WAYS = ("per run", "single fit", "arrival")
Array = np.ndarray[Any, np.dtype[Any]]


def talk(case: str, jitter: float, seed: int, seconds: float) -> tuple[Array, Array, Array, Array]:
    """Stamps, arrivals, true times, and which packets begin an utterance."""
    rng = np.random.default_rng(seed)
    times: list[Array] = []
    shifts: list[Array] = []
    first: list[int] = []
    at, stalled, count = 1.0, 0.0, 0
    while at < seconds:
        packets = int(rng.integers(20, 200))
        pause = float(rng.uniform(0.5, 6.0))
        shift = 0.0
        if case == "stalls and re-bases":
            # The clock stands still in silence; now and then it is set right again.
            stalled = 0.0 if len(first) % 5 == 4 else stalled
            shift = -stalled
        elif case == "restarts":
            shift = float(rng.integers(0, 2**30)) / RATE
        times.append(at + 0.02 * np.arange(packets))
        shifts.append(np.full(packets, shift))
        first.append(count)
        count += packets
        stalled += pause
        at = round((at + 0.02 * packets + pause) / 0.02) * 0.02
    sent = np.concatenate(times)
    drift = 100e-6 if case.startswith("drifts") else 0.0
    stamps = np.round((sent * (1 + drift) + np.concatenate(shifts)) * RATE).astype(np.int64)
    truth = sent + LEAST
    return stamps % 2**32, truth + rng.exponential(jitter, count), truth, np.asarray(first)


def single_fit(stamps: Array, arrivals: Array) -> Array:
    """All packets on one line under the points: what the fit per run is compared with."""
    x = unwrap(stamps, 32) / RATE
    slope = clockmap._slope(x, arrivals - x, clockmap.SLOPE_LIMIT)
    return clockmap._line(x, arrivals, slope)


def errors(case: str, jitter: float, seed: int, seconds: float) -> tuple[Array, Array, Array]:
    """Onset errors in ms, for each of WAYS."""
    stamps, arrivals, truth, first = talk(case, jitter, seed, seconds)
    order = np.argsort(arrivals, kind="stable")
    mapped = np.empty(len(order))
    mapped[order] = map_runs(order, stamps[order], arrivals[order], RATE).times
    ways = (mapped, single_fit(stamps, arrivals), arrivals)
    one, two, three = (np.abs(way - truth)[first] * 1e3 for way in ways)
    return one, two, three


def measure(seconds: float, seeds: int) -> dict[str, Any]:
    print(f"onset error in ms, median / worst of {seeds} calls of {seconds:.0f} s")
    print(f"{'RTP clock':22} {'jitter':>7}   " + "".join(f"{way:>24}" for way in WAYS))
    cases: list[dict[str, Any]] = []
    for case in CASES:
        for jitter in (0.002, 0.005, 0.010):
            runs = [errors(case, jitter, seed, seconds) for seed in range(seeds)]
            columns = [np.concatenate([run[way] for run in runs]) for way in range(len(WAYS))]
            figures = [(float(np.median(c)), float(c.max())) for c in columns]
            cells = "".join(f"{median:12.5g} / {worst:9.5g}" for median, worst in figures)
            print(f"{case:22} {jitter * 1e3:4.0f} ms   {cells}")
            cases.append(
                {"case": case, "jitter_ms": jitter * 1e3}
                | {
                    way.replace(" ", "_"): {"median_ms": median, "max_ms": worst}
                    for way, (median, worst) in zip(WAYS, figures, strict=True)
                }
            )
    clock = WallClock()
    stamps, arrivals, _, _ = talk("steady", 0.005, 0, 600.0)
    began = clock.now()
    map_runs(np.arange(len(stamps)), stamps, arrivals, RATE)
    spent = clock.now() - began
    print(f"mapping ten minutes ({len(stamps)} packets) takes {spent * 1e3:.0f} ms")
    worst = max(case["per_run"]["max_ms"] for case in cases)
    return {"bench": "clockmap", "max_ms": worst, "map_seconds": spent, "cases": cases}


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    args = parser.parse_args(arguments)
    figures = measure(seconds=600.0, seeds=3 if args.quick else 20)
    if args.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main(sys.argv[1:])
