"""What a scenario is, once parsed: frozen values with no dicts of unknown shape.

Counterpart: `simulator.scenario.load` reads them from YAML. All times are clip time in seconds
(what an author sees in a player) unless a field says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Literal


class Pace(StrEnum):
    """Who moves the stream on."""

    WAIT = "wait"
    """The next segment waits, on a held picture, until nothing is owed and nobody speaks."""
    CONTINUOUS = "continuous"
    """The stream plays on whatever the agent does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Clip:
    """A source of picture and sound: a file, or a URL with its hash."""

    name: str
    """Name of the clip within the scenario; `main` if the scenario has just one."""
    path: Path | None = None
    """Absolute path, for a clip that is a file."""
    url: str | None = None
    """Where to download it once, for a clip that is not shipped."""
    sha256: str | None = None
    """Lower-case hex digest; always there with `url`."""
    licence: str | None = None
    """SPDX identifier or words."""


class Anchor(StrEnum):
    """What an instruction's time is measured from."""

    END = "end"
    """Its last audible sample ends with the segment (the default)."""
    START = "start"
    """It begins with the segment."""
    TIME = "time"
    """It begins at a clip time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """When an instruction is given."""

    anchor: Anchor = Anchor.END
    at: float = 0.0
    """For TIME: the clip time at which it begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """A spoken instruction, or speech that is not meant for the agent."""

    text: str
    """The words; what a transcriber should hear."""
    sound: Path
    """Absolute path of the sound file."""
    voice: str = "user"
    """Who speaks: `user` speaks to the agent, anybody else is a bystander."""
    placement: Placement = Placement()

    @property
    def kind(self) -> Literal["say"]:
        return "say"


Instruction = Say
"""The open set of instruction kinds (`show` and `gesture` join it later)."""

KeyPoint = tuple[str, ...]
"""One thing that an answer must say, with its alternatives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The turn wants an answer."""

    text: str
    """The gold answer."""
    accept: tuple[str, ...] = ()
    """Other right answers."""
    key_points: tuple[KeyPoint, ...] = ()
    """What must be said; if empty, a judge takes it from the gold answer."""

    @property
    def kind(self) -> Literal["answer"]:
        return "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """The turn wants silence."""

    @property
    def kind(self) -> Literal["quiet"]:
        return "quiet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Either:
    """The agent may say something or not; it is not scored."""

    @property
    def kind(self) -> Literal["either"]:
        return "either"


Expectation = Answer | Quiet | Either


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long the simulator is patient, in seconds."""

    answer_within: float = 8.0
    """An answer that has not begun this long after it fell due is missed."""
    reply_max: float = 30.0
    """The wait for one reply to end; the sound itself is not cut."""
    quiet_tail: float = 3.0
    """Hold after a quiet turn that had speech in it, so that a wrong answer lands in that turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One segment of a clip with what is said in it and what is expected of the agent."""

    id: str
    index: int
    """Position in the scenario, from 0."""
    clip: str
    """Name of the clip it is cut from."""
    start: float
    """Clip time at which the segment begins."""
    end: float
    """Clip time at which the segment ends (`until`)."""
    instructions: tuple[Instruction, ...] = ()
    expect: Expectation = Quiet()
    event: float | None = None
    """Clip time at which the answer falls due, for an answer that no instruction in this turn asks
    for; None if it falls due at the end of this turn's instruction."""
    within: float = 8.0
    """Seconds after the due time in which the answer must begin."""
    asked_in: str | None = None
    """Id of the turn whose standing instruction asked for this answer."""
    evidence: tuple[tuple[float, float], ...] = ()
    """Clip times between which the answer can be seen or heard."""

    @property
    def duration(self) -> float:
        return self.end - self.start

    @property
    def asked(self) -> bool:
        """Whether the user says something to the agent in this turn."""
        return any(i.voice == "user" for i in self.instructions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """The path that the user will follow, told to the agent beforehand."""

    steps: tuple[str, ...] = ()
    forms: tuple[str, ...] = ("text",)
    """How it is told; `text` puts the steps into the session's instructions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Canvas:
    """The picture that is sent."""

    width: int = 1280
    height: int = 720
    fps: int = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """A whole scenario, version 1."""

    id: str
    path: Path
    """The YAML file that it was read from."""
    sha256: str
    """Hash of that file's bytes, and of its collection's behind a 0 byte if it lies in one."""
    clips: Mapping[str, Clip]
    turns: tuple[Turn, ...]
    task: str = "custom"
    """Taxonomy code of the sub-task, or `custom`."""
    title: str = ""
    pace: Pace = Pace.WAIT
    goal: str = ""
    """Shown as a subtitle throughout; empty shows none."""
    prior: Prior = Prior()
    limits: Limits = Limits()
    canvas: Canvas = Canvas()
    warnings: tuple[str, ...] = field(default=())
    """What the loader noticed that is not wrong."""

    def turn(self, turn_id: str) -> Turn:
        """The turn of that id; KeyError if there is none."""
        for turn in self.turns:
            if turn.id == turn_id:
                return turn
        raise KeyError(turn_id)
