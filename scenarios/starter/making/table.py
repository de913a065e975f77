"""A rendered scene: things on a table, and the hands of people who move them.

    python3 -m pip install skia-python==144.1 numpy==2.4.6      (and Debian's ffmpeg)

A scene is a script of moves with their times. It is drawn frame by frame, its sounds are
synthesised, and it writes the clip and `events.json` with the true times of what happens:

    scene = Scene(40, backdrop=wood())
    anna = scene.person(Person(name="Anna", skin="light", sleeve="blue"))
    apple = scene.put(things.apple("red"), (400, 420), name="apple")
    anna.carry(apple, 3.0, (700, 420))
    scene.write(HERE / "../media/apple.mp4", HERE / "events.json")

All times are clip times in seconds and are brought to whole frames, so that an event's time is that
of the first picture that shows it. The same script gives the same clip with the same versions of
the packages and of ffmpeg. Counterparts: `table_ink` (shapes), `table_things` (what lies about),
`table_hands` (hands), `table_sounds`.
"""

import json
import subprocess
import tempfile
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import skia
import table_sounds
from table_hands import POSES, Person, Pose, draw_hand, draw_shadow, grip, matrix
from table_ink import Ink, argb, box, tint

WIDTH, HEIGHT, FPS = 1280, 720, 25
_SMALL = 8
"""Shadows of hands are drawn this many times smaller, and blurred there."""
_SMOOTH = skia.SamplingOptions(skia.FilterMode.kLinear, skia.MipmapMode.kLinear)


def frame(t):
    """The time of the first frame at or after `t`."""
    return np.ceil(round(t * FPS, 6)) / FPS


class Track:
    """A value over time, moved softly from one key to the next."""

    def __init__(self, value):
        self._keys = [(0.0, np.asarray(value, float), False)]

    def move(self, start, end, value, *, even=False):
        """From what it is at `start` to `value` at `end`; `even` at one speed."""
        self._keys.append((max(start, self._keys[-1][0]), self._keys[-1][1], False))
        self._keys.append((max(end, start), np.asarray(value, float), even))

    def last(self):
        return self._keys[-1][1]

    def stop(self, t):
        """Stay where it is at `t`."""
        value = self.at(t)
        self._keys = [key for key in self._keys if key[0] <= t]
        self._keys.append((t, value, True))

    def at(self, t):
        before = self._keys[0]
        for key in self._keys:
            if key[0] > t:
                span = key[0] - before[0]
                x = (t - before[0]) / span if span > 0 else 1.0
                return before[1] + (key[1] - before[1]) * (x if key[2] else x * x * (3 - 2 * x))
            before = key
        return before[1]


@dataclass(frozen=True)
class Art:
    """How a thing looks: drawn once, with its foot (where it touches the table) at (0, 0)."""

    draw: object
    """A function of an Ink."""
    width: float
    height: float
    """How far it rises above its foot, in pixels."""
    below: float = 14
    """How far it reaches below its foot."""
    hold: float = 0.5
    """Where hands hold it, as a share of its height."""
    waist: float = 0
    """How wide it is there; its width, if not said."""
    shadow: str = "foot"
    """`foot`, a soft ellipse under what stands; `cast`, its own outline under what lies; `none`."""

    def pictures(self):
        """The thing and its shadow as images of twice the size, and where their corner is."""
        pad = 26
        left, top = -self.width / 2 - pad, -self.height - pad
        size = (round(2 * (self.width + 2 * pad)), round(2 * (self.height + self.below + 2 * pad)))

        def render(filtered):
            surface = skia.Surface(*size)
            canvas = surface.getCanvas()
            canvas.scale(2, 2)
            canvas.translate(-left, -top)
            ink = Ink(canvas)
            if not filtered:
                self.draw(ink)
            elif self.shadow == "foot":
                wide = self.width * 0.5
                ink.glow(skia.Path.Oval(skia.Rect.MakeLTRB(
                    -wide + 6, -self.width * 0.1 - 2, wide + 16, self.width * 0.14 + 6)),
                    (30, 18, 8), 0.42, 7)
            elif self.shadow == "cast":
                paint = skia.Paint(ImageFilter=skia.ImageFilters.DropShadowOnly(
                    5, 8, 5, 5, argb((30, 18, 8), 0.45)))
                canvas.saveLayer(None, paint)
                self.draw(ink)
                canvas.restore()
            return surface.makeImageSnapshot()

        return render(False), render(True), (left, top)


