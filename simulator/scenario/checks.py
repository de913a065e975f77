"""How a scenario's turns fit together: time that goes on, names that exist, one expectation each.

Counterpart: `simulator.scenario.load` calls this with the turns that could be read by themselves.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from simulator.protocol.conduct import Wants
from simulator.scenario.expectations.contract import Expectation
from simulator.scenario.expectations.kinds import kinds, named
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.given import placement, written
from simulator.scenario.schema import (
    EmbeddedModel,
    GestureModel,
    SayModel,
    TurnModel,
)
from simulator.scenario.types import (
    REACTIONS,
    Anchor,
    Clip,
    Corner,
    Embedded,
    Gesture,
    Instruction,
    Limits,
    Say,
    Turn,
)

ASKING = ("say", "show", "gesture")
"""The keys of a turn that hold instructions."""

Add = Callable[[Sequence[str | int], str], None]
"""Takes a problem: where it is, and what is wrong and allowed."""


Find = Callable[[str], tuple[Path, str]]
"""The path of a file as written in a scenario, and what is wrong with it (empty if nothing)."""


Speech = Callable[[str, str], tuple[Path, str]]
"""The sound of a text in somebody's voice, and what is wrong with it (empty if nothing)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A turn as read."""

    index: int
    id: str
    model: TurnModel | None
    """None if nothing of it can be read."""
    broken: frozenset[str] = frozenset()
    """Its keys that have problems of their own; they are left out of `model`."""


