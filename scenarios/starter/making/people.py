"""A stage for drawn people who talk: a script in, a clip with its true event times out.

    scene = Scene("office")
    nora = scene.person("Nora", Look(top="#3f7d4e"), x=300, voice="bf_emma")
    scene.say(nora, "Good morning, everybody.", to=CAMERA, mood="smile")
    scene.turn("greeting")
    scene.turn("who", ask="Who has just spoken?")     # room for the user's question
    scene.save(Path("media/scene.mp4"), Path("make/events.json"))

Everything happens at the scene's clock `now`, which `say` and `wait` move on; other things (looks,
moods, arms, walking, writing) are set going without moving it. Who listens turns to who speaks by
itself. Mouths move with the loudness of their own sound. The same script gives the same clip.

Needs the project with `[kokoro]`, `pycairo` (Debian: libcairo2-dev pkg-config to build it) and
`ffmpeg`. A scene is drawn at 15 pictures a second, a long one at 10: drawn films have 12.
"""

import json
import math
import random
import subprocess
import tempfile
import wave
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import cairo
import numpy as np
import people_room as room
from people_figure import Figure
from people_look import Look, Pose
from people_track import Steps, Track
from people_voice import RATE, Spoken, Voices, knock, muffled, opening

FPS = 15
USER = "af_heart"
"""Whose instructions room is left for."""
LEVEL = 10 ** (-2 / 20)
"""People in the room are a little softer than the user beside the microphone."""
TONE = 10 ** (-68 / 20)
"""The room's own noise."""

CAMERA, DOWN, BOARD, AWAY = "camera", "down", "board", "away"


@dataclass(kw_only=True, eq=False)
class Person:
    """Somebody in a scene."""

    name: str
    voice: str
    rate: float
    figure: Figure
    place: Track
    head: Track
    """yaw, pitch, roll, gaze right, gaze down"""
    moods: dict[str, Track] = field(default_factory=dict)
    arms: dict[str, Track] = field(default_factory=dict)
    """x, y and how much the arm is not hanging (0 or 1)"""
    crying: Steps = field(default_factory=lambda: Steps(False))
    coat: Steps = field(default_factory=lambda: Steps(None))
    behind: Steps = field(default_factory=lambda: Steps(False))
    """Out of sight, or behind those who sit."""
    speech: list[tuple[float, Spoken]] = field(default_factory=list)
    blinks: list[float] = field(default_factory=list)

    def x(self, t: float) -> float:
        return self.place.at(t)[0]


