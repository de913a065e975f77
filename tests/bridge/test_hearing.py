"""From RTP packets to samples with times: real speech, lost packets, jumps, rubbish."""

from __future__ import annotations

import struct
from pathlib import Path

import av
import numpy as np
import pytest

from simulator.bridge.babble import babble
from simulator.bridge.hearing import ArrivalClock, Hearing
from simulator.bridge.vad import FRAME, Edge, SpeechDetector
from simulator.media.encode import encode_sound
from simulator.plugins import content_root
from simulator.protocol.samples import RATE, MonoInt16


def packets(samples: MonoInt16, first: int = 2**32 - 9600) -> list[bytes]:
    """RTP as a caller would send it; its clock wraps early on."""
    whole = samples[: len(samples) // FRAME * FRAME].astype(np.float32) / 32768
    payloads = encode_sound(np.stack([whole, whole], axis=1))
    return [
        struct.pack("!BBHII", 0x80, 96, n, (first + n * FRAME) % 2**32, 7) + p
        for n, p in enumerate(payloads)
    ]


def hearing() -> tuple[Hearing, list[Edge]]:
    found: list[Edge] = []
    made = Hearing(found.append)
    made.payload_types = frozenset([96])
    return made, found


def quiet(seconds: float) -> MonoInt16:
    return np.zeros(round(seconds * RATE), np.int16)


def test_times_are_those_of_the_earliest_arrival() -> None:
    clock = ArrivalClock()
    rng = np.random.default_rng(3)
    late = rng.exponential(0.004, 500)
    late[100] = 0.0
    times = [
        clock.feed((2**32 - 4800 + n * 960) % 2**32, 5 + n * 0.02 + late[n])[1] for n in range(500)
    ]
    assert times[100:] == pytest.approx([5 + n * 0.02 for n in range(100, 500)], abs=1e-6)


def read(path: Path) -> MonoInt16:
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    with av.open(str(path)) as container:
        frames = [m for f in container.decode(audio=0) for m in resampler.resample(f)]
    return np.concatenate([f.to_ndarray().reshape(-1) for f in frames]).astype(np.int16)


@pytest.fixture(params=["demo", "jfk.flac", "moonshine_two_cities.wav"])
def speech(request: pytest.FixtureRequest) -> MonoInt16:
    """The sentences of the demo with pauses; people's, where clips of others are there."""
    if request.param != "demo":
        return read(request.getfixturevalue("media_dir") / request.param)[: 12 * RATE]
    said = content_root("scenarios") / "demo/speech"
    names = ("next", "standing", "count", "just_done", "guest")
    return np.concatenate([s for n in names for s in (quiet(0.8), read(said / f"{n}.flac"))])


def test_speech_keeps_its_edges_through_the_wire(speech: MonoInt16) -> None:
    samples = np.concatenate([quiet(1.0), speech, quiet(1.0)])
    direct = SpeechDetector()
    want = [
        e
        for i in range(0, len(samples) - FRAME + 1, FRAME)
        for e in direct.feed(samples[i : i + FRAME], i / RATE)
    ]
    heard, found = hearing()
    for n, packet in enumerate(packets(samples)):
        heard.feed(100 + n * 0.02 + 0.003 * (n % 5), packet)
    # Compared where both see an edge: whether a pause of a quarter second splits is a near thing.
    times = np.array([e.time - 100 for e in found])
    off = [np.abs(times - e.time).min() for e in want if e.edge == "start" or e is want[-1]]
    assert len(off) >= 4
    assert np.median(off) < 0.002
    assert sum(o < 0.01 for o in off) >= 0.75 * len(off)
    assert off[0] < 0.003
    assert off[-1] < 0.02


def test_lost_packets_leave_a_hole_and_not_a_shift() -> None:
    spoken = babble("How many bottles are there?")
    samples = np.concatenate([quiet(0.5), quiet(0.5), spoken, quiet(0.5)])
    heard, found = hearing()
    for n, packet in enumerate(packets(samples)):
        if not 5 <= n < 15:
            heard.feed(3 + n * 0.02, packet)
    assert [e.edge for e in found] == ["start", "end"]
    assert found[0].time == pytest.approx(4.0, abs=0.002)


def test_a_jump_of_the_callers_clock_starts_afresh() -> None:
    samples = np.concatenate([quiet(0.5), babble("How many bottles are there?"), quiet(0.5)])
    heard, found = hearing()
    for n, packet in enumerate(packets(quiet(0.5))):
        heard.feed(1 + n * 0.02, packet)
    for n, packet in enumerate(packets(samples, first=1_000_000_000)):
        heard.feed(9 + n * 0.02, packet)
    assert found[0].time == pytest.approx(9.5, abs=0.002)


def test_rubbish_is_counted_or_ignored() -> None:
    heard, found = hearing()
    for packet in (b"", b"\x80", b"\x80\x60" + bytes(10), b"\x9f\xe0" + bytes(10) + b"\xff" * 8):
        heard.feed(1.0, packet)
    heard.feed(1.0, b"\x80\x61" + bytes(10) + b"of another payload type")
    heard.feed(1.0, b"\x80\x60" + bytes(10) + b"\xff\xff\xff\xff")
    assert found == []
    assert heard.broken <= 2


def test_what_is_kept_can_be_had_back() -> None:
    spoken = babble("Say this again")
    heard, found = hearing()
    heard.keep(5.0)
    for n, packet in enumerate(packets(np.concatenate([quiet(0.4), spoken, quiet(0.6)]))):
        heard.feed(n * 0.02, packet)
    again = heard.between(found[0].time, found[1].time)
    assert abs(len(again) - len(spoken)) < 0.01 * RATE
    n = len(again) // 2
    assert np.corrcoef(again[:n], spoken[:n])[0, 1] > 0.9
    assert len(heard.between(50.0, 60.0)) == 0
