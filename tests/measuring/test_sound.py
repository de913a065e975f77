"""The agent's sound lies where it could be heard: lost packets, drift, clocks that stand still."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.measuring.sound import Sound
from simulator.measuring.trace import Speech
from simulator.measuring.utterances import join
from simulator.recording.reader import Recording, RtpLog

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
    assert [r.sent - LOOK_AHEAD for r in runs if r.sent] == pytest.approx([3.5, 6.0], abs=0.002)
    late = [jitter(1)(75), jitter(1)(200)]
    onsets = [3.5 + late[0], 6.0 + late[1]]
    assert [r.start - LOOK_AHEAD for r in runs] == pytest.approx(onsets, abs=0.002)
    assert [r.sent_end - LOOK_AHEAD for r in runs if r.sent_end] == pytest.approx(
        [4.3, 6.5], abs=0.013
    )
    assert sound.lost == 0
    assert all(0.002 < r.uncertainty < 0.005 for r in runs)


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
    assert runs[1].uncertainty < 0.005


def test_a_fast_clock_is_followed(stage: Any, sounds: Any) -> None:
    made = stage()
    voices = [(float(at), sounds.voice(0.4)) for at in range(4, 40, 8)]
    made.agent(1.0, sounds.placed(40.0, *voices), ppm=100, jitter=jitter(2))
    runs, _ = heard(made.close())
    expected = [1.0 + (at + LOOK_AHEAD) / (1 + 1e-4) for at, _ in voices]
    assert [r.sent for r in runs] == pytest.approx(expected, abs=0.003)


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
    sent = [r.sent - LOOK_AHEAD for r in runs if r.sent is not None]
    assert sent == pytest.approx([2.02, 9.52, 21.27], abs=0.005)
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


@pytest.mark.parametrize("stall", [0.5, 2.0, 2.4])
def test_a_sender_that_stalls_and_catches_up_is_heard_when_its_packets_come(
    stage: Any, sounds: Any, stall: float
) -> None:
    made = stage()

    def late(i: int) -> float:
        return max(0.0, 4.2 + stall - (1.0 + 0.02 * i)) if 1.0 + 0.02 * i >= 4.2 else 0.0

    made.agent(1.0, sounds.placed(12.0, (3.3, sounds.voice(1.0))), jitter=late)
    (run,), _ = heard(made.close())
    at = 4.3 + LOOK_AHEAD
    assert run.start == pytest.approx(4.2 + stall + LOOK_AHEAD % 0.02, abs=0.003)
    assert run.sent == pytest.approx(at, abs=0.002)
    # Either reading is held: what was sent, and what was heard.
    assert run.start - run.uncertainty <= at + 0.002
    assert run.end - run.start >= 0.99


def test_bursts_are_heard_when_they_come(stage: Any, sounds: Any) -> None:
    made = stage()
    voices = [(float(at), sounds.voice(0.6)) for at in (1.0, 3.1, 5.2)]
    track = sounds.placed(8.4, *voices)
    # Nothing for 0.84 s, then all of it at once.
    made.agent(2.0, track, jitter=lambda i: 0.02 * (41 - i % 42) + 1e-4 * (i % 42))
    runs, _ = heard(made.close())
    for run, (at, _) in zip(runs, voices, strict=True):
        packet, rest = divmod(at + LOOK_AHEAD, 0.02)
        came = 2.0 + 0.02 * (packet // 42 * 42 + 41)
        assert run.start == pytest.approx(came + rest, abs=0.006)
        assert run.end - run.start >= 0.59


@pytest.mark.parametrize("ppm", [-30_000, -10_000, -1_300, 3_000, 10_000])
def test_a_sender_paced_by_sleeping_is_followed(stage: Any, sounds: Any, ppm: int) -> None:
    made = stage()
    voices = [(float(at), sounds.voice(0.4)) for at in range(4, 40, 8)]
    made.agent(1.0, sounds.placed(40.0, *voices), ppm=ppm, jitter=jitter(2, 0.0005))
    runs, _ = heard(made.close())
    expected = [1.0 + (at + LOOK_AHEAD) / (1 + ppm * 1e-6) for at, _ in voices]
    assert [r.sent for r in runs] == pytest.approx(expected, abs=0.003)
    assert [r.start for r in runs] == pytest.approx(expected, abs=0.006)
    assert max(r.uncertainty for r in runs) < 0.01


def test_stamps_that_lose_time_with_each_reply_are_followed(stage: Any, sounds: Any) -> None:
    made = stage()
    # 70 ms a reply are no new run each, and no drift either.
    starts = [2.0 + 4.07 * k for k in range(8)]
    for k, at in enumerate(starts):
        made.agent(
            at,
            sounds.placed(1.2, (0.02, sounds.voice(1.0))),
            seq=100 + 60 * k,
            stamp=5_000 + round(4.0 * k * 48_000),
            jitter=jitter(3 + k, 0.0005),
        )
    runs, _ = heard(made.close())
    expected = [at + 0.02 for at in starts]
    assert [r.start - LOOK_AHEAD for r in runs] == pytest.approx(expected, abs=0.006)
    assert [r.sent - LOOK_AHEAD for r in runs if r.sent] == pytest.approx(expected, abs=0.004)
    assert max(r.uncertainty for r in runs) < 0.01


def log_of(payloads: Sequence[bytes], arrivals: Any, stamps: Any = None) -> RtpLog:
    """What came of a stream, in order of arrival."""
    stamps = 960 * np.arange(len(payloads)) if stamps is None else stamps
    order = np.argsort(arrivals, kind="stable")
    n = len(order)
    sizes = np.array([len(p) for p in payloads])
    stops = np.cumsum(sizes)
    return RtpLog(
        arrivals[order], order & 0xFFFF, stamps[order], np.zeros(n, bool), np.full(n, 111),
        np.full(n, 9), sizes[order], (stops - sizes)[order], stops[order], b"".join(payloads),
    )  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.floats(0.0, 3.0), min_size=150, max_size=150),
    st.sampled_from([0.0, 0.005, 0.05, 0.2, 1.0]),
    st.floats(0.95, 1.05),
)
def test_no_sample_is_heard_before_its_packet_has_come(
    sounds: Any, delays: list[float], scale: float, pace: float
) -> None:
    payloads = sounds.opus(sounds.placed(3.0, (1.0, sounds.voice(0.5))))
    arrivals = 1.0 + 0.02 * pace * np.arange(150) + scale * np.array(delays)
    sound = Sound(log_of(payloads, arrivals))
    whole = len(list(sound)) == 1
    found = sound.islands()
    # The voice, and the look-ahead of 6.5 ms before it, lie in packets 50 to 76.
    assert all(run.start >= arrivals[50:77].min() for run in found)
    assert all(run.sent is not None and run.sent <= run.start <= run.end for run in found)
    if whole:
        assert found[0].start >= arrivals[50]
        assert found[0].start == pytest.approx(arrivals[50] + LOOK_AHEAD, abs=0.003)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.floats(0.0, 0.5), min_size=150, max_size=150),
    st.sampled_from([0.97, 1.0, 1.01]),
    st.lists(st.tuples(st.integers(1, 149), st.integers(0, 2**32 - 1)), max_size=3),
    st.booleans(),
)
def test_nor_where_stamps_jump_stand_still_or_begin_anew(
    sounds: Any, delays: list[float], pace: float, jumps: list[tuple[int, int]], still: bool
) -> None:
    payloads = sounds.opus(sounds.placed(3.0, (1.0, sounds.voice(0.5))))
    arrivals = 1.0 + 0.02 * pace * np.arange(150) + np.array(delays)
    stamps = 960 * np.arange(150)
    if still:
        stamps[:50] = 0
        stamps[50:] -= 960 * 49
    for at, ticks in jumps:
        stamps[at:] += ticks
    found = Sound(log_of(payloads, arrivals, stamps & 0xFFFFFFFF)).islands()
    assert found or jumps
    # What begins in a packet was not there before the first of those that hold the voice.
    assert all(run.start >= arrivals[50:77].min() for run in found)
    assert all(run.sent is not None and run.start <= run.end for run in found)


def test_no_packets_no_sound(stage: Any) -> None:
    sound = Sound(Recording.open(stage().close()).received("audio"))
    assert list(sound) == []
    assert sound.islands() == ()


# ---------------------------------------------------------------- senders that begin again


@pytest.mark.parametrize("at", [0.98, 1.02, 1.3, 3.0, 4.1, 4.94])
@pytest.mark.parametrize(
    "again",
    [
        {"seq": 0, "stamp": 0},
        {"seq": 5, "stamp": 123_456_789},
        {"seq": 60_000, "stamp": 5},
        {"ssrc": 4242, "seq": 7, "stamp": 99},
        {"stamp": 123_456_789},
    ],
)
def test_a_sender_that_counts_anew(stage: Any, sounds: Any, at: float, again: Any) -> None:
    """In silence, at an onset and in the middle of a word: the same two voices come out."""
    made = stage()
    whole = sounds.placed(6.0, (1.0, sounds.voice(0.8)), (4.0, sounds.voice(0.8)))
    first = round(at * 50) * 960
    made.agent(0.0, whole[:first])
    made.agent(first / 48_000, whole[first:], **{"seq": 100 + first // 960, **again})
    runs, sound = heard(made.close())
    assert len(runs) == 2
    for run, (start, end) in zip(runs, ((1.0, 1.8), (4.0, 4.8)), strict=True):
        assert run.start - run.uncertainty - 0.002 <= start + LOOK_AHEAD <= run.start + 0.002
        assert run.end - LOOK_AHEAD == pytest.approx(end, abs=0.02)
        assert run.uncertainty < 0.005 or abs(at - start) < 0.05
    assert sound.lost == 0


def test_two_streams_in_one_track(stage: Any, sounds: Any) -> None:
    """One of them may be silent, or each may say a part, under two names or under one."""
    first = sounds.placed(6.0, (1.0, sounds.voice(0.8)))
    then = sounds.placed(6.0, (4.0, sounds.voice(0.8)))
    for ssrc in (77, 2001):
        made = stage(name=f"two-{ssrc}")
        made.agent(0.0, first)
        made.agent(0.01, then, ssrc=ssrc, seq=9_000, stamp=5)
        runs, sound = heard(made.close())
        onsets = [r.start - LOOK_AHEAD for r in runs]
        assert onsets == pytest.approx([1.0, 4.01], abs=0.002)
        assert sound.lost == 0


def test_the_same_packets_from_two_places_count_once(stage: Any, sounds: Any) -> None:
    made = stage()
    whole = sounds.placed(6.0, (1.0, sounds.voice(0.8)), (4.0, sounds.voice(0.8)))
    made.agent(0.03, whole)
    made.agent(0.0, whole, lost=lambda i: i < 150)
    runs, sound = heard(made.close())
    # What came first counts: of the first half it is the only one.
    onsets = [r.start - LOOK_AHEAD for r in runs]
    assert onsets[1] == pytest.approx(4.0, abs=0.002)
    assert abs(onsets[0] - 1.03) <= runs[0].uncertainty + 0.002
    assert sound.lost == 0


@pytest.mark.parametrize("stands", [0.15, 0.6, 2.0])
@pytest.mark.parametrize("after", [1, 2, 3, 5, 12])
def test_speech_that_breaks_off_at_once_began_before(
    stage: Any, sounds: Any, after: int, stands: float
) -> None:
    """A sender stands still that many packets into a word, and goes on where it was."""
    made = stage()
    voice = sounds.placed(4.0, (1.0, sounds.voice(0.8)))
    made.agent(0.0, voice, jitter=lambda i: stands if i >= 50 + after else 0.0)
    runs, sound = heard(made.close())
    assert runs[0].start - LOOK_AHEAD == pytest.approx(1.0, abs=0.002 + runs[0].uncertainty)
    assert runs[0].uncertainty < 0.03
    assert runs[-1].end - LOOK_AHEAD == pytest.approx(1.8 + stands, abs=0.02)
    assert sound.lost == 0


def test_what_ended_before_is_no_beginning_of_the_next(stage: Any, sounds: Any) -> None:
    """A sender that sends words alone, without a packet of silence, stamps going on."""
    made = stage()
    for k, at in enumerate((2.0, 6.0)):
        made.agent(at, sounds.voice(0.8), seq=100 + 40 * k, stamp=5_000 + 40 * 960 * k)
    runs, _ = heard(made.close())
    assert [r.start - LOOK_AHEAD for r in runs] == pytest.approx([2.0, 6.0], abs=0.007)
