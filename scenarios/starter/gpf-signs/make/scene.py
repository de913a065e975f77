"""Render `media/table.mp4` and the signs `media/{two,fist,thumb,palm}.mp4`.

Four hand signs are shown while it is said what they mean. Later another person's hand shows them in
clips of their own, to be laid over the picture, and in the picture one that nobody has explained.
Needs what `../../making/table.py` names. Writes `events.json`; `gpf-signs.yaml` copies its times.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "making"))

import table_things as things  # noqa: E402
from table import Person, Scene, cloth, frame, wood  # noqa: E402

SIGNS = (("thumb", 0.4, 6.2), ("palm", 6.9, 11.8), ("fist", 12.5, 17.4), ("two", 18.1, 22.8))
"""The sign, when the hand comes, when it goes."""


def table():
    s = Scene(55, wood())
    s.put(things.mug("red"), (180, 260), "red mug")
    s.put(things.mug("blue"), (360, 250), "blue mug")
    s.put(things.plate(), (330, 520), "plate")
    orange = s.put(things.orange(), (330, 520), "orange", layer=1)
    apple = s.put(things.apple("red"), (-300, 520), "apple", layer=1)
    s.put(things.book("blue"), (640, 290), "book")
    green = s.put(things.mug("green"), (540, 1000), "green mug", layer=1)
    yellow = s.put(things.mug("yellow"), (620, 1000), "yellow mug", layer=1)

    me = {"skin": "light", "sleeve": "blue", "size": 1.5}
    for sign, come, go in SIGNS:
        side = "right" if sign == "thumb" else "bottom"
        hand = s.person(Person(name=f"sign {sign}", side=side, **me))
        hand.pose(0.1, sign)
        hand.go(come, (1000, 440) if sign != "thumb" else (960, 420), 0.6)
        s.mark(f"shown and explained: {sign}", come + 0.6, until=go)
        hand.leave(go, 0.5)

    user = s.person(Person(name="I", skin="light", sleeve="blue"))
    friend = s.person(Person(name="friend", skin="dark", sleeve="orange", stripe="white",
                             side="left", left=True))
    friend.carry(orange, 23.6, (110, 640), event="the orange is taken off the plate", sound="soft")
    friend.carry(apple, 26.4, (330, 520), reach=0.1, move=1.1, event="an apple is put on the plate",
                 sound="clink", level=-20)
    user.carry(green, 28.9, (560, 560), reach=0.1, move=1.1, event="the green mug is put down")
    # Look-alike: one finger, which nobody has explained.
    other = s.person(Person(name="friend's sign", skin="dark", sleeve="orange", stripe="white",
                            left=True, size=1.5))
    other.pose(0.1, "one")
    other.go(34.8, (1000, 440), 0.6)
    s.mark("shown, never explained: one finger", 35.4, until=37.6)
    other.leave(37.6, 0.5)
    user.carry(yellow, 42.4, (800, 420), reach=0.1, move=1.1, event="the yellow mug is put down")
    return s


def sign(name):
    """The other person's hand rises, shows the sign, and keeps it."""
    s = Scene(1.8, cloth((206, 218, 226)))
    angle = 80.0 if name == "thumb" else -4.0
    hand = s.person(Person(name="friend", skin="dark", sleeve="orange", stripe="white", left=True,
                           side=angle, size=1.75))
    hand.pose(0.02, name, 0.01)
    hand.go(0.0, (640, 330), 0.7)
    for i in range(3):
        t = 0.7 + 0.3 * i
        hand.turn.move(t, frame(t + 0.28), (4, -3, 0)[i])
    return s


def scene():
    return table()


if __name__ == "__main__":
    media = HERE.parent / "media"
    table().write(media / "table.mp4", HERE / "events.json")
    for name in ("two", "fist", "thumb", "palm"):
        sign(name).write(media / f"{name}.mp4", None, crop=(320, 20, 640, 640))
