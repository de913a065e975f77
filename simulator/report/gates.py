"""Limits that a run must meet: `score>=60`, `latency_p95<=1.5`.

A gate on numbers that do not cover the plan is not met, whatever they say, nor is one on latencies
that do not cover the turns which want an answer: what was missed is no fast answer. Neither is one
on a run of unlike conditions that were not to be mixed. Turns at which the provider failed count 0
in the score here, though they are out of the mean: no agent meets a limit by failing. Counterparts:
`simulator.report.summary` has the numbers, `simulator.cli` turns gates into an exit status.
"""

from __future__ import annotations

import difflib
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from simulator.errors import InputError
from simulator.protocol.conditions import told
from simulator.report.summary import Summary
from simulator.run.sides import MIX

METRICS: Mapping[str, Callable[[Summary], float | None]] = {
    "score": lambda s: s.charged,
    "score_low": lambda s: s.score.low,
    "coverage": lambda s: s.score.coverage,
    "latency_p50": lambda s: s.latency_s.p50,
    "latency_p95": lambda s: s.latency_s.p95,
    "quiet_kept": lambda s: float(s.quiet.kept),
    "false_alarms": lambda s: float(s.quiet.false_alarms),
    "missed": lambda s: float(s.answers.missed),
    "late": lambda s: float(s.answers.late),
    "right": lambda s: float(s.answers.right),
    "overlap": lambda s: s.answers.overlap_s,
    "completed": lambda s: float(s.outcomes["completed"]),
    "pacing_p99": lambda s: s.pacing_ms.p99,
}
"""What a gate may name."""

_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "==": operator.eq,
}
_GATE = re.compile(r"\s*(?P<metric>[A-Za-z_]\w*)\s*(?P<op>>=|<=|==|>|<)\s*(?P<limit>[^\s=<>]+)\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """One limit."""

    metric: str
    op: str
    limit: float

    def __str__(self) -> str:
        return f"{self.metric}{self.op}{self.limit:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GateResult:
    """Whether a limit was met, and why not."""

    gate: Gate
    value: float | None
    met: bool
    why: str


def parse_gates(texts: Sequence[str]) -> tuple[Gate, ...]:
    """Gates from words like `score>=60`. Raises InputError for what is none."""
    return tuple(_parse(t) for t in texts)


def _parse(text: str) -> Gate:
    match = _GATE.fullmatch(text)
    names = ", ".join(METRICS)
    if match is None:
        raise InputError(
            f"--gate {text!r} is not a limit", hint=f"write METRIC>=NUMBER or <=; metrics: {names}"
        )
    metric = match["metric"]
    if metric not in METRICS:
        near = difflib.get_close_matches(metric, METRICS, n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InputError(f"--gate {text!r}: no metric is called {metric!r}", hint=f"{hint}{names}")
    try:
        limit = float(match["limit"])
    except ValueError:
        raise InputError(f"--gate {text!r}: {match['limit']!r} is not a number") from None
    if math.isnan(limit):
        raise InputError(f"--gate {text!r}: {match['limit']!r} is not a number")
    return Gate(metric=metric, op=match["op"], limit=limit)


def check_gates(
    gates: Sequence[Gate], summary: Summary, *, min_coverage: float = 1.0
) -> tuple[GateResult, ...]:
    """Hold a summary against limits. Below `min_coverage` (0 to 1) no gate is met."""
    return tuple(_check(g, summary, min_coverage) for g in gates)


def _check(gate: Gate, summary: Summary, min_coverage: float) -> GateResult:
    value = METRICS[gate.metric](summary)
    score = summary.score
    if summary.apart and not summary.mixed:
        why = f"attempts are under unlike conditions ({told(summary.apart)}); see {MIX}"
        return GateResult(gate=gate, value=value, met=False, why=why)
    if score.coverage < min_coverage:
        why = (
            f"{score.scored} of {score.planned} planned turns were scored: coverage "
            f"{score.coverage:.2f} is below {min_coverage:g}"
        )
        return GateResult(gate=gate, value=value, met=False, why=why)
    latency = summary.latency_s
    if gate.metric.startswith("latency") and latency.n < min_coverage * latency.wanted:
        why = f"only {latency.n} of {latency.wanted} turns that want an answer have a latency"
        return GateResult(gate=gate, value=value, met=False, why=why)
    if value is None:
        return GateResult(gate=gate, value=None, met=False, why="there is no such number")
    met = _COMPARE[gate.op](value, gate.limit)
    return GateResult(gate=gate, value=value, met=met, why=f"{gate.metric} is {value:.4g}")
