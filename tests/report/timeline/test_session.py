"""The timeline of a session: what was measured and recorded, each thing in its lane, once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.judging.judge import Verdict, VerdictState
from simulator.judging.testing import Said, Scripted, answers, either, quiet, scenario, trace
from simulator.measuring.metrics.conduct import overlap_s
from simulator.measuring.trace import (
    Attributed,
    Heard,
    Life,
    Pacing,
    Response,
    Speech,
    Trace,
    TurnSpan,
)
from simulator.recording.records import (
    ContextRecord,
    FaultRecord,
    HealthRecord,
    Record,
    SegmentRecord,
    Stamped,
)
from simulator.report.timeline.lanes import clip_time, timeline_from_json, timeline_to_json
from simulator.report.timeline.session import session_timeline
from simulator.scenario.types import Gesture, Scenario

PLAYED = scenario(answers("ask", "Three.", asks="How many?"), quiet("guest", bystander="Well"))
PLAYED = replace(
    PLAYED,
    turns=(
        replace(PLAYED.turns[0], evidence=((6.0, 12.0),)),
        replace(PLAYED.turns[1], evidence=((3.0, 3.0),)),
    ),
)
"""Two turns of ten seconds; the first one's evidence goes on in the second."""


def session(**more: Any) -> Trace:
    """Both turns from second 1 on, with a hold of four seconds between; the agent answers in time
    and again when the guest speaks."""
    first = TurnSpan(
        id="ask", index=0, expect="answer", start=1, end=11, done=15, due=10, asked_at=8,
        due_kind="instruction", due_uncertainty=0.01, within=5, send_error_ms=2,
    )  # fmt: skip
    second = TurnSpan(
        id="guest", index=1, expect="quiet", start=15, end=25, done=26, due=24, asked_at=22,
        due_kind="speech", opportunity=False, send_error_ms=3,
    )  # fmt: skip
    answer = Response(id="a", speech=(Speech(start=12, end=13, uncertainty=0.02),), text="Three.")
    alarm = Response(
        id="b",
        speech=(Speech(start=23, end=23.5), Speech(start=23.75, end=25)),
        transcript_missing=True,
        status="failed",
    )
    return replace(
        Trace(
            scenario="made-up",
            agent="fake",
            outcome="completed",
            play_at=1.0,
            end=27.0,
            turns=(first, second),
            heard=(
                Heard(id="ask/0", turn="ask", voice="user", start=8, end=10),
                Heard(id="guest/0", turn="guest", voice="guest", start=22, end=24),
            ),
            speech=(*answer.speech, *alarm.speech),
            responses=(answer, alarm),
            attribution=(
                Attributed(response="a", turn="ask", by="wire"),
                Attributed(response="b", turn="guest", by="unsolicited", flags=("false_alarm",)),
            ),
            pacing=Pacing(p50_ms=1, p99_ms=2, max_ms=3, packets=9),
            life=Life(transport=True, session=True, response=True),
        ),
        **more,
    )


def stamped(*records: tuple[float, str | None, Record]) -> tuple[Stamped, ...]:
    return tuple(
        Stamped(seq=n, t=t, turn=turn, record=record) for n, (t, turn, record) in enumerate(records)
    )


def part(edge: Any, what: Any, at: float, of: str, clip_at: float) -> SegmentRecord:
    return SegmentRecord(edge=edge, part=what, of=of, at=at, clip="main", start=clip_at)


EVENTS = stamped(
    (1.0, "ask", part("start", "play", 1.0, "ask", 0)),
    (2.0, "ask", HealthRecord(send_p99_ms=float("nan"), send_max_ms=2.0, loop_lag_ms=0.5)),
    (11.0, "ask", part("end", "play", 11.0, "ask", 0)),
    (11.0, "ask", part("start", "hold", 11.0, "ask", 10)),
    (12.0, "ask", ContextRecord(op="evict", kind="video", span=(0.0, 4.0), tokens=80, used=900)),
    (15.0, "ask", part("end", "hold", 15.0, "ask", 10)),
    (15.0, "guest", part("start", "play", 15.0, "guest", 10)),
    (25.0, "guest", part("end", "play", 25.0, "guest", 10)),
    (25.0, "guest", part("start", "hold", 25.0, "guest", 20)),
    (26.5, None, FaultRecord(whose="agent", code="gone", message="It hung up.", fatal=True)),
)


