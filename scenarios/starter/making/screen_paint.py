"""Tux Paint on the virtual screen: where its tools are, and shapes drawn with them."""

import time

from screen import HEIGHT, WIDTH, Stage, pause

SHAPES = {"square": (1256, 88), "rectangle": (1256, 136), "circle": (1256, 184),
          "triangle": (1256, 281)}
COLOURS = {"black": (125, 640), "red": (361, 640), "yellow": (480, 640), "green": (597, 640),
           "blue": (715, 640), "brown": (951, 640)}
SHAPES_TOOL, UNDO = (72, 112), (25, 255)
RULES = ('<application title="Tux Paint"><decor>no</decor><position force="yes"><x>0</x><y>0</y>'
         "</position></application>")


def start(stage: Stage) -> None:
    stage.start("tuxpaint", "--windowed", f"--{WIDTH}x{HEIGHT}", "--nolockfile", "--nosound",
                "--simpleshapes", "--noprint", "--startblank", "--nosysfonts", "--lang", "english",
                "--savedir", stage.home / "saved")
    stage.window("TuxPaint", by="class")
    time.sleep(4)
    stage.settle(2.5)
    choose(stage, SHAPES_TOOL)


def choose(stage: Stage, place: tuple[int, int], seconds: float = 0.8) -> None:
    stage.hand.click(*place, seconds=seconds)
    pause(0.2)


def draw(stage: Stage, centre: tuple[int, int], corner: tuple[int, int], name: str = "",
         seconds: float = 0.6) -> None:
    """Draw the chosen shape from its centre outwards; Tux Paint fills its middle last."""
    stage.hand.drag(centre, corner, seconds)
    if name:
        stage.event(name, (centre[0] - 7, centre[1] - 7, 14, 14))
