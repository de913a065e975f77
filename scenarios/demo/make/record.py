"""Record `media/demo.mp4`: a house painted in Tux Paint along a fixed procedure.

Needs Debian's `tuxpaint xvfb xdotool ffmpeg`; standard library only. It starts Tux Paint on a
virtual screen, drives the pointer with xdotool at a person's speed, records the screen with
ffmpeg's x11grab, and writes `events.json`, the true clip times. `demo.yaml` copies its times from
there; after a new recording, copy them again (see the README).

How the times are made true. The script logs each button release on its monotonic clock. A click
before the clip begins is a sync mark: the frame that shows it ties that clock to the recorder's,
which starts late by an unknown amount. Then every event is looked up in the encoded clip itself:
`seen` is the time of the first frame in which the shape is filled up to its centre, which Tux
Paint fills last. The log and the frames must agree, or nothing is written.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
WIDTH, HEIGHT, FPS = 1280, 720, 30
LENGTH = 63.0
"""Seconds of the finished clip."""
LEAD = 2.5
"""Seconds between the sync click and the clip's first frame."""
MAX_SKEW = 0.08
"""Seconds by which the log and the frames may differ for the shape that is filled fastest."""
MAX_FILL = 1.0
"""Seconds that Tux Paint may take to fill a large shape after the release."""

SHAPES_TOOL = (72, 112)
RECTANGLE, CIRCLE, TRIANGLE = (1256, 136), (1256, 184), (1256, 281)
BLACK, RED, YELLOW, GREEN, BLUE, BROWN = (
    (125, 640), (361, 640), (480, 640), (597, 640), (715, 640), (951, 640),
)
REST = (860, 350)
"""Where the pointer waits: over empty sky, beside the house."""

# The procedure: (clip time, what, arguments). A move is (x, y, seconds it takes). A drag is
# (from, to, seconds, name, colour): it draws the chosen shape's outline from its centre outwards;
# on the release Tux Paint fills it from the edge to the centre, a large one in a third of a
# second. Half a rectangle is 0.707 of the drag.
PROCEDURE = [
    # 1. the blue wall
    (1.00, "pick", (*RECTANGLE, 0.9)),
    (2.40, "pick", (*BLUE, 1.0)),
    (3.80, "move", (560, 400, 0.8)),
    (4.85, "drag", ((560, 400), (800, 555), 0.9, "wall", (51, 102, 255))),
    (6.40, "move", (*REST, 0.8)),
    # 2. the red roof
    (10.40, "pick", (*TRIANGLE, 0.9)),
    (11.80, "pick", (*RED, 1.1)),
    (13.40, "move", (560, 240, 0.9)),
    (14.50, "drag", ((560, 240), (802, 340), 0.9, "roof", (255, 0, 0))),
    (16.00, "move", (*REST, 0.7)),
    # 3. three yellow windows, round as the sun will be
    (19.30, "pick", (*CIRCLE, 0.9)),
    (20.60, "pick", (*YELLOW, 1.0)),
    (21.95, "move", (450, 350, 0.8)),
    (22.95, "drag", ((450, 350), (486, 350), 0.5, "window 1", (255, 255, 0))),
    (24.10, "move", (560, 350, 0.6)),
    (24.85, "drag", ((560, 350), (596, 350), 0.5, "window 2", (255, 255, 0))),
    (26.00, "move", (670, 350, 0.6)),
    (26.75, "drag", ((670, 350), (706, 350), 0.5, "window 3", (255, 255, 0))),
    (27.80, "move", (*REST, 0.6)),
    # 4. the brown door
    (33.70, "pick", (*RECTANGLE, 0.8)),
    (34.95, "pick", (*BROWN, 0.8)),
    (36.20, "move", (560, 460, 0.8)),
    (37.20, "drag", ((560, 460), (602, 528), 0.7, "door", (128, 80, 0))),
    (38.50, "move", (*REST, 0.7)),
    # a yellow ball on the grass: round and yellow, but no sun; the pointer comes by the sky
    (46.30, "pick", (*CIRCLE, 0.9)),
    (47.60, "pick", (*YELLOW, 1.0)),
    (48.90, "move", (990, 190, 0.7)),
    (49.80, "move", (950, 552, 0.7)),
    (50.70, "drag", ((950, 552), (984, 552), 0.5, "ball", (255, 255, 0))),
    (51.70, "move", (860, 430, 0.6)),
    # 5. the sun
    (54.10, "move", (985, 140, 0.9)),
    (55.60, "drag", ((985, 140), (1060, 140), 0.6, "sun", (255, 255, 0))),
    (56.90, "move", (820, 330, 0.8)),
]


