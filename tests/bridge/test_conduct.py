"""What the cued baselines say and when, as playbooks: no clock, no sound."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.bridge.conduct import IDLE, OKAY, REMARK, Conduct
from simulator.bridge.events import Cued, CuedTurn, ResponseAsked, SpeechEnded, SpeechStarted
from simulator.protocol.conduct import Wants
from simulator.protocol.silence import TOKEN


def turn(
    wants: Wants = Wants.ANSWER, *, due_in: float | None = 2.0, event: bool = False
) -> CuedTurn:
    return CuedTurn(
        id="t",
        index=0,
        wants=wants,
        answer="Three." if wants is Wants.ANSWER else None,
        asked=due_in is not None and not event,
        duration=2.0,
        due_in=due_in,
        event=event,
    )


class Play:
    """A conduct that is told things at times and whose sayings are collected."""

    def __init__(self, **settings: Any) -> None:
        self.conduct = Conduct(delay=settings.pop("delay", 0.6), **settings)
        self.sayings: list[tuple[str, float, str]] = []

    def at(self, now: float, event: Any) -> Play:
        self.until(now)
        self._keep(self.conduct.handle(event, now))
        return self

    def cue(self, start: float, cued: CuedTurn) -> Play:
        return self.at(start - 0.1, Cued(turn=cued, start=start))

    def heard(self, time: float) -> Play:
        """Speech ended at `time`, which is known a little later."""
        return self.at(time + 0.27, SpeechEnded(item="i", start=time - 1, time=time))

    def until(self, now: float) -> Play:
        while (wake := self.conduct.wake()) is not None and wake <= now:
            self._keep(self.conduct.time(wake))
        return self

    def _keep(self, sayings: Any) -> None:
        self.sayings += [(saying.text, round(saying.at, 3), saying.by) for saying in sayings]


def test_an_answer_comes_a_delay_after_what_was_heard() -> None:
    play = Play().cue(10, turn()).heard(12.02).until(20)
    assert play.sayings == [("Three.", 12.62, "heard")]


def test_a_pause_in_the_question_is_not_its_end() -> None:
    assert Play().cue(10, turn()).heard(11.0).heard(12.02).until(20).sayings == [
        ("Three.", 12.62, "heard")
    ]


def test_a_question_that_was_not_heard_is_answered_by_the_cue() -> None:
    play = Play().cue(10, turn()).until(12.4)
    assert play.sayings == []
    assert play.until(20).sayings == [("Three.", 12.6, "cue")]


def test_an_event_is_answered_when_it_is_due_whatever_is_heard() -> None:
    play = Play().cue(10, turn(due_in=1.5, event=True)).heard(10.7).until(20)
    assert play.sayings == [("Three.", 12.1, "cue")]


def test_where_it_may_speak_it_says_okay() -> None:
    may = turn(Wants.NOTHING)
    assert Play().cue(10, may).heard(12.0).until(20).sayings == [(OKAY, 12.6, "heard")]
    assert Play(delay=4.0).cue(10, may).heard(12.0).until(20).sayings == []
    assert Play().cue(10, turn(Wants.NOTHING, due_in=None)).heard(12.0).until(20).sayings == []


def test_quiet_turns_are_kept_quiet() -> None:
    play = Play().cue(10, turn(Wants.SILENCE, due_in=None)).heard(11.0)
    assert play.at(11.5, SpeechStarted(item="i", time=11.4)).until(30).sayings == []


def test_a_talkative_one_speaks_in_idle_quiet_turns_once() -> None:
    play = Play(talkative=True).cue(10, turn(Wants.SILENCE, due_in=None)).until(30)
    assert play.sayings == [(REMARK, 10 + IDLE, "cue")]


def test_a_talkative_one_remarks_on_what_it_hears() -> None:
    play = Play(talkative=True).cue(10, turn(Wants.SILENCE, due_in=None)).heard(10.8).until(30)
    assert play.sayings == [(REMARK, 11.4, "heard")]
    assert Play(talkative=True).cue(10, turn()).heard(12.0).until(30).sayings == [
        ("Three.", 12.6, "heard")
    ]


def test_speech_that_ended_with_the_turn_before_belongs_to_that_one() -> None:
    play = Play().cue(10, turn())
    play.at(11.9, Cued(turn=turn(Wants.SILENCE, due_in=None), start=12.0)).heard(12.03).until(20)
    assert play.sayings == [("Three.", 12.63, "heard")]


def test_it_answers_when_it_is_told_to() -> None:
    play = Play().at(1.0, ResponseAsked(settings={}))
    assert play.sayings == [(OKAY, 1.0, "asked")]
    play = Play(delay=4.0).cue(10, turn()).at(10.5, ResponseAsked(settings={})).until(30)
    assert play.sayings == [("Three.", 10.5, "asked")]


@pytest.mark.parametrize(
    ("wants", "talkative", "said"),
    [
        (Wants.ANSWER, False, "Three."),
        (Wants.NOTHING, False, OKAY),
        (Wants.SILENCE, False, TOKEN),
        (Wants.SILENCE, True, REMARK),
    ],
)
def test_one_that_has_to_be_asked_speaks_then_and_at_no_other_time(
    wants: Wants, talkative: bool, said: str
) -> None:
    play = Play(talkative=talkative, asked_only=True).cue(10, turn(wants)).heard(12.0).until(20)
    play.cue(20, turn(Wants.ANSWER, due_in=1.0, event=True)).until(30)
    assert play.sayings == []
    play = Play(talkative=talkative, asked_only=True).cue(10, turn(wants))
    play.at(12.1, ResponseAsked(settings={})).until(30)
    assert play.sayings == [(said, 12.7, "asked")]


@pytest.mark.parametrize("delay", [0.35, 0.6, 4.0])
def test_the_delay_is_what_it_was_set_to(delay: float) -> None:
    play = Play(delay=delay).cue(10, turn()).heard(12.0).until(30)
    assert play.sayings == [("Three.", round(12.0 + delay, 3), "heard")]