class Checker:
    """Checks and builds the turns of one scenario."""

    def __init__(
        self,
        steps: Sequence[Step],
        *,
        clips: Mapping[str, Clip],
        voices: Sequence[str] | None,
        limits: Limits,
        find: Find,
        speech: Speech,
        add: Add,
    ) -> None:
        self._steps = steps
        self._clips = clips
        self._voices = None if voices is None else {"user", *voices}
        self._limits = limits
        self._find = find
        self._speech = speech
        self._add_at = add
        self.warnings: list[str] = []

    def turns(self) -> Iterator[Turn]:
        """The turns. What is wrong is told to `add`; a turn with problems may be left out."""
        self._names()
        clip: str | None = next(iter(self._clips), None)
        end: float | None = 0.0
        built = []
        for step in self._steps:
            if step.model is None:
                # Where the next one begins is unknown, so its order cannot be checked.
                end = None
                continue
            model = step.model
            if model.clip is not None and self._clips and model.clip not in self._clips:
                self._add(
                    step, "clip", f"{model.clip!r} is no clip{_near(model.clip, self._clips)}"
                )
            if model.clip is None and step.index == 0 and len(self._clips) > 1:
                self._add(step, "clip", f"is missing; allowed: {', '.join(self._clips)}")
            if model.clip is not None and model.clip != clip:
                clip, end = model.clip, 0.0
            start = model.start if model.start is not None else end
            if step.broken & {"from", "clip"}:
                start = None
            if "until" in step.broken:
                start = end = None
            else:
                self._order(step, model, start)
                end = model.until
            built.append(self._turn(step, model, clip or "main", start))
        return iter(built)

    # ------------------------------------------------------------------ checks

    def _names(self) -> None:
        seen: dict[str, int] = {}
        for step in self._steps:
            if step.id in seen:
                self._add(step, "id", f"{step.id!r} is the id of turns[{seen[step.id]}] already")
            seen.setdefault(step.id, step.index)

    def _order(self, step: Step, model: TurnModel, start: float | None) -> None:
        if start is None or model.until > start:
            return
        if model.start is not None:
            self._add(step, "until", f"{model.until:g} must be after `from` ({start:g})")
        else:
            self._add(
                step,
                "until",
                f"{model.until:g} goes back: it must be after {start:g}, where this turn begins; "
                "`from` makes a jump",
            )

    def _turn(self, step: Step, model: TurnModel, clip: str, start: float | None) -> Turn:
        given: dict[str, tuple[Instruction, ...]] = {
            "say": tuple(self._say(step, i, say) for i, say in enumerate(model.say)),
            "show": tuple(written(show) for show in model.show),
            "gesture": tuple(self._gesture(step, i, sign) for i, sign in enumerate(model.gesture)),
        }
        expect = self._expectation(step, model)
        asked = _asks(step, model)
        self._times(step, model, start)
        for key, listed in given.items():
            for anchor in (Anchor.END, Anchor.START):
                if sum(i.placement.within.anchor is anchor for i in listed) > 1:
                    self._add(
                        step, key, f"two are placed at the {anchor}; give all but one a time `at`"
                    )
        reacting = [
            i for listed in given.values() for i in listed if i.placement.anchor in REACTIONS
        ]
        if reacting and (step.index == 0 or len(reacting) > 1):
            why = (
                "the first turn cannot wait for the agent's speech"
                if step.index == 0
                else "one instruction of a turn can wait for the agent's speech, not several"
            )
            self._add(step, reacting[-1].kind, why)
        due = asked or model.event is not None or "event" in step.broken
        wants = expect.wants
        if wants is Wants.ANSWER and not due:
            self._add(
                step,
                expect.kind,
                "nothing asks for it: allowed with a `say` of the user's voice, a `show`, a "
                "`gesture` or an `embedded` in this turn, or with `event`",
            )
        if wants is Wants.ANSWER and not model.evidence:
            self.warnings.append(f"turns[{step.index}] ({step.id}): no `evidence` for its answer")
        # A note to somebody else, or a sign without a meaning, is what quiet may be about.
        if wants is Wants.SILENCE and any(say.voice == "user" for say in model.say):
            self.warnings.append(
                f"turns[{step.index}] ({step.id}): the user speaks, and quiet is expected"
            )
        if wants is Wants.ANSWER:
            self._asked_in(step, model)
        return Turn(
            id=step.id,
            index=step.index,
            clip=clip,
            start=start or 0.0,
            end=model.until,
            instructions=(
                *given["say"],
                *given["show"],
                *given["gesture"],
                *self._embedded(step, model.embedded, start, model.until),
            ),
            expect=expect,
            event=model.event,
            within=model.within if model.within is not None else self._limits.answer_within,
            asked_in=model.asked_in,
            evidence=tuple((pair[0], pair[1]) for pair in model.evidence),
        )

    def _say(self, step: Step, index: int, say: SayModel) -> Say:
        where = ("say", index)
        if say.file is None:
            sound, why = self._speech(say.text, say.voice)
            if why:
                self._add(step, where, why)
        else:
            sound, why = self._find(say.file)
            if why:
                self._add(step, (*where, "file"), why)
        if self._voices is not None and say.voice not in self._voices:
            self._add(
                step,
                (*where, "voice"),
                f"{say.voice!r} is not in `voices`{_near(say.voice, self._voices)}",
            )
        return Say(
            text=say.text,
            sound=sound,
            voice=say.voice,
            level=say.level,
            placement=placement(say.at),
        )

    def _gesture(self, step: Step, index: int, sign: GestureModel) -> Gesture:
        where = ("gesture", index)
        if self._clips and sign.clip not in self._clips:
            why = f"{sign.clip!r} is no clip{_near(sign.clip, self._clips)}"
            self._add(step, (*where, "clip"), why)
        if sign.until is not None and sign.until <= sign.start:
            why = f"{sign.until:g} must be after `from` ({sign.start:g})"
            self._add(step, (*where, "until"), why)
        return Gesture(
            clip=sign.clip,
            start=sign.start,
            end=sign.until,
            size=sign.size,
            corner=Corner(sign.corner),
            means=sign.means,
            placement=placement(sign.at),
        )

    def _embedded(
        self, step: Step, held: EmbeddedModel | None, start: float | None, until: float
    ) -> tuple[Embedded, ...]:
        """What the clip itself asks. It begins where the turn does, if nobody says when."""
        if held is None:
            return ()
        first = start or 0.0
        begin = first if held.start is None else held.start
        if not first <= begin < held.end <= until and "until" not in step.broken:
            self._add(
                step,
                ("embedded", "end"),
                f"{begin:g} to {held.end:g} is not inside the turn: {first:g} to {until:g}",
            )
        medium: Literal["sound", "picture"] = "sound" if held.medium == "sound" else "picture"
        return (
            Embedded(
                text=held.text,
                start=begin,
                end=held.end,
                uncertainty=held.uncertainty,
                medium=medium,
            ),
        )

    def _expectation(self, step: Step, model: TurnModel) -> Expectation:
        there = model.model_fields_set | step.broken
        found = [kind for kind in kinds() if kind.kind in there]
        if len(found) != 1:
            has = f"has {named(found)}" if found else "has none"
            self._add(
                step,
                found[-1].kind if found else (),
                f"{has}; a turn has exactly one of {named(kinds())}",
            )
        whole = [kind for kind in found if self._whole(step, model, kind)]
        expect = self._read(step, model, whole[0]) if whole else Quiet()
        if whole or not found:
            self._only_with(step, model, expect)
        return expect

    def _whole(self, step: Step, model: TurnModel, kind: type[Expectation]) -> bool:
        """Whether all that a kind needs could be read."""
        needed = {name for name, field in kind.keys.model_fields.items() if field.is_required()}
        for name in sorted(needed - model.model_fields_set - step.broken):
            self._add(step, kind.kind, f"needs `{name}` beside it")
        return needed <= model.model_fields_set

    def _read(self, step: Step, model: TurnModel, kind: type[Expectation]) -> Expectation:
        own = {name: getattr(model, name) for name in kind.keys.model_fields}
        # What is in it has been read already, with the turn.
        keys = kind.keys.model_construct(**own)
        return keys.read(lambda where, why: self._add(step, where, why))

    def _only_with(self, step: Step, model: TurnModel, expect: Expectation) -> None:
        """Keys of other kinds than the turn's."""
        for kind in kinds():
            for key in kind.keys.model_fields:
                if key != kind.kind and key in model.model_fields_set and kind.kind != expect.kind:
                    self._add(step, key, f"is allowed only with `{kind.kind}`")
        owed = [kind for kind in kinds() if kind.wants is Wants.ANSWER]
        for key in ("within", "asked_in"):
            if key in model.model_fields_set and expect.wants is not Wants.ANSWER:
                self._add(step, key, f"is allowed only with {named(owed, 'or')}")
        if expect.wants is Wants.SILENCE and model.event is not None:
            self._add(step, "event", f"is not allowed with `{expect.kind}`")

    def _times(self, step: Step, model: TurnModel, start: float | None) -> None:
        if start is None:
            return
        if model.event is not None and not start <= model.event <= model.until:
            self._add(
                step,
                "event",
                f"{model.event:g} is outside the turn; allowed: {start:g} to {model.until:g}",
            )
        for key in ASKING:
            for index, given in enumerate(getattr(model, key)):
                if isinstance(given.at, float) and not start <= given.at < model.until:
                    self._add(
                        step,
                        (key, index, "at"),
                        f"{given.at:g} is outside the turn; allowed: {start:g} to {model.until:g}",
                    )
        for index, pair in enumerate(model.evidence):
            if pair[0] > pair[1]:
                self._add(step, ("evidence", index), f"ends ({pair[1]:g}) before it begins")

    def _asked_in(self, step: Step, model: TurnModel) -> None:
        if model.asked_in is None:
            return
        by_id = {s.id: s for s in self._steps}
        other = by_id.get(model.asked_in)
        if other is None:
            self._add(
                step,
                "asked_in",
                f"there is no turn {model.asked_in!r}{_near(model.asked_in, by_id)}",
            )
        elif other.index >= step.index:
            self._add(step, "asked_in", f"{model.asked_in!r} is not an earlier turn")
        elif other.model is not None and not _asks(other, other.model):
            self._add(step, "asked_in", f"the user says nothing in turn {model.asked_in!r}")
        if model.event is None and "event" not in step.broken:
            self._add(
                step, "asked_in", "needs `event`: the clip time at which the answer falls due"
            )

    def _add(self, step: Step, key: str | int | Sequence[str | int], why: str) -> None:
        inner = (key,) if isinstance(key, str | int) else tuple(key)
        self._add_at(("turns", step.index, *inner), why)


def _asks(step: Step, model: TurnModel) -> bool:
    """Whether the user asks for something in this turn, as far as can be read."""
    spoken = any(say.voice == "user" for say in model.say)
    given = model.show or model.gesture or model.embedded
    return spoken or bool(given or step.broken & {*ASKING, "embedded"})


def _near(name: str, known: Mapping[str, object] | set[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; allowed: {', '.join(sorted(known))}"


def inside(
    folder: Path, written: str, *, root: Path | None = None, there: bool = True
) -> tuple[Path, str]:
    """The file `written` in a scenario, and what is wrong with it (empty if nothing).

    `root`: the collection's folder, for one that lies in a collection. `there`: it must exist. A
    recording's copy of a scenario has no media beside it.
    """
    path = Path(os.path.normpath(folder / written))
    if not there:
        return path, ""
    whose = "the scenario's" if root is None else "the collection's"
    if Path(written).is_absolute() or not path.is_relative_to(root or folder):
        return path, f"{written!r} leads out of {whose} folder; only files in it are allowed"
    if not path.is_file():
        return path, f"{written!r}: no such file in {folder}"
    return path, ""