class Pointer:
    """The mouse, moved as a hand does: minimum jerk, on a slightly bent path."""

    def __init__(self, display: str, at: tuple[int, int]) -> None:
        self.env = {**os.environ, "DISPLAY": display}
        self.at = at
        self.run(["mousemove", *map(str, at)])

    def run(self, words: list[str]) -> None:
        subprocess.run(["xdotool", *words], env=self.env, check=True)

    def move(self, x: int, y: int, seconds: float, bend: float = 0.05) -> None:
        x0, y0 = self.at
        dx, dy = x - x0, y - y0
        begin, step = time.monotonic(), 1 / 60
        words: list[str] = []
        count = max(2, round(seconds / step))
        for i in range(1, count + 1):
            u = i / count
            s = u * u * u * (10 - 15 * u + 6 * u * u)
            side = bend * math.sin(math.pi * s)
            words += ["mousemove", str(round(x0 + dx * s - dy * side)),
                      str(round(y0 + dy * s + dx * side)), "sleep", f"{step * 0.93:.4f}"]
        self.run(words)
        self.at = (x, y)
        time.sleep(max(0.0, begin + seconds - time.monotonic()))

    def click(self) -> float:
        time.sleep(0.15)
        pressed = time.monotonic()
        self.run(["mousedown", "1", "sleep", "0.08", "mouseup", "1"])
        return pressed

    def drag(self, start: tuple[int, int], end: tuple[int, int], seconds: float) -> float:
        """Draw a shape; returns the time of the release."""
        self.move(*start, 0.05, bend=0)
        self.run(["mousedown", "1"])
        self.move(*end, seconds, bend=0)
        time.sleep(0.12)
        released = time.monotonic()
        self.run(["mouseup", "1"])
        return released


@contextmanager
def running(words: list[str], **options):
    """A child process, ended with the block; yields it."""
    child = subprocess.Popen(words, **options)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


@contextmanager
def screen():
    """A virtual screen of the clip's size; yields its DISPLAY."""
    read, write = os.pipe()
    words = ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{WIDTH}x{HEIGHT}x24",
             "-nolisten", "tcp"]
    with running(words, pass_fds=[write], stderr=subprocess.DEVNULL):
        os.close(write)
        with os.fdopen(read) as pipe:
            yield f":{pipe.readline().strip()}"


def grab(display: str) -> bytes:
    """The screen as it is, RGB."""
    words = ["ffmpeg", "-v", "error", "-f", "x11grab", "-draw_mouse", "0", "-video_size",
             f"{WIDTH}x{HEIGHT}", "-i", display, "-frames:v", "1", "-f", "rawvideo",
             "-pix_fmt", "rgb24", "-"]
    return subprocess.run(words, check=True, capture_output=True).stdout


def wait_until_ready(display: str, seconds: float = 60) -> None:
    """Until Tux Paint shows its white canvas and nothing moves any more."""
    give_up, last = time.monotonic() + seconds, b""
    while time.monotonic() < give_up:
        now = grab(display)
        canvas, title = (100 * WIDTH + 640) * 3, (10 * WIDTH + 20) * 3
        white = b"\xff\xff\xff"
        if now == last and now[canvas:canvas + 3] == white != now[title:title + 3]:
            return
        last = now
        time.sleep(1)
    raise SystemExit("Tux Paint did not come up")


def prepare(pointer: Pointer) -> None:
    """What is there when the clip begins: the shapes tool chosen, green grass."""
    for place in (SHAPES_TOOL, GREEN, RECTANGLE):
        pointer.move(*place, 0.3)
        pointer.click()
        time.sleep(0.4)
    for x in (300, 640, 990):
        pointer.drag((x, 560), (min(x + 400, WIDTH - 1), 640), 0.4)
        time.sleep(0.4)


def perform(pointer: Pointer, t0: float) -> list[dict]:
    """Carry out the procedure; returns the log, times counted from t0."""
    log = []
    for when, what, arguments in PROCEDURE:
        time.sleep(max(0.0, t0 + when - time.monotonic()))
        if what == "drag":
            start, end, seconds, name, colour = arguments
            begun = time.monotonic() - t0
            released = pointer.drag(start, end, seconds) - t0
            log.append({"name": name, "begun": begun, "released": released,
                        "centre": start, "colour": colour})
        else:
            pointer.move(*arguments)
            if what == "pick":
                pointer.click()
    time.sleep(max(0.0, t0 + LENGTH + 1 - time.monotonic()))
    return log


def colours(video: Path, points: list[tuple[int, int]]) -> list[list[tuple[int, ...]]]:
    """For each point the mean colour of the 6x6 pixels around it, for every frame."""
    count = len(points)
    graph = f"split={count}" + "".join(f"[a{i}]" for i in range(count)) + ";"
    for i, (x, y) in enumerate(points):
        graph += f"[a{i}]crop=6:6:{x - 3}:{y - 3},scale=2:2:flags=area,format=rgb24[b{i}];"
    graph += "".join(f"[b{i}]" for i in range(count)) + f"hstack=inputs={count}"
    words = ["ffmpeg", "-v", "error", "-i", str(video), "-lavfi", graph, "-f", "rawvideo",
             "-pix_fmt", "rgb24", "-"]
    raw = subprocess.run(words, check=True, capture_output=True).stdout
    row = 2 * count * 3
    return [[tuple(raw[at + 6 * i:at + 6 * i + 3]) for at in range(0, len(raw), 2 * row)]
            for i in range(count)]


