"""Sound: any rate and layout to 48 kHz stereo, each sample at its time."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from simulator.errors import InputError
from simulator.media.probe import probe
from simulator.media.sound import SoundReader, load

Make = Callable[..., Path]
Sound = NDArray[np.float32]


def bursts(seconds: float, rate: int, channels: int, each: float = 1.0) -> Sound:
    """A burst of 20 ms at each whole second."""
    sound = np.zeros((round(seconds * rate), channels), np.float32)
    burst = 0.5 * np.sin(np.arange(rate // 50) * 2 * np.pi * 1000 / rate)
    at = 0.0
    while at < seconds - 0.1:
        start = round(at * rate)
        sound[start : start + len(burst)] = burst[:, None]
        at += each
    return sound


def read(path: Path, first: float, last: float) -> Sound:
    with SoundReader(probe(path)) as reader:
        return np.concatenate(list(reader.read(round(first * 48_000), round(last * 48_000))))


def onset(sound: Sound) -> float:
    """Seconds of the first loud sample."""
    return float(np.flatnonzero(np.abs(sound[:, 0]) > 0.05)[0]) / 48_000


@pytest.mark.parametrize(
    ("rate", "layout", "channels", "codec", "suffix"),
    [
        (44_100, "mono", 1, "pcm_s16le", "wav"),
        (44_100, "stereo", 2, "aac", "mp4"),
        (48_000, "5.1", 6, "flac", "mkv"),
        (22_050, "mono", 1, "libmp3lame", "mp3"),
        (8_000, "mono", 1, "pcm_mulaw", "wav"),
        (96_000, "stereo", 2, "flac", "flac"),
        (48_000, "stereo", 2, "libopus", "webm"),
    ],
)
def test_rates_and_layouts(
    make_clip: Make, rate: int, layout: str, channels: int, codec: str, suffix: str
) -> None:
    path = make_clip(
        f"x.{suffix}", sound=bursts(5, rate, channels), rate=rate, layout=layout, audio_codec=codec
    )
    for second in (1, 3, 2):
        heard = read(path, second - 0.2, second + 0.2)
        assert heard.shape == (19_200, 2)
        assert onset(heard) == pytest.approx(0.2, abs=0.004)
        assert float(np.abs(heard).max()) > 0.2


def test_seeking_gives_the_same_samples_as_reading_on(make_clip: Make) -> None:
    rng = np.random.default_rng(2)
    sound = (0.2 * rng.standard_normal((44_100 * 6, 2))).astype(np.float32)
    path = make_clip("noise.mkv", sound=sound, rate=44_100, audio_codec="pcm_s16le")
    whole = read(path, 0.0, 6.0)
    for first in (1.3, 2.71828, 4.999):
        at = round(first * 48_000)
        piece = read(path, first, first + 0.5)
        # The stamps of this container are whole milliseconds: the seek may land half a one off.
        shifts = [
            float(np.abs(piece - whole[at + s : at + s + len(piece)]).max()) for s in range(-48, 49)
        ]
        assert min(shifts) < 0.01


def test_neighbouring_reads_join(make_clip: Make) -> None:
    rng = np.random.default_rng(2)
    sound = (0.2 * rng.standard_normal((44_100 * 4, 1))).astype(np.float32)
    path = make_clip("noise.wav", sound=sound, rate=44_100, layout="mono")
    whole = read(path, 0.0, 4.0)
    with SoundReader(probe(path)) as reader:
        first = np.concatenate(list(reader.read(0, 70_000)))
        second = np.concatenate(list(reader.read(70_000 - 3_528, 150_000)))
    assert np.array_equal(first, whole[:70_000])
    assert np.array_equal(second, whole[70_000 - 3_528 : 150_000])
    assert np.array_equal(read(path, 3.0, 4.0), whole[144_000:])


def test_before_the_start_and_after_the_end_is_silence(make_clip: Make) -> None:
    path = make_clip("x.wav", sound=np.full((48_000, 2), 0.25, np.float32))
    heard = read(path, -0.1, 1.5)
    assert not heard[:4_800].any()
    assert heard[4_800:52_800] == pytest.approx(0.25, abs=1e-3)
    assert not heard[52_800:].any()
    assert not read(path, -0.5, -0.1).any()


def test_sound_that_begins_late(make_clip: Make) -> None:
    black = np.zeros((48, 64, 3), np.uint8)
    path = make_clip(
        "late.mkv", [(i / 10, black) for i in range(30)], bursts(2, 48_000, 2), sound_at=0.75
    )
    assert onset(read(path, 0.0, 2.0)) == pytest.approx(0.75, abs=0.002)
    assert onset(read(path, 1.5, 2.5)) == pytest.approx(0.25, abs=0.002)


@pytest.mark.parametrize("ppm", [0, 300])
def test_an_hour_stays_in_sync(make_clip: Make, tmp_path: Path, ppm: int) -> None:
    """Also where the sound's clock drifts against its stamps: 300 ppm are a second in an hour."""
    import av

    path = tmp_path / "hour.mkv"
    with av.open(str(path), "w") as out:
        stream = out.add_stream("pcm_u8", rate=8_000, layout="mono")
        burst = (8_000 * np.sin(np.arange(160) * 2 * np.pi * 1000 / 8_000)).astype(np.int16)
        samples = np.zeros(8_000, np.int16)
        samples[:160] = burst
        for second in range(3_600):
            frame = av.AudioFrame.from_ndarray(samples[None], format="s16", layout="mono")
            frame.sample_rate = 8_000
            frame.pts = round(second * 8_000 * (1 + ppm / 1e6))
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    stretched = 1 + ppm / 1e6
    for second in (10, 1_800, 3_590):
        true = second * stretched
        assert onset(read(path, true - 0.3, true + 0.3)) == pytest.approx(0.3, abs=0.012)
    if ppm:
        return
    with SoundReader(probe(path)) as reader:
        at = 0
        for block in reader.read(0, 900 * 48_000):
            at += len(block)
        last = np.concatenate(list(reader.read(at, at + 9_600)))
    assert onset(last) == pytest.approx(0.0, abs=0.002)


