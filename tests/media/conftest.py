"""Clips made on the spot, and a player of prepared parts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from simulator.media.packets import PacketFile
from simulator.media.timeline import Asset
from simulator.scenario.expectations.contract import Expectation
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.types import (
    Canvas,
    Clip,
    Say,
    Scenario,
    Turn,
)

SMALL = Canvas(width=160, height=96, fps=30)
Picture = NDArray[np.uint8]
Sound = NDArray[np.float32]


class MakeClip(Protocol):
    def __call__(
        self,
        name: str,
        pictures: Iterable[tuple[float, Picture]] = (),
        sound: Sound | None = None,
        *,
        rate: int = 48_000,
        layout: str = "stereo",
        sound_at: float = 0.0,
        video_codec: str = "libx264",
        audio_codec: str = "pcm_s16le",
        pixel: str = "yuv420p",
        aspect: Fraction | None = None,
        options: dict[str, str] | None = None,
    ) -> Path: ...


@pytest.fixture
def make_clip(tmp_path: Path) -> MakeClip:
    """Writes a clip from (time, RGB picture) pairs and samples (n, channels)."""

    def make(
        name: str,
        pictures: Iterable[tuple[float, Picture]] = (),
        sound: Sound | None = None,
        *,
        rate: int = 48_000,
        layout: str = "stereo",
        sound_at: float = 0.0,
        video_codec: str = "libx264",
        audio_codec: str = "pcm_s16le",
        pixel: str = "yuv420p",
        aspect: Fraction | None = None,
        options: dict[str, str] | None = None,
    ) -> Path:
        path = tmp_path / name
        shown = list(pictures)
        quick = {"preset": "ultrafast"} if video_codec.startswith("libx264") else {}
        with av.open(str(path), "w") as out:
            video: Any = None
            if shown:
                height, width = shown[0][1].shape[:2]
                video = out.add_stream(
                    video_codec, rate=Fraction(30), options=quick | (options or {})
                )
                video.width, video.height, video.pix_fmt = width, height, pixel
                video.time_base = video.codec_context.time_base = Fraction(1, 90_000)
                if aspect is not None:
                    video.codec_context.sample_aspect_ratio = aspect
            audio: Any = None
            if sound is not None:
                audio = out.add_stream(audio_codec, rate=rate, layout=layout)
            for time, picture in shown:
                frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                frame.pts, frame.time_base = round(time * 90_000), Fraction(1, 90_000)
                out.mux(video.encode(frame))
            if video is not None:
                out.mux(video.encode(None))
            if audio is not None and sound is not None:
                for at in range(0, len(sound), 1024):
                    block = np.ascontiguousarray(sound[at : at + 1024].T)
                    frame_ = av.AudioFrame.from_ndarray(block, format="fltp", layout=layout)
                    frame_.sample_rate = rate
                    frame_.pts = at + round(sound_at * rate)
                    frame_.time_base = Fraction(1, rate)
                    out.mux(audio.encode(frame_))
                out.mux(audio.encode(None))
        return path

    return make


class MakeScenario(Protocol):
    def __call__(
        self,
        clip: Path,
        cuts: Sequence[float],
        *,
        says: dict[int, Say] | None = None,
        expects: dict[int, Expectation] | None = None,
        goal: str = "",
        canvas: Canvas = SMALL,
    ) -> Scenario: ...


@pytest.fixture
def make_scenario() -> MakeScenario:
    """A scenario that cuts one clip at `cuts` (the first is where it begins)."""

    def make(
        clip: Path,
        cuts: Sequence[float],
        *,
        says: dict[int, Say] | None = None,
        expects: dict[int, Expectation] | None = None,
        goal: str = "",
        canvas: Canvas = SMALL,
    ) -> Scenario:
        turns = tuple(
            Turn(
                id=f"t{i + 1}",
                index=i,
                clip="main",
                start=start,
                end=end,
                instructions=(says[i],) if says and i in says else (),
                expect=(expects or {}).get(i, Quiet()),
            )
            for i, (start, end) in enumerate(itertools.pairwise(cuts))
        )
        return Scenario(
            id="made",
            path=Path("made.yaml"),
            sha256="0" * 64,
            clips={"main": Clip(name="main", path=clip)},
            turns=turns,
            goal=goal,
            canvas=canvas,
        )

    return make


@dataclass
class Played:
    """What a receiver sees and hears of parts played one after the other."""

    pictures: list[tuple[float, Picture]]
    """(time, RGB)."""
    sound: Sound


@pytest.fixture
def play() -> Callable[[Sequence[Asset]], Played]:
    """Decodes parts as one continuous stream."""

    def run(assets: Sequence[Asset]) -> Played:
        video: Any = av.CodecContext.create("h264", "r")
        audio: Any = av.CodecContext.create("libopus", "r")
        audio.sample_rate, audio.layout = 48_000, "stereo"
        times: list[float] = []
        pictures: list[Picture] = []
        sound: list[Sound] = []
        start = 0.0
        for asset in assets:
            part = PacketFile.open(asset.path)
            for i in range(len(part.tracks["video"])):
                times.append(start + int(part.tracks["video"].pts[i]) / 90_000)
                for frame in video.decode(av.Packet(part.tracks["video"].payload(i))):
                    pictures.append(frame.to_ndarray(format="rgb24"))
            for i in range(len(part.tracks["audio"])):
                for heard in audio.decode(av.Packet(part.tracks["audio"].payload(i))):
                    sound.append(heard.to_ndarray().reshape(-1, 2).astype(np.float32) / 32768)
            start += part.duration
        for frame in video.decode(None):
            pictures.append(frame.to_ndarray(format="rgb24"))
        assert len(times) == len(pictures)
        return Played(list(zip(times, pictures, strict=True)), np.concatenate(sound))

    return run
