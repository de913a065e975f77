"""Record `media/table.mp4`: a price table made in Gnumeric, one step early and one undone."""

from pathlib import Path

from screen import Stage, record, setting

LENGTH = 62.0
COLUMN, ROW = {"A": 150, "B": 298}, {n: 247 + 33 * n for n in range(1, 8)}
BOLD, UNDO = (218, 144), (360, 109)
REST = (900, 560)


def box(first: str, last: str) -> tuple[int, int, int, int]:
    """The cells from one to another, such as A1 to B1, without their borders."""
    left, top = COLUMN[first[0]] - 68, ROW[int(first[1:])] - 12
    return left, top, COLUMN[last[0]] + 60 - left, ROW[int(last[1:])] + 12 - top


def prepare(stage: Stage) -> None:
    setting(stage, "org/gnome/gnumeric/core/defaultfont", size="20.0", name="'DejaVu Sans'")
    stage.start("gnumeric", "--no-splash")
    stage.window("Gnumeric", (0, 30, 1278, 690))
    stage.settle()
    stage.hand.jump(*REST)


def perform(stage: Stage) -> None:
    hand = stage.hand
    # 1. the headings
    stage.at(1.5)
    hand.type("Fruit\tPrice\n")
    stage.event("headings", box("A1", "B1"))
    # 2. the fruit
    stage.at(5.0)
    hand.type("Apples\nPears\nPlums\n")
    stage.event("fruit", box("A2", "A4"))
    # 5, too early: the headings bold
    stage.at(13.0)
    hand.drag((COLUMN["A"], ROW[1]), (COLUMN["B"], ROW[1]), 0.7)
    hand.click(*BOLD)
    stage.event("bold", box("B1", "B1"), 0.6)
    hand.move(*REST)
    # 3. the prices
    stage.at(21.0)
    hand.click(COLUMN["B"], ROW[2], seconds=0.9)
    hand.move(480, 400, 0.5)
    hand.type("3.25\n2.50\n4.10\n", 0.18)
    stage.event("prices", box("B2", "B4"))
    hand.move(*REST)
    # 4. the sum
    stage.at(31.0)
    hand.click(COLUMN["B"], ROW[5], seconds=0.9)
    hand.move(480, 480, 0.5)
    hand.type("=sum(B2:B4)\n", 0.18)
    stage.event("sum", box("B5", "B5"))
    hand.move(*REST)
    # the sum undone
    stage.at(44.0)
    hand.click(*UNDO, seconds=1.0)
    stage.event("sum undone", box("B5", "B5"))
    hand.move(*REST)


if __name__ == "__main__":
    record(Path(__file__).parents[1], "table", LENGTH, prepare, perform)
