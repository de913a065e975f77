"""A stream that stands still is told, and pauses are none."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator.measuring.sound import Sound
from simulator.measuring.stalls import ceased, stalls
from simulator.measuring.trace import Speech
from simulator.measuring.utterances import responses
from simulator.recording.reader import Recording


def found(folder: Any) -> list[tuple[float, float]]:
    sound = Sound(Recording.open(folder).received("audio"), 111)
    said = responses((), sound.islands())
    return [(s.start, s.end) for s in stalls(sound.stretches, said)]


@pytest.mark.parametrize("stands", [0.7, 1.4, 2.5])
def test_a_sender_that_catches_up(stage: Any, sounds: Any, stands: float) -> None:
    made = stage()
    # Packet 100 is due at 2 s, and with all that follow it leaves no sooner than it can.
    made.agent(
        0.0,
        sounds.placed(8.0, (1.5, sounds.voice(1.2))),
        jitter=lambda i: max(0.0, 2.0 + stands - i * 0.02) if i >= 100 else 0.0,
    )
    seen = found(made.close())
    if stands < 1:
        assert seen == []
    else:
        assert seen == [pytest.approx((2.0, 2.0 + stands), abs=0.01)]


def test_a_sender_that_goes_on_where_it_was(stage: Any, sounds: Any) -> None:
    made = stage()
    voice = sounds.placed(4.0, (0.5, sounds.voice(3.0)))
    made.agent(0.0, voice, jitter=lambda i: 1.5 if i >= 100 else 0.0)
    assert found(made.close()) == [pytest.approx((1.98, 3.5), abs=0.021)]


def test_a_sender_that_sends_nothing_in_silence_has_not_stood_still(
    stage: Any, sounds: Any
) -> None:
    made = stage()
    for k, at in enumerate((2.0, 9.5)):
        made.agent(
            at,
            sounds.placed(1.2, (0.02, sounds.voice(1.0))),
            seq=100 + 60 * k,
            stamp=5_000 + 60 * 960 * k,
        )
    assert found(made.close()) == []


def test_silence_that_is_counted_and_not_sent_is_a_pause(stage: Any, sounds: Any) -> None:
    made = stage()
    made.agent(
        1.0,
        sounds.placed(9.0, (1.0, sounds.voice(0.5)), (7.0, sounds.voice(0.5))),
        send=lambda i: not 80 <= i < 345,
    )
    assert found(made.close()) == []


def test_a_path_that_is_gone(stage: Any, sounds: Any) -> None:
    made = stage()
    made.agent(
        0.0,
        sounds.placed(6.0, (1.0, sounds.voice(1.0)), (4.0, sounds.voice(1.0))),
        lost=lambda i: 100 <= i < 170,
    )
    assert found(made.close()) == [pytest.approx((1.98, 3.4), abs=0.021)]


def test_a_sender_that_sends_in_silence_and_then_no_more_has_ceased() -> None:
    every = np.arange(1.0, 12.0, 0.02)
    spoken = (Speech(start=2.0, end=6.0), Speech(start=6.5, end=8.9))
    assert ceased(every, spoken, 30.0) == pytest.approx(11.98)
    assert ceased(every, (), 12.5) is None, "it had no time to go on"
    assert ceased(every, (Speech(start=1.5, end=11.5),), 30.0) is None, "it may send voice alone"
    pausing = np.concatenate([every, np.arange(20.0, 28.0, 0.02)])
    assert ceased(pausing, spoken, 40.0) is None, "it stops in silence"
    assert ceased(np.zeros(0), (), 30.0) is None
