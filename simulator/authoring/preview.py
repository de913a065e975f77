"""A preview: a folder with a film, a contact sheet and a transcript of what the agent will get.

Counterparts: `simulator.media.prepare` makes what is shown, `simulator.cli.preview` prints.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from simulator.authoring.film import make_film
from simulator.authoring.sheet import Sheet
from simulator.authoring.transcript import transcript
from simulator.errors import InputError
from simulator.media.timeline import Prepared
from simulator.report.timeline.stream import stream_timeline

FILM, SHEET, TRANSCRIPT = "preview.mp4", "sheet.png", "transcript.txt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What was made."""

    film: Path
    sheet: Path
    transcript: Path
    duration: float
    """Seconds of film."""


def may_write(folder: Path, *, force: bool) -> None:
    """Raises InputError if a preview lies there already, or none can be written."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file", hint="name a folder with --out")
    there = [n for n in (FILM, SHEET, TRANSCRIPT) if (folder / n).exists()]
    if there and not force:
        raise InputError(f"{folder / there[0]}: exists already", hint="--force writes over it")


def make_preview(
    prepared: Prepared,
    folder: Path,
    *,
    force: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Preview:
    """Make the three files in `folder`; none is left half-written. Raises InputError."""
    may_write(folder, force=force)
    timeline = stream_timeline(prepared)
    sheet = Sheet(prepared, timeline)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".new-", dir=folder) as made:
            new = Path(made)
            duration = make_film(prepared, timeline, new / FILM, see=sheet.see, progress=progress)
            sheet.draw(new / SHEET)
            (new / TRANSCRIPT).write_text(transcript(prepared, timeline), encoding="utf-8")
            for name in (FILM, SHEET, TRANSCRIPT):
                shutil.move(new / name, folder / name)
    except OSError as error:
        raise InputError(
            f"{error.filename or folder}: cannot be written: {error.strerror or error}",
            hint="name another folder with --out",
        ) from None
    return Preview(
        film=folder / FILM,
        sheet=folder / SHEET,
        transcript=folder / TRANSCRIPT,
        duration=duration,
    )
