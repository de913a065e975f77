"""Render `media/bell.mp4`: two people and a bell that only one of them is to ring.

Needs what `../../making/table.py` names. Writes `events.json`; `ser-bell.yaml` copies its times.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "making"))

import table_things as things  # noqa: E402
from table import Person, Scene, wood  # noqa: E402


def scene():
    s = Scene(57, wood())
    green = s.person(Person(name="green", skin="dark", sleeve="green", side="left"))
    orange = s.person(Person(name="orange", skin="light", sleeve="orange", side="right", left=True,
                             extras=("watch",)))
    bell = s.put(things.counter_bell(), (640, 420), "bell")
    s.put(things.book("blue"), (250, 250), "book")
    apple = s.put(things.apple("green"), (420, 610), "apple")
    mug = s.put(things.mug("red"), (1500, 300), "mug")

    orange.carry(mug, 0.9, (960, 300), reach=0.2, move=1.3, sound="clink", level=-18,
                 event="orange puts the red mug down")
    # Asked at 8 and 14. Look-alike: the bell rings, but it is the other hand.
    orange.tap((640, 338), 15.6, sound="bell", level=-12, event="orange rings the bell")
    # Look-alike: the hand is the right one, but the bell does not ring.
    green.carry(bell, 21.2, (760, 500), event="green moves the bell, no ring")
    # Look-alike: a bell somewhere else rings while green takes the apple.
    s.sound(28.6, "gong", -12)
    s.mark("another bell rings elsewhere", 28.6)
    green.carry(apple, 28.0, (300, 420), event="green puts the apple down")
    green.tap((760, 418), 34.4, sound="bell", level=-12, event="green rings the bell")
    green.tap((760, 418), 41.2, sound="bell", level=-12, event="green rings the bell again")
    return s


if __name__ == "__main__":
    scene().write(HERE.parent / "media" / "bell.mp4", HERE / "events.json")