def first_frame(found: list[tuple[int, ...]], colour: tuple[int, ...]) -> int:
    """The first frame from which on the colour stays for a third of a second."""
    like = [max(abs(a - b) for a, b in zip(c, colour, strict=False)) < 40 for c in found]
    for i in range(len(like)):
        if all(like[i:i + 10]):
            return i
    raise SystemExit(f"no frame shows {colour}")


def record(raw: Path, folder: Path) -> list[dict]:
    """Play the procedure and record it to `raw`; returns the log."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    paint = ["tuxpaint", "--windowed", f"--{WIDTH}x{HEIGHT}", "--nolockfile", "--nosound",
             "--simpleshapes", "--noprint", "--startblank", "--nosysfonts", "--lang", "english",
             "--savedir", str(folder / "saved")]
    with screen() as display:
        env = {**os.environ, "DISPLAY": display, "HOME": str(folder), "SDL_AUDIODRIVER": "dummy"}
        with running(paint, env=env, **quiet):
            wait_until_ready(display)
            pointer = Pointer(display, (640, 300))
            prepare(pointer)
            pointer.move(*BLACK, 0.4)
            time.sleep(1)
            words = ["ffmpeg", "-v", "error", "-f", "x11grab", "-framerate", str(FPS),
                     "-draw_mouse", "1", "-video_size", f"{WIDTH}x{HEIGHT}", "-i", display,
                     "-c:v", "libx264rgb", "-preset", "ultrafast", "-qp", "0",
                     "-fps_mode", "cfr", str(raw)]
            with running(words, stdin=subprocess.PIPE) as recorder:
                time.sleep(3)
                sync = pointer.click()
                time.sleep(0.4)
                pointer.move(*REST, 0.7)
                log = perform(pointer, sync + LEAD)
                recorder.communicate(b"q", timeout=60)
    return log


def sync_frame(raw: Path) -> int:
    """The frame that shows the sync click: the black button lights up."""
    button = colours(raw, [(108, 655), REST])[0]
    first = FPS  # the recorder's first second may be uneven
    for i in range(first, len(button)):
        if max(abs(a - b) for a, b in zip(button[i], button[first], strict=False)) > 25:
            return i
    raise SystemExit("the sync click is not in the recording")


def encode(raw: Path, clip: Path, first: int) -> None:
    """The clip: LENGTH seconds of the recording from frame `first` on."""
    cut = (f"trim=start_frame={first}:end_frame={first + round(LENGTH * FPS)},"
           "setpts=PTS-STARTPTS,scale=out_color_matrix=bt709:out_range=tv,format=yuv420p")
    subprocess.run(
        ["ffmpeg", "-v", "error", "-i", str(raw), "-vf", cut, "-an", "-r", str(FPS),
         "-c:v", "libx264", "-preset", "medium", "-crf", "18", "-g", str(5 * FPS), "-bf", "0",
         "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709",
         "-color_range", "tv", "-map_metadata", "-1", "-movflags", "+faststart", str(clip)],
        check=True)


def look(clip: Path, log: list[dict]) -> list[dict]:
    """The events with their times as the clip's frames show them."""
    events, skews = [], []
    centres = colours(clip, [entry["centre"] for entry in log])
    for entry, centre in zip(log, centres, strict=True):
        seen = first_frame(centre, entry["colour"]) / FPS
        skews.append(seen - entry["released"])
        events.append({"name": entry["name"], "drag_begins": round(entry["begun"], 3),
                       "released": round(entry["released"], 3), "seen": round(seen, 3)})
        print(f"{entry['name']:10} released {entry['released']:7.3f}  seen {seen:7.3f}  "
              f"{skews[-1] * 1000:+5.0f} ms")
    if abs(min(skews)) > MAX_SKEW or max(skews) > MAX_FILL:
        raise SystemExit("log and frames disagree: the machine was too busy, record again")
    return events


def main() -> None:
    parser = argparse.ArgumentParser(description="Record the demo clip.")
    parser.add_argument("--clip", type=Path, default=HERE.parent / "media" / "demo.mp4")
    parser.add_argument("--events", type=Path, default=HERE / "events.json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        raw, clip = folder / "raw.mkv", folder / "clip.mp4"
        log = record(raw, folder)
        encode(raw, clip, sync_frame(raw) + round(LEAD * FPS))
        events = look(clip, log)
        arguments.clip.parent.mkdir(exist_ok=True)
        shutil.copyfile(clip, arguments.clip)
    head = json.dumps({"clip": "media/demo.mp4", "fps": FPS, "length": LENGTH,
                       "unit": "clip time in seconds; seen = first frame with the filled shape"})
    lines = ",\n  ".join(json.dumps(event) for event in events)
    arguments.events.write_text(f'{head[:-1]}, "events": [\n  {lines}\n]}}\n')


if __name__ == "__main__":
    main()
