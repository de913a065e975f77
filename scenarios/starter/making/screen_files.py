"""PCManFM on the virtual screen, with large icons or as a list."""

from screen import Box, Stage

SETTINGS = """\
[config]
confirm_del=0
use_trash=0
single_click=0
[ui]
big_icon_size=128
small_icon_size=32
side_pane_mode=hidden;places
always_show_tabs=0
show_statusbar=0
view_mode={view}
columns=name:{width};
"""


def start(stage: Stage, folder: str, files: dict[str, str], box: Box, view: str = "icon") -> None:
    """Show a folder with these files, each a name and a text."""
    path = stage.home / folder
    path.mkdir()
    for name, text in files.items():
        (path / name).write_text(text)
    for name in ("pcmanfm/default/pcmanfm.conf", "libfm/libfm.conf"):
        settings = stage.home / ".config" / name
        settings.parent.mkdir(parents=True)
        settings.write_text(SETTINGS.format(view=view, width=box[2] - 20))
    stage.start("pcmanfm", "--no-desktop", path)
    stage.window(folder, box)
    stage.settle()
