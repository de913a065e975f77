"""The live script and attribution say of every response that it is the same turn's.

One session, seen twice: by the script while it happens, and by what measuring makes of the same
events afterwards. They may differ where the second knows more, and nowhere else:

- where the wire names what a response answers, or a guess links them (rule 1): nothing does here;
- where the events of one response cannot be told from another's but in hindsight: agents here keep
  to a protocol, with ids or without, and say one thing after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.agent import Traits
from simulator.measuring import spans
from simulator.measuring.attribution import attribute
from simulator.measuring.texts import TEXT_REACH
from simulator.measuring.trace import Attributed, Response, Speech
from simulator.measuring.utterances import responses
from simulator.media.timeline import Prepared
from simulator.protocol.events import (
    AgentSpeech,
    Drained,
    Event,
    Outcome,
    Play,
    Ready,
    ResponseEnded,
    ResponseStarted,
    Text,
)
from simulator.protocol.silence import TOKEN
from simulator.recording.manifest import describe
from simulator.recording.records import SegmentRecord, Stamped
from simulator.scenario.types import Anchor, Pace, Placement
from simulator.session.due_records import record_of
from simulator.session.onsets import Onsets
from simulator.session.script import FIRST_LEAD, Script
from simulator.testing import Rehearsal, Sketch, asks, cuts_in, event, prepared, quiet, standing
from tests.trial_kinds import Telling

Timed = tuple[float, Event]


@dataclass(frozen=True, slots=True)
class Seen:
    """A session as the script left it, and as measuring finds it."""

    live: dict[float, str]
    """Onset of a response -> its turn."""
    after: dict[float, str]


def see(turns: Sequence[Sketch], says: Sequence[Timed], pace: Pace) -> Seen:
    made = prepared(*turns, pace=pace)
    script = Script(made, instructions="")
    played = Rehearsal(script=script).run([(1.0, Ready()), *says], until=3000)
    assert played.finish is not None
    end, how = played.finish
    assert how.outcome is Outcome.COMPLETED
    happened = [(t, e) for t, e in says if t < end]
    onsets, known = Onsets(), dict[str, float | None]()
    for t, e in happened:
        known |= dict(onsets.hear(e, t))
    live = {round(at, 6): script.owners[n] for n, at in known.items() if at and n in script.owners}
    found, attributed = measured(made, played, happened, end)
    onset = {r.id: r.onset for r in found}
    after = {
        round(onset[a.response] or 0.0, 6): a.turn
        for a in attributed
        if a.turn is not None and a.by != "token"
    }
    return Seen(live, after)


def measured(
    made: Prepared, played: Rehearsal, happened: Sequence[Timed], end: float
) -> tuple[tuple[Response, ...], tuple[Attributed, ...]]:
    """What measuring makes of the same events."""
    stamped = [
        Stamped(seq=seq, t=t, turn=None, record=record)
        for seq, (t, e) in enumerate(happened)
        if (record := record_of(e)) is not None
    ]
    edges = [t for t, e in happened if isinstance(e, AgentSpeech)] + [end]
    islands = [Speech(start=a, end=b) for a, b in zip(edges[::2], edges[1::2], strict=False)]
    plays = [c for _, c in played.commands if isinstance(c, Play)]
    starts = [(made.turns[c.turn].turn.id, c.at) for c in plays]
    segments = [
        Stamped(seq=0, t=at, turn=of, record=SegmentRecord(edge="start", part="play", of=of, at=at))
        for of, at in starts
    ]
    manifest = describe(made, reference="a", traits=Traits(summary=""))
    what = spans.played(segments, until=end, end=end)
    heard = spans.heard(manifest, what, lambda t: 0.0)
    turns = spans.turn_spans(manifest, what, heard)
    found = responses(stamped, islands)
    return found, attribute(turns, heard, found, user_items={}, gold={})


# ------------------------------------------------------------------ scenarios and agents

hundredths = st.integers(0, 1200).map(lambda n: n / 100)


def between(low: float, high: float) -> st.SearchStrategy[float]:
    return st.integers(round(low * 100), round(high * 100)).map(lambda n: n / 100)


@st.composite
def scenarios(draw: st.DrawFn, pace: Pace) -> list[Sketch]:
    out: list[Sketch] = []
    kinds = ["asks", "quiet", "guest", "standing", "event", "asked", "cuts", "telling"]
    for n in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(kinds))
        seconds = draw(st.integers(100, 400)) / 50
        name = f"t{n}"
        within = draw(between(1, 6))
        stands = [s.id for s in out if s.said and s.said[0][0] == "user"]
        match kind:
            case "asks":
                sketch = asks(name, seconds, speech=draw(between(0.5, 1.9)))
                out.append(replace(sketch, within=within))
            case "telling":
                telling = Telling(happens=("It rains.",))
                out.append(replace(standing(name, seconds), expect=telling, within=within))
            case "guest":
                out.append(quiet(name, seconds, guest=(0.5, draw(between(0.8, 2)))))
            case "standing":
                out.append(standing(name, seconds))
            case "event" | "asked":
                asked_in = draw(st.sampled_from(stands)) if stands and kind == "asked" else None
                at, said = draw(between(0, seconds)), draw(between(0, seconds - 1))
                sketch = event(name, seconds, at=at, within=within, asked_in=asked_in)
                asking = (("user", said, said + 1),) if draw(st.booleans()) else ()
                out.append(replace(sketch, said=asking))
            case "cuts" if out and pace is Pace.WAIT:
                anchor = draw(st.sampled_from([Anchor.SPEAKING, Anchor.STOPPED]))
                out.append(cuts_in(name, seconds, Placement(anchor=anchor, at=draw(between(0, 2)))))
            case _:
                out.append(quiet(name, seconds))
    return out


@st.composite
def agents(draw: st.DrawFn) -> list[Timed]:
    """What an agent does that keeps to a protocol: one thing after the other, whenever it likes."""
    ids = draw(st.booleans())
    now, out = draw(between(0.2, 4)), list[Timed]()
    for n in range(draw(st.integers(0, 8))):
        said, now = draw(named(f"r{n}", now) if ids else unnamed(now))
        out += said
        now += draw(st.one_of(between(0.05, 1.5), between(0.5, 12)))
    return sorted(out, key=lambda timed: timed[0])


def sound(draw: st.DrawFn, start: float, out: list[Timed]) -> float:
    """A stretch of sound or several; returns its end."""
    end = start
    for n in range(draw(st.integers(1, 2))):
        start = end + draw(st.sampled_from([0.12, 0.4, 0.65])) if n else start
        end = start + draw(between(0.4, 5))
        out += [(start, AgentSpeech(edge="start")), (end, AgentSpeech(edge="end"))]
    return end


@st.composite
def named(draw: st.DrawFn, name: str, now: float) -> tuple[list[Timed], float]:
    """A response with an id, as OpenAI's protocol tells it."""
    out: list[Timed] = []
    begun, end = now, now
    how = draw(st.sampled_from(["sound", "text", "both"]))
    if how != "text":
        start = now + draw(between(0, 1.5))
        if draw(st.booleans()):
            begun = start + draw(
                st.sampled_from([0.0, 0.03, 0.09, 0.3, 0.45])
            )  # announced a little late
        end = sound(draw, start, out)
    out.insert(0, (begun, ResponseStarted(response=name)))
    if how != "sound":
        words = draw(st.sampled_from(["Yes.", "It is here.", TOKEN]))
        at = begun + draw(st.one_of(between(0, 2), between(0, 9)))
        kind: Literal["output", "transcript"] = "output" if how == "text" else "transcript"
        if draw(st.booleans()):
            half = len(words) // 2
            pieces = words[:half], words[half:]
            out += [(at, Text(text=w, response=name, kind=kind)) for w in pieces]
        out.append((at, Text(text=words, response=name, kind=kind, final=True)))
        end = max(end, at) if how == "text" else end
    out.append((max(end, begun) + draw(between(0, 1)), ResponseEnded(response=name)))
    if how != "text" and draw(st.booleans()):
        drained = end + draw(between(0, 0.3))
        if begun == now and draw(st.booleans()):
            drained = draw(between(begun, end))  # the sound trails what the wire says of it
        out.append((drained, Drained(response=name)))
        end = max(end, drained)
    return out, max(end, begun)


