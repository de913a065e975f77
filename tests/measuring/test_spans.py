"""When turns and instructions were, by hand-made schedules."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simulator.measuring.spans import heard, played, turn_spans
from simulator.measuring.trace import Heard, TurnSpan
from simulator.protocol.conditions import Conditions, Decide
from simulator.recording.manifest import (
    AgentInfo,
    Manifest,
    PartInfo,
    ScenarioInfo,
    SpokenInfo,
    TurnInfo,
)
from simulator.recording.records import SegmentRecord, Stamped


def turn(index: int, expect: str, *spoken: tuple[str, float, float], **more: object) -> TurnInfo:
    base = TurnInfo(
        id=f"t{index}",
        index=index,
        expect=expect,
        clip="main",
        start=100.0 * index,
        end=100.0 * index + 4.0,
        stream_start=4.0 * index,
        segment=PartInfo(asset=f"s{index}", duration=4.0),
        hold=PartInfo(asset=f"h{index}", duration=1.0),
        spoken=tuple(
            SpokenInfo(index=i, kind="say", voice=voice, text="words", start=start, end=end)
            for i, (voice, start, end) in enumerate(spoken)
        ),
    )
    return replace(base, **more)  # type: ignore[arg-type]


def start_of(t: TurnInfo, at: float) -> Stamped:
    record = SegmentRecord(edge="start", part="play", of=t.id, at=at)
    return Stamped(seq=0, t=at, turn=t.id, record=record)


def spans(
    turns: list[TurnInfo],
    starts: list[float],
    *,
    until: float,
    end: float,
    late: float = 0.0,
    decide: Decide = Decide.AGENT,
) -> tuple[tuple[TurnSpan, ...], tuple[Heard, ...]]:
    manifest = Manifest(
        scenario=ScenarioInfo(id="s", sha256="0"),
        agent=AgentInfo(reference="a"),
        turns=tuple(turns),
        conditions=Conditions(decide=decide),
    )
    events = [start_of(t, at) for t, at in zip(turns, starts, strict=False)]
    what = played(events, until=until, end=end)
    said = heard(manifest, what, lambda t: late)
    return turn_spans(manifest, what, said), said


def test_where_the_simulator_decides_an_answer_falls_due_at_its_turns_end() -> None:
    turns = [
        turn(0, "answer", ("user", 1.0, 2.0)),
        turn(1, "answer", event=101.0),
        turn(2, "quiet", ("guest", 1.0, 2.0)),
        turn(3, "answer", ("user", 1.0, 2.0)),
    ]
    found, _ = spans(turns, [10.0, 16.0, 22.0, 28.0], until=30.5, end=30.5, decide=Decide.TURN_END)
    assert [t.due for t in found] == [14.0, 20.0, 24.0, None]  # the last was cut off


def test_an_instruction_falls_due_at_its_end_as_it_was_sent() -> None:
    turns = [turn(0, "answer", ("user", 2.0, 3.8)), turn(1, "quiet")]
    (first, second), said = spans(turns, [10.0, 17.5], until=22.0, end=22.0, late=0.004)
    assert (first.start, first.end, first.done) == (10.0, 14.0, 17.5)
    assert first.due == pytest.approx(13.804)
    assert first.asked_at == pytest.approx(12.004)
    assert first.due_kind == "instruction"
    assert first.complete
    assert (second.start, second.end, second.done) == (17.5, 21.5, 22.0)
    assert (second.due, second.due_kind, second.asked_at) == (None, None, None)
    assert said == (Heard(id="t0/0", turn="t0", voice="user", start=12.004, end=13.804),)


def test_an_event_falls_due_at_its_clip_time_and_was_asked_for_before() -> None:
    turns = [
        turn(0, "either", ("user", 1.0, 3.0)),
        turn(1, "answer", event=102.5, asked_in="t0", within=3.0),
    ]
    (_, event), _ = spans(turns, [10.0, 14.0], until=18.0, end=19.0)
    assert (event.due, event.due_kind, event.asked_at) == (16.5, "event", 11.0)
    assert (event.within, event.asked_in) == (3.0, "t0")


def test_an_event_counts_from_where_its_segment_was_cut() -> None:
    """Cuts lie between packets: what is shown at 102.5 of the clip, is shown 2.5 s after 100."""
    cut = replace(turn(0, "answer", event=102.5), start=100.007, end=104.007)
    (event,), _ = spans([cut], [10.0], until=15.0, end=15.0)
    assert event.due == pytest.approx(12.5)


def test_a_bystander_makes_a_quiet_turn_due_at_the_end_of_the_speech() -> None:
    turns = [turn(0, "quiet", ("guest", 0.5, 1.5), ("guest", 2.0, 3.0))]
    (quiet,), _ = spans(turns, [10.0], until=14.0, end=17.0)
    assert (quiet.due, quiet.due_kind, quiet.asked_at) == (13.0, "speech", 10.5)


def test_a_bystander_does_not_ask_in_a_turn_with_an_instruction() -> None:
    turns = [turn(0, "answer", ("user", 0.5, 1.5), ("guest", 2.0, 3.0))]
    (asked,), said = spans(turns, [10.0], until=14.0, end=17.0)
    assert (asked.due, asked.due_kind) == (11.5, "instruction")
    assert [h.voice for h in said] == ["user", "guest"]


def test_a_session_that_ends_early() -> None:
    turns = [
        turn(0, "answer", ("user", 0.5, 3.0)),
        turn(1, "answer", event=103.0),
        turn(2, "answer"),
    ]
    (first, second, third), said = spans(turns, [10.0, 14.0], until=16.0, end=16.3)
    assert first.complete
    assert not second.complete
    assert second.end == 16.0
    assert second.due is None
    assert not third.reached
    assert (third.start, third.end, third.done) == (16.3, 16.3, 16.3)
    assert len(said) == 1
    # In the middle of the first instruction:
    (first, *_), (cut,) = spans(turns, [10.0], until=12.0, end=12.1)
    assert cut.cut
    assert cut.end == 12.0
    assert first.due is None
    assert first.due_kind == "instruction"


def test_the_last_packet_may_stay_behind() -> None:
    turns = [turn(0, "answer", ("user", 2.0, 4.0))]
    (only,), (said,) = spans(turns, [10.0], until=13.98, end=14.0)
    assert only.complete
    assert only.due == 14.0
    assert not said.cut


def test_a_segment_that_was_only_ordered_was_not_reached() -> None:
    (first, second), _ = spans(
        [turn(0, "quiet"), turn(1, "quiet")], [10.0, 14.0], until=13.9, end=14
    )
    assert first.reached
    assert not second.reached
