"""Record real programs being used: a virtual screen, a hand, a recorder, and true event times.

A scenario's `make/record.py` gives `record` two functions: `prepare` starts the programs and puts
their windows in place, `perform` uses them along a timetable and says what has happened. To record:

    PYTHONPATH=scenarios/starter/making python3 scenarios/starter/NAME/make/record.py

Needs Debian's `xvfb openbox xdotool x11-xserver-utils ffmpeg`, a theme and a font
(`adwaita-icon-theme fonts-dejavu-core`), the programs, and numpy.

How the times are made true. `perform` logs each event on its monotonic clock, with the part of the
screen that shows it. Before the clip begins the pointer jumps: the frame in which it is gone from
its place ties that clock to the recorder's. Then every event is looked up in the encoded clip:
`seen` is the time of the first frame from which on that part has the look that it has a little
later. Log and frames must agree roughly, or nothing is written.

A busy machine lags. So everything is done SLOW times as slowly and recorded at as low a rate, and
the clip plays as much faster: what lags is as much smaller in it. All times in scripts are clip
time.
"""

import json
import math
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

WIDTH, HEIGHT, FPS = 1280, 720, 10
SLOW = 2
LEAD = 2.0
"""Seconds between the pointer's jump and the clip's first frame."""
MAX_SKEW = 1.4
"""Seconds by which log and frames may differ: both lag on a busy machine, the clip counts."""
MAX_LATE = 2.5
"""Seconds by which the timetable may be behind."""
QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}

Box = tuple[int, int, int, int]
"""Left, top, width, height."""

SETTINGS = """\
[Settings]
gtk-font-name=DejaVu Sans {size}
gtk-icon-theme-name=Adwaita
gtk-cursor-theme-name=Adwaita
gtk-cursor-theme-size=40
gtk-cursor-blink=0
gtk-enable-animations=0
gtk-recent-files-enabled=0
"""
OPENBOX = """\
<?xml version="1.0"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
<theme><name>Clearlooks</name><titleLayout>LC</titleLayout>
<font place="ActiveWindow"><name>DejaVu Sans</name><size>14</size><weight>bold</weight></font>
<font place="InactiveWindow"><name>DejaVu Sans</name><size>14</size></font></theme>
<placement><policy>Smart</policy></placement>
<focus><focusNew>yes</focusNew></focus>
<mouse><context name="Client"><mousebind button="Left" action="Press"><action name="Focus"/>
<action name="Raise"/></mousebind></context>
<context name="Close"><mousebind button="Left" action="Click"><action name="Close"/></mousebind>
</context>
<context name="Titlebar"><mousebind button="Left" action="Press"><action name="Focus"/>
<action name="Raise"/></mousebind><mousebind button="Left" action="Drag"><action name="Move"/>
</mousebind></context></mouse>
<applications>{rules}</applications>
</openbox_config>
"""


def pause(seconds: float) -> None:
    """Let so much clip time go by."""
    time.sleep(seconds * SLOW)