class Thing:
    """Something in the scene, where it is and how it looks over time."""

    def __init__(self, scene, art, where, name, *, layer=0, angle=0.0, seen=True):
        self.scene, self.name, self.layer = scene, name, layer
        self._arts = [(0.0, art)]
        self.place, self.lift, self.angle = Track(where), Track(0.0), Track(angle)
        self.fade = Track(1.0 if seen else 0.0)
        self._held = []

    def art(self, t):
        return [a for since, a in self._arts if since <= t + 1e-9][-1]

    def becomes(self, t, art):
        self._arts.append((frame(t), art))

    def appear(self, t, where=None):
        if where is not None:
            self.place.move(t, t, where)
        self.fade.move(t, t, 1.0)

    def vanish(self, t, takes=0.0):
        self.fade.move(t, t + takes, 0.0)

    def holder(self, t):
        """The hand that holds it, and where it is in that hand."""
        for hand, start, end, offset in self._held:
            if start <= t < end:
                return hand, offset
        return None

    def held_by(self, hand, start, end):
        offset = self.place.last() - hand.point.at(start)
        self._held.append((hand, start, end, offset))
        self.place.move(end, end, hand.point.at(end) + offset)

    def where(self, t):
        """Place on the table, lift above it."""
        held = self.holder(t)
        if held:
            return held[0].point.at(t) + held[1], float(held[0].lift.at(t))
        return self.place.at(t), float(self.lift.at(t))

    def middle(self, t=None):
        """Where a hand takes hold of it."""
        t = 1e9 if t is None else t
        art = self.art(t)
        return self.where(t)[0] - (0, art.height * art.hold)


class Hand:
    """A person's hand in the scene. It waits outside the picture until it is wanted."""

    def __init__(self, scene, person):
        self.scene, self.person = scene, person
        self.point = Track(self.outside((640, 400)))
        self.lift, self.turn = Track(0.0), Track(0.0)
        rest = POSES["rest"]
        self.joints = Track(rest.array())
        self._poses = [(0.0, rest)]
        self._out = True

    def outside(self, near):
        """Where the hand has left the picture on its own side, from `near`."""
        a = np.radians(self.person.angle)
        way = np.array([-np.sin(a), np.cos(a)])
        room = min((x for x in (
            (WIDTH - near[0]) / way[0] if way[0] > 1e-6 else None,
            -near[0] / way[0] if way[0] < -1e-6 else None,
            (HEIGHT - near[1]) / way[1] if way[1] > 1e-6 else None,
            -near[1] / way[1] if way[1] < -1e-6 else None) if x is not None), default=900)
        return np.array(near, float) + way * (room + 240)

    def pose(self, t, pose, takes=0.16):
        pose = POSES[pose] if isinstance(pose, str) else pose
        self.joints.move(t - takes, t, pose.array())
        self._poses.append((t - takes, pose))

    def pose_at(self, t):
        return [p for since, p in self._poses if since <= t + 1e-9][-1]

    def go(self, start, where, takes=0.7, lift=0.0):
        """Arrive at `where` at `start + takes`; come in from outside first, if it is there."""
        where = np.asarray(where, float)
        if self._out:
            self.point.move(start, start, self.outside(where))
            self._out = False
        self.point.move(start, start + takes, where)
        if lift:
            half = start + takes / 2
            self.lift.move(start, half, lift)
            self.lift.move(half, start + takes, 0.0)
        return start + takes

    def leave(self, start, takes=0.6):
        self.point.move(start, start + takes, self.outside(self.point.last()))
        self._out = True
        return start + takes

    def _grip(self, thing, t):
        art = thing.art(t)
        return grip(min(110, art.waist or art.width) / self.person.size)

    def take(self, thing, start, reach=0.7):
        """Reach for a thing and take hold of it; returns when."""
        held = frame(start + reach)
        if self._out:
            self.pose(start + 0.16, POSES["rest"])
        self.go(start, thing.middle(held), held - start)
        thing.place.stop(held)
        self.pose(held, self._grip(thing, held), min(0.35, reach))
        return held

    def carry(self, thing, start, to, *, reach=0.7, move=0.9, lift=46, leave=True, sound="thud",
              level=-14.0, event=None, **facts):
        """Take a thing, carry it to `to` (where its foot comes) and let go; returns when."""
        held = self.take(thing, start, reach)
        down = frame(held + move)
        offset = self.point.last() - thing.place.last()
        self.go(held, np.asarray(to, float) + offset, down - held, lift)
        thing.held_by(self, held, down)
        if sound:
            self.scene.sound(down, sound, level)
        if event:
            self.scene.mark(event, down, **facts)
        self.release(down, leave)
        return down

    def push(self, thing, start, to, *, reach=0.7, move=0.8, sound=True, level=-26.0, leave=True):
        """Push a thing over the table with it, without lifting it."""
        held = self.take(thing, start, reach)
        down = frame(held + move)
        offset = self.point.last() - thing.place.last()
        self.go(held, np.asarray(to, float) + offset, down - held)
        thing.held_by(self, held, down)
        if sound:
            self.scene.sound(held, table_sounds.slide(move), level)
        self.release(down, leave)
        return down

    def release(self, t, leave=True):
        self.pose(t + 0.2, POSES["rest"], 0.18)
        if leave:
            self.leave(t + 0.22)

    def tap(self, where, start, *, times=1, reach=0.7, sound="tap", level=-12.0, leave=True,
            event=None, **facts):
        """Tap with the index finger; returns when the first tap is heard."""
        where = np.asarray(where, float)
        self.pose(start + 0.16, "point")
        self.go(start, where - (0, 22), reach)
        first = t = frame(start + reach + 0.12)
        for _ in range(times):
            self.point.move(t - 0.12, t, where)
            self.point.move(t + 0.04, t + 0.2, where - (0, 22))
            if sound:
                self.scene.sound(t, sound, level)
            last = t
            t = frame(t + 0.36)
        if event:
            self.scene.mark(event, first, last=round(float(last), 3), **facts)
        if leave:
            self.leave(last + 0.3)
        return first

    def state(self, t):
        return (self.point.at(t), float(self.lift.at(t)), float(self.turn.at(t)), self.joints.at(t))


