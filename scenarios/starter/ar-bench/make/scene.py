"""Render `media/bench.mp4`: two people and their tools on a workbench.

Needs what `../../making/table.py` names. Writes `events.json`; `ar-bench.yaml` copies its times.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "making"))

import table_things as things  # noqa: E402
from table import Person, Scene, frame, wood  # noqa: E402


def scene():
    s = Scene(54, wood((170, 140, 104), 4))
    me = s.person(Person(name="I", skin="light", sleeve="blue", extras=("watch",)))
    friend = s.person(Person(name="friend", skin="dark", sleeve="red", stripe="white", side="top"))
    s.put(things.board(), (640, 400), "board")
    nail = s.put(things.nail(44), (640, 352), "nail", layer=1)
    hammer = s.put(things.hammer(), (930, 560), "hammer", layer=2)
    driver = s.put(things.screwdriver("yellow"), (250, 240), "screwdriver", layer=1)
    pliers = s.put(things.pliers("blue"), (260, 420), "pliers", layer=1)
    saw = s.put(things.handsaw("orange"), (1000, 220), "saw", layer=1)
    brush = s.put(things.brush("green"), (300, 590), "brush", layer=1)
    s.put(things.tape("red"), (560, 620), "tape", layer=1)

    # The other hand taps the saw, then mine the pliers.
    friend.tap((930, 190), 0.6, times=2, event="the friend taps the saw")
    me.tap((300, 388), 3.0, times=2, event="I tap the pliers")
    # Asked at 8. I hammer the nail in.
    held = me.take(hammer, 8.6)
    grip = me.point.last()
    # The head lies 82 px right of the middle: the hammer's foot goes left of the nail by that.
    foot = (640 - 82, 352)
    over = (foot[0] + grip[0] - hammer.place.last()[0], foot[1] + grip[1] - hammer.place.last()[1])
    me.go(held, (over[0], over[1] - 90), 0.7)
    t = held + 0.75
    for i, out in enumerate((30, 16, 4)):
        hit = frame(t + 0.2)
        me.point.move(t, hit, (over[0], over[1] - out - 4))
        me.point.move(hit + 0.06, hit + 0.4, (over[0], over[1] - 90))
        nail.becomes(hit, things.nail(out))
        s.sound(hit, "hammer", -8)
        s.mark("the hammer hits the nail", hit, count=i + 1)
        t = hit + 0.42
    down = frame(t + 0.8)
    place = (960, 420)
    me.go(t, (place[0] + grip[0] - 930, place[1] + grip[1] - 560), down - t)
    hammer.held_by(me, held, down)
    s.sound(down, "thud", -14)
    s.mark("I put the hammer down", down)
    me.release(down)
    # Asked at 19.6. What is put down, and by whom.
    me.carry(brush, 20.2, (1050, 620), event="I put the brush down", move=1.2)
    me.carry(driver, 23.8, (640, 380), event="I put the screwdriver down", move=1.0)
    friend.carry(saw, 27.0, (620, 200), event="the friend puts the saw down", move=1.0)
    # Asked at 34: my finger stays on the tape while I ask again.
    at = me.tap((560, 600), 34.4, leave=False, event="I touch the tape")
    me.point.move(at + 0.3, at + 0.6, (560, 600))
    me.leave(40.6)
    # The friend takes the pliers away.
    held = friend.take(pliers, 42.4)
    gone = frame(held + 1.0)
    friend.go(held, (300, -260), gone - held)
    pliers.held_by(friend, held, gone)
    friend._out = True
    s.mark("the friend takes the pliers away", gone)
    return s


if __name__ == "__main__":
    scene().write(HERE.parent / "media" / "bench.mp4", HERE / "events.json")