def test_everything_has_its_place(reading: Any) -> None:
    verdicts = (
        Verdict(turn="ask", judge="keypoints", judge_version="1", state=VerdictState.SCORED,
                score=1.0, why="met: three"),
        Verdict(turn="guest", judge="quiet", judge_version="1", state=VerdictState.UNPROVEN),
    )  # fmt: skip
    timeline = session_timeline(session(), PLAYED, events=EVENTS, verdicts=verdicts)
    reading.check(timeline)
    assert (timeline.clock, timeline.origin, timeline.end) == ("session", 1.0, 27.0)
    assert (timeline.scenario, timeline.agent) == ("made-up", "fake")
    health = "send_max_ms=2 loop_lag_ms=0.5 lost=0 drops=0 host_load=0 reported=0 core_held_ms=0"
    assert reading.told(timeline) == {
        "turns": [
            "1-15 answer by answer of ask send_error_ms=2 | answer: Three.",
            "15-26 quiet by silence of guest (no_opportunity) send_error_ms=3 | quiet",
        ],
        "video": [
            "1-11 play by main of ask clip_start=0",
            "11-15 hold by main of ask clip_start=10",
            "15-25 play by main of guest clip_start=10",
            "25-27 hold by main of guest clip_start=20",
        ],
        "instructions": [
            "8-10 say by user of ask | How many?",
            "22-24 say by guest of guest | Well",
        ],
        "evidence": [
            "4 evidence by main of guest",
            "7-11 evidence by main of ask",
            "15-17 evidence by main of ask",
        ],
        "windows": ["10-15 answer by instruction of ask within_s=5 uncertainty_s=0.01"],
        "responses": [
            "12-13 speech by wire of ask = a uncertainty_s=0.02 | Three.",
            "23-25 speech by unsolicited of guest = b (false_alarm, no_transcript, failed)"
            " uncertainty_s=0",
        ],
        "speech": [
            "12-13 speech by wire of ask = a uncertainty_s=0.02",
            "23-23.5 speech by unsolicited of guest = b (false_alarm, no_transcript, failed)"
            " uncertainty_s=0",
            "23.75-25 speech by unsolicited of guest = b (false_alarm, no_transcript, failed)"
            " uncertainty_s=0",
        ],
        "overlaps": [
            "23-23.5 overlap by guest of guest = b",
            "23.75-24 overlap by guest of guest = b",
        ],
        "verdicts": [
            "1-15 scored by keypoints of ask score=1 | met: three",
            "15-26 unproven by quiet of guest",
        ],
        "context": ["12 evict by video of ask tokens=80 used=900 window=0 span_start=0 span_end=4"],
        "faults": ["26.5 gone by agent (fatal) | It hung up."],
        "health": [f"2 health of ask {health}"],
    }
    assert [clip_time(p, p.start + 0.5) for p in timeline.spans("video")] == [0.5, 10, 10.5, 20]


def test_what_nobody_looked_for_has_no_lane(reading: Any) -> None:
    lanes = reading.told(session_timeline(session(), PLAYED))
    assert not {"verdicts", "context", "faults", "health"} & set(lanes)
    assert [line.split()[1] for line in lanes["video"]] == ["play", "play"]
    nothing = reading.told(session_timeline(session(), PLAYED, events=(), verdicts=()))
    assert [nothing[lane] for lane in ("verdicts", "context", "faults", "health")] == [[]] * 4


