"""Render `media/drawer.mp4`: two people open the two drawers of a chest, and somebody knocks.

Needs what `../../making/table.py` names. Writes `events.json`; `dc-drawer.yaml` copies its times.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "making"))

import table_sounds  # noqa: E402
import table_things as things  # noqa: E402
from table import HEIGHT, WIDTH, Person, Scene, Track, frame  # noqa: E402
from table_hands import grip  # noqa: E402
from table_ink import box, oval, poly, tint  # noqa: E402

TOP, FRONT, LONG = 330, 400, 130
"""The table top's front edge is at TOP; a shut drawer's front is at FRONT; it runs out by LONG."""


def backdrop(ink):
    ink.shape(box(0, 0, WIDTH, HEIGHT), (206, 216, 204), edge=0)
    ink.shape(box(0, 640, WIDTH, 100), (150, 120, 92), edge=0)
    ink.shape(poly((120, 230), (1160, 230), (1220, TOP), (60, TOP)), (190, 142, 92))
    ink.shape(box(60, TOP, 1160, 300, 6), (164, 116, 70))
    ink.shape(box(100, 620, 60, 60), (120, 84, 50))
    ink.shape(box(1120, 620, 60, 60), (120, 84, 50))


class Drawer:
    """A drawer, its front and, when it is out, what is inside."""

    def __init__(self, x, knob, inside):
        self.x, self.knob, self.inside, self.out = x, knob, inside, Track(0.0)

    def still(self, t):
        return float(self.out.at(t))

    def grip_at(self, out=0.0):
        return self.x, FRONT + 66 + out * LONG

    def __call__(self, ink, t):
        out = float(self.out.at(t)) * LONG
        left, wide, tall = self.x - 220, 440, 150
        ink.shape(box(left, FRONT - 10, wide, tall, 4), (60, 42, 28), edge=2)
        if out > 1:
            ink.shape(poly((left + 14, FRONT - 6), (left + wide - 14, FRONT - 6),
                           (left + wide, FRONT - 6 + out), (left, FRONT - 6 + out)),
                      (112, 82, 54))
            ink.canvas.save()
            ink.canvas.clipPath(box(left, FRONT - 8, wide, out), doAntiAlias=True)
            for dx, colour in self.inside:
                ink.shape(oval(self.x + dx, FRONT + 50 + (out - LONG) * 0.2, 30), colour)
            ink.canvas.restore()
        ink.shape(box(left - 4, FRONT - 10 + out, wide + 8, tall, 8), (188, 136, 84))
        ink.shape(box(left + 22, FRONT + 14 + out, wide - 44, tall - 48, 6),
                  tint((188, 136, 84), 0.08), edge=1.5)
        ink.shape(oval(self.x, FRONT + 66 + out, 24), self.knob, edge=3)
        ink.shine(oval(self.x - 8, FRONT + 58 + out, 5))


def scene():
    s = Scene(58, backdrop)
    left = Drawer(350, "red", ((-120, "yellow"), (-20, "green"), (110, "purple")))
    right = Drawer(930, "blue", ((-90, "orange"), (60, "pink")))
    s.draw(left)
    s.draw(right)
    s.put(things.mug("green"), (980, 300), "mug")
    s.put(things.book("blue"), (300, 310), "book")
    me = s.person(Person(name="I", skin="light", sleeve="blue"))
    other = s.person(Person(name="other", skin="dark", sleeve="yellow", stripe="white", left=True))
    count = {}

    def opens(who, drawer, t):
        """Reach for the knob, pull, leave it open for half a second, push, let go."""
        name = "left" if drawer is left else "right"
        held = frame(t + 0.6)
        who.pose(t + 0.16, "rest")
        who.go(t, drawer.grip_at(), held - t)
        who.pose(held, grip(46), 0.3)
        out, back = frame(held + 0.7), frame(held + 1.2)
        shut = frame(back + 0.6)
        for track, values in ((who.point, (drawer.grip_at(1), drawer.grip_at(0))),
                              (drawer.out, (1.0, 0.0))):
            track.move(held, out, values[0])
            track.move(back, shut, values[1])
        s.sound(held, table_sounds.slide(0.7), -20)
        s.sound(back, table_sounds.slide(0.6), -22)
        s.sound(shut, "shut", -12)
        who.release(shut)
        key = f"{name} by {who.person.name}"
        count[key] = count.get(key, 0) + 1
        s.mark(f"{name} drawer open", out, by=who.person.name, count=count[key])

    def rattles(who, drawer, t):
        held = frame(t + 0.6)
        who.pose(t + 0.16, "rest")
        who.go(t, drawer.grip_at(), held - t)
        who.pose(held, grip(46), 0.3)
        x, y = drawer.grip_at()
        for i in range(4):
            at = held + 0.06 + i * 0.12
            who.point.move(at, at + 0.06, (x, y + 7))
            who.point.move(at + 0.06, at + 0.12, (x, y))
        s.sound(held + 0.06, "rattle", -14)
        who.release(held + 0.7)
        s.mark("left drawer pulled at, stays shut", held, by=who.person.name)

    def knocks(t, times):
        for i in range(times):
            s.sound(t + i * 0.38, "knock", -10)
        s.mark("knocks at a door", t, times=times)

    opens(me, left, 0.8)
    opens(me, right, 4.0)
    opens(me, left, 7.2)
    rattles(me, left, 10.4)
    # Asked at 16.6.
    opens(me, left, 17.2)
    knocks(20.6, 3)
    opens(other, left, 23.6)
    opens(me, left, 26.8)
    opens(other, right, 29.9)
    opens(me, left, 33.0)
    # Asked at 41.
    knocks(41.6, 4)
    opens(other, left, 43.4)
    return s


if __name__ == "__main__":
    scene().write(HERE.parent / "media" / "drawer.mp4", HERE / "events.json")
