"""The encoders: sound at its time out of a decoder, and packets as peers want them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from simulator.media.encode import (
    LOOKAHEAD,
    Encoding,
    PictureEncoder,
    SoundEncoder,
    Unit,
    encode_sound,
    level,
    profile_level_id,
)
from simulator.media.mix import audible
from simulator.media.room import Quietest
from simulator.media.sound import load
from simulator.protocol.samples import PACKET, Stereo
from simulator.scenario.types import Canvas


def clicks(seconds: float) -> NDArray[np.float32]:
    """Bursts of a tone each 0.2 s."""
    sound = np.zeros((round(seconds * 48_000), 2), np.float32)
    burst = 0.5 * np.sin(np.arange(480) * 2 * np.pi * 1500 / 48_000)
    for at in range(4_800, len(sound) - 480, 9_600):
        sound[at : at + 480] = burst[:, None]
    return sound


def decode(packets: list[bytes], decoder: str = "libopus") -> NDArray[np.float32]:
    context: Any = av.CodecContext.create(decoder, "r")
    context.sample_rate, context.layout = 48_000, "stereo"
    blocks = []
    for packet in packets:
        for frame in context.decode(av.Packet(packet)):
            block = frame.to_ndarray()
            flat = block.reshape(-1, 2) / 32768 if frame.format.is_packed else block.T
            blocks.append(flat.astype(np.float32))
    return np.concatenate(blocks)


def lag(heard: NDArray[np.float32], said: NDArray[np.float32]) -> int:
    """Samples by which `heard` is late against `said`."""
    size = 1 << (len(said) + len(heard)).bit_length()
    product = np.fft.rfft(heard[:, 0], size) * np.conj(np.fft.rfft(said[:, 0], size))
    at = int(np.argmax(np.fft.irfft(product, size)))
    return at - size if at > size // 2 else at


@pytest.mark.parametrize("decoder", ["libopus", "opus"])
def test_sound_comes_out_at_its_own_time(decoder: str) -> None:
    said = clicks(1.0)
    packets = encode_sound(said)
    assert len(packets) == 50
    assert abs(lag(decode(packets, decoder), said)) <= 2


def test_the_encoder_is_late_by_what_we_make_up_for() -> None:
    said = clicks(1.0)
    early = np.zeros((SoundEncoder.before + LOOKAHEAD, 2), np.float32)
    late = list(SoundEncoder(64_000).packets((early, said)))
    assert lag(decode(late), said) == pytest.approx(LOOKAHEAD, abs=2)


def test_block_sizes_do_not_matter() -> None:
    said = clicks(0.4)
    whole = [np.zeros((SoundEncoder.before, 2), np.float32), said, np.zeros((LOOKAHEAD, 2), "f4")]
    joined = np.concatenate(whole)
    pieces = [joined[i : i + 777] for i in range(0, len(joined), 777)]
    assert list(SoundEncoder(64_000).packets(pieces)) == encode_sound(said)


def test_parts_of_one_sound_join_without_a_seam() -> None:
    rng = np.random.default_rng(1)
    tone = 0.3 * np.sin(np.arange(48_000) * 2 * np.pi * 440 / 48_000) + 0.01 * rng.standard_normal(
        48_000
    )
    said = np.stack([tone, tone], axis=1).astype(np.float32)
    cut = 24_000
    first = SoundEncoder(64_000).packets(
        (np.zeros((SoundEncoder.before, 2), "f4"), said[: cut + LOOKAHEAD])
    )
    second = SoundEncoder(64_000).packets(
        (said[cut - SoundEncoder.before :], np.zeros((LOOKAHEAD, 2), "f4"))
    )
    heard = decode([*first, *second])
    error = np.abs(heard - said).max(axis=1)
    usual = float(np.percentile(error[4_800:20_000], 99))
    assert float(error[cut - 480 : cut + 960].max()) < max(3 * usual, 0.03)


STARTER = Path(__file__).parents[2] / "scenarios" / "starter"
BITRATE = 64_000
SLICE = 240
"""Samples in 5 ms."""


def loudness(sound: Stereo) -> NDArray[np.float64]:
    """dB of full scale of each 5 ms."""
    power = np.square(sound[: len(sound) // SLICE * SLICE].astype(np.float64))
    mean: NDArray[np.float64] = power.reshape(-1, SLICE * 2).mean(axis=1)
    return 10 * np.log10(mean + 1e-9)


def room(dbfs: float) -> Stereo:
    """A second of room tone after a room of that level, as a hold has it."""
    samples = np.random.default_rng(3).standard_normal((48_000, 2)) * 10 ** (dbfs / 20)
    quietest = Quietest()
    for _ in quietest.watch([samples.astype(np.float32)]):
        pass
    return quietest.tone()


def held(tone: Stereo) -> list[bytes]:
    around = (tone[-SoundEncoder.before :], tone, tone[:LOOKAHEAD])
    return list(SoundEncoder(BITRATE).packets(around))


def voices() -> list[Stereo]:
    """Instructions that begin with their first sample, each from another scenario."""
    found = []
    for folder in sorted(STARTER.iterdir()):
        for file in sorted(folder.glob("speech/*.flac"))[:1]:
            samples = load(file)
            span = audible(samples)
            assert span is not None
            found.append(samples[span[0] : span[0] + 20 * PACKET])
    return found[::3]


def off_by(heard: Stereo, prepared: Stereo, *, over: float = -100) -> float:
    """The largest error of level from 5 to 100 ms, of what is over `over` dB of full scale."""
    said = loudness(prepared)[1:20]
    return float(np.abs(loudness(heard)[1:20] - said)[said > over].max(initial=0.0))


@pytest.mark.parametrize("dbfs", [-90, -60, -50])
def test_an_instruction_that_begins_a_segment_is_as_loud_as_it_was_prepared(dbfs: float) -> None:
    hold = held(room(dbfs))
    assert len(voices()) >= 5
    for voice in voices():
        silent = np.zeros((SoundEncoder.before, 2), np.float32)
        segment = list(SoundEncoder(BITRATE).packets((silent, voice)))
        for left_at in (1, 17, 33, 50):
            packets = [*hold, *hold[:left_at], *segment]
            heard = decode(packets)[(50 + left_at) * PACKET :]
            assert off_by(heard, voice, over=-35) <= 1.0
            # Of what is softer the codec itself makes up to 1.4 dB more or less.
            assert off_by(heard, voice, over=-60) <= 1.5


@pytest.mark.parametrize("decoder", ["libopus", "opus"])
def test_a_hold_is_as_quiet_as_it_was_prepared_wherever_speech_was_cut(decoder: str) -> None:
    tone = room(-55)
    hold = held(tone)
    for voice in voices():
        segment = encode_sound(voice)
        for cut in range(5, 20, 4):
            heard = decode([*segment[:cut], *hold], decoder)[cut * PACKET :]
            assert off_by(heard, tone) <= 1.0


def pictures(canvas: Canvas, count: int) -> list[Unit]:
    encoder = PictureEncoder(canvas, Encoding(), "smpte170m")
    units = []
    for k in range(count):
        picture = np.full((canvas.height, canvas.width, 3), 40, np.uint8)
        picture[:, (k * 3) % canvas.width :] = 200
        units += encoder.add(
            av.VideoFrame.from_ndarray(picture, "rgb24").reformat(format="yuv420p")
        )
    return units + encoder.finish()


def kinds(data: bytes) -> list[int]:
    """Types of the NAL units of an access unit in Annex-B."""
    found, at = [], data.find(b"\0\0\1")
    while at >= 0:
        found.append(data[at + 3] & 31)
        at = data.find(b"\0\0\1", at + 3)
    return found


def test_pictures_are_annex_b_with_parameters_at_each_keyframe() -> None:
    units = pictures(Canvas(width=160, height=96), 65)
    assert [u.pts for u in units] == [k * 3000 for k in range(65)]
    assert [i for i, u in enumerate(units) if u.key] == [0, 30, 60]
    for unit in units:
        assert unit.data.startswith((b"\0\0\0\1", b"\0\0\1"))
        types = [k for k in kinds(unit.data) if k != 6]
        assert types == ([7, 8, 5] if unit.key else [1])


def test_profile_and_level() -> None:
    data = pictures(Canvas(width=1280, height=720), 1)[0].data
    at = data.find(b"\0\0\1\x67") + 4
    assert data[at] == 66
    assert data[at + 1] & 0x40, "constrained baseline"
    assert data[at + 2] == 31
    assert profile_level_id(Canvas()) == "42e01f"
    assert profile_level_id(Canvas(width=1920, height=1080)) == "42e028"
    assert level(Canvas(width=8000, height=8000)) is None