def test_gaps_are_kept(tmp_path: Path) -> None:
    import av

    path = tmp_path / "gap.mkv"
    with av.open(str(path), "w") as out:
        stream = out.add_stream("pcm_s16le", rate=44_100, layout="mono")
        samples = np.full(4_410, 8_000, np.int16)
        for at in (0.0, 0.1, 0.2, 1.5, 1.6):
            frame = av.AudioFrame.from_ndarray(samples[None], format="s16", layout="mono")
            frame.sample_rate = 44_100
            frame.pts = round(at * 44_100)
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    heard = np.abs(read(path, 0.0, 2.0)[:, 0]) > 0.1
    assert heard[1_000:14_000].all()
    assert not heard[15_000:71_500].any()
    assert heard[72_500:81_000].all()


def test_load_reads_a_whole_file(make_clip: Make) -> None:
    path = make_clip(
        "say.flac", sound=bursts(2.5, 24_000, 1), rate=24_000, layout="mono", audio_codec="flac"
    )
    sound = load(path)
    assert len(sound) == pytest.approx(120_000, abs=100)
    with pytest.raises(InputError, match="no such file"):
        load(path.with_name("none.flac"))
    only = make_clip("video.mp4", [(0.0, np.zeros((48, 64, 3), np.uint8))])
    with pytest.raises(InputError, match="no sound"):
        load(only)


@pytest.mark.parametrize("suffix", ["flac", "mp3", "wav", "ogg"])
def test_a_text_named_like_sound_is_told(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"count.{suffix}"
    path.write_text("How many bottles are on the table?\n" * 40)
    with pytest.raises(InputError, match=r"no sound can be decoded|not a media file"):
        load(path)
