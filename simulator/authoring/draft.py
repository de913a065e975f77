"""A first draft of a scenario from a clip: a folder with the clip, a commented YAML, a schema.

Everything is looked at before anything is written, and nothing that exists is written over unless
that is wanted. Counterparts: `simulator.cli.new` asks for what is not given,
`simulator.authoring.check` says what is left to do.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from simulator.authoring.schema import FILE as SCHEMA
from simulator.authoring.schema import schema_text
from simulator.errors import InputError
from simulator.media.cache import hash_file
from simulator.media.mix import audible
from simulator.media.probe import Probe, probe
from simulator.media.sound import load
from simulator.protocol.tracks import AUDIO_CLOCK
from simulator.scenario.taxonomy import CUSTOM, task_of

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_PLAIN = re.compile(r"[A-Za-z0-9](?:[\w ,.;?!'()/-]*[\w,.;?!')])?")
_SHORTEST = 0.5
"""Seconds that a clip has to last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What the author has said of the scenario."""

    clip: Path
    id: str
    folder: Path
    title: str = ""
    task: str = CUSTOM
    pace: str = "wait"
    licence: str = ""
    url: str = ""
    """Where others get the clip; it is then named by address and hash, and not copied."""
    goal: str = ""
    ask: str = ""
    """The first question; empty: none yet."""
    sound: Path | None = None
    """The question as sound."""
    at: float | None = None
    """Clip time at which the question has been asked."""
    answer: str = ""
    key_points: tuple[str, ...] = ()
    evidence: tuple[float, float] | None = None
    force: bool = False


@dataclass(slots=True)
class _Plan:
    """What will be written."""

    texts: dict[Path, str] = field(default_factory=dict)
    copies: dict[Path, Path] = field(default_factory=dict)
    """Target: source."""


def name_from(clip: Path) -> str:
    """An id made from a clip's file name."""
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", clip.stem).strip("-._")[:64]
    return name or "scenario"


def look_at(clip: Path) -> Probe:
    """The clip, if a scenario can be made of it. Raises InputError."""
    source = probe(clip)
    if source.duration < _SHORTEST:
        raise InputError(
            f"{clip}: lasts {source.duration:.2f} s; a scenario needs {_SHORTEST:g} s",
            hint="a scenario needs a clip that plays; of a picture, make a video first",
        )
    return source


def write_draft(draft: Draft) -> Path:
    """Write the folder; the path of the scenario. Raises InputError for what is wrong with it."""
    source = look_at(draft.clip)
    check_draft(draft, source)
    plan, clip, sound = _Plan(), "", ""
    if not draft.url:
        clip = _place(plan, draft, draft.clip, "media")
    if draft.sound is not None:
        sound = _place(plan, draft, draft.sound, "speech")
    path = draft.folder / f"{draft.id}.yaml"
    plan.texts[path] = "\n".join(_lines(draft, source, clip, sound)) + "\n"
    plan.texts[draft.folder / SCHEMA] = schema_text()
    _write(plan, draft)
    return path


def check_draft(draft: Draft, source: Probe) -> None:
    """Raises InputError for what is wrong with a draft of a scenario from this clip."""
    if not _NAME.fullmatch(draft.id):
        raise InputError(
            f"--id {draft.id!r} is not a name: letters, digits, '-', '_' and '.', at most 64"
        )
    if task_of(draft.task) is None:
        raise InputError(
            f"--task {draft.task!r} is no task",
            hint="a code such as MER, custom, or custom:a-name-of-yours; scenarios/README.md",
        )
    if draft.pace not in ("wait", "continuous"):
        raise InputError(f"--pace {draft.pace!r} is not known; allowed: wait, continuous")
    if draft.url and not re.match(r"https?://[^/\s]+/\S*$", draft.url):
        raise InputError(f"--url {draft.url!r} is not an address that begins with https://")
    if draft.url and not draft.licence:
        raise InputError("--url needs --licence: the terms under which others may use the clip")
    if draft.at is not None and not 0 < draft.at <= source.duration:
        raise InputError(
            f"--at {draft.at:g} is outside the clip, which lasts {source.duration:.2f} s"
        )
    for option, there in (
        ("--sound", draft.sound is not None),
        ("--answer", bool(draft.answer)),
        ("--key-point", bool(draft.key_points)),
        ("--evidence", draft.evidence is not None),
    ):
        if there and not draft.ask:
            raise InputError(f"{option} needs --ask: the words of the question")
    if draft.sound is not None:
        span = audible(load(draft.sound))
        if span is None:
            raise InputError(f"{draft.sound}: nothing is audible in it")
        length, room = (span[1] - span[0]) / AUDIO_CLOCK, asked_at(draft, source.duration)
        if length > room:
            raise InputError(
                f"{draft.sound} lasts {length:.2f} s and does not fit before {room:g} s",
                hint="ask later (--at), or in fewer words",
            )


def asked_at(draft: Draft, duration: float) -> float:
    """When the question has been asked: half-way, where the author has not said."""
    half = math.floor(duration * 5) / 10
    return draft.at if draft.at is not None else max(half, 0.1)


# ---------------------------------------------------------------- files


def _place(plan: _Plan, draft: Draft, file: Path, below: str) -> str:
    """How the scenario names a file: as it lies if that is in its folder, else as its copy."""
    folder = draft.folder.absolute()
    if file.absolute().is_relative_to(folder):
        return file.absolute().relative_to(folder).as_posix()
    plan.copies[draft.folder / below / file.name] = file
    return f"{below}/{file.name}"


