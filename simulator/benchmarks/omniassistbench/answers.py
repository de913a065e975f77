"""`video_name,output_text`: somebody else's answers as a run to be judged, and ours as theirs.

A CSV says what was answered and nothing of when. So its traces have turns without a due time: words
are judged, latencies and lateness do not exist. The run is a run folder like any other: it can be
judged again, reported, compared. Counterparts: `simulator.judging.run` judges it,
`simulator.report.rows` reads it.
"""

from __future__ import annotations

import csv
import difflib
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from simulator.benchmarks.omniassistbench.names import EXAMPLE, bare, name_of
from simulator.benchmarks.omniassistbench.tables import CsvRow, read_table
from simulator.errors import InputError, InstrumentError
from simulator.measuring.stored import TRACE
from simulator.measuring.trace import (
    Attributed,
    Life,
    Pacing,
    Response,
    Trace,
    TurnSpan,
    trace_to_json,
)
from simulator.protocol.conditions import Conditions, Decide, Source
from simulator.protocol.conduct import Wants
from simulator.protocol.events import Outcome
from simulator.protocol.silence import TOKEN, is_silence_token
from simulator.report.rows import planned_trace
from simulator.run.accounting import AttemptResult, Ledger, read_attempts
from simulator.run.plan import AgentChoice, make_plan, open_run, read_plan
from simulator.run.sides import pick
from simulator.scenario.load import load_scenario
from simulator.scenario.types import Scenario, Turn

COLUMNS = ("video_name", "output_text")
CONDITIONS = Conditions(decide=Decide.TURN_END, source=Source.CSV)
"""How the benchmark has its models answer: once, at the end of each clip."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """A CSV held against scenarios."""

    path: Path
    texts: Mapping[str, str]
    """Turn id -> what was answered."""
    unknown: tuple[str, ...]
    """A line for each name that is no turn of the scenarios."""
    missing: int
    """Turns of the scenarios that have no row."""


def load_scenarios(folder: Path) -> list[Scenario]:
    """Every scenario below a folder. Raises InputError if there is none."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder", hint="name a folder of imported scenarios")
    files = sorted(folder.glob("*/*.yaml")) or sorted(folder.glob("*.yaml"))
    if not files:
        raise InputError(f"{folder}: holds no scenarios", hint="omnistage import omniassistbench")
    return [load_scenario(f) for f in files]


def rows_of(scenario: Scenario) -> tuple[Turn, ...]:
    """The turns that a row of the release stands behind."""
    return tuple(t for t in scenario.turns if t.id != EXAMPLE)


def read_answers(path: Path, scenarios: Sequence[Scenario]) -> Answers:
    """Read a CSV. Raises InputError for one that cannot be read, that answers none of the
    scenarios, or that answers one turn in two ways."""
    turns: dict[str, list[str]] = {}
    for scenario in scenarios:
        for turn in rows_of(scenario):
            turns.setdefault(name_of(turn.id), []).append(turn.id)
    given: dict[str, list[CsvRow]] = {}
    unknown = []
    for row in read_table(path, COLUMNS):
        written = row.cells["video_name"].strip()
        name = written if written in turns else bare(written)
        if name in turns:
            given.setdefault(name, []).append(row)
        else:
            unknown.append(f"{path}:{row.number}: {_unknown(written, turns)}")
    if not given:
        raise InputError(
            f"{path}: none of its {len(unknown)} names is a turn of the scenarios",
            hint=unknown[0].partition(": ")[2],
        )
    texts: dict[str, str] = {}
    for name, rows in given.items():
        texts |= _shared(path, name, turns[name], rows)
    return Answers(
        path=path,
        texts=texts,
        unknown=tuple(unknown),
        missing=sum(len(ids) for name, ids in turns.items() if name not in given),
    )


def _unknown(written: str, turns: Mapping[str, object]) -> str:
    if not written:
        return "video_name is empty"
    near = difflib.get_close_matches(written, turns, n=1, cutoff=0.7)
    return f"no turn is called {written!r}" + (f"; did you mean {near[0]}?" if near else "")


def _shared(path: Path, name: str, ids: Sequence[str], rows: Sequence[CsvRow]) -> dict[str, str]:
    """Which row answers which turn of one name: a name may be in the release twice."""
    texts = [row.cells["output_text"].strip() for row in rows]
    if len(rows) == len(ids):
        return dict(zip(ids, texts, strict=True))
    if len(set(texts)) == 1:
        return dict.fromkeys(ids, texts[0])
    raise InputError(
        f"{path}:{rows[1].number}: {name} is answered in line {rows[0].number} already, "
        "in other words",
        hint="leave one row for each name",
    )


