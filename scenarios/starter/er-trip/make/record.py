"""Record `media/trip.mp4`: a folder tidied in PCManFM: files renamed and deleted, folders made."""

from pathlib import Path

import screen_files as files
from screen import Stage, pause, record

LENGTH = 66.0
FIRST, PITCH, ROW = 152, 174, 215
REST = (900, 560)


def prepare(stage: Stage) -> None:
    names = ("bill", "hotel", "map", "menu", "tickets")
    files.start(stage, "Trip", {f"{name}.txt": name for name in names}, (60, 30, 1140, 640))
    stage.hand.jump(*REST)


def label(place: int) -> tuple[int, int, int, int]:
    return (FIRST + PITCH * place - 80, 284, 160, 34)


def perform(stage: Stage) -> None:
    hand = stage.hand

    def select(place: int) -> None:
        hand.click(FIRST + PITCH * place, ROW, seconds=0.8)
        hand.move(*REST, 0.7)

    def rename(when: float, place: int, name: str, event: str) -> None:
        stage.at(when)
        select(place)
        hand.key("F2")
        pause(1.0)
        hand.type(name, 0.15)
        pause(0.6)
        hand.type("\n")
        stage.event(event, label(place))

    def make(when: float, name: str, place: int) -> None:
        stage.at(when)
        hand.key("ctrl+shift+n")
        pause(1.0)
        hand.type(name, 0.15)
        pause(0.6)
        hand.type("\n")
        stage.event(f"folder {name} made", label(place))

    def delete(when: float, place: int, event: str) -> None:
        stage.at(when)
        select(place)
        pause(0.5)
        hand.key("Delete")
        stage.event(event, label(place))

    rename(1.5, 2, "plan", "map renamed")
    make(8.0, "Paris", 0)
    delete(13.5, 3, "menu deleted")
    delete(18.5, 1, "bill deleted")
    rename(29.0, 1, "inn", "hotel renamed")
    make(36.0, "Rome", 1)
    delete(46.5, 4, "tickets deleted")


if __name__ == "__main__":
    record(Path(__file__).parents[1], "trip", LENGTH, prepare, perform, font_size=19)