@st.composite
def unnamed(draw: st.DrawFn, now: float) -> tuple[list[Timed], float]:
    """Something said or written by an agent whose protocol has no ids."""
    out: list[Timed] = []
    words = draw(st.sampled_from(["Yes.", "It is here.", TOKEN]))
    if draw(st.booleans()):
        end = sound(draw, now, out)
        if draw(st.booleans()):
            at = now + draw(st.floats(0, 1)) * (end - now)
            out.append((at, Text(text=words, kind="transcript", final=True)))
        return out, end
    # Whose it would be beside sound that has just ended, the next sound would tell.
    now += TEXT_REACH
    return [(now, Text(text=words, final=True))], now


def test_what_began_before_a_token_was_known_to_be_one_is_judged_again() -> None:
    """Its transcript comes when the next response has begun: that one is the answer, after all."""
    due = 1.0 + FIRST_LEAD + 5
    says: list[Timed] = [
        (due + 0.2, ResponseStarted(response="r1")),
        (due + 0.2, AgentSpeech(edge="start")),
        (due + 1.0, AgentSpeech(edge="end")),
        (due + 1.9, ResponseStarted(response="r2")),
        (due + 2.0, AgentSpeech(edge="start")),
        (due + 2.5, Text(text=TOKEN, response="r1", kind="transcript", final=True)),
        (due + 3.0, AgentSpeech(edge="end")),
        (due + 3.2, ResponseStarted(response="r3")),
        (due + 3.4, Text(text="Ah.", response="r3", final=True)),
    ]
    turns = replace(asks("a", 5), within=3.3), quiet("b", 5)
    seen = see(turns, says, Pace.CONTINUOUS)
    assert seen.live == seen.after == {round(due + 2.0, 6): "a", round(due + 3.4, 6): "b"}


@settings(max_examples=600, deadline=None)
@given(data=st.data(), pace=st.sampled_from(Pace), says=agents())
def test_the_script_and_attribution_agree(
    data: st.DataObject, pace: Pace, says: list[Timed]
) -> None:
    seen = see(data.draw(scenarios(pace)), says, pace)
    assert seen.live == seen.after