def test_a_session_that_was_cut_off(reading: Any) -> None:
    """In the second turn, whose instruction and whose answer's window were on their way."""
    turns = session().turns
    cut = replace(
        turns[1], expect="answer", conduct=turns[0].conduct, end=23, done=23, complete=False,
        due=22.5, due_kind="event",
    )  # fmt: skip
    played = replace(
        PLAYED, turns=(PLAYED.turns[0], replace(PLAYED.turns[1], expect=PLAYED.turns[0].expect))
    )
    made = session(
        turns=(turns[0], cut),
        heard=(Heard(id="guest/0", turn="guest", voice="guest", start=22, end=23, cut=True),),
        responses=(), attribution=(), speech=(), end=23.5,
    )  # fmt: skip
    timeline = session_timeline(made, played, events=EVENTS[:7])
    reading.check(timeline)
    lanes = reading.told(timeline)
    assert lanes["turns"][1] == (
        "15-23 answer by answer of guest (cut, no_opportunity) send_error_ms=3 | answer: Three."
    )
    assert lanes["video"][-1] == "15-23 play by main of guest clip_start=10"
    assert lanes["instructions"] == ["22-23 say by guest of guest (cut) | Well"]
    windows = [line.removesuffix(" uncertainty_s=0") for line in lanes["windows"]]
    assert windows[1] == "22.5-23.5 answer by event of guest (cut) within_s=8"


def test_events_that_tell_of_more_than_was_sent(reading: Any) -> None:
    """The log of packets ends in the first hold: the second turn was ordered, and never left."""
    first, second = session().turns
    never = replace(second, start=14, end=14, done=14, due=None, reached=False, complete=False)
    made = session(turns=(replace(first, done=14), never), heard=(), responses=(), end=14.0)
    timeline = session_timeline(made, PLAYED, events=EVENTS[:9])
    reading.check(timeline)
    assert reading.told(timeline)["video"] == [
        "1-11 play by main of ask clip_start=0",
        "11-14 hold by main of ask clip_start=10",
    ]


def test_nothing_was_played(reading: Any) -> None:
    timeline = session_timeline(trace(PLAYED, reached=0, outcome="agent_failed"), PLAYED, events=())
    reading.check(timeline)
    assert timeline.origin is None
    lanes = reading.told(timeline)
    assert lanes["turns"] == [
        "0 answer by answer of ask (not_reached) send_error_ms=0 | answer: Three.",
        "0 quiet by silence of guest (not_reached) send_error_ms=0 | quiet",
    ]
    assert all(not spans for lane, spans in lanes.items() if lane != "turns")


def test_responses_that_are_not_heard(reading: Any) -> None:
    silent = (
        Response(id="written", first_text=12.0, text="Three."),
        Response(id="token", first_text=13.0, begun=12.9, text="[KEEP QUIET]", listened=True),
        Response(id="listened", begun=14.0, listened=True),
        Response(id="empty", begun=16.0, status="incomplete"),
        Response(id="never"),
    )
    made = session(responses=silent, attribution=(), speech=())
    timeline = session_timeline(made, PLAYED)
    reading.check(timeline)
    lanes = reading.told(timeline)
    assert [line.replace(" uncertainty_s=0", "") for line in lanes["responses"]] == [
        "12 text = written | Three.",
        "13 text = token (listened) | [KEEP QUIET]",
        "14 listened = listened (listened)",
        "16 nothing = empty (incomplete)",
        "27 nothing = never",
    ]
    assert lanes["speech"] == []


def test_responses_over_one_another(reading: Any) -> None:
    both = (
        Response(id="long", speech=(Speech(start=9, end=14),), text="Well, there are three."),
        Response(id="short", speech=(Speech(start=9.5, end=30),), text="Three."),
    )
    made = session(responses=both, attribution=(), speech=tuple(r.speech[0] for r in both))
    timeline = session_timeline(made, PLAYED)
    reading.check(timeline)
    assert timeline.end == 30, "what was heard last was after the last event"
    lanes = reading.told(timeline)
    assert [line.split()[0] for line in lanes["speech"]] == ["9-14", "9.5-30"]
    assert lanes["overlaps"] == [
        "9-10 overlap by user of ask = long",
        "9.5-10 overlap by user of ask = short",
        "22-24 overlap by guest of guest = short",
    ]