def _write(plan: _Plan, draft: Draft) -> None:
    for path, text in plan.texts.items():
        if path.exists() and not draft.force and not _same_text(path, text):
            raise InputError(f"{path}: exists already", hint="--force writes over it")
    for path, source in plan.copies.items():
        if path.exists() and not draft.force and not _same_file(path, source):
            raise InputError(f"{path}: exists already", hint="--force writes over it")
    try:
        for path, source in plan.copies.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            if not (path.exists() and _same_file(path, source)):
                shutil.copyfile(source, path)
        for path, text in plan.texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(
            f"{error.filename or draft.folder}: cannot be written: {error.strerror or error}",
            hint="name another folder with --out",
        ) from None


def _same_text(path: Path, text: str) -> bool:
    return path.is_file() and path.read_bytes() == text.encode()


def _same_file(path: Path, source: Path) -> bool:
    return (
        path.is_file()
        and path.stat().st_size == source.stat().st_size
        and hash_file(path) == hash_file(source)
    )


# ---------------------------------------------------------------- text


def quoted(text: str) -> str:
    """A text as it has to stand in the file."""
    text = " ".join(text.split())
    number = re.fullmatch(r"[\d.:]+", text)
    if (
        not number
        and _PLAIN.fullmatch(text)
        and text.lower() not in ("true", "false", "null", "yes", "no")
    ):
        return text
    return json.dumps(text, ensure_ascii=False)


def _lines(draft: Draft, source: Probe, clip: str, sound: str) -> Iterator[str]:
    yield f"# yaml-language-server: $schema={SCHEMA}"
    yield "# Times are those of your video player: seconds (12.5) or minutes and seconds (1:02.5)."
    yield f"# What is wrong with it:      omnistage check {draft.id}.yaml"
    yield f"# What the agent will get:    omnistage preview {draft.id}.yaml"
    yield "version: 1"
    yield f"id: {draft.id}"
    yield f"title: {quoted(draft.title)}" if draft.title else "# title: For people"
    yield "# A sub-task's code (MER, CT, ...), custom, or custom:a-name-of-yours."
    yield f"task: {draft.task}"
    yield "# wait: the picture holds until the agent has answered. continuous: the clip plays on."
    yield f"pace: {draft.pace}"
    yield "clip:"
    if draft.url:
        yield f"  url: {draft.url}"
        yield f"  sha256: {hash_file(draft.clip)}"
    else:
        yield f"  file: {quoted(clip)}"
    yield f"  # Lasts {source.duration:.2f} s."
    yield (
        f"  licence: {quoted(draft.licence)}"
        if draft.licence
        else "  # licence: the terms under which others may use it, such as CC-BY-4.0"
    )
    if draft.goal:
        yield f"goal: {quoted(draft.goal)}"
    else:
        yield "# Shown as a subtitle throughout:"
        yield "# goal: Keep three bottles on the table"
    yield "turns:"
    yield from _turns(draft, source, sound)
    yield from _more(draft)


def _turns(draft: Draft, source: Probe, sound: str) -> Iterator[str]:
    end = math.floor(source.duration * 100) / 100
    at = asked_at(draft, source.duration) if draft.ask else 0.0
    if draft.ask:
        yield "  # The question ends with the turn; the answer falls due there."
        yield "  - id: question"
        yield f"    until: {at:g}"
        yield "    say:"
        yield f"      text: {quoted(draft.ask)}"
        if sound:
            yield f"      file: {quoted(sound)}"
        if draft.answer:
            yield f"    answer: {quoted(draft.answer)}"
            yield from _gold(draft)
        else:
            yield "    # Put the right answer here, and take `either` away:"
            yield "    # answer: There are three bottles."
            yield "    either: true"
    if end - at >= 0.04:
        yield "  # Nothing calls for an answer: the agent should keep quiet."
        yield "  - id: rest"
        yield f"    until: {end:g}"
        yield "    quiet: true"


def _gold(draft: Draft) -> Iterator[str]:
    if draft.key_points:
        yield "    # What must be said; [a, b] are alternatives of one point."
        yield "    key_points:"
        for point in draft.key_points:
            words = [quoted(w) for w in point.split("|") if w.strip()]
            yield f"      - [{', '.join(_item(w) for w in words)}]"
    else:
        yield "    # What must be said; [a, b] are alternatives of one point:"
        yield "    # key_points:"
        yield '    #   - [three, "3"]'
    if draft.evidence is not None:
        yield "    # Clip times between which the answer can be seen or heard."
        yield "    evidence:"
        yield f"      - [{draft.evidence[0]:g}, {draft.evidence[1]:g}]"
    else:
        yield "    # Clip times between which the answer can be seen or heard:"
        yield "    # evidence:"
        yield "    #   - [1.5, 4]"


def _item(word: str) -> str:
    """A text inside [ ], where a comma would end it."""
    return json.dumps(word, ensure_ascii=False) if "," in word and word[0] != '"' else word


def _more(draft: Draft) -> Iterator[str]:
    yield "# More kinds of turns; put them where they belong and take the # away:"
    yield "#  - id: standing                  # a wish for later; an acknowledgement is allowed"
    yield "#    until: 10"
    yield "#    say:"
    yield "#      text: Tell me when the sun is in the sky."
    yield "#      file: speech/standing.flac"
    yield "#    either: true"
    yield "#  - id: sun                       # the answer falls due at an event"
    yield "#    until: 20"
    yield "#    event: 16.4"
    yield "#    asked_in: standing"
    yield "#    answer: The sun is in the sky now."
    yield "#    evidence:"
    yield "#      - [15.7, 16.4]"
    yield "#  - id: guest                     # somebody else speaks (name the voice in `voices`)"
    yield "#    until: 30"
    yield "#    say:"
    yield "#      text: Is it lunch time, do you think?"
    yield "#      file: speech/guest.flac"
    yield "#      voice: guest"
    yield "#      at: 22"
    yield "#    quiet: true"
