"""Render `media/kitchen.mp4`: two pots, a toaster and an egg timer, each ready at its own time.

Needs what `../../making/table.py` names. Writes `events.json`; `mt-kitchen.yaml` copies its times.
"""

import sys
from math import pi, sin
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "making"))

import table_sounds  # noqa: E402
import table_things as things  # noqa: E402
from table import HEIGHT, WIDTH, Person, Scene  # noqa: E402
from table_ink import box, curve, oval, rgb, tint  # noqa: E402

COUNTER = 520
BLUE, RED, TOASTER, TIMER = 190, 450, 780, 1090
BLUE_BOILS, BLUE_OFF, TOAST, PHONE, RINGS, RED_BOILS = 15.0, 18.6, 23.0, 29.2, 39.4, 52.6


def backdrop(ink):
    ink.shape(box(0, 0, WIDTH, HEIGHT), (226, 222, 206), edge=0)
    for y in range(0, 420, 70):
        for x in range(0, WIDTH, 140):
            ink.shape(box(x + 70 * (y // 70 % 2) - 70, y, 136, 66, 4), (232, 232, 222), edge=1)
    ink.shape(box(-10, COUNTER - 70, WIDTH + 20, 110), (150, 120, 92))
    ink.shape(box(-10, COUNTER + 40, WIDTH + 20, 220), (104, 126, 122))
    for x in (620, 940):
        ink.shape(box(x, COUNTER + 66, 290, 160, 6), (118, 142, 138))
        ink.shape(box(x + 110, COUNTER + 84, 70, 12, 6), "steel")
    ink.shape(box(40, COUNTER - 40, 560, 26, 10), "black")
    ink.shape(box(30, COUNTER + 20, 580, 220, 8), "steel")
    ink.shape(box(70, COUNTER + 96, 500, 130, 10), (56, 60, 68))


class Stove:
    """The knobs, which show what is on."""

    def still(self, t):
        return t < BLUE_OFF

    def __call__(self, ink, t):
        for x, on in ((BLUE, t < BLUE_OFF), (RED, True)):
            if on:
                ink.shape(box(x - 80, COUNTER - 40, 160, 8, 4), (236, 92, 40), edge=0)
            ink.shape(oval(x, COUNTER + 58, 22), "black")
            turn = (x - 12, COUNTER + 70) if on else (x, COUNTER + 42)
            ink.line([(x, COUNTER + 58), turn], rgb("white"), 4)


class Pot:
    """A pot; its lid rattles and steam comes out of it while it boils."""

    def __init__(self, x, colour, begin, end):
        self.x, self.colour, self.begin, self.end = x, colour, begin, end

    def still(self, t):
        return t if self.begin <= t < self.end + 1.4 else 0

    def __call__(self, ink, t):
        boils = self.begin <= t < self.end
        x, y = self.x, COUNTER - 40
        hop = abs(sin(t * 19)) * 7 if boils else 0
        tilt = sin(t * 13) * 2.2 if boils else 0
        for side in (-1, 1):
            ink.rod([(x + 88 * side, y - 84), (x + 116 * side, y - 84)], rgb("black"), 13)
        ink.shape(curve(f"M {x - 92} {y - 116} L {x - 88} {y - 12} Q {x - 86} {y} {x - 70} {y} "
                        f"L {x + 70} {y} Q {x + 86} {y} {x + 88} {y - 12} L {x + 92} {y - 116} Z"),
                  self.colour)
        ink.shine(box(x - 70, y - 98, 12, 76, 6), 0.4)
        c = ink.canvas
        c.save()
        c.translate(x, y - 116 - hop)
        c.rotate(tilt)
        ink.shape(curve("M -98 2 Q -90 -30 0 -34 Q 90 -30 98 2 Z"), tint(self.colour, 0.12))
        ink.shape(box(-16, -52, 32, 20, 8), "black")
        c.restore()
        strength = min(1.0, t - self.begin + 0.25, (self.end + 1.4 - t) / 1.4)
        if self.begin <= t and strength > 0:
            for i in range(14):
                age = (t * 0.55 + i * 0.618) % 1.0
                side = (i % 5 - 2) * 36
                sway = sin(2 * pi * age + i) * 18
                ink.glow(oval(x + side + sway, y - 150 - 210 * age, 20 + 34 * age),
                         (250, 250, 250), 0.42 * strength * sin(pi * age), 12)


def scene():
    s = Scene(59, backdrop)
    s.draw(Stove())
    s.draw(Pot(BLUE, "blue", BLUE_BOILS, BLUE_OFF))
    s.draw(Pot(RED, "red", RED_BOILS, 99))
    cook = s.person(Person(name="cook", skin="brown", sleeve="white", stripe="sky"))
    toaster = s.put(things.toaster(False), (TOASTER, COUNTER + 10), "toaster")
    timer = s.put(things.egg_timer(0), (TIMER, COUNTER + 6), "timer")
    mug = s.put(things.mug("yellow"), (935, COUNTER + 4), "mug")

    # The toast goes in and the timer is set; asked at 12.8.
    at = cook.tap((TOASTER + 87, COUNTER - 98), 0.8, sound=None, leave=False)
    cook.point.move(at, at + 0.3, (TOASTER + 87, COUNTER - 42))
    toaster.becomes(at + 0.28, things.toaster(True))
    s.sound(at + 0.08, "lever", -14)
    s.mark("the toast goes in", at + 0.28)
    cook.leave(at + 0.7)
    held = cook.take(timer, 3.4)
    s.sound(held, table_sounds.slide(0.6), -26)
    for i in range(1, 9):
        timer.becomes(held + 0.08 * i, things.egg_timer(i))
    s.mark("the timer is set", held + 0.64)
    cook.release(held + 0.8)
    started = held + 0.8
    for i in range(1, 33):
        timer.becomes(started + (RINGS - started) * i / 32, things.egg_timer(8 - i / 4))
    s.sound(started, table_sounds.tick(RINGS - started), -34)

    # Look-alike: the other pot boils; the cook turns it off.
    s.sound(BLUE_BOILS, table_sounds.bubble(BLUE_OFF - BLUE_BOILS + 0.6), -20)
    s.mark("the blue pot boils", BLUE_BOILS)
    off = cook.tap((BLUE, COUNTER + 60), BLUE_OFF - 0.92, sound="lever", level=-18)
    s.mark("the blue pot is turned off", off)

    toaster.becomes(TOAST, things.toaster(False, True))
    s.sound(TOAST, "pop", -8)
    s.mark("the toast pops up", TOAST)
    # Look-alike: a telephone rings elsewhere.
    s.sound(PHONE, "phone", -14)
    s.sound(PHONE + 2.2, "phone", -14)
    s.mark("a telephone rings elsewhere", PHONE)
    s.sound(RINGS, "buzz", -9)
    s.mark("the egg timer rings", RINGS)
    # Look-alike: something hisses elsewhere, while the cook moves the mug.
    s.sound(44.8, table_sounds.sizzle(2.2), -18)
    s.mark("something hisses elsewhere", 44.8)
    cook.carry(mug, 44.4, (640, COUNTER + 30), sound="clink", level=-20, event="the mug is moved")
    s.sound(RED_BOILS, table_sounds.bubble(59 - RED_BOILS), -18)
    s.mark("the red pot boils", RED_BOILS)
    return s


if __name__ == "__main__":
    scene().write(HERE.parent / "media" / "kitchen.mp4", HERE / "events.json")
