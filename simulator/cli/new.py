"""`omnistage new`: a scenario from a clip. It asks for what is not given."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from simulator.authoring.check import check_all
from simulator.authoring.draft import Draft, asked_at, check_draft, look_at, write_draft
from simulator.authoring.findings import Level
from simulator.errors import InputError
from simulator.media.cache import Cache
from simulator.media.probe import Probe
from simulator.scenario.values import seconds


def new_scenario(draft: Draft, *, named: bool, placed: bool, ask: bool) -> int:
    """Write the draft and say what is left to do. Status 0 if it can be played as it is, else 1.

    `named`, `placed`: whether the user chose its id and its folder. `ask`: ask at the terminal for
    what is not given.
    """
    source = look_at(draft.clip)
    if ask and sys.stdin.isatty() and sys.stdout.isatty():
        draft = _asked(draft, source, named=named, placed=placed)
    elif not placed:
        draft = dataclasses.replace(draft, folder=Path(draft.id))
    path = write_draft(draft)
    print(f"{path}: written ({source.duration:.2f} s of clip)")
    (checked,) = check_all([str(path)], Cache())
    left = [f for f in checked.findings if f.level is not Level.NOTE]
    if left:
        print("left to do:")
    for finding in left:
        print(f"  {finding}")
    print(f"then: omnistage check {path}; omnistage preview {path}")
    return 1 if checked.count(Level.ERROR) else 0


def _asked(draft: Draft, source: Probe, *, named: bool, placed: bool) -> Draft:
    """The draft with what its author says at the terminal. Raises InputError for what was wrong
    with it before; a wrong answer is asked for again."""
    check_draft(draft, source)
    print(f"{draft.clip}: {source.duration:.2f} s. Enter takes what is in [ ].")

    def put(question: str, default: str, read: Callable[[str], dict[str, Any]]) -> None:
        nonlocal draft
        while True:
            text = _line(question, default)
            try:
                said = dataclasses.replace(draft, **read(text))
                check_draft(said, source)
            except InputError as error:
                print(error)
            else:
                draft = said
                return

    if not named:
        put("Name of the scenario", draft.id, lambda text: {"id": text})
    if not placed:
        put("Folder for it", draft.id, lambda text: {"folder": Path(text).expanduser()})
    if not draft.licence:
        terms = "Terms under which others may use the clip (CC0-1.0, ...; empty: none)"
        put(terms, "", lambda text: {"licence": text})
    if not draft.ask:
        first = "First thing that the user asks (empty: nothing yet)"
        put(first, "", lambda text: {"ask": text})
    if not draft.ask:
        return draft
    if draft.at is None:
        half = asked_at(draft, source.duration)
        put("Asked by clip time", f"{half:g}", lambda text: {"at": clip_time(text)})
    if draft.sound is None:
        put("Sound file of the question (empty: later)", "", lambda text: {"sound": _file(text)})
    if not draft.answer:
        put("The right answer (empty: later)", "", lambda text: {"answer": text})
    return draft


def _file(text: str) -> Path | None:
    return Path(text).expanduser() if text else None


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
