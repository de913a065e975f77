"""The timeline of a session, from what was measured in its recording. Pure.

What the trace does not have comes from the recording's events: holds, context, faults, health.
Counterparts: `simulator.measuring.trace` has what was measured, `.stream` makes the timeline of a
scenario that has not been played, `.lanes` has the types.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace

from simulator.judging.judge import Verdict
from simulator.measuring.trace import Heard, Response, Trace, TurnSpan
from simulator.recording.records import (
    ContextRecord,
    FaultRecord,
    HealthRecord,
    SegmentRecord,
    Stamped,
)
from simulator.report.timeline.lanes import TIMELINE_VERSION, LaneId, Span, Timeline, lane
from simulator.report.timeline.scripted import (
    evidence_spans,
    instruction_span,
    play_span,
    turn_span,
    window_span,
)
from simulator.scenario.types import Scenario

RECORDED: tuple[LaneId, ...] = ("context", "faults", "health")
"""The lanes that come of a recording's events alone."""


def session_timeline(
    trace: Trace,
    scenario: Scenario,
    *,
    events: Sequence[Stamped] | None = None,
    verdicts: Iterable[Verdict] | None = None,
) -> Timeline:
    """What happened in a session of `scenario`, the one that its trace was measured with.

    Without `events` the lanes of context, faults and health are not there, and no hold is known;
    without `verdicts` there is no lane of those.
    """
    turns = [_turn(t, scenario) for t in trace.turns]
    instructions = [_instruction(h, scenario) for h in trace.heard]
    responses = [_response(r, trace) for r in trace.responses]
    speech = _speech(trace, responses)
    dues = [t.due for t in trace.turns if t.due is not None]
    end = max([trace.end, *dues, *(s.end for s in (*turns, *instructions, *responses))])
    played = [play_span(scenario.turn(t.id), t.start, t.end) for t in trace.turns if t.reached]
    lanes = [
        lane("turns", turns),
        lane("video", [*played, *_between(events or (), played, end)]),
        lane("instructions", instructions),
        lane("evidence", evidence_spans(scenario, played)),
        lane("windows", _windows(trace, scenario, end)),
        lane("responses", responses),
        lane("speech", speech),
        lane("overlaps", _overlaps(instructions, speech)),
    ]
    if verdicts is not None:
        on = {span.turn: span for span in turns}
        lanes.append(lane("verdicts", (_verdict(v, on[v.turn]) for v in verdicts)))
    if events is not None:
        told = [found for event in events if (found := _told(event)) is not None]
        for id in RECORDED:
            lanes.append(lane(id, (span for where, span in told if where == id)))
    return Timeline(
        version=TIMELINE_VERSION,
        scenario=trace.scenario,
        agent=trace.agent,
        clock="session",
        origin=trace.play_at,
        end=end,
        lanes=tuple(lanes),
    )


def _turn(turn: TurnSpan, scenario: Scenario) -> Span:
    flags = {
        "not_reached": not turn.reached,
        "cut": turn.reached and not turn.complete,
        "no_opportunity": turn.opportunity is False,
    }
    return turn_span(
        scenario.turn(turn.id),
        turn.start,
        turn.done,
        *(flag for flag, holds in flags.items() if holds),
        **_numbers(send_error_ms=turn.send_error_ms, stalled_s=turn.stalled_s or None),
    )


def _between(events: Sequence[Stamped], played: Sequence[Span], end: float) -> Iterator[Span]:
    """What was played between the turns' segments: each part until the next edge. The events may
    tell of more than left: what belongs to a turn that was not reached was not played."""
    turns = {span.turn for span in played}
    parts = [
        e.record for e in events if isinstance(e.record, SegmentRecord) and e.record.of in turns
    ]
    for n, part in enumerate(parts):
        if part.edge == "start" and part.part != "play" and part.at < end:
            until = parts[n + 1].at if n + 1 < len(parts) else end
            yield Span(
                start=part.at,
                end=min(until, end),
                kind=part.part,
                by=part.clip,
                turn=part.of,
                numbers={"clip_start": part.start},
            )