class Scene:
    """What is drawn and heard, from 0 to `length` seconds."""

    def __init__(self, length, backdrop, *, size=(WIDTH, HEIGHT)):
        self.length, self.size = length, size
        self._backdrop, self._things, self._hands = backdrop, [], []
        self._under, self._over, self._sounds, self._events = [], [], [], []
        self._pictures, self._rest = {}, (None, None)

    def person(self, person):
        self._hands.append(Hand(self, person))
        return self._hands[-1]

    def put(self, art, where, name="", **more):
        """Put a thing on the table. `layer` above 0 is drawn after what lies below it."""
        self._things.append(Thing(self, art, where, name, **more))
        return self._things[-1]

    def draw(self, what, *, over=False):
        """A function of (ink, t) that draws below all things, or over them."""
        (self._over if over else self._under).append(what)

    def sound(self, t, sound, level=-14.0):
        """A sound by its name in `table_sounds`, or an array, its peak at `level` dBFS."""
        wave_ = getattr(table_sounds, sound)() if isinstance(sound, str) else sound
        self._sounds.append((t, wave_ / np.abs(wave_).max() * 10 ** (level / 20)))

    def mark(self, event, t, **facts):
        """Something happens: for events.json."""
        self._events.append({"t": round(float(frame(t)), 3), "event": event, **facts})

    # Drawing

    def _images(self, art):
        if art not in self._pictures:
            self._pictures[art] = art.pictures()
        return self._pictures[art]

    def _thing(self, canvas, thing, t, shadow):
        fade = float(thing.fade.at(t))
        if fade <= 0:
            return
        art = thing.art(t)
        image, under, (left, top) = self._images(art)
        (x, y), lift = thing.where(t)
        paint = skia.Paint(AntiAlias=True, Alphaf=fade)
        canvas.save()
        canvas.translate(float(x) + (lift * 0.3 if shadow else 0),
                         float(y) - (-lift * 0.1 if shadow else lift))
        canvas.rotate(float(thing.angle.at(t)))
        canvas.scale(0.5, 0.5)
        canvas.drawImage(under if shadow else image, 2 * left, 2 * top, _SMOOTH, paint)
        canvas.restore()

    def _hand_shadow(self, canvas, hand, t):
        point, lift, turn, joints = hand.state(t)
        small = skia.Surface(WIDTH // _SMALL, HEIGHT // _SMALL)
        c = small.getCanvas()
        c.scale(1 / _SMALL, 1 / _SMALL)
        c.translate(14 + lift * 0.3, 20 + lift * 0.1)
        c.concat(matrix(hand.person, point, joints[5][0], turn))
        draw_shadow(Ink(c), joints[:5])
        soft = 1.0 + lift / 60
        paint = skia.Paint(Alphaf=0.3, ImageFilter=skia.ImageFilters.Blur(soft, soft))
        again = skia.Surface(WIDTH // _SMALL, HEIGHT // _SMALL)
        again.getCanvas().drawImage(small.makeImageSnapshot(), 0, 0, skia.SamplingOptions(), paint)
        far = hand.outside(point)
        canvas.save()
        canvas.clipRect(skia.Rect.MakeLTRB(*(np.minimum(point, far) - 200),
                                           *(np.maximum(point, far) + 200)))
        canvas.drawImageRect(again.makeImageSnapshot(), skia.Rect.MakeWH(WIDTH, HEIGHT),
                             skia.SamplingOptions(skia.FilterMode.kLinear))
        canvas.restore()

    def _visible(self, hand, t):
        x, y = hand.point.at(t)
        return -230 < x < WIDTH + 230 and -230 < y < HEIGHT + 230

    def picture(self, canvas, t):
        """Draw the picture of time `t`."""
        ink = Ink(canvas)
        held = {thing: thing.holder(t)[0] for thing in self._things if thing.holder(t)}
        resting = [thing for thing in self._things if thing not in held]
        # What rests is drawn once and kept, as most pictures differ by a hand alone.
        now = [self._look(thing, t) for thing in resting], self._stills(self._under, t)
        if now != self._rest[0]:
            surface = skia.Surface(WIDTH, HEIGHT)
            self._draw_resting(surface.getCanvas(), resting, t)
            self._rest = now, surface.makeImageSnapshot()
        canvas.drawImage(self._rest[1], 0, 0)
        for hand in self._hands:
            if not self._visible(hand, t):
                continue
            mine = [thing for thing, by in held.items() if by is hand]
            for thing in mine:
                self._thing(canvas, thing, t, True)
            self._hand_shadow(canvas, hand, t)
            point, lift, turn, joints = hand.state(t)
            pose = hand.pose_at(t)
            for front in (False, True):
                canvas.save()
                canvas.concat(matrix(hand.person, point - (0, lift), joints[5][0], turn))
                draw_hand(ink, joints[:5], hand.person, pose, front=front)
                canvas.restore()
                if not front:
                    for thing in mine:
                        self._thing(canvas, thing, t, False)
        for what in self._over:
            what(ink, t)

    def _draw_resting(self, canvas, resting, t):
        canvas.drawImage(self._ground, 0, 0)
        for what in self._under:
            what(Ink(canvas), t)
        resting = sorted(resting, key=lambda thing: (thing.layer, thing.where(t)[0][1]))
        for layer in sorted({thing.layer for thing in resting}):
            for shadow in (True, False):
                for thing in resting:
                    if thing.layer == layer:
                        self._thing(canvas, thing, t, shadow)

    def _look(self, thing, t):
        (x, y), lift = thing.where(t)
        return thing.art(t), x, y, lift, float(thing.angle.at(t)), float(thing.fade.at(t))

    def _stills(self, drawn, t):
        """Equal for pictures that these functions draw alike; `still` may tell."""
        return [what.still(t) if hasattr(what, "still") else t for what in drawn]

    def _signature(self, t):
        """Equal for equal pictures."""
        hands = [tuple(np.concatenate([np.ravel(x) for x in hand.state(t)]))
                 if self._visible(hand, t) else None for hand in self._hands]
        return ([self._look(thing, t) for thing in self._things], hands,
                self._stills((*self._under, *self._over), t))

    def frames(self, times):
        """The pictures of these times, as BGRA bytes."""
        ground = skia.Surface(WIDTH, HEIGHT)
        self._backdrop(Ink(ground.getCanvas()))
        self._ground = ground.makeImageSnapshot()
        surface = skia.Surface(WIDTH, HEIGHT)
        before, data = None, b""
        for t in times:
            now = self._signature(t)
            if now != before:
                self.picture(surface.getCanvas(), t)
                data = surface.toarray(colorType=skia.kBGRA_8888_ColorType).tobytes()
                before = now
            yield data

    def _mix(self):
        out = table_sounds.room(self.length)
        for t, sound in self._sounds:
            n = round(t * table_sounds.RATE)
            piece = sound[:out.size - n]
            out[n:n + piece.size] += piece
        return np.clip(out, -0.98, 0.98)

    def still(self, t, path):
        """One picture, to look at while making."""
        next(self.frames([t]))
        surface = skia.Surface(WIDTH, HEIGHT)
        self.picture(surface.getCanvas(), t)
        surface.makeImageSnapshot().save(str(path))

    def write(self, clip, events, *, crf=30, crop=None):
        """Write the clip and its events. `crop` is (x, y, width, height) of what to keep."""
        Path(clip).parent.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory() as work:
            sound = Path(work) / "sound.wav"
            with wave.open(str(sound), "wb") as w:
                w.setnchannels(1)
                w.setsampwidth(2)
                w.setframerate(table_sounds.RATE)
                w.writeframes((self._mix() * 32767).astype("<i2").tobytes())
            cut = ["-vf", "crop={2}:{3}:{0}:{1}".format(*crop)] if crop else []
            encoder = subprocess.Popen(
                ["ffmpeg", "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "bgra",
                 "-s", f"{WIDTH}x{HEIGHT}", "-r", str(FPS), "-i", "-", "-i", str(sound), *cut,
                 "-c:v", "libx264", "-preset", "veryfast", "-tune", "animation", "-crf", str(crf),
                 "-g", "250", "-threads", "2", "-pix_fmt", "yuv420p", "-colorspace", "bt709",
                 "-color_primaries", "bt709", "-color_trc", "bt709",
                 "-c:a", "libopus", "-b:a", "32k", "-movflags", "+faststart",
                 "-fflags", "+bitexact", "-flags:v", "+bitexact", "-flags:a", "+bitexact",
                 str(clip)], stdin=subprocess.PIPE)
            for data in self.frames(np.arange(round(self.length * FPS)) / FPS):
                encoder.stdin.write(data)
            encoder.stdin.close()
            if encoder.wait():
                raise SystemExit("ffmpeg failed")
        lines = ",\n".join("  " + json.dumps(e) for e in sorted(self._events, key=lambda e: e["t"]))
        if events:
            Path(events).write_text(f"[\n{lines}\n]\n")


def wood(colour="wood", planks=5):
    """A wooden table seen from above, filling the picture."""

    def draw(ink):
        rng = np.random.default_rng(3)
        high = HEIGHT / planks
        for i in range(planks):
            shade = tint(colour, [0.06, -0.03, 0.02, -0.06, 0.04][i % 5])
            ink.shape(box(-10, i * high, WIDTH + 20, high), shade, edge=0, flat=True)
            for _ in range(7):
                y = i * high + rng.uniform(8, high - 8)
                x = rng.uniform(-100, WIDTH - 200)
                long = rng.uniform(200, 700)
                bend = rng.uniform(-6, 6)
                path = skia.Path()
                path.moveTo(x, y)
                path.quadTo(x + long / 2, y + bend, x + long, y)
                ink.line(path, tint(shade, -0.1), 2, alpha=0.5)
            ink.line([(0, i * high), (WIDTH, i * high)], tint(colour, -0.35), 2.5, alpha=0.7)

    return draw


def cloth(colour, weave=None):
    """A plain table top, with a woven runner if wanted."""

    def draw(ink):
        ink.shape(box(0, 0, WIDTH, HEIGHT), colour, edge=0)
        if weave:
            ink.shape(box(90, 50, WIDTH - 180, HEIGHT - 100, 20), weave, edge=3)
            ink.line([(120, 80), (WIDTH - 120, 80)], tint(weave, 0.35), 5)
            ink.line([(120, HEIGHT - 80), (WIDTH - 120, HEIGHT - 80)], tint(weave, 0.35), 5)

    return draw


__all__ = ["Art", "Hand", "Person", "Pose", "Scene", "Thing", "Track", "cloth", "frame", "wood"]
