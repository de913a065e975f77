"""RTP time to session time: clocks that drift, stall, restart; delays that recover; numbers that
wrap. Truth is when a packet would have arrived with the least delay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from simulator.measuring.clockmap import ClockMap, map_runs

Array = np.ndarray[Any, np.dtype[Any]]
LEAST = 0.020
"""The path's least delay."""


@dataclass
class Stream:
    """Packets of 20 ms as they arrived, and when each would have with the least delay."""

    seq: Array
    rtp: Array
    arrival: Array
    truth: Array
    begins: Array
    """Indices (in order of sending) of the first packet of each utterance."""

    def map(self) -> tuple[ClockMap, Array]:
        """The map, and the errors of its times, in order of sending."""
        order = np.argsort(self.arrival, kind="stable")
        mapped = map_runs(self.seq[order], self.rtp[order], self.arrival[order], 48_000)
        times = np.empty(len(order))
        times[order] = mapped.times
        return mapped, times - self.truth

    def drop(self, gone: Array) -> Stream:
        keep = ~gone
        begins = (np.cumsum(keep) - 1)[self.begins[keep[self.begins]]]
        return Stream(self.seq[keep], self.rtp[keep], self.arrival[keep], self.truth[keep], begins)


def stream(
    utterances: list[tuple[float, float]],
    *,
    clock: str = "steady",
    drift: float = 0.0,
    jitter: float = 0.0,
    seed: int = 1,
    seq: int = 100,
    rtp: int = 5_000,
) -> Stream:
    """`utterances`: when each begins and how long it lasts; nothing is sent in between.

    The RTP clock in silence: `steady` runs on; `stalls`; `rebases`: stalls, but each third
    utterance has the right time again; `restarts` with each utterance.
    """
    rng = np.random.default_rng(seed)
    sent: list[Array] = []
    stamps: list[Array] = []
    begins: list[int] = []
    stalled = 0.0
    last_end = utterances[0][0]
    for number, (begin, length) in enumerate(utterances):
        count = round(length / 0.02)
        at = begin + 0.02 * np.arange(count)
        stalled += begin - last_end
        last_end = begin + length
        if clock == "steady" or (clock == "rebases" and number % 3 == 2):
            stalled = 0.0
        offset = float(rng.integers(0, 2**31)) / 48_000 if clock == "restarts" else -stalled
        begins.append(sum(len(s) for s in sent))
        sent.append(at)
        stamps.append(at + offset)
    times = np.concatenate(sent)
    ticks = np.round(np.concatenate(stamps) * (1 + drift) * 48_000).astype(np.int64)
    truth = times + LEAST
    late = rng.exponential(jitter, len(times)) if jitter else np.zeros(len(times))
    return Stream(
        (seq + np.arange(len(times))) & 0xFFFF,
        (rtp + ticks) & 0xFFFFFFFF,
        truth + late,
        truth,
        np.asarray(begins),
    )


TALK = [(1.0 + 6.0 * i + 0.13 * (i % 4), 2.0 + 0.5 * (i % 3)) for i in range(12)]


@pytest.mark.parametrize("clock", ["steady", "stalls", "rebases", "restarts"])
@pytest.mark.parametrize("jitter", [0.002, 0.010])
@pytest.mark.parametrize("seed", range(5))
def test_onsets_are_right_to_5_ms_whatever_the_clock_does_in_silence(
    clock: str, jitter: float, seed: int
) -> None:
    talk = stream(TALK, clock=clock, jitter=jitter, seed=seed)
    mapped, errors = talk.map()
    assert np.abs(errors[talk.begins]).max() < 0.005
    assert len(mapped.runs) == (1 if clock == "steady" else len(TALK))


def test_the_same_with_losses_and_packets_out_of_order() -> None:
    talk = stream(TALK, clock="stalls", jitter=0.010, seed=3)
    rng = np.random.default_rng(4)
    late = rng.random(len(talk.seq)) < 0.02
    talk.arrival[late] += 0.15
    gone = rng.random(len(talk.seq)) < 0.05
    gone[talk.begins] = False
    talk = talk.drop(gone)
    mapped, errors = talk.map()
    assert len(mapped.runs) == len(TALK)
    assert np.abs(errors[talk.begins]).max() < 0.005


