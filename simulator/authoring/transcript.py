"""The transcript of a preview: what is said when, what is wanted, and what the agent is told. Pure.

Counterparts: `simulator.authoring.moments` has the times, `simulator.session.prompt` the words.
"""

from __future__ import annotations

from collections.abc import Iterator

from simulator.authoring.moments import (
    clip_time,
    clock,
    evidence,
    given,
    waits,
    windows,
)
from simulator.media.timeline import Prepared, PreparedTurn
from simulator.session.prompt import instructions


def transcript(prepared: Prepared) -> str:
    """The whole text. Times are clip times; in brackets, stream times (turns joined, no holds)."""
    return "\n".join(_lines(prepared)) + "\n"


def _lines(prepared: Prepared) -> Iterator[str]:
    scenario = prepared.scenario
    yield f"{scenario.id}: {scenario.title}" if scenario.title else scenario.id
    yield (
        f"task {scenario.task}, pace {scenario.pace}, {len(prepared.turns)} turns, "
        f"{clock(prepared.duration)} s of stream"
    )
    for clip in scenario.clips.values():
        place = clip.url or (clip.path.name if clip.path else "")
        yield f"clip {clip.name}: {place} ({clip.licence or 'no licence'})"
    yield ""
    yield "The agent is told, before the first turn:"
    for line in instructions(scenario).splitlines():
        yield f"    {line}".rstrip()
    yield ""
    yield "Times are clip times; in brackets stream times."
    for turn in prepared.turns:
        yield ""
        yield from _turn(prepared, turn)


def _turn(prepared: Prepared, turn: PreparedTurn) -> Iterator[str]:
    plain = turn.turn
    first, last = clip_time(turn, 0.0), clip_time(turn, turn.duration)
    begins, ends = clock(turn.stream_start), clock(turn.stream_start + turn.duration)
    clip = f"  {plain.clip}" if len(prepared.scenario.clips) > 1 else ""
    yield f"#{plain.index + 1} {plain.id}  {clock(first)}-{clock(last)} [{begins}-{ends}]{clip}"
    for item in given(prepared):
        if item.turn is turn:
            start = clip_time(turn, item.start - turn.stream_start)
            end = clip_time(turn, item.end - turn.stream_start)
            yield f"    {clock(start)}-{clock(end)}  {item.voice} ({item.kind}): {item.text}"
    yield f"    wants {plain.expect.told}"
    for window in windows(prepared):
        if window.turn is turn:
            due = clip_time(turn, window.due - turn.stream_start)
            why = "event" if window.event else "end of the instruction"
            asked = f", asked for in {plain.asked_in}" if plain.asked_in else ""
            yield f"    due at {clock(due)} ({why}), within {window.within:g} s{asked}"
    for note in plain.expect.notes():
        yield f"    {note}"
    for owner, start, end in evidence(prepared):
        if owner is turn:
            yield f"    evidence: [{clock(start)}-{clock(end)}]"
    if waits(prepared, turn):
        yield "    then the last picture is held"
