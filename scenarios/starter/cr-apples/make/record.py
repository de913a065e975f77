"""Record `media/apples.mp4`: apples painted on a tree in Tux Paint, one of them taken back."""

from pathlib import Path

import screen_paint as paint
from screen import Stage, record

LENGTH = 60.0
REST = (950, 330)


def prepare(stage: Stage) -> None:
    paint.start(stage)
    paint.choose(stage, paint.SHAPES["circle"])
    paint.choose(stage, paint.COLOURS["green"])
    paint.draw(stage, (560, 230), (750, 230))
    paint.choose(stage, paint.SHAPES["rectangle"])
    paint.choose(stage, paint.COLOURS["brown"])
    paint.draw(stage, (560, 510), (605, 640))
    paint.choose(stage, paint.SHAPES["circle"])
    paint.choose(stage, paint.COLOURS["red"])
    stage.hand.move(*REST)


def perform(stage: Stage) -> None:
    def apple(when: float, x: int, y: int, name: str) -> None:
        stage.at(when)
        paint.draw(stage, (x, y), (x + 27, y), name)

    apple(1.5, 480, 180, "apple 1")
    apple(4.0, 620, 140, "apple 2")
    apple(6.5, 560, 290, "apple 3")
    stage.hand.move(*REST)
    stage.at(14.0)
    paint.choose(stage, paint.COLOURS["yellow"])
    apple(16.0, 460, 290, "yellow apple")
    stage.hand.move(*REST)
    stage.at(28.0)
    stage.hand.click(*paint.UNDO, seconds=1.0)
    stage.event("yellow apple undone", (453, 283, 14, 14))
    stage.hand.move(*REST, 0.9)
    stage.at(36.0)
    paint.choose(stage, paint.COLOURS["red"])
    apple(38.0, 670, 250, "apple 4")
    apple(40.5, 860, 560, "apple on the ground")
    stage.hand.move(*REST)


if __name__ == "__main__":
    record(Path(__file__).parents[1], "apples", LENGTH, prepare, perform, rules=paint.RULES)
