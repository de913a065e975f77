"""How fast preparing is: seconds of 720p stream per second of one core, fresh and from the cache.

    python tests/bench/bench_prepare.py [--json] [--quick] [--media FOLDER]

Besides two real clips it prepares a long one, made on the spot, to show that memory does not grow.
The alternative in the same run: only decoding the clip, which nothing can undercut, and encoding it
with libx264's default preset.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from simulator.media.cache import Cache
from simulator.media.encode import Encoding
from simulator.media.prepare import prepare
from simulator.media.probe import probe
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.types import Clip, Scenario, Turn

TARGET = 4.0
"""Times real time, on one core."""
TARGET_CACHED = 0.3
"""Seconds."""


def scenario(path: Path, seconds: float, step: float, goal: str) -> Scenario:
    ends = [*np.arange(step, seconds - 0.5, step), seconds]
    starts = [0.0, *ends[:-1]]
    turns = tuple(
        Turn(id=f"t{i + 1}", index=i, clip="main", start=float(a), end=float(b), expect=Quiet())
        for i, (a, b) in enumerate(zip(starts, ends, strict=True))
    )
    clips = {"main": Clip(name="main", path=path)}
    return Scenario(id="bench", path=path, sha256="0" * 64, clips=clips, turns=turns, goal=goal)


def loop(source: Path, target: Path, times: int) -> Path:
    """A clip several times over, packets as they are."""
    with av.open(str(target), "w") as out:
        video: Any = None
        offset, last = 0, 0
        for _ in range(times):
            with av.open(str(source)) as container:
                stream = container.streams.video[0]
                if video is None:
                    video = out.add_stream_from_template(stream)
                for packet in container.demux(stream):
                    if packet.dts is None or packet.pts is None:
                        continue
                    packet.pts += offset
                    packet.dts += offset
                    last = max(last, packet.pts + (packet.duration or 0))
                    packet.stream = video
                    out.mux(packet)
            offset = last
    return target


def long_clip(target: Path, seconds: int) -> Path:
    """A moving square on a still ground, 720p, with sound."""
    with av.open(str(target), "w") as out:
        video = out.add_stream("libx264", rate=10, options={"preset": "ultrafast"})
        video.width, video.height, video.pix_fmt = 1280, 720, "yuv420p"
        audio = out.add_stream("pcm_s16le", rate=44_100, layout="mono")
        samples = (3_000 * np.sin(np.arange(44_100) / 20)).astype(np.int16)[None]
        picture = np.full((1080, 1280), 128, np.uint8)
        for second in range(seconds):
            for k in range(10):
                picture[:720] = 90
                picture[300:380, (second * 10 + k) * 7 % 1200 :][:, :80] = 200
                frame = av.VideoFrame.from_ndarray(picture, format="yuv420p")
                frame.pts, frame.time_base = second * 10 + k, Fraction(1, 10)
                out.mux(video.encode(frame))
            sound = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
            sound.sample_rate, sound.pts = 44_100, second * 44_100
            out.mux(audio.encode(sound))
        out.mux(video.encode(None))
        out.mux(audio.encode(None))
    return target


def measured(work: Callable[[], Any]) -> tuple[float, float]:
    """CPU seconds and wall seconds of a call."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.process_time() - cpu, time.perf_counter() - wall


def decode_only(path: Path) -> None:
    with av.open(str(path)) as container:
        container.streams.video[0].codec_context.thread_count = 1
        for _ in container.decode(video=0):
            pass


def measure(name: str, path: Path, step: float, *, slow: bool) -> dict[str, Any]:
    seconds = probe(path).duration
    made = scenario(path, seconds, step, "Keep an eye on the subtitle")
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder))
        cpu, wall = measured(lambda: prepare(made, cache=cache))
        _, cached = measured(lambda: prepare(made, cache=Cache(Path(folder))))
        size = sum(f.stat().st_size for f in Path(folder).rglob("segment"))
    decoding, _ = measured(lambda: decode_only(path))
    row: dict[str, Any] = {
        "clip": name,
        "seconds": round(seconds, 1),
        "turns": len(made.turns),
        "times_real_time": round(seconds / cpu, 2),
        "times_real_time_wall": round(seconds / wall, 2),
        "decode_only_times_real_time": round(seconds / decoding, 2),
        "cached_s": round(cached, 4),
        "kbps": round(size * 8 / seconds / 1000),
        "ok": seconds / cpu >= TARGET and cached <= TARGET_CACHED,
    }
    if slow:
        with tempfile.TemporaryDirectory() as folder:
            cpu, _ = measured(
                lambda: prepare(made, cache=Cache(Path(folder)), encoding=Encoding(preset="medium"))
            )
        row["x264_medium_times_real_time"] = round(seconds / cpu, 2)
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    named = os.environ.get("OMNISTAGE_MEDIA", "").split(os.pathsep)[0]
    parser.add_argument("--media", type=Path, default=Path(named) if named else None)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        if options.media is not None:
            film = loop(
                options.media / "bbb_720p_5s.mp4",
                Path(folder) / "film.mp4",
                2 if options.quick else 6,
            )
            rows.append(measure("film, 1280x720, 25 fps", film, 5, slow=not options.quick))
            rows.append(
                measure(
                    "table, 640x360, 29.8 fps",
                    options.media / "bottles_remove_replace.mp4",
                    5,
                    slow=False,
                )
            )
            if not options.quick:
                rows.append(
                    measure(
                        "room, 768x432, 10 fps",
                        options.media / "people_one_by_one.mp4",
                        15,
                        slow=False,
                    )
                )
        for seconds in (30, 60) if options.quick else (120, 600):
            clip = long_clip(Path(folder) / f"{seconds}.mkv", seconds)
            row = measure(f"made, 1280x720, 10 fps, {seconds} s", clip, 20, slow=False)
            row["peak_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
            rows.append(row)
            clip.unlink()
    if not options.json:
        for row in rows:
            print(f"{row.pop('clip')}: " + ", ".join(f"{k} {v}" for k, v in row.items()))
        return
    print(json.dumps({"bench": "prepare", "target": TARGET, "rows": rows}))


if __name__ == "__main__":
    main()
