"""What became of every attempt: `attempts.jsonl`, one line when it starts and one when it ends.

Appended and flushed, so that a run killed at any moment can be read up to that moment.
Counterparts: `simulator.run.pool` writes it, `simulator.report.summary` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self, TextIO

from simulator.clock import utc_now
from simulator.errors import InstrumentError
from simulator.protocol.events import Outcome
from simulator.run.plan import RECORDINGS, Attempt, Plan
from simulator.text import well_formed

ATTEMPTS_FILE = "attempts.jsonl"


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResult:
    """How one attempt ended."""

    attempt: Attempt
    outcome: Outcome
    reason: str = ""
    folder: Path | None = None
    """Its recording; None if it never began one."""
    seconds: float = 0.0
    """Wall-clock seconds that it took."""
    shared_host: bool = False
    """An agent that computes on this machine ran beside others: latencies are marked."""


class Ledger:
    """The open `attempts.jsonl` of a run."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        # A reason may quote an agent, which sends what it likes: JSON reads the escapes back.
        self._file = (self._run / ATTEMPTS_FILE).open(
            "a", encoding="utf-8", errors="backslashreplace"
        )
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def started(self, attempt: Attempt) -> None:
        self._line({"edge": "start", "attempt": attempt.id, "at": utc_now()})

    def ended(self, result: AttemptResult) -> None:
        folder = result.folder
        self._line(
            {
                "edge": "end",
                "attempt": result.attempt.id,
                "at": utc_now(),
                "outcome": str(result.outcome),
                "reason": result.reason,
                "recording": folder.name if folder is not None else None,
                "seconds": round(result.seconds, 3),
                "shared_host": result.shared_host,
            }
        )

    def _line(self, body: dict[str, object]) -> None:
        if self._file is None:
            raise ValueError("the ledger is not open")
        try:
            self._file.write(json.dumps(body, ensure_ascii=False) + "\n")
            self._file.flush()
        except OSError as error:
            why = error.strerror or str(error)
            raise InstrumentError(f"cannot write {ATTEMPTS_FILE}: {why}") from None


def read_attempts(run: Path, plan: Plan) -> tuple[AttemptResult, ...]:
    """How every planned attempt ended, in the plan's order, as far as the folder tells.

    An attempt with a start and no end was running when the simulator died: instrument_invalid. One
    with neither was never begun: cancelled. Lines that are cut off or of unknown attempts are left.
    """
    started: set[str] = set()
    ended: dict[str, dict[str, object]] = {}
    path = run / ATTEMPTS_FILE
    # Not splitlines(): it parts at U+2028 and others, which a reason may hold.
    lines = path.read_text("utf-8", errors="replace").split("\n") if path.is_file() else []
    for line in lines:
        try:
            body = json.loads(line)
            name, edge = str(body["attempt"]), body["edge"]
        except (ValueError, KeyError, TypeError):
            continue  # the tail of a killed run
        if edge == "start":
            started.add(name)
        elif edge == "end":
            ended[name] = body
    return tuple(_result(run, a, ended.get(a.id), a.id in started) for a in plan.attempts)


def _result(
    run: Path, attempt: Attempt, end: dict[str, object] | None, started: bool
) -> AttemptResult:
    folder = run / RECORDINGS / attempt.id
    kept = folder if folder.is_dir() else None
    if end is None:
        return AttemptResult(
            attempt=attempt,
            outcome=Outcome.INSTRUMENT_INVALID if started else Outcome.CANCELLED,
            reason="the simulator ended before the attempt did, or plays it still"
            if started
            else "never started",
            folder=kept,
        )
    try:
        outcome = Outcome(str(end.get("outcome")))
    except ValueError:
        outcome = Outcome.INSTRUMENT_INVALID
    seconds = end.get("seconds")
    return AttemptResult(
        attempt=attempt,
        outcome=outcome,
        reason=well_formed(str(end.get("reason") or "")),
        folder=kept,
        seconds=float(seconds) if isinstance(seconds, int | float) else 0.0,
        shared_host=end.get("shared_host") is True,
    )


def count_outcomes(results: Sequence[AttemptResult]) -> dict[str, int]:
    """How many attempts ended in each way; every outcome is named, also at none."""
    return {str(o): sum(r.outcome is o for r in results) for o in Outcome}
