"""The live detector: hears tones begin and end, and not clicks, hiss or broken packets."""

from __future__ import annotations

import struct
from typing import Any

import av
import numpy as np
import pytest

from simulator.protocol.rtp import rtp_payload
from simulator.rtc.ear import Ear

Samples = np.ndarray[Any, np.dtype[np.float64]]


def packets(samples: Samples) -> list[bytes]:
    encoder: Any = av.CodecContext.create("libopus", "w")
    encoder.sample_rate, encoder.layout, encoder.format = 48_000, "mono", "s16"
    found: list[bytes] = []
    scaled = (samples * 32_767).astype(np.int16)
    for start in range(0, len(scaled) - 959, 960):
        frame = av.AudioFrame.from_ndarray(
            scaled[start : start + 960].reshape(1, -1), format="s16", layout="mono"
        )
        frame.sample_rate, frame.pts = 48_000, start
        found += [bytes(p) for p in encoder.encode(frame)]
    return found


def rtp(payload: bytes, seq: int = 0, payload_type: int = 96, ssrc: int = 7) -> bytes:
    return struct.pack(">BBHII", 0x80, payload_type, seq, 0, ssrc) + payload


def listen(ear: Ear, samples: Samples) -> list[tuple[str, float]]:
    return [
        (event.edge, round(0.02 * index, 2))
        for index, payload in enumerate(packets(samples))
        for event in ear.feed(0.02 * index, rtp(payload, index))
    ]


def tone(seconds: float, level: float) -> Samples:
    return np.asarray(np.sin(2 * np.pi * 300 * np.arange(round(seconds * 48_000)) / 48_000) * level)


def silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * 48_000))


def test_a_tone_begins_and_ends() -> None:
    sound = np.concatenate((silence(0.5), tone(0.6, 0.2), silence(0.6)))
    (begin, at), (end, until) = listen(Ear(), sound)
    assert (begin, end) == ("start", "end")
    assert 0.50 <= at <= 0.56
    assert 1.26 <= until <= 1.36


def test_it_hears_who_speaks_in_a_track_of_two() -> None:
    voice = packets(np.concatenate((silence(0.5), tone(0.6, 0.2), silence(0.6))))
    quiet = packets(silence(1.7))
    ear, edges = Ear(), []
    for index, pair in enumerate(zip(voice, quiet, strict=True)):
        for ssrc, payload in enumerate(pair):
            found = ear.feed(0.02 * index, rtp(payload, index, ssrc=ssrc))
            edges += [(event.edge, round(0.02 * index, 2)) for event in found]
    (begin, at), (end, until) = edges
    assert (begin, end) == ("start", "end")
    assert 0.50 <= at <= 0.56
    assert 1.26 <= until <= 1.36


def test_a_pause_between_words_is_no_end() -> None:
    sound = np.concatenate((tone(0.4, 0.2), silence(0.14), tone(0.4, 0.2), silence(0.4)))
    assert [edge for edge, _ in listen(Ear(), sound)] == ["start", "end"]


def test_clicks_and_hiss_are_no_speech() -> None:
    click = np.concatenate((silence(0.2), tone(0.012, 0.5), silence(0.3)))
    hiss = np.random.default_rng(1).standard_normal(48_000) * 0.001
    assert listen(Ear(), click) == []
    assert listen(Ear(), hiss) == []


def noise(seconds: float, dbfs: float) -> Samples:
    rng = np.random.default_rng(5)
    return np.asarray(rng.standard_normal(round(seconds * 48_000)) * 10 ** (dbfs / 20))


@pytest.mark.parametrize("dbfs", [-70.0, -52.0, -48.0, -44.0, -38.0])
def test_speech_begins_and_ends_in_a_room_that_is_never_quiet(dbfs: float) -> None:
    sound = noise(12.0, dbfs)
    sound[4 * 48_000 : 6 * 48_000] += tone(2.0, 0.2)
    (begin, at), (end, until) = [e for e in listen(Ear(), sound) if e[1] > 3.2]
    assert (begin, end) == ("start", "end")
    assert 4.0 <= at <= 4.08
    assert 6.18 <= until <= 6.26


def test_a_room_that_comes_with_the_first_word_ends_with_the_floor_known() -> None:
    sound = np.concatenate((silence(2.0), noise(8.0, -46)))
    sound[2 * 48_000 : 4 * 48_000] += tone(2.0, 0.2)
    (begin, at), (end, until) = listen(Ear(), sound)
    assert (begin, end) == ("start", "end")
    assert 2.0 <= at <= 2.08
    assert 4.18 <= until <= 5.4


def test_a_voice_without_a_pause_goes_on() -> None:
    syllables = np.concatenate([tone(0.16, 0.2), tone(0.08, 0.01)] * 25)
    edges = listen(Ear(), np.concatenate((silence(0.5), syllables, silence(0.5))))
    assert [edge for edge, _ in edges] == ["start", "end"]
    steady = np.concatenate((silence(0.5), tone(6.0, 0.2), silence(0.5)))
    assert [edge for edge, _ in listen(Ear(), steady)] == ["start", "end"]


def test_packets_that_stop_coming_are_an_end() -> None:
    ear = Ear()
    listen(ear, tone(0.4, 0.2))
    assert ear.speaking
    assert ear.tick(0.5) == ()
    assert [event.edge for event in ear.tick(0.6)] == ["end"]
    assert ear.tick(0.7) == ()


def test_broken_packets_are_counted_and_silent() -> None:
    ear = Ear()
    rng = np.random.default_rng(2)
    for index in range(50):
        ear.feed(0.02 * index, rtp(b"\xff" + rng.bytes(40), index))
    for cut in range(14):
        ear.feed(2.0, rtp(b"")[:cut].ljust(2, b"\x80"))
    assert not ear.speaking


def test_other_payload_types_are_not_heard() -> None:
    ear = Ear(payload_type=111)
    for index, payload in enumerate(packets(tone(0.4, 0.2))):
        assert ear.feed(0.02 * index, rtp(payload, index, payload_type=13)) == ()


@pytest.mark.parametrize(
    ("packet", "payload"),
    [
        (bytes([0x80]) + bytes(11) + b"abc", b"abc"),
        (bytes([0x81]) + bytes(11) + bytes(4) + b"abc", b"abc"),
        (bytes([0x90]) + bytes(11) + b"\xbe\xde\x00\x01" + bytes(4) + b"abc", b"abc"),
        (bytes([0xA0]) + bytes(11) + b"abc\x00\x02", b"abc"),
        (b"\x80\x60", b""),
    ],
)
def test_payload_of_a_packet(packet: bytes, payload: bytes) -> None:
    assert rtp_payload(packet) == payload
