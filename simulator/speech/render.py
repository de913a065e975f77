"""Rendering a scenario's speech into its folder, so that a run needs no engine.

Each text is spoken once: what its lock file names and is whole is kept, what was ever spoken on
this machine comes from the cache, the rest is asked of its engine. A run never speaks by itself:
what is heard must be fixed by the folder, not by what is installed.
Counterparts: `simulator.scenario.lock` is the result, `simulator.cli.speech` the command.
"""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from simulator.errors import InputError, ScenarioError
from simulator.media.cache import Cache, hash_file, key_of
from simulator.scenario import lock
from simulator.scenario.load import find_scenario, load_scenario
from simulator.scenario.lock import Lock, Sound, Wanted
from simulator.scenario.types import Anchor, Say, Scenario, Turn
from simulator.speech import finish
from simulator.speech.engine import Engine, Speaker, Voice, find_voice
from simulator.speech.engines import engines as all_engines
from simulator.speech.language import unspeakable
from simulator.whole_file import whole_file

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendered:
    """One text of a scenario, and where its speech came from."""

    turn: str
    sound: Sound
    source: Literal["kept", "cache", "spoken"]
    note: str = ""
    """What its author should know: that it does not fit, say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    where: str
    turn: Turn
    say: Say
    wanted: Wanted
    engine: Engine
    voice: Voice

    @property
    def key(self) -> str:
        return key_of(
            "speech",
            finish.CODE,
            self.engine.name,
            self.engine.version(),
            self.voice.name,
            self.wanted.rate,
            self.wanted.text,
        )


def render_speech(
    path_or_id: str | Path,
    *,
    cache: Cache,
    force: bool = False,
    engines: Sequence[Engine] | None = None,
    tell: Tell | None = None,
) -> list[Rendered]:
    """Render every instruction that is text alone. `force` speaks also what is there already.

    Raises ScenarioError with everything that cannot be spoken before anything is, and InputError
    for a folder that cannot be written or an engine that fails; what was spoken until then is kept.
    """
    path = find_scenario(path_or_id)
    scenario = load_scenario(path, rendered=False)
    folder = path.absolute().parent
    known = Lock(folder)
    if known.problem and not force:
        raise InputError(
            f"{path}: {known.problem}", hint="mend or delete it, or give --force to write it anew"
        )
    done: list[Rendered] = []
    tasks: list[_Task] = []
    problems: list[str] = []
    installed = all_engines(cache) if engines is None else engines
    for turn, say in _texts(scenario):
        wanted = _wanted(scenario, say)
        found, _ = known.find(wanted)
        sound = known.get(wanted)
        if found is not None and sound is not None and not force:
            done.append(_report(turn, say, sound, "kept"))
            continue
        where = f"{path}: turns[{turn.index}] ({turn.id}): say"
        try:
            engine, voice = find_voice(wanted.asked, installed)
        except InputError as error:
            problems.append(f"{where}: {error}")
            continue
        if why := unspeakable(wanted.text, voice.language):
            problems.append(f"{where}: {voice.name}: {why}")
            continue
        tasks.append(
            _Task(where=where, turn=turn, say=say, wanted=wanted, engine=engine, voice=voice)
        )
    if problems:
        raise ScenarioError(list(dict.fromkeys(problems)))
    if tasks:
        _writable(folder)
        with cache.lock("render-" + key_of(str(folder))[:16]):
            done += _make(tasks, folder, cache, force=force, tell=tell or (lambda text: None))
    return done


def unused(path_or_id: str | Path) -> list[Sound]:
    """Sounds of the lock file that no scenario in the folder speaks any more; none if a scenario
    there cannot be read."""
    folder = find_scenario(path_or_id).absolute().parent
    wanted: set[Wanted] = set()
    for file in folder.glob("*.yaml"):
        if not re.search(r"^turns:", file.read_text(encoding="utf-8", errors="replace"), re.M):
            continue  # no scenario: defaults that several share, say
        try:
            scenario = load_scenario(file, rendered=False)
        except InputError:
            return []
        wanted |= {_wanted(scenario, say) for _, say in _texts(scenario)}
    return [s for s in Lock(folder).sounds() if s.wanted not in wanted]


def prune(path_or_id: str | Path) -> list[Sound]:
    """Delete what `unused` finds."""
    gone = unused(path_or_id)
    if gone:
        folder = find_scenario(path_or_id).absolute().parent
        kept = [s for s in Lock(folder).sounds() if s not in gone]
        _writable(folder)
        lock.write(folder, kept)
        for name in {s.file for s in gone} - {s.file for s in kept}:
            (folder / lock.FOLDER / name).unlink(missing_ok=True)
    return gone


def _texts(scenario: Scenario) -> Iterator[tuple[Turn, Say]]:
    for turn in scenario.turns:
        for instruction in turn.instructions:
            if isinstance(instruction, Say) and instruction.sound == Path():
                yield turn, instruction


def _wanted(scenario: Scenario, say: Say) -> Wanted:
    voice = scenario.voices.get(say.voice)
    return Wanted.of(say.text, voice.name if voice else "", voice.rate if voice else 1.0)


def _make(
    tasks: Sequence[_Task], folder: Path, cache: Cache, *, force: bool, tell: Tell
) -> list[Rendered]:
    made: list[Rendered] = []
    fresh: dict[Wanted, Sound] = {}
    with ExitStack() as stack:
        speakers: dict[str, Speaker] = {}
        for task in tasks:
            if task.wanted in fresh:
                made.append(_report(task.turn, task.say, fresh[task.wanted], "kept"))
                continue
            entry = None if force else cache.find(task.key, _entry)
            source: Literal["cache", "spoken"] = "cache"
            if entry is None:
                source = "spoken"
                tell(f"{task.voice.name}: {task.wanted.text}")
                if task.engine.name not in speakers:
                    speakers[task.engine.name] = stack.enter_context(task.engine.open())
                entry = _speak(task, speakers[task.engine.name], cache, force=force)
            sound = _place(task, entry, folder)
            fresh[task.wanted] = sound
            # After each, so that what was spoken before an engine fails is not lost.
            kept = [s for s in Lock(folder).sounds() if s.wanted not in fresh]
            lock.write(folder, [*kept, *fresh.values()])
            made.append(_report(task.turn, task.say, sound, source))
    return made


@dataclass(frozen=True, slots=True)
class _Entry:
    """Speech in the cache."""

    path: Path
    seconds: float


def _entry(folder: Path) -> _Entry:
    told = json.loads((folder / "speech.json").read_text())
    return _Entry(folder / "speech.flac", float(told["seconds"]))


def _speak(task: _Task, speaker: Speaker, cache: Cache, *, force: bool) -> _Entry:
    try:
        spoken = speaker.speak(task.wanted.text, task.voice, task.wanted.rate)
        samples, seconds = finish.finish(spoken)
    except InputError as error:
        raise InputError(f"{task.where}: {error.message}", hint=error.hint) from error

    def build(folder: Path) -> None:
        finish.write_flac(folder / "speech.flac", samples, spoken.rate)
        (folder / "speech.json").write_text(json.dumps({"seconds": seconds}))

    if force:
        cache.forget(task.key)
    return cache.entry(task.key, _entry, build)


def _place(task: _Task, entry: _Entry, folder: Path) -> Sound:
    """Copy speech from the cache into the scenario's folder."""
    words = re.sub(r"[^a-z0-9]+", "-", task.wanted.text.lower()).strip("-")[:32].strip("-")
    name = f"{words or 'speech'}-{task.key[:8]}.flac"
    target = folder / lock.FOLDER / name
    with whole_file(target) as part:
        shutil.copyfile(entry.path, part)
    return Sound(
        **dataclasses.asdict(task.wanted),
        engine=task.engine.name,
        voice=task.voice.name,
        language=task.voice.language,
        version=task.engine.version(),
        file=name,
        sha256=hash_file(target),
        seconds=round(entry.seconds, 3),
    )


def _report(
    turn: Turn, say: Say, sound: Sound, source: Literal["kept", "cache", "spoken"]
) -> Rendered:
    room = turn.duration
    if say.placement.anchor is Anchor.TIME:
        room = turn.end - say.placement.at
    note = ""
    if sound.seconds > room:
        note = f"lasts {sound.seconds:.2f} s, its turn has {room:.2f} s for it"
    return Rendered(turn=turn.id, sound=sound, source=source, note=note)


def _writable(folder: Path) -> None:
    try:
        (folder / lock.FOLDER).mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=folder / lock.FOLDER):
            pass
    except OSError as error:
        raise InputError(
            f"{folder / lock.FOLDER} cannot be written: {error.strerror or error}",
            hint="copy the scenario's folder to a place of your own and render it there",
        ) from error
