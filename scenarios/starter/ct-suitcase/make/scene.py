"""Render `media/suitcase.mp4`: a suitcase is packed from a list, with look-alikes.

Needs what `../../making/table.py` names. Writes `events.json`; `ct-suitcase.yaml` copies its times.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "making"))

import table_things as things  # noqa: E402
from table import Person, Scene, wood  # noqa: E402
from table_ink import box, poly, rgb, tint  # noqa: E402

SHELL = (96, 112, 150)


def suitcase(ink):
    """Open, seen from above; its lid is folded back."""
    ink.glow(box(60, 130, 640, 560, 30), (30, 18, 8), 0.4, 14)
    ink.shape(poly((70, 40), (670, 40), (650, 200), (90, 200)), tint(SHELL, 0.1), r=20)
    ink.shape(poly((100, 60), (640, 60), (624, 186), (116, 186)), (190, 180, 164), r=14)
    ink.line([(120, 124), (620, 124)], (150, 140, 124), 5)
    ink.shape(box(50, 196, 640, 480, 36), SHELL, edge=3.5)
    ink.shape(box(76, 222, 588, 428, 22), (212, 202, 184), edge=3)
    ink.shape(box(76, 222, 588, 22, 10), (150, 140, 124), edge=0, alpha=0.6)
    for x in (180, 560):
        ink.shape(box(x - 22, 188, 44, 20, 5), "gold")
    ink.shape(box(310, 664, 120, 26, 10), "black")
    ink.line([(90, 610), (650, 610)], rgb("dark"), 3, alpha=0.15)


def scene():
    table = wood((176, 126, 84))

    def backdrop(ink):
        table(ink)
        suitcase(ink)

    s = Scene(64, backdrop)
    me = s.person(Person(name="I", skin="tan", sleeve="teal", extras=("watch",)))
    friend = s.person(Person(name="friend", skin="light", sleeve="orange", side="right", left=True))
    lie = {
        "yellow towel": (things.towel("yellow"), (820, 230)),
        "green toothbrush": (things.toothbrush("green"), (1150, 130)),
        "camera": (things.camera(), (1130, 340)),
        "sunglasses": (things.sunglasses(), (820, 420)),
        "blue book": (things.book("blue"), (1000, 330)),
        "red book": (things.book("red"), (1160, 560)),
        "blue toothbrush": (things.toothbrush("blue"), (860, 610)),
        "green socks": (things.socks("green"), (1010, 520)),
    }
    lie = {name: s.put(art, where, name) for name, (art, where) in lie.items()}

    def pack(who, name, t, to, sound="soft"):
        who.carry(lie[name], t, to, move=1.1, sound=sound, level=-18, event=f"packed: {name}")

    # The list is told until 10.
    pack(me, "yellow towel", 10.8, (180, 360))
    pack(me, "green toothbrush", 14.2, (360, 320))
    pack(me, "camera", 17.6, (560, 370))
    # Asked at 24.4.
    pack(me, "sunglasses", 25.0, (190, 480))
    pack(me, "blue book", 28.4, (350, 500))
    # Asked at 38.2.
    pack(me, "red book", 38.8, (480, 520))
    friend.carry(lie["camera"], 43.0, (930, 250), move=1.2, sound="thud", level=-18,
                 event="taken out again: camera")
    # Asked at 50.4.
    pack(me, "blue toothbrush", 51.0, (200, 590))
    pack(me, "camera", 54.6, (580, 380))
    return s


if __name__ == "__main__":
    scene().write(HERE.parent / "media" / "suitcase.mp4", HERE / "events.json")