def test_what_is_seen_is_not_talked_over() -> None:
    sign = Gesture(clip="help", means="Help me.")
    played = replace(
        PLAYED, turns=(replace(PLAYED.turns[0], instructions=(sign,)), PLAYED.turns[1])
    )
    talking = Response(id="a", speech=(Speech(start=8.5, end=12),))
    timeline = session_timeline(session(responses=(talking,), attribution=()), played)
    (seen, _) = timeline.spans("instructions")
    assert (seen.kind, seen.text, seen.flags) == ("gesture", "Help me.", ("seen",))
    assert timeline.spans("overlaps") == ()


def test_a_prior_turn_says_so() -> None:
    first, second = PLAYED.turns
    played = replace(PLAYED, turns=(replace(first, prior=True), second))
    assert session_timeline(session(), played).spans("turns")[0].flags == ("prior",)


def test_hostile_text_goes_through_json() -> None:
    made = session(responses=(Response(id="r", first_text=3.0, text="\ud800<script>&\x00 שלום"),))
    timeline = session_timeline(made, PLAYED)
    (read,) = timeline_from_json(timeline_to_json(timeline)).spans("responses")
    assert read.text == "�<script>&\x00 שלום"


# ---------------------------------------------------------------- whatever happens


KINDS: dict[str, Callable[[str], Scripted]] = {
    "answer": lambda name: answers(name, "Three."),
    "quiet": quiet,
    "guest": lambda name: quiet(name, bystander="Well"),
    "either": either,
}


@st.composite
def sessions(draw: st.DrawFn) -> tuple[Scenario, Trace]:
    kinds = draw(st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=5))
    played = scenario(*(KINDS[kind](f"t{n}") for n, kind in enumerate(kinds)))
    evidence = st.lists(
        st.tuples(st.floats(0, 60), st.floats(0, 20)).map(lambda e: (e[0], e[0] + e[1])), max_size=2
    )
    turns = tuple(replace(t, evidence=tuple(draw(evidence))) for t in played.turns)
    reached = draw(st.none() | st.integers(0, len(kinds)))
    utterances = draw(
        st.lists(
            st.builds(
                Said,
                text=st.sampled_from(["Three.", "[KEEP QUIET]", ""]),
                at=st.floats(0, 60),
                seconds=st.sampled_from([0.0, 0.5, 4.0]),
                listened=st.booleans(),
                transcript=st.booleans(),
            ),
            max_size=5,
        )
    )
    played = replace(played, turns=turns)
    return played, trace(played, *utterances, reached=reached)


@settings(deadline=None)
@given(sessions())
def test_of_every_session(reading: Any, made: tuple[Scenario, Trace]) -> None:
    played, measured = made
    timeline = session_timeline(measured, played, events=(), verdicts=())
    reading.check(timeline)
    assert timeline_from_json(timeline_to_json(timeline)) == timeline
    assert [t.turn for t in timeline.spans("turns")] == [t.id for t in played.turns]
    reached = [t for t in timeline.spans("turns") if "not_reached" not in t.flags]
    if reached:
        assert reached[0].start == timeline.origin
        assert reached[-1].end == max(t.done for t in measured.turns)
    attributed = sorted(a.response for a in measured.attribution)
    assert sorted(r.response for r in timeline.spans("responses")) == attributed
    runs = sum(len(r.speech) for r in measured.responses)
    assert len(timeline.spans("speech")) == runs
    for turn in measured.turns:
        over = sum(o.end - o.start for o in timeline.spans("overlaps", turn=turn.id))
        assert over == pytest.approx(overlap_s(measured, turn))