class Hand:
    """Mouse and keyboard, used at a person's speed."""

    def __init__(self, env: dict[str, str]) -> None:
        self.env = env
        self.at = (0, 0)

    def run(self, *words: object) -> str:
        done = subprocess.run(["xdotool", *map(str, words)], env=self.env, check=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return done.stdout

    def jump(self, x: int, y: int) -> None:
        self.run("mousemove", x, y)
        self.at = (x, y)

    def move(self, x: int, y: int, seconds: float = 0.7, bend: float = 0.05) -> None:
        """Minimum jerk, on a slightly bent path."""
        x0, y0 = self.at
        dx, dy = x - x0, y - y0
        begin, step = time.monotonic(), SLOW / 30
        words: list[object] = []
        count = max(2, round(seconds * SLOW / step))
        for i in range(1, count + 1):
            u = i / count
            s = u * u * u * (10 - 15 * u + 6 * u * u)
            side = bend * math.sin(math.pi * s)
            words += ["mousemove", round(x0 + dx * s - dy * side), round(y0 + dy * s + dx * side),
                      "sleep", f"{step * 0.9:.4f}"]
        self.run(*words)
        self.at = (x, y)
        time.sleep(max(0.0, begin + seconds * SLOW - time.monotonic()))

    def click(self, x: int | None = None, y: int | None = None, *, seconds: float = 0.7,
              button: int = 1, times: int = 1) -> None:
        """Move there, if told where, and click."""
        if x is not None and y is not None:
            self.move(x, y, seconds)
        pause(0.15)
        words: list[object] = []
        for _ in range(times):
            words += ["mousedown", button, "sleep", "0.06", "mouseup", button, "sleep", "0.06"]
        self.run(*words[:-2])

    def drag(self, start: tuple[int, int], end: tuple[int, int], seconds: float = 0.8) -> None:
        self.move(*start, 0.6 if math.dist(self.at, start) > 4 else 0.05)
        pause(0.1)
        self.run("mousedown", 1)
        self.move(*end, seconds, bend=0)
        pause(0.12)
        self.run("mouseup", 1)

    def type(self, text: str, delay: float = 0.15) -> None:
        """Type, `delay` from key to key; a line's end and a tab are the keys Return and Tab."""
        for part in re.split("([\n\t])", text):
            if part in ("\n", "\t"):
                pause(delay)
                self.run("key", {"\n": "Return", "\t": "Tab"}[part])
            elif part:
                # xdotool waits half of it after the press and half of that after the release
                self.run("type", "--delay", round(delay * SLOW * 2000), part)

    def key(self, *keys: str) -> None:
        for name in keys:
            self.run("key", name)
            pause(0.08)


@dataclass
class Stage:
    """The virtual screen with its programs, and what has happened on it."""

    env: dict[str, str]
    home: Path
    children: ExitStack
    hand: Hand
    t0: float = 0.0
    log: list[dict] = field(default_factory=list)

    def start(self, *words: object, **options) -> subprocess.Popen:
        """A program that runs until the recording is over; not as root, which many warn of."""
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", "nobody:nogroup", self.home], check=True)
            options |= {"user": "nobody", "group": "nogroup", "extra_groups": []}
        return self.children.enter_context(
            running([str(w) for w in words], env=self.env, cwd=self.home, **QUIET, **options))

    def window(self, name: str, box: Box | None = None, by: str = "name",
               seconds: float = 60) -> str:
        """The id of the window with this title or class, once it is there; put in its box."""
        give_up = time.monotonic() + seconds
        while time.monotonic() < give_up:
            try:
                found = self.hand.run("search", "--onlyvisible", f"--{by}", name).split()
            except subprocess.CalledProcessError:
                found = []
            if found:
                if box:
                    left, top, width, height = box
                    self.hand.run("windowsize", found[-1], width, height,
                                  "windowmove", found[-1], left, top)
                return found[-1]
            time.sleep(0.3)
        raise SystemExit(f"no window {name!r} came up")

    def settle(self, seconds: float = 1.5) -> None:
        """Until nothing moves any more."""
        last, since = b"", time.monotonic()
        while time.monotonic() - since < seconds:
            now = self.grab()
            if now != last:
                last, since = now, time.monotonic()
            time.sleep(0.3)

    def grab(self) -> bytes:
        return subprocess.run(
            ["ffmpeg", "-v", "error", "-f", "x11grab", "-draw_mouse", "0", "-video_size",
             f"{WIDTH}x{HEIGHT}", "-i", self.env["DISPLAY"], "-frames:v", "1", "-f", "rawvideo",
             "-pix_fmt", "rgb24", "-"], check=True, capture_output=True).stdout

    def now(self) -> float:
        """The clip time."""
        return (time.monotonic() - self.t0) / SLOW

    def at(self, when: float) -> None:
        """Wait until this clip time; say so where the timetable is behind, or give up."""
        late = self.now() - when
        if late > 0.15:
            print(f"{when:7.2f} s: {late:.2f} s behind the timetable", flush=True)
        if late > MAX_LATE:
            raise SystemExit("the machine is too busy: record again")
        pause(max(0.0, -late))

    def event(self, name: str, box: Box, settled: float = 1.2) -> None:
        """This has happened just now, as the box shows `settled` seconds later."""
        self.log.append({"name": name, "done": self.now(), "box": box,
                         "settled": settled})


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
def stage(font_size: int = 14, wall: str = "#3b5a73", rules: str = "", css: str = ""):
    """A virtual screen of the clip's size with a window manager; yields a Stage.

    `rules` are Openbox's for applications, `css` is GTK's.
    """
    with ExitStack() as children:
        home = Path(children.enter_context(tempfile.TemporaryDirectory()))
        read, write = os.pipe()
        children.enter_context(running(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{WIDTH}x{HEIGHT}x24",
             "-nolisten", "tcp"], pass_fds=[write], **QUIET))
        os.close(write)
        with os.fdopen(read) as pipe:
            display = f":{pipe.readline().strip()}"
        config = home / ".config"
        for folder, text in {"gtk-3.0/settings.ini": SETTINGS.format(size=font_size),
                             "gtk-3.0/gtk.css": css,
                             "openbox/rc.xml": OPENBOX.replace("{rules}", rules)}.items():
            (config / folder).parent.mkdir(parents=True, exist_ok=True)
            (config / folder).write_text(text)
        (home / ".gtkrc-2.0").write_text(f'gtk-font-name="DejaVu Sans {font_size}"\n'
                                         'gtk-icon-theme-name="Adwaita"\ngtk-cursor-blink=0\n')
        env = {**os.environ, "DISPLAY": display, "HOME": str(home), "LANG": "C.UTF-8",
               "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": str(config), "NO_AT_BRIDGE": "1",
               "XDG_RUNTIME_DIR": str(home), "GSETTINGS_BACKEND": "keyfile",
               "XCURSOR_THEME": "Adwaita", "XCURSOR_SIZE": "40", "SDL_AUDIODRIVER": "dummy"}
        env.pop("DBUS_SESSION_BUS_ADDRESS", None)
        here = Stage(env, home, children, Hand(env))
        here.start("openbox")
        time.sleep(1)
        subprocess.run(["xsetroot", "-solid", wall, "-cursor_name", "left_ptr"], env=env,
                       check=True)
        yield here


