"""Record `media/shapes.mp4`: the shapes of a list painted in Tux Paint, among look-alikes."""

from pathlib import Path

import screen_paint as paint
from screen import Stage, record

LENGTH = 66.0
REST = (640, 560)


def prepare(stage: Stage) -> None:
    paint.start(stage)
    stage.hand.move(*REST)


def perform(stage: Stage) -> None:
    def shape(when: float, name: str, x: int, y: int, dx: int = 80, dy: int = 0) -> None:
        stage.at(when)
        colour, form = name.split()[:2]
        paint.choose(stage, paint.SHAPES[form], 0.9)
        paint.choose(stage, paint.COLOURS[colour])
        paint.draw(stage, (x, y), (x + dx, y + dy), name)
        stage.hand.move(*REST)

    shape(1.0, "blue square", 240, 150, 70, 70)
    shape(6.5, "green triangle", 480, 150, 80, 80)
    shape(12.0, "red square", 720, 150, 70, 70)  # not on the list
    shape(17.5, "yellow circle", 980, 150)
    shape(29.0, "brown circle", 240, 420)  # not on the list
    shape(41.0, "brown rectangle", 480, 420, 110, 65)
    shape(52.5, "red circle", 840, 420)


if __name__ == "__main__":
    record(Path(__file__).parents[1], "shapes", LENGTH, prepare, perform, rules=paint.RULES)