def run_of(
    answers: Answers, scenarios: Sequence[Scenario], out: Path, *, label: str, judges: Sequence[str]
) -> None:
    """Write a run folder of the answers, ready to be judged. Raises InputError if `out` holds
    anything."""
    plan = make_plan(
        list(scenarios),
        [AgentChoice(label=label, reference=str(answers.path))],
        judges=judges,
        conditions=[CONDITIONS],
    )
    open_run(out, plan)
    by_id = {s.id: s for s in scenarios}
    alive = any(answers.texts.values())
    try:
        with Ledger(out) as ledger:
            for attempt in plan.attempts:
                scenario = by_id[attempt.scenario]
                folder = out / "recordings" / attempt.id
                folder.mkdir()
                shutil.copyfile(scenario.path, folder / "scenario.yaml")
                made = trace_of(scenario, answers.texts, agent=label, alive=alive)
                (folder / TRACE).write_bytes(trace_to_json(made))
                ledger.started(attempt)
                ledger.ended(
                    AttemptResult(attempt=attempt, outcome=Outcome.COMPLETED, folder=folder)
                )
    except OSError as error:
        raise InstrumentError(f"cannot write to {out}: {error.strerror}") from None


def trace_of(scenario: Scenario, texts: Mapping[str, str], *, agent: str, alive: bool) -> Trace:
    """A session of which only the words are known. A turn without a row was not reached; an empty
    cell is silence. `alive`: anything at all was answered in the CSV."""
    spans, responses, attribution = [], list[Response](), list[Attributed]()
    at = 0.0
    for turn in scenario.turns:
        text = texts.get(turn.id)
        there = text is not None or turn.id == EXAMPLE
        end = at + turn.duration if there else at
        spans.append(
            TurnSpan(
                id=turn.id,
                index=turn.index,
                expect=turn.expect.kind,
                conduct=turn.expect.conduct,
                start=at,
                end=end,
                done=end,
                reached=there,
                complete=there,
                within=turn.within,
                asked_in=turn.asked_in,
            )
        )
        if text:
            name = f"csv{turn.index}"
            responses.append(Response(id=name, first_text=end, text=text, status="completed"))
            attribution.append(_attributed(turn, name, text))
        at = end
    return Trace(
        scenario=scenario.id,
        agent=agent,
        outcome=Outcome.COMPLETED,
        play_at=0.0,
        end=at,
        turns=tuple(spans),
        heard=(),
        speech=(),
        responses=tuple(responses),
        attribution=tuple(attribution),
        pacing=Pacing(p50_ms=0.0, p99_ms=0.0, max_ms=0.0, packets=0),
        life=Life(transport=True, session=True, response=alive),
        conditions=CONDITIONS,
    )


def _attributed(turn: Turn, name: str, text: str) -> Attributed:
    if is_silence_token(text):
        return Attributed(response=name, turn=turn.id, by="token", flags=("silence_token",))
    alarm = turn.expect.wants is Wants.SILENCE
    return Attributed(
        response=name, turn=turn.id, by="wire", flags=("false_alarm",) if alarm else ()
    )


# ---------------------------------------------------------------- out


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """What became of a run's turns."""

    rows: int
    silent: int
    """Of the rows: turns in which nothing was said, written as the silence token."""
    left_out: tuple[str, ...]
    """Turns that were not played, or whose sound has no transcript."""


def export(run: Path, out: Path, *, agent: str | None = None, repeat: int = 1) -> Exported:
    """Write one agent's answers of one repeat as `video_name,output_text`.

    `agent`: its label, with its conditions where the run has it under several. Raises InputError
    for an agent or repeat that the run does not have, RecordingError for no run.
    """
    plan = read_plan(run)
    _, attempts = pick(plan, run, agent, options="--agent LABEL")
    mine = {a.id for a in attempts if a.repeat == repeat}
    if not 1 <= repeat <= plan.repeats:
        raise InputError(f"{run} has {plan.repeats} repeats, and no repeat {repeat}")
    ids = [t.id for s in plan.scenarios for t in s.turns]
    rows: list[tuple[str, str]] = []
    silent, left_out = 0, []
    for result in read_attempts(run, plan):
        attempt = result.attempt
        if attempt.id not in mine:
            continue
        trace = planned_trace(result.folder, attempt) if result.folder is not None else None
        for turn in plan.scenario(attempt.scenario).turns:
            if turn.id == EXAMPLE:
                continue
            own = name_of(turn.id)
            # Imported turns have ids of their own; elsewhere two scenarios may both have a `t1`.
            name = own if ids.count(turn.id) == 1 else f"{attempt.scenario}-{own}"
            text = _said(trace, turn.id)
            if text is None:
                left_out.append(f"{attempt.id}: {turn.id}")
                continue
            silent += text == TOKEN
            rows.append((name, text))
    _save(out, rows)
    return Exported(rows=len(rows), silent=silent, left_out=tuple(left_out))


def _said(trace: Trace | None, turn: str) -> str | None:
    """What was answered in a turn, the silence token if nothing; None if that is not known."""
    span = next((t for t in trace.turns if t.id == turn), None) if trace is not None else None
    if trace is None or span is None or not span.reached:
        return None
    spoken = [r for r, a in trace.responses_of(turn) if a.by != "token"]
    text = " ".join(r.text.strip() for r in spoken if r.text.strip())
    if not text and any(r.transcript_missing for r in spoken):
        return None
    return text or TOKEN


def _save(out: Path, rows: Iterable[tuple[str, str]]) -> None:
    try:
        with out.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(rows)
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror}") from None
