"""The transcript of a preview: what is said when, what is wanted, and what the agent is told. Pure.

Counterparts: `simulator.report.timeline` has the times, `simulator.session.prompt` the words.
"""

from __future__ import annotations

from collections.abc import Iterator

from simulator.authoring.wording import clock
from simulator.media.timeline import Prepared
from simulator.report.timeline.lanes import Span, Timeline, clip_time
from simulator.scenario.types import Turn
from simulator.session.prompt import instructions


def transcript(prepared: Prepared, timeline: Timeline) -> str:
    """The whole text. Times are clip times; in brackets, stream times (turns joined, no holds)."""
    return "\n".join(_lines(prepared, timeline)) + "\n"


def _lines(prepared: Prepared, timeline: Timeline) -> Iterator[str]:
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
    several = len(scenario.clips) > 1
    for played in timeline.spans("video"):
        if played.kind == "play":
            yield ""
            yield from _turn(scenario.turn(played.turn), played, timeline, several)
        else:
            yield "    then the last picture is held"


def _turn(turn: Turn, played: Span, timeline: Timeline, several: bool) -> Iterator[str]:
    """What there is to say of a turn; `several`: of which clip it is, too."""

    def shown(at: float) -> str:
        return clock(clip_time(played, at))

    first, last = shown(played.start), shown(played.end)
    begins, ends = clock(played.start), clock(played.end)
    clip = f"  {turn.clip}" if several else ""
    yield f"#{turn.index + 1} {turn.id}  {first}-{last} [{begins}-{ends}]{clip}"
    for given in timeline.spans("instructions", turn=turn.id):
        when = f"{shown(given.start)}-{shown(given.end)}"
        yield f"    {when}  {given.by} ({given.kind}): {given.text}"
    yield f"    wants {turn.expect.told}"
    for window in timeline.spans("windows", turn=turn.id):
        asked = f", asked for in {turn.asked_in}" if turn.asked_in else ""
        why = "event" if window.by == "event" else "end of the instruction"
        yield f"    due at {shown(window.start)} ({why}), within {turn.within:g} s{asked}"
    for note in turn.expect.notes():
        yield f"    {note}"
    for seen in timeline.spans("evidence", turn=turn.id):
        yield f"    evidence: [{clock(seen.start)}-{clock(seen.end)}]"