Target = Person | str | tuple[float, float]
"""Where somebody looks: at a person, at CAMERA, DOWN, BOARD or AWAY, or at a point in pixels."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """What was said, and when it is heard."""

    who: Person
    text: str
    start: float
    end: float


@dataclass(kw_only=True)
class Thing:
    """A thing on the table or in hands."""

    kind: str
    place: Track
    start: float
    end: float = 1e9
    front: bool = True
    """Before the arms."""


class Scene:
    """A room, its people, and what happens in it."""

    def __init__(self, kind: str, *, size: float = 62, table: float | None = 575,
                 wood: str = "#b98a5a", door: float | None = None,
                 board: tuple[float, float, float, float] | None = None,
                 fps: int = FPS) -> None:
        self.kind, self.size, self.table, self.wood, self.door_x = kind, size, table, wood, door
        self.board_box, self.fps = board, fps
        self.now = 0.0
        self.people: list[Person] = []
        self.lines: list[Line] = []
        self.events: list[dict[str, object]] = []
        self.turns: list[dict[str, object]] = []
        self.notes: list[room.Note] = []
        self.things: list[Thing] = []
        self.clocks: list[tuple[float, float, int, int]] = []
        self._ajar = Track((0.0,))
        self._sounds: list[tuple[float, np.ndarray]] = []
        self._voices = Voices()
        self._still: list[tuple[float, float]] = []
        """When nobody blinks."""
        self._mouths: dict[str, tuple[np.ndarray, np.ndarray]] = {}

    # ------------------------------------------------------------ who is there

    def person(self, name: str, look: Look, *, x: float, voice: str, y: float | None = None,
               rate: float = 1.0, hands: bool = True) -> Person:
        """`y` is the base of the neck; `hands` lie on the table."""
        high = y if y is not None else (self.table or 640) - 2.25 * self.size
        who = Person(name=name, voice=voice, rate=rate, figure=Figure(look, self.size),
                     place=Track((x, high)), head=Track((0.0, 0.0, 0.0, 0.0, 0.0)))
        low = ((self.table or 640) + 26 - high) / self.size
        for side, hand in (("left", -1), ("right", 1)):
            who.arms[side] = Track((hand * 0.62, low, 1.0 if hands else 0.0))
        self.people.append(who)
        return who

    # ------------------------------------------------------------ talk

    def say(self, who: Person, text: str, to: Target = "", *, gap: float = 0.4, mood: str = "",
            much: float = 1.0, rate: float = 1.0, heed: bool = True, keep: bool = False,
            hidden: bool = False, pitch: float = 0.0) -> Line:
        """A line after a gap. `mood` lasts as long as it (or on, with `keep`); with `heed` the
        others turn to who speaks; `hidden` is a voice through a closed door."""
        spoken = self._voices.speak(text, who.voice, round(who.rate * rate, 3))
        start = self.frame(self.now + gap)
        line = Line(who=who, text=text, start=start, end=start + spoken.seconds)
        if hidden:
            self._sounds.append((start, muffled(spoken.samples)))
        else:
            self._sounds.append((start, spoken.samples * np.float32(LEVEL)))
            who.speech.append((start, spoken))
            if to:
                self.look(who, to, at=start - 0.3, pitch=pitch)
            if mood:
                self.mood(who, mood, much, at=start - 0.2)
                if not keep:
                    self.mood(who, "", at=line.end + 0.5)
            if heed:
                for k, other in enumerate(p for p in self.people if p is not who):
                    self.look(other, who, at=start + 0.25 + 0.13 * k, over=0.4)
        self.lines.append(line)
        self.now = line.end
        return line

    def knock(self, times: int = 3) -> float:
        start = self.frame(self.now)
        self._sounds.append((start, knock(times)))
        self.now = start + 0.24 * times
        return start

    def wait(self, seconds: float) -> None:
        self.now += seconds

    # ------------------------------------------------------------ what people do

    def look(self, who: Person, to: Target, *, at: float | None = None, over: float = 0.35,
             pitch: float = 0.0) -> None:
        t = self.now if at is None else at
        who.head.set(t, self._aim(who, to, t + over, pitch), over)

    def mood(self, who: Person, mood: str, much: float = 1.0, *, at: float | None = None,
             over: float = 0.3) -> None:
        """One expression instead of whatever there was; none for an even face."""
        t = self.now if at is None else at
        if mood:
            who.moods.setdefault(mood, Track((0.0,)))
        for name, track in who.moods.items():
            track.set(t, (much if name == mood else 0.0,), over)

    def roll_eyes(self, who: Person, *, at: float | None = None) -> float:
        """Eyes go up and round once, with a tilt of the head; 1.5 s. Returns when they are up."""
        t = self.now if at is None else at
        yaw, pitch, _, _, _ = self._aim(who, CAMERA, t, 0.0)
        self.mood(who, "scorn", at=t, over=0.25)
        for when, right, down in ((0.0, -0.9, -0.5), (0.3, -0.6, -1.3), (0.6, 0.2, -1.5),
                                  (0.9, 0.9, -1.1), (1.2, 0.9, -0.2)):
            who.head.set(t + when, (yaw + 0.12 * right, pitch - 0.3, 0.10, right, down), 0.3)
        self._still.append((t, t + 1.6))
        return t + 0.3

    def arm(self, who: Person, side: str, to: str | tuple[float, float], *,
            at: float | None = None, over: float = 0.5) -> None:
        """An arm of the picture's side: `table`, `up` (raised hand), `face`, `side`, `hang`, or a
        point in pixels."""
        t = self.now if at is None else at
        hand = -1 if side == "left" else 1
        x, y = who.place.at(t)
        points = {"table": (hand * 0.62, ((self.table or 640) + 26 - y) / self.size),
                  "up": (hand * 1.75, -1.5), "face": (hand * 0.5, -0.5),
                  "side": (hand * 2.2, 0.9), "hang": (hand * 1.5, 3.2)}
        if isinstance(to, str):
            px, py = points[to]
        else:
            px, py = (to[0] - x) / self.size, (to[1] - y) / self.size
        who.arms[side].set(t, (px, py, 0.0 if to == "hang" else 1.0), over)

    def walk(self, who: Person, x: float, *, y: float | None = None, seconds: float = 2.0,
             at: float | None = None) -> None:
        """Somebody walks behind those who sit, and looks where they go."""
        t = self.now if at is None else at
        here = who.place.at(t)
        who.behind.set(t, True)
        who.place.set(t, (x, here[1] if y is None else y), seconds)
        if abs(x - here[0]) > 30:
            sign = 1.0 if x > here[0] else -1.0
            who.head.set(t, (0.85 * sign, 0.0, 0.0, 0.5 * sign, 0.0), 0.3)

    def open_door(self, ajar: float = 1.0, *, at: float | None = None, over: float = 0.5) -> None:
        self._ajar.set(self.now if at is None else at, (ajar,), over)

    def leave(self, who: Person) -> float:
        """Stands up, goes out by the door and shuts it. Returns when nothing of them is seen."""
        assert self.door_x is not None
        t, (x, y) = self.now, who.place.at(self.now)
        for side in ("left", "right"):
            self.arm(who, side, "hang", at=t, over=0.3)
        self.walk(who, x, y=y - 75, seconds=0.7, at=t)
        far = abs(self.door_x + 75 - x) / 330
        self.walk(who, self.door_x + 75, y=y - 75, seconds=far, at=t + 0.75)
        self.open_door(1.0, at=t + 0.75 + max(0.0, far - 0.6))
        out = t + 0.75 + far + 0.2
        self.walk(who, self.door_x + 400, seconds=0.9, at=out)
        who.coat.set(out + 0.9, who.coat.at(out))
        self.open_door(0.0, at=out + 0.8)
        self.now = out + 1.3
        return self.frame(self.now)

    def come(self, who: Person, x: float, y: float) -> float:
        """Comes in by the door and sits down at (x, y). Returns when the face is first seen
        whole."""
        assert self.door_x is not None
        t = self.now
        who.behind.set(t, True)
        for side in ("left", "right"):
            who.arms[side].set(t, (1.5 if side == "right" else -1.5, 3.2, 0.0), 0.0)
        self.open_door(1.0, at=t)
        who.place.set(t + 0.4, (self.door_x + 400, y - 75), 0.0)
        self.walk(who, self.door_x + 75, y=y - 75, seconds=1.0, at=t + 0.5)
        seen = self.frame(t + 1.45)
        far = abs(self.door_x + 75 - x) / 330
        self.open_door(0.0, at=t + 2.1)
        self.walk(who, x, y=y - 75, seconds=far, at=t + 1.9)
        sit = t + 1.9 + far
        self.walk(who, x, y=y, seconds=0.6, at=sit)
        who.behind.set(sit + 0.6, False)
        for side in ("left", "right"):
            hand = -1 if side == "left" else 1
            low = ((self.table or 640) + 26 - y) / self.size
            who.arms[side].set(sit + 0.5, (hand * 0.62, low, 1.0), 0.0)
        self.now = sit + 0.7
        return seen

    def cry(self, who: Person, on: bool = True, *, at: float | None = None) -> None:
        who.crying.set(self.now if at is None else at, on)

    # ------------------------------------------------------------ things and writing

    def thing(self, kind: str, x: float, y: float, *, front: bool = True) -> Thing:
        what = Thing(kind=kind, place=Track((x, y)), start=self.frame(self.now), front=front)
        self.things.append(what)
        return what

    def become(self, what: Thing, kind: str) -> Thing:
        """Another thing takes its place."""
        t = self.frame(self.now)
        what.end = t
        x, y = what.place.at(t)
        return self.thing(kind, x, y, front=what.front)

    def write(self, x: float, y: float, text: str, *, at: float | None = None,
              takes: float | None = None, size: int = 40, colour: str = "#22304a",
              hand: bool = True) -> room.Note:
        """Written by hand, or typed."""
        t = self.frame(self.now if at is None else at)
        takes = 0.07 * len(text) if takes is None else takes
        what = room.Note(x=x, y=y, text=text, start=t, takes=takes, size=size, colour=colour,
                         hand=hand)
        self.notes.append(what)
        return what

    # ------------------------------------------------------------ turns and events

    def event(self, name: str, t: float | None = None) -> float:
        """The time of something that is seen or heard, to a frame."""
        t = self.frame(self.now if t is None else t)
        self.events.append({"name": name, "time": round(t, 3)})
        return t

    def turn(self, name: str, *, ask: str = "", lead: float = 0.7, voice: str = USER,
             rest: float = 0.5) -> float:
        """The end of a turn, on a tenth of a second; with `ask`, after room for the user's words,
        in which nothing new happens."""
        end = self.now + (rest if not ask else 0.0)
        if ask:
            # At least 0.6 s for what was set going (heads, faces) to come to rest.
            end = self.now + lead + self._voices.speak(ask, voice).seconds
        end = math.ceil(end * 10 - 1e-6) / 10
        self.turns.append({"id": name, "until": round(end, 1)})
        self._still.append((end - 0.4, end + 0.3))
        self.now = end
        return end

    def frame(self, t: float) -> float:
        """The time of the picture nearest to t."""
        return round(t * self.fps) / self.fps

    # ------------------------------------------------------------ making the clip

    def save(self, clip: Path, events: Path, *, crf: int = 31, audio: tuple[str, ...] = (
            "-c:a", "aac", "-b:a", "40k")) -> None:
        """Write the clip and its true event times."""
        self._voices.close()
        length = self.now
        sound = self._mixed(length)
        self._blinking(length)
        clip.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            track = Path(folder) / "sound.wav"
            with wave.open(str(track), "wb") as out:
                out.setnchannels(1)
                out.setsampwidth(2)
                out.setframerate(RATE)
                out.writeframes((sound * 32767).astype("<i2").tobytes())
            command = [
                "ffmpeg", "-y", "-v", "error", "-f", "rawvideo", "-pix_fmt", "bgra",
                "-s", f"{room.WIDTH}x{room.HEIGHT}", "-r", str(self.fps), "-i", "-",
                "-i", str(track),
                "-c:v", "libx264", "-preset", "veryfast", "-tune", "animation", "-crf", str(crf),
                "-pix_fmt", "yuv420p", "-g", str(self.fps * 4), "-threads", "2", *audio,
                "-fflags", "+bitexact", "-flags", "+bitexact", "-movflags", "+faststart", str(clip),
            ]
            with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
                assert process.stdin is not None
                for picture in self._pictures(round(length * self.fps)):
                    process.stdin.write(picture)
            if process.returncode:
                raise SystemExit("ffmpeg could not write the clip")
        events.write_text(json.dumps(self.told(), indent=1) + "\n")
        print(f"{clip.name}: {length:.1f} s, {clip.stat().st_size / 1e6:.2f} MB")

    def told(self) -> dict[str, object]:
        """The content of events.json."""
        lines = [{"who": n.who.name, "start": round(n.start, 3), "end": round(n.end, 3),
                  "text": n.text} for n in self.lines]
        notes = [{"text": n.text, "start": round(n.start, 3), "end": round(n.end, 3),
                  **({"crossed": round(n.crossed, 3)} if n.crossed is not None else {}),
                  **({"gone": round(n.gone, 3)} if n.gone is not None else {})}
                 for n in self.notes if n.start > 0]
        return {"fps": self.fps, "length": round(self.now, 3), "turns": self.turns,
                "events": sorted(self.events, key=lambda e: e["time"]),  # type: ignore[arg-type,return-value]
                "lines": lines, **({"written": notes} if notes else {})}

    # ------------------------------------------------------------ inside

    def _aim(self, who: Person, to: Target, t: float, pitch: float) -> tuple[float, ...]:
        x, y = who.place.at(t)
        if isinstance(to, Person):
            dx = to.x(t) - x
            sign = 1.0 if dx > 0 else -1.0
            return (sign * min(0.95, 0.50 + abs(dx) / 1400), pitch, 0.0, sign * 0.6, pitch)
        if isinstance(to, tuple):
            dx, dy = to[0] - x, to[1] - (y - 1.4 * self.size)
            yaw = max(-0.95, min(0.95, dx / 420))
            down = max(-0.9, min(0.9, dy / 260))
            return (yaw, down * 0.8, 0.0, max(-0.7, min(0.7, dx / 300)), down)
        if to == BOARD:
            assert self.board_box is not None
            bx, by, bw, bh = self.board_box
            return self._aim(who, (bx + bw / 2, by + bh / 2), t, pitch)
        if to == DOWN:
            return (0.0, 1.3, 0.0, 0.0, 1.0)
        if to == AWAY:
            sign = -1.0 if x > room.WIDTH / 2 else 1.0
            return (-0.6 * sign, 0.2, -0.06 * sign, -0.5 * sign, 0.5)
        return (0.0, pitch, 0.0, 0.0, 0.0)

    def _mixed(self, length: float) -> np.ndarray:
        rng = np.random.default_rng(1)
        sound = (rng.standard_normal(round(length * RATE)) * TONE).astype(np.float32)
        for start, samples in self._sounds:
            at = round(start * RATE)
            part = samples[:len(sound) - at]
            sound[at:at + len(part)] += part
        return np.clip(sound, -0.98, 0.98)

    def _blinking(self, length: float) -> None:
        for who in self.people:
            rng = random.Random(who.name)
            t = rng.uniform(0.5, 3)
            while t < length:
                if not any(a < t + 0.2 and t < b for a, b in self._still):
                    who.blinks.append(self.frame(t))
                t += rng.uniform(2.4, 5.5)

    def _surface(self) -> cairo.ImageSurface:
        return cairo.ImageSurface(cairo.FORMAT_RGB24, room.WIDTH, room.HEIGHT)

    def _background(self) -> cairo.ImageSurface:
        surface = self._surface()
        ctx = cairo.Context(surface)
        room.ROOMS[self.kind](ctx)
        for x, y, hour, minute in self.clocks:
            room.clock(ctx, x, y, hour, minute)
        if self.board_box is not None:
            room.board(ctx, *self.board_box)
        return surface

    def _talking(self, frames: int) -> None:
        """How everybody's mouth moves, picture by picture."""
        for who in self.people:
            opened, wide = np.zeros(frames + 1), np.zeros(frames + 1)
            for start, spoken in who.speech:
                first = round(start * self.fps)
                count = math.ceil(spoken.seconds * self.fps)
                a, b = opening(spoken.samples, self.fps, count)
                opened[first:first + count] = a[:frames + 1 - first]
                wide[first:first + count] = b[:frames + 1 - first]
            self._mouths[who.name] = (opened, wide)

    def _pictures(self, frames: int) -> Iterator[memoryview]:
        self._talking(frames)
        background, surface = self._background(), self._surface()
        for k in range(frames):
            self._draw(cairo.Context(surface), k / self.fps, background)
            surface.flush()
            yield surface.get_data()

    def _draw(self, ctx: cairo.Context, t: float, background: cairo.ImageSurface) -> None:
        ctx.set_source_surface(background, 0, 0)
        ctx.paint()
        t += 1e-6
        for written in self.notes:
            room.note(ctx, written, t)
        if self.door_x is not None:
            room.door(ctx, self.door_x, self._ajar.at(t)[0])
        poses = [(who, self._pose(who, t)) for who in self.people]
        poses.sort(key=lambda p: not p[0].behind.at(t))
        figures = [(who.figure, pose) for who, pose in poses]
        for figure, pose in figures:
            self._clipped(ctx, figure, pose)
        if self.table is not None:
            room.table(ctx, self.table, self.wood)
        for front in (False, True):
            for what in self.things:
                if what.front == front and what.start <= t < what.end:
                    ctx.save()
                    ctx.translate(*what.place.at(t))
                    room.THINGS[what.kind](ctx)
                    ctx.restore()
            if not front:
                for figure, pose in figures:
                    figure.draw_arms(ctx, pose)

    def _clipped(self, ctx: cairo.Context, figure: Figure, pose: Pose) -> None:
        """Who goes out by the door is hidden by the wall beside it."""
        ctx.save()
        if self.door_x is not None and pose.x > self.door_x:
            ctx.rectangle(0, 0, self.door_x + 150, room.HEIGHT)
            ctx.clip()
        figure.draw(ctx, pose)
        ctx.restore()

    def _pose(self, who: Person, t: float) -> Pose:
        yaw, pitch, roll, right, down = who.head.at(t)
        x, y = who.place.at(t)
        frame = round(t * self.fps)
        opened, wide = self._mouths[who.name]
        mouth = float(opened[frame])
        lids = 0.0
        for blink in who.blinks:
            if blink <= t < blink + 2 / self.fps:
                lids = 1.0
        lids = max(lids, min(0.5, 0.55 * down))  # eyes cast down
        arms: dict[str, tuple[float, float] | None] = {}
        for side, track in who.arms.items():
            ax, ay, shown = track.at(t)
            arms[side] = (ax, ay) if shown > 0.5 else None
        crying = who.crying.at(t)
        return Pose(
            x=x, y=y, yaw=yaw, pitch=pitch + 0.10 * mouth, roll=roll, gaze=(right, down),
            lids=lids, mouth=mouth, wide=float(wide[frame]),
            face={n: v for n, track in who.moods.items() if (v := track.at(t)[0]) > 0.01},
            tears=t - who.crying.since(t) if crying else None, arms=arms,
            coat=who.coat.at(t))  # type: ignore[arg-type]
