"""Render `media/blocks.mp4`: two people push blocks about, and now and then two of a colour touch.

Needs what `../../making/table.py` names. Writes `events.json`; `mer-blocks.yaml` copies its times.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "making"))

import table_things as things  # noqa: E402
from table import Person, Scene, cloth  # noqa: E402

SIDE = 74
"""Of a block: two whose feet are this far apart touch."""


def scene():
    s = Scene(57, cloth((222, 212, 196), (236, 228, 214)))
    mia = s.person(Person(name="Mia", skin="tan", sleeve="purple", stripe="white", side="right",
                          left=True))
    tom = s.person(Person(name="Tom", skin="dark", sleeve="teal", side="left"))
    s.put(things.block("blue"), (330, 330), "blue")
    s.put(things.block("red"), (620, 540), "red")
    s.put(things.block("yellow"), (900, 330), "yellow")
    blue = s.put(things.block("blue"), (160, 600), "blue")
    yellow = s.put(things.block("yellow"), (1140, 330), "yellow")
    ball = s.put(things.ball("red"), (1080, 600), "red ball")
    red = s.put(things.block("red"), (1480, 480), "red")

    def touch(t, what):
        s.sound(t, "click", -10)
        s.mark(what, t)

    mia.carry(red, 0.8, (830, 480), reach=0.2, move=1.2, event="the sixth block, red, is put down")
    # Asked at 12.6. Look-alike: red touches blue.
    touch(mia.push(red, 13.6, (330 + SIDE, 331), move=1.3), "red touches blue")
    touch(mia.push(yellow, 19.2, (900 + SIDE, 331)), "yellow touches yellow")
    # Look-alike: the ball is red, but it is no block.
    touch(mia.push(ball, 25.2, (620 + SIDE / 2 + 40, 542), move=1.0), "the red ball touches red")
    # Look-alike: close together, but apart.
    near = tom.push(blue, 31.2, (330 - SIDE - 66, 330), move=1.2)
    s.mark("blue stops short of blue", near)
    touch(tom.carry(red, 37.0, (620 - SIDE, 539), move=1.2, sound=None), "red touches red")
    mia.push(yellow, 43.0, (1110, 420))
    touch(mia.push(yellow, 46.6, (900 + SIDE, 331)), "yellow touches yellow again")
    return s


if __name__ == "__main__":
    scene().write(HERE.parent / "media" / "blocks.mp4", HERE / "events.json")
