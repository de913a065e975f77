"""Record `media/copies.mp4`: two copies run, and a third that nobody asked about, while a list is
typed. `pv` copies at a set speed, YAD shows how far it is."""

import time
from pathlib import Path

from screen import SLOW, Stage, record, setting

LENGTH = 66.0
REST = (1240, 690)
COPIES = {"photos": (30, 55), "films": (250, 30), "music": (470, 20)}
"""Top of each window, and seconds that its copy takes."""
CSS = """\
progress, trough {min-height: 50px;}
progressbar text {font-size: 30px; color: black;}
"""
SIZE = 200_000
"""Bytes a second; the files are as long as they have to be."""


def prepare(stage: Stage) -> None:
    setting(stage, "org/xfce/mousepad/preferences/view", font_name="'DejaVu Sans 32'",
            use_default_monospace_font="false")
    (stage.home / "copy").mkdir()
    for name, (_, takes) in COPIES.items():
        (stage.home / name).write_bytes(bytes(takes * SIZE))
    stage.start("mousepad", "--disable-server", stage.home / "Shopping list")
    stage.window("Mousepad", (640, 60, 590, 560))
    stage.settle()
    stage.hand.jump(*REST)


def perform(stage: Stage) -> None:
    for name, (top, _) in COPIES.items():
        bar = (f"yad --progress --title {name.title()} --no-buttons --no-focus "
               f"--text='Copying the {name}' --geometry=560x160+30+{top}")
        copy = f"pv -n -i 0.25 -L {SIZE // SLOW} {name} > copy/{name}"
        stage.start("sh", "-c", f"({copy}) 2>&1 | {bar}")

    def write(when: float, text: str, event: str) -> None:
        stage.at(when)
        stage.hand.type(text, 0.2)
        stage.event(event, (650, 130, 560, 440), 1.0)

    def copied(name: str) -> None:
        copy, (top, takes) = stage.home / "copy" / name, COPIES[name]
        while copy.stat().st_size < takes * SIZE:
            time.sleep(0.02)
        stage.event(f"{name} copied", (36, top + 60, 548, 90))

    write(12.0, "bread\n", "bread")
    copied("music")
    write(25.0, "milk\n", "milk")
    copied("films")
    write(39.0, "eggs", "eggs")
    copied("photos")


if __name__ == "__main__":
    record(Path(__file__).parents[1], "copies", LENGTH, prepare, perform, font_size=19, css=CSS)
