"""Record `media/sums.mp4`: somebody does sums in Mousepad, and gets two of them wrong."""

from pathlib import Path

from screen import Stage, record, setting

LENGTH = 66.0
PAPER = (102, 120, 800, 500)
REST = (1180, 640)


def prepare(stage: Stage) -> None:
    setting(stage, "org/xfce/mousepad/preferences/view", font_name="'DejaVu Sans 34'",
            use_default_monospace_font="false")
    stage.start("mousepad", "--disable-server")
    stage.window("Mousepad", (100, 40, 1000, 640))
    stage.settle()
    stage.hand.jump(*REST)


def perform(stage: Stage) -> None:
    def write(when: float, text: str, event: str) -> None:
        stage.at(when)
        stage.hand.type(text, 0.2)
        stage.event(event, PAPER, 0.6)

    write(1.5, "7 + 5 = 12\n", "12")
    write(5.4, "8 + 6 = 15", "15")  # wrong
    stage.at(14.5)
    stage.hand.key("BackSpace")
    write(15.6, "4\n", "14")
    write(28.0, "9 + 9 = 18\n", "18")
    write(32.0, "20 - 4 = 16\n", "16")
    write(45.0, "40 - 7 = 37", "37")  # wrong


if __name__ == "__main__":
    record(Path(__file__).parents[1], "sums", LENGTH, prepare, perform)
