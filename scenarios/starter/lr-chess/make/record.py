"""Record `media/chess.mp4`: somebody shows an opening on XBoard's board, for both sides."""

from pathlib import Path

from screen import Stage, pause, record

LENGTH = 49.0
LEFT, TOP, SIDE = 376, 186, 61
REST = (1080, 560)
CLOCKS = (380, 118, 480, 30)
"""A move is done when the other side is on the move; its name is black on white."""


def middle(square: str) -> tuple[int, int]:
    return (LEFT + SIDE * "abcdefgh".index(square[0]) + 30, TOP + SIDE * (8 - int(square[1])) + 32)


def prepare(stage: Stage) -> None:
    stage.start("/usr/games/xboard", "-ncp", "-size", "60", "-coords", "-highlightLastMove",
                "false", "-showButtonBar", "true")
    stage.window("xboard")
    stage.settle()
    stage.window("xboard", (373, 50, 531, 602))
    stage.settle()
    stage.hand.jump(*REST)


def perform(stage: Stage) -> None:
    def move(when: float, start: str, end: str) -> None:
        stage.at(when)
        stage.hand.drag(middle(start), middle(end), 0.9)
        stage.event(f"{start}{end}", CLOCKS)

    def rest() -> None:
        pause(0.5)
        stage.hand.move(*REST, 0.8)

    move(1.5, "e2", "e4")
    move(5.0, "e7", "e5")
    move(8.5, "g1", "f3")
    move(12.0, "b8", "c6")
    rest()
    move(23.5, "d2", "d4")
    move(27.0, "e5", "d4")
    move(30.5, "f3", "d4")
    rest()


if __name__ == "__main__":
    record(Path(__file__).parents[1], "chess", LENGTH, prepare, perform, font_size=12)
