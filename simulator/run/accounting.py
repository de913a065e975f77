"""What became of every attempt: `attempts.jsonl`.

One line when a try of it starts, one when it ends, and one more where its recording shows that it
came to something else.
Appended and flushed, so that a run killed at any moment can be read up to that moment.
Counterparts: `simulator.run.pool` writes it, `simulator.run.tries` says which try follows,
`simulator.report.summary` reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self, TextIO

from simulator.clock import utc_now
from simulator.errors import InstrumentError
from simulator.protocol.events import Outcome
from simulator.run.plan import RECORDINGS, Attempt, Plan
from simulator.text import well_formed

ATTEMPTS_FILE = "attempts.jsonl"

SPOILT = frozenset({Outcome.INSTRUMENT_INVALID, Outcome.CANCELLED})
"""What says nothing of the agent: where there is another try, such a one does not count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptResult:
    """How one attempt ended: the try that counts, with the others beside it."""

    attempt: Attempt
    number: int = 1
    """Which try of it this is, from 1."""
    outcome: Outcome
    reason: str = ""
    folder: Path | None = None
    """Its recording; None if it never began one."""
    seconds: float = 0.0
    """Wall-clock seconds that it took."""
    shared_host: bool = False
    """An agent that computes on this machine ran beside others: latencies are marked."""
    measured: bool = False
    """The outcome is what its recording shows, against what the session believed."""
    begun: bool = True
    ended: bool = True
    """False: it was running when the simulator died, or is still."""
    others: tuple[AttemptResult, ...] = ()
    """The other tries, in order: kept, shown, and in no mean."""

    @property
    def name(self) -> str:
        """What the try is called, and its folder."""
        return self.attempt.named(self.number)

    @property
    def tries(self) -> tuple[AttemptResult, ...]:
        """All tries in the order in which they were played."""
        alone = replace(self, others=())
        return tuple(sorted((alone, *self.others), key=lambda t: t.number))


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

    def started(self, attempt: Attempt, number: int = 1) -> None:
        self._line({"edge": "start", "attempt": attempt.named(number), "at": utc_now()})

    def ended(self, result: AttemptResult) -> None:
        folder = result.folder
        self._line(
            {
                "edge": "end",
                "attempt": result.name,
                "at": utc_now(),
                "outcome": str(result.outcome),
                "reason": result.reason,
                "recording": folder.name if folder is not None else None,
                "seconds": round(result.seconds, 3),
                "shared_host": result.shared_host,
            }
        )

    def measured(self, result: AttemptResult) -> None:
        """Its recording shows another outcome than the session ended with."""
        self._line(
            {
                "edge": "measured",
                "attempt": result.name,
                "at": utc_now(),
                "outcome": str(result.outcome),
                "reason": result.reason,
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


@dataclass(slots=True)
class _Lines:
    """What a ledger says of tries, by their names."""

    started: set[str] = field(default_factory=set)
    ended: dict[str, Mapping[str, object]] = field(default_factory=dict)
    measured: dict[str, Mapping[str, object]] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        return name in self.started or name in self.ended


def read_attempts(run: Path, plan: Plan) -> tuple[AttemptResult, ...]:
    """How every planned attempt ended, in the plan's order, as far as the folder tells.

    A try with a start and no end was running when the simulator died: instrument_invalid. An
    attempt with neither was never begun: cancelled. Lines that are cut off or of unknown attempts
    are left.

    The first try counts, and no later one for being better. Only one that our own instrument
    spoilt, or that we cut short, gives way to the first that was not: it has no scores to choose.
    """
    lines = _read_lines(run / ATTEMPTS_FILE)
    return tuple(_counted(_tries(run, attempt, lines)) for attempt in plan.attempts)


def _read_lines(path: Path) -> _Lines:
    found = _Lines()
    # Not splitlines(): it parts at U+2028 and others, which a reason may hold.
    lines = path.read_text("utf-8", errors="replace").split("\n") if path.is_file() else []
    for line in lines:
        try:
            body = json.loads(line)
            name, edge = str(body["attempt"]), body["edge"]
        except (ValueError, KeyError, TypeError):
            continue  # the tail of a killed run
        if edge == "start":
            found.started.add(name)
        elif edge == "end":
            found.ended[name] = body
        elif edge == "measured":
            found.measured[name] = body
    return found


def _tries(run: Path, attempt: Attempt, lines: _Lines) -> list[AttemptResult]:
    tries = [_result(run, attempt, 1, lines)]
    while attempt.named(len(tries) + 1) in lines:
        tries.append(_result(run, attempt, len(tries) + 1, lines))
    return tries


def _counted(tries: Sequence[AttemptResult]) -> AttemptResult:
    counts = next((t for t in tries if t.outcome not in SPOILT), tries[0])
    return replace(counts, others=tuple(t for t in tries if t is not counts))


def _result(run: Path, attempt: Attempt, number: int, lines: _Lines) -> AttemptResult:
    name = attempt.named(number)
    folder = run / RECORDINGS / name
    kept = folder if folder.is_dir() else None
    end, begun = lines.ended.get(name), name in lines.started
    if end is None:
        return AttemptResult(
            attempt=attempt,
            number=number,
            outcome=Outcome.INSTRUMENT_INVALID if begun else Outcome.CANCELLED,
            reason="the simulator ended before the attempt did, or plays it still"
            if begun
            else "never started",
            folder=kept,
            begun=begun,
            ended=False,
        )
    found = lines.measured.get(name, end)
    try:
        outcome = Outcome(str(found.get("outcome")))
    except ValueError:
        outcome = Outcome.INSTRUMENT_INVALID
    seconds = end.get("seconds")
    return AttemptResult(
        attempt=attempt,
        number=number,
        outcome=outcome,
        reason=well_formed(str(found.get("reason") or "")),
        folder=kept,
        seconds=float(seconds) if isinstance(seconds, int | float) else 0.0,
        shared_host=end.get("shared_host") is True,
        measured=name in lines.measured,
        begun=begun,
    )


def count_outcomes(results: Sequence[AttemptResult]) -> dict[str, int]:
    """How many attempts ended in each way; every outcome is named, also at none."""
    return {str(o): sum(r.outcome is o for r in results) for o in Outcome}
