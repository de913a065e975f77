"""Sound that is sent ahead of real time is heard at its own rate, from where it began.

Truth is told by the listener: a reply begins when its first packet comes and lasts as long as it
was spoken, since none of its packets comes later than it is played."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.measuring.ahead import in_time
from simulator.measuring.sound import Sound
from simulator.measuring.stalls import stalls
from simulator.measuring.trace import Speech
from simulator.measuring.utterances import join, responses
from tests.measuring.test_sound import LOOK_AHEAD, log_of

Array = np.ndarray[Any, np.dtype[Any]]
TIMES = (2.0, 6.5, 11.3, 15.9)
"""When replies begin."""
LEAD = 0.02
WAYS = ("counted", "still", "anew", "silence")
"""What becomes of the stamps between them, where nothing is sent or silence in real time."""
MARGIN = 0.03
"""Seconds ahead that may be the path's jitter."""


@lru_cache
def reply(sounds: Any, parts: tuple[float, ...]) -> Any:
    """Words and pauses in turn, to whole packets, with a little silence before and after."""
    pieces = [sounds.voice(s) if k % 2 == 0 else sounds.silence(s) for k, s in enumerate(parts)]
    whole = np.concatenate([sounds.silence(LEAD), *pieces, sounds.silence(0.1)])
    return np.concatenate([whole, np.zeros(-len(whole) % 960, np.float32)])


def heard(
    sounds: Any, way: str, parts: tuple[float, ...], offsets: Sequence[Array]
) -> tuple[tuple[Speech, ...], Sound]:
    """`offsets`: by reply, when its packets come after its first."""
    said = reply(sounds, parts)
    count = len(said) // 960
    track, stamps, arrivals, stamp = [], [], [], 5.0
    if way == "silence":
        track.append(sounds.silence(1.0))
        stamps.append(4.0 + 0.02 * np.arange(50))
        arrivals.append(1.0 + 0.02 * np.arange(50))
    for k, (at, offset) in enumerate(zip(TIMES, offsets, strict=True)):
        track.append(said)
        stamps.append(stamp + 0.02 * np.arange(count))
        arrivals.append(at + offset)
        until = TIMES[k + 1] if k + 1 < len(TIMES) else at + 4.0
        more = round((until - at) / 0.02) - count
        if way == "silence":
            track.append(sounds.silence(0.02 * more))
            stamps.append(stamp + 0.02 * np.arange(count, count + more))
            arrivals.append(at + 0.02 * np.arange(count, count + more))
        stamp += 0.02 * (count if way == "still" else count + more)
        stamp += 777.0 if way == "anew" else 0.0
    ticks = np.round(48_000 * np.concatenate(stamps)).astype(np.int64)
    log = log_of(sounds.opus(np.concatenate(track)), np.concatenate(arrivals), ticks & 0xFFFFFFFF)
    sound = Sound(log)
    return sound.islands(), sound


def held(
    islands: Sequence[Speech],
    sound: Sound,
    parts: Sequence[float],
    within: float,
    *,
    early: float = 0.004,
) -> None:
    runs = join(islands, 0.7)
    begins = [at + LEAD for at in TIMES]
    assert [r.start - LOOK_AHEAD for r in runs] == pytest.approx(begins, abs=early)
    ends = [at + LEAD + sum(parts) for at in TIMES]
    assert [r.end - LOOK_AHEAD for r in runs] == pytest.approx(ends, abs=within)
    assert max(r.uncertainty for r in runs) < within
    assert stalls(sound.stretches, responses((), islands)) == ()
    assert sound.lost == 0


SHORT, LONG = (0.5, 0.24, 0.3), (0.6, 0.3, 1.2, 0.55, 0.9)


def pushed(n: int) -> Array:
    return np.asarray(0.006 * np.arange(n))


def at_once(n: int) -> Array:
    return np.asarray(2e-4 * np.arange(n))


def twice_as_fast(n: int) -> Array:
    return np.asarray(0.01 * np.arange(n))


