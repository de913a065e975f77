"""`omnistage new`: a scenario from a clip. It asks for what is not given."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import typer

from simulator.authoring.check import check_all
from simulator.authoring.draft import Draft, asked_at, look_at, write_draft
from simulator.authoring.findings import Level
from simulator.errors import InputError
from simulator.media.cache import Cache
from simulator.scenario.schema import seconds


def new_scenario(draft: Draft, *, named: bool, placed: bool, ask: bool) -> int:
    """Write the draft and say what is left to do. Status 0 if it can be played as it is, else 1.

    `named`, `placed`: whether the user chose its id and its folder. `ask`: ask at the terminal for
    what is not given.
    """
    duration = look_at(draft.clip).duration
    if ask and sys.stdin.isatty() and sys.stdout.isatty():
        draft = _asked(draft, duration, named=named, placed=placed)
    elif not placed:
        draft = dataclasses.replace(draft, folder=Path(draft.id))
    path = write_draft(draft)
    print(f"{path}: written ({duration:.2f} s of clip)")
    (checked,) = check_all([str(path)], Cache())
    left = [f for f in checked.findings if f.level is not Level.NOTE]
    if left:
        print("left to do:")
    for finding in left:
        print(f"  {finding}")
    print(f"then: omnistage check {path}; omnistage preview {path}")
    return 1 if checked.count(Level.ERROR) else 0


def _asked(draft: Draft, duration: float, *, named: bool, placed: bool) -> Draft:
    """The draft with what its author says at the terminal."""
    print(f"{draft.clip}: {duration:.2f} s. Enter takes what is in [ ].")
    if not named:
        draft = dataclasses.replace(draft, id=_line("Name of the scenario", draft.id))
    if not placed:
        draft = dataclasses.replace(draft, folder=Path(_line("Folder for it", draft.id)))
    if not draft.licence:
        told = _line("Terms under which others may use the clip (CC0-1.0, ...; empty: none)", "")
        draft = dataclasses.replace(draft, licence=told)
    if not draft.ask:
        told = _line("First thing that the user asks (empty: nothing yet)", "")
        draft = dataclasses.replace(draft, ask=told)
    if not draft.ask:
        return draft
    if draft.at is None:
        half = asked_at(draft, duration)
        draft = dataclasses.replace(draft, at=clip_time(_line("Asked by clip time", f"{half:g}")))
    if draft.sound is None:
        told = _line("Sound file of the question (empty: later)", "")
        draft = dataclasses.replace(draft, sound=Path(told).expanduser() if told else None)
    if not draft.answer:
        draft = dataclasses.replace(draft, answer=_line("The right answer (empty: later)", ""))
    return draft


def _line(question: str, default: str) -> str:
    return str(typer.prompt(question, default=default, show_default=bool(default))).strip()


def clip_time(text: str, option: str = "--at") -> float:
    """A time as in a scenario. Raises InputError."""
    try:
        return seconds(text)
    except ValueError as error:
        raise InputError(f"{option}: {error}") from None


def span(text: str, option: str = "--evidence") -> tuple[float, float]:
    """FROM-TO. Raises InputError."""
    start, dash, end = text.partition("-")
    if not dash:
        raise InputError(f"{option} {text!r} must be FROM-TO, such as 1.5-4")
    first, last = clip_time(start, option), clip_time(end, option)
    if first > last:
        raise InputError(f"{option} {text!r} ends before it begins")
    return first, last