def test_drift_of_100_ppm_over_10_minutes() -> None:
    long = stream([(0.0, 600.0)], drift=100e-6, jitter=0.010)
    mapped, errors = long.map()
    assert len(mapped.runs) == 1
    assert mapped.runs[0].slope == pytest.approx(-100e-6, abs=5e-6)
    assert np.abs(errors).max() < 0.003


def test_a_delay_that_recovers_cuts_nothing() -> None:
    talk = stream([(0.0, 20.0)], jitter=0.002)
    held = (talk.truth > 8.0) & (talk.truth < 8.4)
    talk.arrival[held] = 8.4 + 1e-4 * np.arange(held.sum())
    mapped, errors = talk.map()
    assert len(mapped.runs) == 1
    assert np.abs(errors).max() < 0.002


def test_a_queue_that_builds_up_and_drains_slowly_cuts_nothing() -> None:
    talk = stream([(0.0, 40.0)], jitter=0.001)
    queue = np.interp(talk.truth, [10, 10.02, 12, 12.02, 18], [0, 0.15, 0.12, 0.4, 0])
    talk.arrival += queue
    mapped, errors = talk.map()
    assert len(mapped.runs) == 1
    assert np.abs(errors).max() < 0.002


def test_one_late_packet_cuts_nothing() -> None:
    talk = stream([(0.0, 5.0)])
    talk.arrival[100] += 0.5
    mapped, errors = talk.map()
    assert len(mapped.runs) == 1
    assert np.abs(errors).max() < 1e-4


def test_a_short_run_carries_its_uncertainty() -> None:
    talk = stream([(0.0, 5.0), (8.0, 0.08), (12.0, 5.0)], clock="stalls", jitter=0.010, seed=2)
    mapped, errors = talk.map()
    assert [run.packets for run in mapped.runs] == [250, 4, 250]
    assert mapped.runs[1].uncertainty > 0.005
    assert mapped.runs[0].uncertainty < 0.001
    assert abs(errors[250]) < mapped.runs[1].uncertainty
    assert mapped.time(250)[1] == mapped.runs[1].uncertainty


def test_numbers_and_stamps_wrap() -> None:
    talk = stream([(0.0, 30.0)], seq=65_000, rtp=2**32 - 480_000, jitter=0.001)
    mapped, errors = talk.map()
    assert len(mapped.runs) == 1
    assert np.abs(errors).max() < 0.001


def test_duplicates_do_not_count_twice() -> None:
    talk = stream([(0.0, 4.0)])
    again = np.arange(50, 60)
    seq = np.concatenate((talk.seq, talk.seq[again]))
    rtp = np.concatenate((talk.rtp, talk.rtp[again]))
    arrival = np.concatenate((talk.arrival, talk.arrival[again] + 4.0))
    mapped = map_runs(seq, rtp, arrival, 48_000)
    assert len(mapped.runs) == 1
    assert mapped.times[-10:] == pytest.approx(talk.truth[again], abs=1e-4)


def test_another_source_is_another_run() -> None:
    one, two = stream([(0.0, 2.0)], seq=10), stream([(2.0, 2.0)], seq=60_000, rtp=77)
    mapped = map_runs(
        np.concatenate((one.seq, two.seq)),
        np.concatenate((one.rtp, two.rtp)),
        np.concatenate((one.arrival, two.arrival)),
        48_000,
        ssrc=[1] * 100 + [2] * 100,
    )
    assert [run.packets for run in mapped.runs] == [100, 100]
    assert mapped.times == pytest.approx(np.concatenate((one.truth, two.truth)), abs=1e-4)


def test_packets_stamped_alike_are_spread() -> None:
    talk = stream([(0.0, 3.0)])
    talk.rtp = 5_000 + 2_880 * (np.arange(150) // 3)
    _, errors = talk.map()
    assert np.abs(errors[:-3]).max() < 1e-6


def test_nothing_maps_to_nothing() -> None:
    assert map_runs([], [], [], 48_000).runs == ()
    assert map_runs([1], [2], [3.0], 48_000).time(0)[0] == pytest.approx(3.0)
