"""Render `media/toys.mp4`: toys are shown one after another and put away into a box.

Needs what `../../making/table.py` names. Writes `events.json`; `ao-toys.yaml` copies its times.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "making"))

import table_things as things  # noqa: E402
from table import HEIGHT, WIDTH, Art, Person, Scene, frame  # noqa: E402
from table_ink import box, oval, poly, tint  # noqa: E402

STAGE = (560, 560)
CARD = (196, 152, 100)


def backdrop(ink):
    ink.shape(box(0, 0, WIDTH, HEIGHT), (214, 224, 232), edge=0)
    for x in range(80, WIDTH, 200):
        for y in range(60 + 60 * (x // 200 % 2), 400, 130):
            ink.shape(oval(x, y, 7), (196, 208, 222), edge=0, flat=True)
    ink.shape(box(-10, 430, WIDTH + 20, 320), (196, 156, 112))
    ink.shape(box(-10, 430, WIDTH + 20, 14), (220, 184, 142), edge=0)
    ink.shape(oval(*STAGE, 190, 54), (104, 152, 120), edge=3)
    ink.shape(oval(*STAGE, 160, 42), (124, 172, 138), edge=0)
    # The box's back and its open flaps.
    ink.shape(poly((900, 380), (1180, 380), (1200, 420), (880, 420)), (70, 50, 34))
    ink.shape(poly((900, 380), (860, 320), (1150, 316), (1180, 380)), tint(CARD, 0.1))


def box_front(ink):
    ink.shape(box(-160, -236, 320, 236, 4), CARD)
    ink.shape(poly((-160, -236), (160, -236), (182, -192), (-182, -192)), tint(CARD, 0.16))
    ink.shape(box(-30, -192, 60, 192), tint(CARD, -0.1), edge=0)


def scene():
    s = Scene(63, backdrop)
    s.put(Art(box_front, 364, 236), (1040, 654), "box")
    anna = s.person(Person(name="Anna", skin="light", sleeve="purple", extras=("nails",)))
    ben = s.person(Person(name="Ben", skin="brown", sleeve="yellow", side="left"))

    def show(who, art, name, t):
        """It comes, stands there alone for a moment, and goes into the box."""
        toy = s.put(art, (560, 1000) if who is anna else (-300, 560), name, layer=-1, seen=False)
        toy.appear(t)
        down = who.carry(toy, t, STAGE, reach=0.08, move=0.9, sound="thud", level=-18,
                         event=f"on the table: {name}")
        gone = who.carry(toy, down + 1.35, (1040, 404), reach=0.6, move=0.95, lift=60, sound=None)
        fall = frame(gone + 0.28)
        toy.place.move(gone, fall, (1040, 640))
        toy.vanish(fall)
        s.sound(fall, "soft", -20)

    show(anna, things.car("red"), "car", 0.6)
    show(ben, things.drum(), "drum", 5.2)
    show(anna, things.boat("blue"), "boat", 9.8)
    show(ben, things.robot(), "robot", 14.4)
    show(anna, things.duck(), "duck", 19.0)
    # Asked at 28.2.
    show(ben, things.ball("orange", 44), "ball", 28.6)
    s.sound(33.8, "gong", -12)
    s.mark("a bell rings", 33.8)
    show(anna, things.rocket(), "rocket", 35.4)
    show(ben, things.car("red"), "car again", 40.0)
    return s


if __name__ == "__main__":
    scene().write(HERE.parent / "media" / "toys.mp4", HERE / "events.json")
