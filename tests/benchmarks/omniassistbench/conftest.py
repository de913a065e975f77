"""Small fake releases: clips made here, and rows with the quirks of the real one."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from simulator.media.sound import load
from simulator.plugins import content_root

RATE = 48_000
SPEECH = content_root("scenarios") / "bottles" / "speech" / "count.flac"

Clip = Callable[..., bytes]


def speech() -> np.ndarray[Any, np.dtype[np.float32]]:
    """A spoken question, mono, without the silence around it."""
    samples = load(SPEECH)[:, 0]
    loud = np.flatnonzero(np.abs(samples) > 0.01)
    return samples[loud[0] : loud[-1]].astype(np.float32)


def encode(sound: np.ndarray[Any, Any], seconds: float) -> bytes:
    """An MP4 with this sound (mono, at RATE) and a grey picture."""
    out = io.BytesIO()
    with av.open(out, "w", format="mp4") as container:
        picture = container.add_stream("mpeg4", rate=5)
        picture.width, picture.height, picture.pix_fmt = 64, 48, "yuv420p"
        heard = container.add_stream("aac", rate=RATE)
        heard.layout = "mono"
        for _ in range(round(seconds * 5)):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 99, np.uint8), format="rgb24")
            container.mux(picture.encode(frame))
        container.mux(picture.encode(None))
        for n in range(0, len(sound), 1024):
            block = sound[None, n : n + 1024].astype(np.float32)
            audio = av.AudioFrame.from_ndarray(block, format="fltp", layout="mono")
            audio.sample_rate, audio.pts = RATE, n
            container.mux(heard.encode(audio))
        container.mux(heard.encode(None))
    return out.getvalue()


@pytest.fixture(scope="session")
def clip() -> Clip:
    """Makes a clip in which a question ends `after` seconds before the end."""
    made: dict[tuple[float, int], bytes] = {}

    def make(after: float = 0.3, mark: int = 0) -> bytes:
        if (after, mark) not in made:
            said = speech()
            sound = np.zeros(int(RATE * (1.0 + after)) + len(said), np.float32)
            sound[RATE : RATE + len(said)] = said
            sound[: 480 + mark] += 0.001
            made[after, mark] = encode(sound, len(sound) / RATE)
        return made[after, mark]

    return make


def row(name: str, task: str, gold: str | None, **more: Any) -> dict[str, Any]:
    """A row of the release as it stands in its shards."""
    return {
        "video_full_path": None,
        "video_name": name,
        "class": task,
        "source": "YouTuBe",
        "turns": "single",
        "question": "How many bottles are there?",
        "gt_answer": gold,
        "key_points": "1. three",
        "example_video_full_path": None,
        "example_video": None,
        "example_text": None,
        **more,
    }


@pytest.fixture
def rows(clip: Clip) -> list[dict[str, Any]]:
    """Nine rows: a single turn twice over, a proactive chain, steps with an example, no gold."""

    def video(mark: int) -> dict[str, Any]:
        return {"bytes": clip(mark=mark), "path": None}

    return [
        row("VS-q1", "identity identification ", '["Anna", "the woman"]', video_full_path=video(1)),
        row("VS-q1", "identity identification", "Anna", video_full_path=video(1)),
        row("_pro-seg2", "multi events-triggered response", "Now!", video_full_path=video(3)),
        row("_pro-seg1", "multi events-triggered response", "KEEP_QUIET", video_full_path=video(2)),
        row(
            "_pro-seg3", "multi events-triggered response", "KEEP QUIET.", video_full_path=video(4)
        ),
        row(
            "st-seg1",
            "step tracking",
            "1. Cut the wire\n2. ['Press', 'Push'] the button",
            question=None,
            key_points="1. cut 2. ['press', 'push']",
            example_text="1. Cut\\n2. Press",
            example_video="ex.mp4",
            example_video_full_path=video(5),
            video_full_path=video(6),
        ),
        row("either", "SER", "['KEEP QUIET', 'Wait.']", video_full_path=video(7)),
        row("meeting-seg6", "real case", None, video_full_path=video(8)),
        row("signs", "gesture-based prompt following", "Left.", video_full_path=video(9)),
    ]


@pytest.fixture
def shards(rows: Sequence[dict[str, Any]], tmp_path: Path) -> Path:
    """The rows in two parquet files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = tmp_path / "release"
    folder.mkdir()
    struct = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema([(k, struct if k.endswith("full_path") else pa.string()) for k in rows[0]])
    for n, part in enumerate((rows[:4], rows[4:])):
        table = pa.Table.from_pylist(list(part), schema=schema)
        pq.write_table(table, folder / f"test-0000{n}.parquet")
    return folder
