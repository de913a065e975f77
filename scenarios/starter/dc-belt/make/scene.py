"""Render `media/belt.mp4`: boxes, tins and balls go by on a conveyor belt.

Needs what `../../making/table.py` names. Writes `events.json`; `dc-belt.yaml` copies its times.
"""

import sys
from math import cos, sin
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "making"))

import table_sounds  # noqa: E402
import table_things as things  # noqa: E402
from table import HEIGHT, WIDTH, Person, Scene, frame  # noqa: E402
from table_ink import box, oval, poly, rgb, tint  # noqa: E402

SPEED = 224
"""Of the belt, in pixels a second."""
START, END = 90, 1210
"""Where things lie that are hidden in the left and in the right machine."""
BELT = 470
RUNS = ((7.2, 23.6), (28.4, 45.6))
"""When the belt moves."""
EVERY = 1.16
FIRST = (
    ("red", "box"), ("blue", "box"), ("red", "tin"), ("red", "box"), ("red", "box"),
    ("green", "box"), ("red", "ball"), ("yellow", "box"), ("red", "box"), ("blue", "tin"))
SECOND = (
    ("blue", "box"), ("red", "box"), ("yellow", "tin"), ("red", "box"), ("red", "tin"),
    ("red", "box"), ("green", "ball"), ("red", "box"), ("blue", "box"), ("red", "ball"),
    ("red", "box"))
TAKEN = {("second", 5), ("second", 6)}
"""What a hand takes off the belt: a red box and the green ball."""


def backdrop(ink):
    ink.shape(box(0, 0, WIDTH, HEIGHT), (196, 208, 214), edge=0)
    for x in range(0, WIDTH, 160):
        ink.line([(x, 0), (x, 540)], (176, 190, 198), 3)
    ink.shape(box(0, 600, WIDTH, 140), (150, 146, 140), edge=0)
    for x in (300, 640, 980):
        ink.shape(box(x - 16, 520, 32, 140), "dark")


class Belt:
    """The belt, drawn where it has got to."""

    def way(self, t):
        return sum(SPEED * max(0.0, min(t, end) - start) for start, end in RUNS)

    def still(self, t):
        return self.way(t)

    def __call__(self, ink, t):
        ink.shape(box(120, BELT - 22, 1040, 84, 42), "dark")
        ink.shape(box(126, BELT - 20, 1028, 30, 15), (66, 70, 78), edge=0)
        for i in range(-1, 10):
            x = 120 + i * 112 + self.way(t) % 112
            if 130 < x < 1130:
                ink.line([(x, BELT - 19), (x + 14, BELT + 8)], (94, 98, 108), 4)
        for i in range(8):
            x = 170 + i * 134
            ink.shape(oval(x, BELT + 34, 20), "steel")
            turn = self.way(t) / 20
            ink.line([(x - 14 * cos(turn), BELT + 34 - 14 * sin(turn)),
                      (x + 14 * cos(turn), BELT + 34 + 14 * sin(turn))], rgb("dark"), 4)


class Machines:
    """The two machines, before what passes through them."""

    def still(self, t):
        return 0

    def __call__(self, ink, t):
        for x, colour, edge in ((-20, (70, 96, 128), 200), (1080, (128, 84, 70), 1080)):
            ink.shape(box(x, 270, 220, 330, 16), colour)
            ink.shape(box(x + 30, 300, 160, 60, 8), tint(colour, -0.4))
            for i, c in enumerate(("green", "yellow", "red")):
                ink.shape(oval(x + 70 + 40 * i, 330, 11), c, edge=1.5)
            side = 1 if edge == 200 else -1
            ink.shape(poly((edge, 350), (edge + 16 * side, 362), (edge + 16 * side, 478),
                           (edge, 490)), "black")


def scene():
    s = Scene(66, backdrop)
    s.draw(Belt())
    s.draw(Machines(), over=True)
    hand = s.person(Person(name="somebody", skin="light", sleeve="navy", extras=("watch",)))
    for start, end in RUNS:
        s.sound(start, table_sounds.hum(end - start), -30)
    counts = {}
    for run, (row, (begin, _)) in enumerate(zip((FIRST, SECOND), RUNS, strict=True)):
        for i, (colour, shape) in enumerate(row):
            t = frame(begin + 0.2 + i * EVERY)
            thing = s.put(things.parcel(colour, shape=shape), (START, BELT), f"{colour} {shape}")
            gone = t + (END - START) / SPEED
            thing.place.move(t, gone, (END, BELT), even=True)
            if ("second" if run else "first", i) in TAKEN:
                x = 480 if i == 5 else 700
                at = frame(t + (x - START) / SPEED)
                held = hand.take(thing, at - 0.8, 0.8)
                down = held + 0.85
                hand.go(held, (x - 40, 1010), 0.85, 40)
                thing.held_by(hand, held, down)
                hand.release(down, leave=False)
                hand._out = True
                s.mark("taken off the belt", held, what=thing.name)
                continue
            counts[thing.name] = counts.get(thing.name, 0) + 1
            hidden = frame(t + (1160 - START) / SPEED)
            s.sound(hidden, "thud", -24)
            s.mark("gone into the right machine", hidden, what=thing.name, count=counts[thing.name])
    return s


if __name__ == "__main__":
    scene().write(HERE.parent / "media" / "belt.mp4", HERE / "events.json", crf=33)
