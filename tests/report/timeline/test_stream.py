"""The timeline of a scenario that has not been played: what is to be, on stream time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.judging.testing import answers, either, quiet, scenario
from simulator.media.timeline import Asset, Prepared, PreparedTurn, Spoken
from simulator.report.timeline.lanes import clip_time, timeline_from_json, timeline_to_json
from simulator.report.timeline.stream import stream_timeline
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.types import Pace, Scenario

WRITTEN = scenario(
    answers("ask", "Three.", asks="How many?"),
    either("standing"),
    answers("told", "It is back.", asks="", within=3.0),
    quiet("rest"),
)
"""Turns of ten seconds. The third answers to the second, when something happens; the last turn's
part of the clip is shown after a jump."""


def prepared(written: Scenario, lengths: list[float], spoken: dict[str, Spoken]) -> Prepared:
    turns, at = [], 0.0
    for turn, length in zip(written.turns, lengths, strict=True):
        asset = Asset(key=turn.id, path=Path("none"), duration=length)
        said = (spoken[turn.id],) if turn.id in spoken else ()
        turns.append(
            PreparedTurn(turn=turn, segment=asset, hold=asset, spoken=said, stream_start=at)
        )
        at += length
    return Prepared(scenario=written, turns=tuple(turns))


SAID = {t: Spoken(index=0, start=7.0, end=9.0) for t in ("ask", "standing")}


@pytest.fixture
def made() -> Prepared:
    first, standing, told, rest = WRITTEN.turns
    told = replace(told, event=28.0, asked_in="standing", evidence=((18.0, 28.0),))
    rest = replace(rest, start=40.0, end=50.0)
    written = replace(WRITTEN, turns=(first, standing, told, rest))
    return prepared(written, [10.0] * 4, SAID)


def test_a_stream_that_waits(made: Prepared, reading: Any) -> None:
    timeline = stream_timeline(made)
    reading.check(timeline)
    assert (timeline.clock, timeline.origin, timeline.agent) == ("stream", 0.0, "")
    assert reading.told(timeline) == {
        "turns": [
            "0-10 answer by answer of ask | answer: Three.",
            "10-20 either by nothing of standing | quiet or an acknowledgement",
            "20-30 answer by answer of told | answer: It is back.",
            "30-40 quiet by silence of rest | quiet",
        ],
        "video": [
            "0-10 play by main of ask clip_start=0",
            "10 hold by main of ask clip_start=10",
            "10-20 play by main of standing clip_start=10",
            "20 hold by main of standing clip_start=20",
            "20-30 play by main of told clip_start=20",
            "30 hold by main of told clip_start=30",
            "30-40 play by main of rest clip_start=40",
        ],
        "instructions": [
            "7-9 say by user of ask | How many?",
            "17-19 say by user of standing | Tell me when it is back.",
        ],
        "evidence": ["18-20 evidence by main of told", "20-28 evidence by main of told"],
        "windows": [
            "9-10 answer by instruction of ask (held) within_s=5",
            "28-30 answer by event of told (held) within_s=3",
        ],
    }
    shown = [clip_time(span, span.start + 0.25) for span in timeline.spans("video")]
    assert shown == [0.25, 10, 10.25, 20, 20.25, 30, 40.25]


def test_a_stream_that_plays_on(made: Prepared, reading: Any) -> None:
    on = replace(made, scenario=replace(made.scenario, pace=Pace.CONTINUOUS))
    timeline = stream_timeline(replace(on, turns=on.turns[:3]))
    reading.check(timeline)
    lanes = reading.told(timeline)
    assert [line.split()[1] for line in lanes["video"]] == ["play"] * 3
    assert lanes["windows"] == [
        "9-14 answer by instruction of ask within_s=5",
        "28-30 answer by event of told (cut) within_s=3",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hum(Answer):
    kind: ClassVar[str] = "hum"

    @property
    def told(self) -> str:
        return f"hum {self.text}"


def test_a_kind_of_turn_that_is_new(made: Prepared, reading: Any) -> None:
    first = replace(made.turns[0].turn, expect=Hum(text="a tune"))
    turns = (replace(made.turns[0], turn=first), *made.turns[1:])
    lanes = reading.told(stream_timeline(replace(made, turns=turns)))
    assert lanes["turns"][0] == "0-10 hum by answer of ask | hum a tune"
    assert lanes["windows"][0] == "9-10 hum by instruction of ask (held) within_s=5"


@settings(deadline=None)
@given(
    packets=st.lists(st.integers(1, 500), min_size=4, max_size=4),
    pace=st.sampled_from(Pace),
    evidence=st.lists(st.tuples(st.floats(0, 50), st.floats(0, 9)), max_size=3),
)
def test_of_every_stream(
    reading: Any, packets: list[int], pace: Pace, evidence: list[tuple[float, float]]
) -> None:
    lengths = [n * 0.02 for n in packets]
    spoken = {t: Spoken(index=0, start=0.0, end=n) for t, n in zip(SAID, lengths, strict=False)}
    starts = [sum(lengths[:n]) for n in range(5)]
    turns = tuple(
        replace(
            turn,
            start=starts[turn.index],
            end=starts[turn.index + 1],
            evidence=tuple((at, at + long) for at, long in evidence) if turn.index == 2 else (),
        )
        for turn in WRITTEN.turns
    )
    written = replace(WRITTEN, turns=turns, pace=pace)
    timeline = stream_timeline(prepared(written, lengths, spoken))
    reading.check(timeline)
    assert timeline_from_json(timeline_to_json(timeline)) == timeline
    first, *_, last = timeline.spans("turns")
    assert (first.start, last.end) == (0.0, timeline.end)
    # The clip plays through: all of the evidence that lies in it is there, and no more.
    seen = sum(span.end - span.start for span in timeline.spans("evidence"))
    wanted = sum(max(0.0, min(at + n, timeline.end) - at) for at, n in evidence)
    assert seen == pytest.approx(wanted, abs=1e-4)
