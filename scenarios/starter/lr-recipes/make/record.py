"""Record `media/recipes.mp4`: recipes opened one after the other, from PCManFM in Mousepad."""

from pathlib import Path

import screen_files as files
from screen import Stage, record, setting

LENGTH = 70.0
RECIPES = {
    "bread": "500 g flour\n2 spoons of salt",
    "cake": "4 eggs\n300 g sugar",
    "pancakes": "3 eggs\n1 litre of milk",
    "pie": "5 apples\n100 g butter",
    "soup": "6 carrots\n2 onions",
}
ROWS = {name: 212 + 41 * i for i, name in enumerate(RECIPES)}
REST = (250, 600)
PAGE = (502, 110, 700, 400)
RULES = ('<application class="Mousepad"><position force="yes"><x>500</x><y>60</y></position>'
         "<size><width>740</width><height>520</height></size></application>")
OPENS = """\
[Desktop Entry]
Type=Application
Name=Mousepad
Exec=mousepad --disable-server %f
MimeType=text/plain;
"""


def prepare(stage: Stage) -> None:
    setting(stage, "org/xfce/mousepad/preferences/view", font_name="'DejaVu Sans 32'",
            use_default_monospace_font="false")
    programs = stage.home / ".local" / "share" / "applications"
    programs.mkdir(parents=True)
    (programs / "pad.desktop").write_text(OPENS)
    (stage.home / ".config" / "mimeapps.list").write_text(
        "[Default Applications]\ntext/plain=pad.desktop\n")
    files.start(stage, "Recipes", {f"{name}.txt": text for name, text in RECIPES.items()},
                (30, 40, 440, 600), view="list")
    stage.hand.jump(*REST)


def perform(stage: Stage) -> None:
    hand = stage.hand

    def look_at(when: float, name: str, until: float) -> None:
        stage.at(when)
        hand.click(140, ROWS[name], times=2)
        hand.move(*REST)
        stage.window(f"{name}.txt")
        stage.event(f"{name} opened", PAGE, 2.0)
        stage.at(until)
        hand.key("ctrl+q")
        stage.event(f"{name} closed", PAGE)

    look_at(1.0, "cake", 8.0)
    look_at(9.5, "soup", 17.0)
    look_at(18.5, "bread", 31.0)
    stage.at(33.0)
    hand.click(140, ROWS["pie"])
    hand.move(*REST)
    stage.event("pie selected", (40, ROWS["pie"] - 12, 300, 24))
    look_at(43.5, "pancakes", 51.5)


if __name__ == "__main__":
    record(Path(__file__).parents[1], "recipes", LENGTH, prepare, perform, font_size=19,
           rules=RULES)
