"""From a YAML file to a Scenario, or to every problem that the file has, at once.

Counterparts: `simulator.scenario.source` reads the text, `.schema` knows the keys, `.checks` looks
at how turns fit together, `.types` is the result.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from simulator.errors import InputError, ScenarioError
from simulator.plugins import content_root
from simulator.scenario.before import check, with_prior
from simulator.scenario.checks import Checker, Step, inside
from simulator.scenario.collection import (
    COLLECTION,
    SHARED,
    Collection,
    find_collection,
    quick_id,
)
from simulator.scenario.keys import keys, model_at, unknown
from simulator.scenario.lock import Lock, Wanted
from simulator.scenario.schema import (
    ClipModel,
    CollectionModel,
    ScenarioModel,
    TurnModel,
    VoiceModel,
    turn_model,
)
from simulator.scenario.source import Node, parse
from simulator.scenario.types import (
    Anchor,
    Background,
    Canvas,
    Clip,
    Limits,
    Pace,
    Prior,
    Scenario,
    Show,
    Turn,
    Voice,
)
from simulator.scenario.values import Strict

_Model = TypeVar("_Model", bound=Strict)


def load_scenario(path_or_id: str | Path, *, rendered: bool = True) -> Scenario:
    """Read a scenario by its path, or by the id of a bundled one.

    Without `rendered`, instructions that are text alone need no speech yet and have no sound.
    Raises ScenarioError with all problems found, and InputError for an unknown name.
    """
    path = find_scenario(path_or_id)
    return _Loading(path, rendered=rendered).scenario()


def load_recorded_scenario(recording: Path) -> Scenario:
    """The scenario that a recording was made from, by the copy in its folder.

    Its clips and sounds need not be there: judging reads texts and times only. Raises InputError.
    """
    path = recording / "scenario.yaml"
    if not path.is_file():
        raise InputError(
            f"{recording}: has no scenario.yaml", hint="name the scenario with --scenario"
        )
    return _Loading(path, media=False, rendered=False).scenario()


def load_collection(path: Path) -> Collection:
    """Read a collection's file. Raises ScenarioError with all problems found."""
    return _Loading(path).collection()


def bundled_scenarios() -> list[Path]:
    """The scenario files that come with Omnistage, alone in a folder or in a collection's."""
    root = content_root("scenarios")
    files = [*root.glob("*/*.yaml"), *root.glob("*/*/*.yaml")]
    return sorted(f for f in files if f.name != COLLECTION)


def find_scenario(path_or_id: str | Path) -> Path:
    """The file meant by a path, a scenario's folder, or a bundled id. Raises InputError."""
    path = Path(os.path.expanduser(path_or_id))
    if os.path.isfile(path):
        return path
    if str(path_or_id) in (bundled := {quick_id(file): file for file in bundled_scenarios()}):
        # A bare word that is an id is one, also where a folder happens to be called so.
        return bundled[str(path_or_id)]
    if os.path.isdir(path):
        inside = sorted(f for f in path.glob("*.yaml") if f.name != COLLECTION)
        if len(inside) == 1:
            return inside[0]
        names = ", ".join(f.name for f in inside) or "no .yaml file"
        raise InputError(f"{path}: is a folder with {names}", hint="name one scenario file")
    name = str(path_or_id)
    near = difflib.get_close_matches(name, bundled, n=3, cutoff=0.5)
    raise InputError(
        f"scenario {name!r}: no such file, and no bundled scenario has that id",
        hint=f"did you mean {', '.join(near)}?" if near else f"bundled: {', '.join(bundled)}",
    )


