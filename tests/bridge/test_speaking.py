"""Sound on the schedule: where a sample comes out of a decoder, and what happens when it is cut."""

from __future__ import annotations

import asyncio
from typing import Any

import av
import numpy as np
import pytest

from simulator.bridge.babble import babble
from simulator.bridge.speaking import Speaking, Utterance, silence
from simulator.clock import WallClock
from simulator.protocol.samples import PACKET, RATE, MonoInt16

CODEC = 312
"""Samples by which Opus delays what goes through it."""


def decoded(payloads: list[bytes]) -> MonoInt16:
    decoder: Any = av.CodecContext.create("libopus", "r")
    decoder.sample_rate, decoder.layout, decoder.format = RATE, "mono", av.AudioFormat("s16")
    frames = [f.to_ndarray().reshape(-1) for p in payloads for f in decoder.decode(av.Packet(p))]
    return np.concatenate(frames).astype(np.int16)


def onset(samples: MonoInt16) -> int:
    return int(np.argmax(np.abs(samples.astype(np.int32)) > 1000))


@pytest.mark.parametrize("offset", [0, 1, 250, 480, 700, 959])
def test_the_first_sample_comes_out_where_it_was_put(offset: int) -> None:
    spoken = babble("There are three bottles.")
    said = Utterance(spoken, 7.0 + offset / RATE)
    heard = decoded([silence()] * 5 + [said.packet(7.0 + n * PACKET / RATE) for n in range(40)])
    assert not heard[: 4 * PACKET].any()
    begin = 5 * PACKET + CODEC + offset
    assert onset(heard) == pytest.approx(begin + onset(spoken), abs=48)
    again = heard[begin : begin + RATE // 2].astype(np.float64)
    assert np.corrcoef(again, spoken[: RATE // 2])[0, 1] > 0.95


def test_silence_is_a_few_bytes() -> None:
    assert len(silence()) < 10
    assert not decoded([silence()] * 10).any()


async def collect(speaking: Speaking, count: int) -> list[tuple[float, Any]]:
    clock = WallClock()
    out = []
    for _ in range(count):
        packet = await speaking.next_packet()
        out.append((clock.now(), packet))
    return out


async def test_packets_leave_on_the_grid_and_the_clock_runs_on() -> None:
    clock = WallClock()
    events: list[str] = []
    async with asyncio.TaskGroup() as tasks:
        speaking = Speaking(clock, tasks.create_task)
        with pytest.raises(RuntimeError, match="start"):
            speaking.say(babble("No"))
        speaking.start()
        at = clock.now() + 0.1234
        said = speaking.say(
            babble("No")[: round(0.15 * RATE)],
            at=at,
            on_started=lambda t: events.append(f"started {t == at}"),
            on_ended=lambda t, cleared: events.append(f"ended {cleared}"),
        )
        behind = speaking.say(babble("Yes")[: round(0.05 * RATE)])
        assert behind.start == pytest.approx(said.end)
        sent = await collect(speaking, 22)
    assert [p.pts for _, p in sent] == [n * PACKET for n in range(22)]
    gaps = np.diff([t for t, _ in sent])
    assert np.median(gaps) == pytest.approx(0.02, abs=0.002)
    heard = decoded([bytes(p) for _, p in sent])
    first = min(t - n * PACKET / RATE for n, (t, _) in enumerate(sent))
    assert first + (onset(heard) - CODEC) / RATE == pytest.approx(at, abs=0.01)
    assert events == ["started True", "ended False"]


async def test_what_is_cut_stops_at_once_and_says_so() -> None:
    clock = WallClock()
    ended: list[bool] = []
    async with asyncio.TaskGroup() as tasks:
        speaking = Speaking(clock, tasks.create_task)
        speaking.start()
        first = speaking.say(babble("one two three"), on_ended=lambda _, cut: ended.append(cut))
        later = speaking.say(babble("four"))
        sending = tasks.create_task(collect(speaking, 25))
        await clock.sleep_until(clock.now() + 0.1)
        assert speaking.clear()
        cut = clock.now()
        assert not speaking.clear()
        await first.done.wait()
        await later.done.wait()
        sent = await sending
    assert ended == [True]
    assert first.cleared
    assert later.cleared
    heard = np.abs(decoded([bytes(p) for _, p in sent]).astype(np.int32)).reshape(-1, PACKET).max(1)
    # One packet may have been made already, and the codec rings on into the next.
    behind = round((cut - sent[0][0]) * RATE / PACKET) + 3
    assert heard[:4].max() > 1000
    assert heard[behind:].max() < 100
