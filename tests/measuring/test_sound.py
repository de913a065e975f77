"""The agent's sound lies where it could be heard: lost packets, drift, clocks that stand still."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from simulator.measuring.sound import Sound
from simulator.measuring.trace import Speech
from simulator.measuring.utterances import join
from simulator.recording.reader import Recording

LOOK_AHEAD = 312 / 48_000


def heard(folder: Any) -> tuple[tuple[Speech, ...], Sound]:
    sound = Sound(Recording.open(folder).received("audio"), 111)
    return join(sound.islands()), sound


def jitter(seed: int, mean: float = 0.004) -> Any:
    delays = np.random.default_rng(seed).exponential(mean, 100_000)
    return lambda i: float(delays[i])


def test_sound_lies_where_it_could_be_heard(stage: Any, sounds: Any) -> None:
    made = stage()
    made.agent(
        2.0,
        sounds.placed(6.0, (1.5, sounds.voice(0.8)), (4.0, sounds.voice(0.5))),
        jitter=jitter(1),
    )
    runs, sound = heard(made.close())
    assert [r.start - LOOK_AHEAD for r in runs] == pytest.approx([3.5, 6.0], abs=0.002)
    assert [r.end - LOOK_AHEAD for r in runs] == pytest.approx([4.3, 6.5], abs=0.013)
    assert sound.lost == 0
    assert all(r.uncertainty < 0.002 for r in runs)


def test_a_loss_before_the_onset_is_its_uncertainty(stage: Any, sounds: Any) -> None:
    made = stage()
    # The voice begins in packet 50; packets 49 to 51 are lost, and two more inside the second.
    made.agent(
        0.0,
        sounds.placed(5.0, (1.0, sounds.voice(1.0)), (3.0, sounds.voice(1.0))),
        lost=lambda i: i in (49, 50, 51, 170, 171),
    )
    runs, sound = heard(made.close())
    assert sound.lost == 5
    assert len(runs) == 2
    assert runs[0].start == pytest.approx(1.04 + LOOK_AHEAD, abs=0.02)
    assert runs[0].start - runs[0].uncertainty <= 1.0 + LOOK_AHEAD
    assert runs[1].start - LOOK_AHEAD == pytest.approx(3.0, abs=0.002)
    assert runs[1].uncertainty < 0.003


def test_a_fast_clock_is_followed(stage: Any, sounds: Any) -> None:
    made = stage()
    voices = [(float(at), sounds.voice(0.4)) for at in range(4, 40, 8)]
    made.agent(1.0, sounds.placed(40.0, *voices), ppm=100, jitter=jitter(2))
    runs, _ = heard(made.close())
    expected = [1.0 + (at + LOOK_AHEAD) / (1 + 1e-4) for at, _ in voices]
    assert [r.start for r in runs] == pytest.approx(expected, abs=0.003)


def test_a_clock_that_stands_still_in_silence(stage: Any, sounds: Any) -> None:
    made = stage()
    # As a sender that counts samples and sends nothing between answers: stamps go on as if no
    # time had passed.
    for k, at in enumerate((2.0, 9.5, 21.25)):
        made.agent(
            at,
            sounds.placed(1.2, (0.02, sounds.voice(1.0))),
            seq=100 + 60 * k,
            stamp=5_000 + 60 * 960 * k,
            jitter=jitter(3 + k, 0.002),
        )
    runs, sound = heard(made.close())
    assert [r.start - LOOK_AHEAD for r in runs] == pytest.approx([2.02, 9.52, 21.27], abs=0.005)
    assert sound.lost == 0


def test_silence_that_is_not_sent_but_counted(stage: Any, sounds: Any) -> None:
    made = stage()
    made.agent(
        1.0,
        sounds.placed(9.0, (1.0, sounds.voice(0.5)), (7.0, sounds.voice(0.5))),
        send=lambda i: not 80 <= i < 345,
    )
    runs, sound = heard(made.close())
    assert [r.start - LOOK_AHEAD for r in runs] == pytest.approx([2.0, 8.0], abs=0.002)
    assert sound.lost == 0


def test_packets_of_one_long_frame_share_a_stamp(stage: Any, sounds: Any) -> None:
    made = stage()
    payloads = sounds.opus(sounds.placed(2.0, (1.0, sounds.voice(0.5))))
    for i, payload in enumerate(payloads):
        first = i - i % 3
        packet = sounds.rtp(i, first * 960, 9, payload)
        t = 3.0 + first * 0.02 + 1e-5 * (i % 3)
        made.packet(t, packet)
    runs, _ = heard(made.close())
    assert [r.start - LOOK_AHEAD for r in runs] == pytest.approx([4.0], abs=0.002)


def test_what_does_not_decode_is_a_gap(stage: Any, sounds: Any) -> None:
    made = stage()
    made.agent(0.0, sounds.placed(2.0, (0.5, sounds.voice(1.0))))
    bad = sounds.rtp(300, 77_000 + 200 * 960, 2001, b"\xff" * 3)
    made.packet(4.0, bad)
    runs, sound = heard(made.close())
    assert len(runs) == 1
    assert sound.unreadable == 1


def test_a_long_session_is_handed_out_in_pieces(stage: Any, sounds: Any) -> None:
    made = stage()
    block = sounds.opus(sounds.placed(2.0, (0.5, sounds.voice(1.0))))
    for i in range(35 * 100):
        packet = sounds.rtp(i, i * 960, 9, block[i % 100])
        t = i * 0.02
        made.packet(t, packet)
    folder = made.close()
    sound = Sound(Recording.open(folder).received("audio"))
    lengths = [len(s.samples) / 48_000 for s in sound]
    assert sum(lengths) == pytest.approx(70.0)
    assert max(lengths) < 70
    starts = [r.start for r in join(sound.islands())]
    expected = [0.5 + LOOK_AHEAD + 2 * k for k in range(35)]
    assert starts == pytest.approx(expected, abs=0.003)


def test_no_packets_no_sound(stage: Any) -> None:
    sound = Sound(Recording.open(stage().close()).received("audio"))
    assert list(sound) == []
    assert sound.islands() == ()