def setting(here: Stage, group: str, **values: str) -> None:
    """Write GSettings values (in GVariant text) that the programs read when they start."""
    path = here.home / ".config" / "glib-2.0" / "settings" / "keyfile"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(f"[{group}]\n")
        for key, value in values.items():
            file.write(f"{key.replace('_', '-')}={value}\n")


def region(video: Path, box: Box, first: int, last: int, rate: int = FPS) -> np.ndarray:
    """Frames `first` to `last` of a part of the picture: frame, row, column, colour."""
    x, y, width, height = box
    graph = f"crop={width}:{height}:{x}:{y}:exact=1,format=rgb24"
    raw = subprocess.run(["ffmpeg", "-v", "error", "-ss", f"{max(0, first - 0.5) / rate:.4f}", "-i",
                          str(video), "-frames:v", str(last - first + 1), "-vf", graph, "-f",
                          "rawvideo", "-pix_fmt", "rgb24", "-"],
                         check=True, capture_output=True).stdout
    return np.frombuffer(raw, np.uint8).reshape(-1, height, width, 3).astype(np.int16)


def sync_frame(raw: Path, place: tuple[int, int]) -> int:
    """The frame in which the pointer has gone from its place."""
    frames = region(raw, (place[0] - 4, place[1], 24, 16), FPS // 2, 12 * FPS, FPS // SLOW)
    for i, frame in enumerate(frames):
        if (np.abs(frame - frames[0]).max(axis=-1) > 60).sum() > 20:
            return FPS // 2 + i
    raise SystemExit("the pointer's jump is not in the recording")


def encode(raw: Path, clip: Path, first: int, length: float, crf: int) -> None:
    cut = (f"trim=start_frame={first}:end_frame={first + round(length * FPS)},"
           "setpts=PTS-STARTPTS,scale=out_color_matrix=bt709:out_range=tv,format=yuv420p")
    subprocess.run(
        ["ffmpeg", "-v", "error", "-r", str(FPS), "-i", str(raw), "-vf", cut, "-an", "-r", str(FPS),
         "-c:v", "libx264", "-preset", "veryfast", "-crf", str(crf), "-g", str(20 * FPS),
         "-bf", "0", "-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709",
         "-color_range", "tv", "-map_metadata", "-1", "-movflags", "+faststart", str(clip)],
        check=True)


def look(clip: Path, log: list[dict]) -> list[dict]:
    """The events with their times as the clip's frames show them."""
    events = []
    for entry in log:
        done = round(entry["done"] * FPS)
        first, last = max(0, done - round(1.3 * FPS)), done + round(entry["settled"] * FPS)
        frames = region(clip, entry["box"], first, last)
        changed = np.abs(frames[-1] - frames[0]).max(axis=-1) > 60
        if changed.sum() < 12:
            raise SystemExit(f"{entry['name']}: the frames show no change")
        like = [(np.abs(f - frames[-1]).max(axis=-1)[changed] < 45).mean() > 0.95 for f in frames]
        seen = (first + len(like) - like[::-1].index(False)) / FPS
        skew = seen - entry["done"]
        print(f"{entry['name']:28} done {entry['done']:7.3f}  seen {seen:7.3f}  "
              f"{skew * 1000:+5.0f} ms  {changed.sum()} pixels")
        if not -MAX_SKEW < skew < min(MAX_SKEW, entry["settled"] - 0.1):
            raise SystemExit("log and frames disagree: look at the box, or record again")
        events.append({"name": entry["name"], "seen": round(seen, 3)})
    return events


def record(folder: Path, name: str, length: float, prepare: Callable[[Stage], None],
           perform: Callable[[Stage], None], *, crf: int = 26, **options) -> None:
    """Write `media/NAME.mp4` and `make/events.json` of the scenario in `folder`.

    `options` go to `stage`. KEEP in the environment names a file that gets the clip and is not
    checked, to find out where things are.
    """
    with tempfile.TemporaryDirectory() as work:
        raw, clip = Path(work) / "raw.mkv", Path(work) / "clip.mp4"
        with stage(**options) as here:
            prepare(here)
            time.sleep(0.5)
            words = ["ffmpeg", "-v", "error", "-f", "x11grab", "-framerate", str(FPS // SLOW),
                     "-draw_mouse", "1", "-video_size", f"{WIDTH}x{HEIGHT}", "-i",
                     here.env["DISPLAY"], "-c:v", "libx264rgb", "-preset", "ultrafast", "-qp", "0",
                     "-fps_mode", "cfr", str(raw)]
            with running(words, stdin=subprocess.PIPE) as recorder:
                time.sleep(3)
                rest = here.hand.at
                here.t0 = time.monotonic() + LEAD * SLOW
                here.hand.jump(rest[0] - 60, rest[1] - 60)
                pause(0.5)
                here.hand.move(*rest, 0.6)
                perform(here)
                here.at(length + 1)
                recorder.communicate(b"q", timeout=60)
        encode(raw, clip, sync_frame(raw, rest) + round(LEAD * FPS), length, crf)
        if keep := os.environ.get("KEEP"):
            shutil.copyfile(clip, keep)
        events = look(clip, here.log)
        (folder / "media").mkdir(exist_ok=True)
        shutil.copyfile(clip, folder / "media" / f"{name}.mp4")
    head = json.dumps({"clip": f"media/{name}.mp4", "fps": FPS, "length": length,
                       "unit": "clip time in seconds of the first frame that shows it whole"})
    lines = ",\n  ".join(json.dumps(event) for event in events)
    (folder / "make" / "events.json").write_text(f'{head[:-1]}, "events": [\n  {lines}\n]}}\n')