def _instruction(heard: Heard, scenario: Scenario) -> Span:
    index = int(heard.id.rpartition("/")[2])
    flags = ("cut",) if heard.cut else ()
    return instruction_span(scenario.turn(heard.turn), index, heard.start, heard.end, *flags)


def _windows(trace: Trace, scenario: Scenario, end: float) -> Iterator[Span]:
    for turn in trace.turns:
        if turn.due is not None and turn.conduct.owed:
            yield window_span(
                scenario.turn(turn.id),
                turn.due,
                turn.within,
                end,
                why=turn.due_kind or "",
                uncertainty_s=turn.due_uncertainty,
            )


def _response(response: Response, trace: Trace) -> Span:
    """From its onset to its end. One that neither sounded nor wrote lies where the wire spoke of
    it."""
    placed = next((a for a in trace.attribution if a.response == response.id), None)
    times = (response.onset, response.begun, trace.end)
    start = next(t for t in times if t is not None)
    flags = {
        "listened": response.listened,
        "no_transcript": response.transcript_missing,
        "failed": response.status == "failed",
        "incomplete": response.status == "incomplete",
    }
    return Span(
        start=start,
        end=start if response.end is None else response.end,
        kind=_sort(response),
        by=placed.by if placed else "",
        text=response.text,
        turn=(placed.turn or "") if placed else "",
        response=response.id,
        flags=(
            *(placed.flags if placed else ()),
            *(flag for flag, holds in flags.items() if holds),
        ),
        numbers={"uncertainty_s": response.uncertainty},
    )


def _sort(response: Response) -> str:
    """How a response could be noticed."""
    if response.speech:
        return "speech"
    if response.first_text is not None:
        return "text"
    return "listened" if response.listened else "nothing"


def _speech(trace: Trace, responses: Sequence[Span]) -> list[Span]:
    """What was audible of each response, run by run."""
    return [
        replace(
            whole,
            start=run.start,
            end=run.end,
            text="",
            numbers={"uncertainty_s": run.uncertainty},
        )
        for response, whole in zip(trace.responses, responses, strict=True)
        for run in response.speech
    ]


def _overlaps(instructions: Sequence[Span], speech: Sequence[Span]) -> Iterator[Span]:
    """Where the agent and somebody in the scenario were audible at once."""
    for given in instructions:
        for run in speech:
            start, end = max(given.start, run.start), min(given.end, run.end)
            if start < end and "seen" not in given.flags:
                yield Span(
                    start=start,
                    end=end,
                    kind="overlap",
                    by=given.by,
                    turn=given.turn,
                    response=run.response,
                )


def _verdict(verdict: Verdict, turn: Span) -> Span:
    """Beside the whole turn that it is on."""
    return Span(
        start=turn.start,
        end=turn.end,
        kind=verdict.state.value,
        by=verdict.judge,
        text=verdict.why,
        turn=verdict.turn,
        numbers=_numbers(score=verdict.score, content=verdict.content),
    )


def _told(event: Stamped) -> tuple[LaneId, Span] | None:
    """What an event tells by itself, and in which lane; None if nothing."""
    at, turn = event.t, event.turn or ""
    match event.record:
        case ContextRecord() as record:
            first, last = record.span or (None, None)
            numbers = _numbers(
                tokens=record.tokens,
                used=record.used,
                window=record.window,
                span_start=first,
                span_end=last,
            )
            return "context", Span(
                start=at, end=at, kind=record.op, by=record.kind, turn=turn, numbers=numbers
            )
        case FaultRecord() as record:
            return "faults", Span(
                start=at,
                end=at,
                kind=record.code,
                by=record.whose,
                text=record.message,
                turn=turn,
                flags=("fatal",) if record.fatal else (),
            )
        case HealthRecord() as record:
            numbers = _numbers(**{f.name: getattr(record, f.name) for f in fields(record)})
            return "health", Span(start=at, end=at, kind="health", turn=turn, numbers=numbers)
    return None


def _numbers(**values: float | None) -> dict[str, float]:
    """Those that are numbers."""
    return {
        name: float(value)
        for name, value in values.items()
        if isinstance(value, int | float) and math.isfinite(value)
    }
