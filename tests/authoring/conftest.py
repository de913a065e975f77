"""A small folder to write scenarios in: a clip of a moving square, and sounds."""

from __future__ import annotations

import wave
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

SECONDS = 12.0
FPS = 10
QUIET = "version: 1\nid: {id}\nclip:\n  file: clip.mkv\n  licence: CC0-1.0\n"


class Desk:
    """The folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clip("clip.mkv", SECONDS)

    def clip(self, name: str, seconds: float, loud: Sequence[tuple[float, float]] = ()) -> Path:
        """A clip; `loud` are the times between which there is a tone in it."""
        path = self.folder / name
        with av.open(str(path), "w") as out:
            video: Any = out.add_stream("libx264", rate=FPS, options={"preset": "ultrafast"})
            video.width, video.height, video.pix_fmt = 160, 90, "yuv420p"
            audio: Any = out.add_stream("pcm_s16le", rate=48_000, layout="mono")
            for n in range(round(seconds * FPS)):
                picture = np.full((90, 160, 3), 40, np.uint8)
                picture[30:60, (5 * n) % 130 : (5 * n) % 130 + 30] = (220, 180, 40)
                out.mux(video.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
            out.mux(video.encode(None))
            samples = np.zeros(round(seconds * 48_000), np.int16)
            for start, end in loud:
                count = round((end - start) * 48_000)
                first = round(start * 48_000)
                samples[first : first + count] = _tone(count)
            frame = av.AudioFrame.from_ndarray(samples[None, :], format="s16", layout="mono")
            frame.sample_rate = 48_000
            out.mux(audio.encode(frame))
            out.mux(audio.encode(None))
        return path

    def sound(self, name: str, seconds: float) -> Path:
        """An instruction's sound: a tone of so many seconds."""
        path = self.folder / name
        with wave.open(str(path), "wb") as out:
            out.setnchannels(1)
            out.setsampwidth(2)
            out.setframerate(48_000)
            out.writeframes(_tone(round(seconds * 48_000)).tobytes())
        return path

    def write(
        self, turns: str, *, name: str = "made.yaml", head: str = "", id: str = "made"
    ) -> Path:
        """A scenario with these turns."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(QUIET.format(id=id) + head + "turns:\n" + turns, encoding="utf-8")
        return path


def _tone(count: int) -> np.ndarray[Any, np.dtype[np.int16]]:
    wave_ = np.sin(np.arange(count) * 2 * np.pi * 300 / 48_000)
    return (wave_ * 8000).astype(np.int16)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path)