class _Loading:
    """One file on its way to a Scenario."""

    def __init__(self, path: Path, *, media: bool = True, rendered: bool = True) -> None:
        self._path = path
        folder = path.absolute().parent
        if ".." in folder.parts:
            folder = folder.resolve()
            path = folder / path.name
        self._lock = Lock(folder) if rendered else None
        self._shown = str(path)
        self._problems: list[tuple[int, str]] = []
        self._source = parse(path, self._shown)
        # A recording is complete by itself: what lies above it is not its collection.
        shared = find_collection(path, above=media) if path.name != COLLECTION else None
        self._collection = load_collection(shared) if shared is not None else None
        root = self._collection.folder if self._collection is not None else None
        self._find = partial(inside, folder, root=root, there=media)
        self._root = self._source.root
        if self._collection is not None:
            self._root = self._collection.under(self._root)

    def scenario(self) -> Scenario:
        if not isinstance(self._root.value, dict):
            self._add(self._root, (), "must be keys with values: `version: 1` first")
            raise self._failed()
        model = self._read(ScenarioModel, self._root, ())
        clips = self._clips(model) if model is not None else {}
        steps = self._steps()
        checker = Checker(
            steps,
            clips={} if model is None else clips,
            voices=None if model is None else tuple(model.voices),
            limits=Limits() if model is None else Limits(**model.limits.model_dump()),
            find=self._find,
            speech=partial(self._speech, {} if model is None else model.voices),
            add=lambda where, why: self._add(self._root, where, why),
        )
        turns = list(checker.turns())
        font = None
        if model is not None and model.font is not None:
            font, why = self._find(model.font)
            if why:
                self._add(self._root, ("font",), why)
        if model is not None and model.prior is not None:
            check(
                model.prior,
                clips,
                [step.id for step in steps],
                lambda where, why: self._add(self._root, ("prior", *where), why),
            )
        if model is not None and model.pace == Pace.CONTINUOUS:
            for turn in turns:
                if turn.reacts is not None:
                    why = f"`at: {turn.reacts.anchor} + ...` needs `pace: wait`"
                    self._add(self._root, ("turns", turn.index), why)
        backgrounds: Sequence[Background] = ()
        if model is not None:
            backgrounds = self._backgrounds(model, clips)
        if model is not None and not steps and not self._problems:
            self._add(self._root, ("turns",), "is empty: at least one turn")
        if self._problems or model is None:
            raise self._failed()
        return Scenario(
            id=model.id,
            path=self._path.absolute(),
            sha256=hashlib.sha256(self._bytes()).hexdigest(),
            clips=clips,
            turns=with_prior(model.prior, model.goal, turns) if model.prior else tuple(turns),
            font=font,
            task=model.task,
            title=model.title,
            pace=Pace(model.pace),
            goal=model.goal,
            prior=Prior(steps=tuple(model.prior.steps), forms=tuple(model.prior.forms))
            if model.prior
            else Prior(),
            voices={name: Voice(name=v.voice, rate=v.rate) for name, v in model.voices.items()},
            backgrounds=tuple(backgrounds),
            limits=Limits(**model.limits.model_dump()),
            canvas=Canvas(**model.canvas.model_dump()),
            warnings=(*self._source.warnings, *checker.warnings, *_unread(turns, model.pace)),
        )

    # ------------------------------------------------------------------ reading

    def _read(self, kind: type[_Model], node: Node, where: tuple[str | int, ...]) -> _Model | None:
        """The node as a model; None if it has problems, which are noted."""
        if not isinstance(node.value, dict):
            allowed = ", ".join(keys(kind))
            self._add(self._root, where, f"must be keys with values; allowed: {allowed}")
            return None
        try:
            return kind.model_validate(node.plain())
        except ValidationError as error:
            for detail in error.errors(include_url=False):
                self._note(kind, node, where, detail)
            return None

    def _note(
        self,
        kind: type[BaseModel],
        node: Node,
        where: tuple[str | int, ...],
        detail: ErrorDetails,
    ) -> None:
        at = tuple(step for step in detail["loc"] if step != "[key]")
        match detail["type"]:
            case "missing":
                why = "is missing"
            case "extra_forbidden":
                why = unknown(kind, at)
            case "model_type" | "model_attributes_type" | "dict_type":
                inner = model_at(kind, at)
                allowed = f"; allowed: {', '.join(keys(inner))}" if inner else ""
                empty = detail["input"] is None
                why = f"{'is empty' if empty else 'must be keys with values'}{allowed}"
            case _:
                why = detail["msg"]
        self._add(self._root, (*where, *at), why)

    def _steps(self) -> list[Step]:
        """The turns, each with its place and the keys that could not be read."""
        assert isinstance(self._root.value, dict)
        listed = self._root.value.get("turns")
        if listed is None or not isinstance(listed.value, list):
            return []
        steps = []
        for index, node in enumerate(listed.value):
            written = node.value.get("id") if isinstance(node.value, dict) else None
            name = written.value if written and isinstance(written.value, str) else f"t{index + 1}"
            model = self._read(turn_model(), node, ("turns", index))
            broken: frozenset[str] = frozenset()
            if model is None and isinstance(node.value, dict):
                model, broken = _readable(node.plain())
            steps.append(Step(index=index, id=name, model=model, broken=broken))
        return steps

    def _speech(
        self, voices: Mapping[str, VoiceModel], text: str, speaker: str
    ) -> tuple[Path, str]:
        """The sound that was rendered of a text, and what is wrong with it."""
        if self._lock is None:
            return Path(), ""
        voice = voices.get(speaker)
        wanted = Wanted.of(text, voice.voice if voice else "", voice.rate if voice else 1.0)
        found, why = self._lock.find(wanted)
        if found is None:
            return Path(), f"{why}: omnistage render-speech {self._shown}"
        return found, ""

    def _clips(self, model: ScenarioModel) -> dict[str, Clip]:
        if model.clip is not None and model.clips:
            self._add(self._root, ("clips",), "stands beside `clip`; one of the two is allowed")
        if model.clip is None and not model.clips:
            self._add(self._root, ("clip",), "is missing: a file, or url, sha256 and licence")
        named = {"main": model.clip} if model.clip is not None else dict(model.clips)
        return {
            name: self._clip(name, clip, ("clip",) if model.clip else ("clips", name))
            for name, clip in named.items()
        }

    def _clip(self, name: str, clip: ClipModel, where: tuple[str, ...]) -> Clip:
        alone = clip.file is None and clip.url is None and clip.sha256 is not None
        if (clip.file is None) == (clip.url is None) and not alone:
            self._add(self._root, where, "must have one of `file` and `url`, or `sha256` alone")
        if clip.named is not None and not alone:
            self._add(self._root, (*where, "named"), "is allowed only where `sha256` stands alone")
        if clip.url is not None:
            for key in ("sha256", "licence"):
                if getattr(clip, key) is None:
                    self._add(self._root, (*where, key), "is missing beside `url`")
        elif clip.sha256 is not None and not alone:
            self._add(self._root, (*where, "sha256"), "is not allowed beside `file`")
        path = None
        if clip.file is not None:
            path, why = self._find(clip.file)
            if why:
                self._add(self._root, where, why)
        licence = clip.licence
        if licence is None and path is not None and self._collection is not None:
            licence = self._collection.licence_of(path)
        return Clip(
            name=name,
            path=path,
            url=clip.url,
            sha256=clip.sha256,
            licence=licence,
            named=clip.named,
            speed=clip.speed,
            repeat=clip.repeat,
            level=clip.level,
        )

    def _bytes(self) -> bytes:
        """Everything that the scenario is read from."""
        shared = b"" if self._collection is None else b"\0" + self._collection.data
        return self._source.data + shared

    def collection(self) -> Collection:
        """This file as a collection."""
        model = self._read(CollectionModel, self._root, ())
        if model is None or not isinstance(self._root.value, dict):
            raise self._failed()
        return Collection(
            path=self._path.absolute(),
            data=self._source.data,
            title=model.title,
            defaults={k: self._root.value[k] for k in SHARED if k in self._root.value},
            licences=dict(model.licences),
        )

    def _backgrounds(self, model: ScenarioModel, clips: Mapping[str, Clip]) -> Sequence[Background]:
        out = []
        for index, given in enumerate(model.backgrounds):
            where = ("backgrounds", index)
            sound, why = self._find(given.file)
            if why:
                self._add(self._root, (*where, "file"), why)
            if given.clip is not None and clips and given.clip not in clips:
                why = f"{given.clip!r} is no clip; allowed: {', '.join(clips)}"
                self._add(self._root, (*where, "clip"), why)
            if given.at is not None and given.clip is None and len(clips) > 1:
                why = f"is missing beside `at`: whose time that is; allowed: {', '.join(clips)}"
                self._add(self._root, (*where, "clip"), why)
            if given.until is not None and given.at is None:
                self._add(self._root, (*where, "until"), "is allowed only with `at`")
            elif given.until is not None and given.at is not None and given.until <= given.at:
                why = f"{given.until:g} must be after `at` ({given.at:g})"
                self._add(self._root, (*where, "until"), why)
            out.append(
                Background(
                    sound=sound,
                    level=given.level,
                    clip=given.clip,
                    at=given.at,
                    until=given.until,
                )
            )
        return out

    # ------------------------------------------------------------------ problems

    def _add(self, node: Node, where: Sequence[str | int], why: str) -> None:
        line, name = node.locate(where)
        self._problems.append((line, f"{self._shown}:{line}: {name or 'file'}: {why}"))

    def _failed(self) -> ScenarioError:
        ordered = sorted(self._problems, key=lambda problem: problem[0])
        return ScenarioError(list(dict.fromkeys(text for _, text in ordered)))


def _readable(turn: dict[str, Any]) -> tuple[TurnModel | None, frozenset[str]]:
    """What can be read of a turn with problems, so that how it fits in is checked all the same."""
    kind = turn_model()
    try:
        kind.model_validate(turn)
    except ValidationError as error:
        broken = frozenset(str(detail["loc"][0]) for detail in error.errors() if detail["loc"])
        rest = {key: value for key, value in turn.items() if key not in broken}
        if "until" in broken:
            rest["until"] = "0"
        return kind.model_validate(rest), broken
    return None, frozenset()


def _unread(turns: Sequence[Turn], pace: str) -> Iterable[str]:
    """Writing that is gone as soon as it is written, which nobody could read."""
    for turn in turns:
        for given in turn.instructions:
            ends = isinstance(given, Show) and given.placement.anchor is Anchor.END
            if pace == Pace.CONTINUOUS and ends and isinstance(given, Show) and given.stay is None:
                yield (
                    f"turns[{turn.index}] ({turn.id}): `show` is gone once it is written, as the "
                    "clip plays on; give it a `stay`"
                )