def in_halves(n: int) -> Array:
    """The second half comes before the first is played out, after a wait."""
    i = np.arange(n)
    return np.where(i < n // 2, 0.003 * i, 0.007 * n + 0.003 * i)


def half_a_second(n: int) -> Array:
    """At once, and the rest in real time."""
    i = np.arange(n)
    return np.where(i < 25, 0.001 * i, 0.02 * (i - 25) + 0.025)


def four_packets(n: int) -> Array:
    return np.asarray(np.maximum(1e-4 * np.arange(n), 0.02 * (np.arange(n) - 3)))


PATTERNS = (pushed, at_once, twice_as_fast, in_halves, half_a_second, four_packets)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_reply_lasts_as_long_as_it_was_spoken(
    sounds: Any, way: str, pattern: Callable[[int], Array]
) -> None:
    count = len(reply(sounds, SHORT)) // 960
    islands, sound = heard(sounds, way, SHORT, [pattern(count)] * 4)
    # A listener may make up for 60 ms in the pause.
    held(islands, sound, SHORT, 0.065 if pattern is four_packets else 0.02)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("pattern", [pushed, twice_as_fast, in_halves])
def test_so_does_a_long_one_with_pauses(
    sounds: Any, way: str, pattern: Callable[[int], Array]
) -> None:
    count = len(reply(sounds, LONG)) // 960
    # What is pushed in one is followed by what comes in time.
    offsets = [pattern(count), 0.02 * np.arange(count)] * 2
    islands, sound = heard(sounds, way, LONG, offsets)
    if pattern is in_halves and way == "still":
        # Stamps that stand still leave open which of the halves was in time, and that is said.
        for run, at in zip(join(islands, 0.7), TIMES, strict=True):
            assert abs(run.start - LOOK_AHEAD - at - LEAD) <= run.uncertainty
        return
    held(islands, sound, LONG, 0.02)


@settings(deadline=None, max_examples=60)
@given(st.data(), st.sampled_from(WAYS), st.sampled_from([0.0, 0.0005, 0.002]))
def test_whatever_the_bursts(sounds: Any, data: st.DataObject, way: str, jitter: float) -> None:
    """Each packet at some pace that is faster than real time, which changes now and then."""
    count = len(reply(sounds, SHORT)) // 960
    blocks = st.lists(st.tuples(st.integers(1, 20), st.floats(0, 0.9)), min_size=8, max_size=20)
    rng = np.random.default_rng(5)
    offsets = []
    for _ in TIMES:
        paces = [p for many, p in data.draw(blocks) for _ in range(many)]
        paces = (paces * count)[: count - 1]
        came = np.concatenate(([0.0], 0.02 * np.cumsum(paces)))
        late = rng.exponential(jitter, count) if jitter else np.zeros(count)
        offsets.append(np.maximum.accumulate(came + late))
        offsets[-1][0] = 0.0
    islands, sound = heard(sounds, way, SHORT, offsets)
    # What is ahead by no more than the path's jitter is taken for that: the voice begins in the
    # second packet, which may be as much too early.
    held(islands, sound, SHORT, MARGIN + 12 * jitter + 0.02, early=0.021)


def test_who_stays_ahead_has_another_time(sounds: Any) -> None:
    """A sender whose silence comes in real time right after a reply that it pushed: each is heard
    when it comes."""
    said = reply(sounds, SHORT)
    count = len(said) // 960
    track, arrivals, now, begins = [], [], 1.0, []
    for _ in range(4):
        track += [sounds.silence(3.0), said]
        arrivals += [now + 0.02 * np.arange(150), now + 3.0 + pushed(count)]
        begins.append(now + 3.0 + LEAD)
        now += 3.0 + 0.006 * count
    payloads = sounds.opus(np.concatenate(track))
    runs = join(Sound(log_of(payloads, np.concatenate(arrivals))).islands(), 0.7)
    assert [r.start - LOOK_AHEAD for r in runs] == pytest.approx(begins, abs=0.004)
    ends = [at + sum(SHORT) for at in begins]
    assert [r.end - LOOK_AHEAD for r in runs] == pytest.approx(ends, abs=0.02)
    assert max(r.uncertainty for r in runs) < 0.01


def test_what_comes_while_speech_is_still_played_waits_for_it(sounds: Any) -> None:
    """Two replies in one breath, the second pushed half a second after the first."""
    said = reply(sounds, SHORT)
    count = len(said) // 960
    arrivals = np.concatenate([2.0 + pushed(count), 2.5 + pushed(count)])
    payloads = sounds.opus(np.concatenate([said, said]))
    (run,) = join(Sound(log_of(payloads, arrivals)).islands(), 0.7)
    assert run.start - LOOK_AHEAD == pytest.approx(2.0 + LEAD, abs=0.004)
    assert run.end - LOOK_AHEAD == pytest.approx(2.02 + 0.02 * count + sum(SHORT), abs=0.02)


def test_who_is_late_and_catches_up_is_not_ahead() -> None:
    x = 0.02 * np.arange(500, dtype=np.float64)
    y: Array = x + np.where((x >= 4) & (x < 5.5), np.maximum(0, 5.5 - x), 0) + 1e-5 * np.arange(500)
    due, anew = in_time(x, y)
    assert np.array_equal(due, y)
    assert anew == []


@pytest.mark.parametrize("rate", [0.97, 0.99, 1.01, 1.03])
def test_nor_is_a_clock_that_is_off(rate: float) -> None:
    x = 0.02 * np.arange(3_000, dtype=np.float64)
    late = np.random.default_rng(3).exponential(0.0005, 3_000)
    y: Array = np.maximum.accumulate(rate * x + late)
    due, anew = in_time(x, y)
    assert np.array_equal(due, y)
    assert anew == []
