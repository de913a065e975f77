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
    """A source of picture and sound: a file, a URL with its hash, or a hash alone."""

    name: str
    """Name of the clip within the scenario; `main` if the scenario has just one."""
    path: Path | None = None
    """Absolute path, for a clip that is a file."""
    url: str | None = None
    """Where to download it once, for a clip that is not shipped."""
    sha256: str | None = None
    """Lower-case hex digest; always there with `url`. Alone it names a clip that everybody has to
    get for themselves: it is looked for in the folders of OMNISTAGE_MEDIA."""
    licence: str | None = None
    """SPDX identifier or words."""
    named: str | None = None
    """What the file of a clip known by its hash alone was called: looked at first."""


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
class Voice:
    """How somebody in the scenario speaks, where their speech is rendered from text."""

    name: str
    """The voice of a speech engine, as `simulator.speech` names it."""
    rate: float = 1.0
    """How many times as fast as the voice by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Say:
    """A spoken instruction, or speech that is not meant for the agent."""

    text: str
    """The words; what a transcriber should hear."""
    sound: Path
    """Absolute path of the sound file; empty for text that was loaded without its speech."""
    voice: str = "user"
    """Who speaks: `user` speaks to the agent, anybody else is a bystander."""
    placement: Placement = Placement()

    @property
    def kind(self) -> Literal["say"]:
        return "say"


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedded:
    """An instruction that the clip itself holds, in its sound or its picture; nothing is added."""

    text: str
    """The words as somebody wrote them down."""
    start: float
    """Clip time at which it begins."""
    end: float
    """Clip time at which it ends: an answer falls due."""
    uncertainty: float = 0.0
    """Seconds by which `end` may be wrong; every latency of the turn is as uncertain."""
    medium: Literal["sound", "picture"] = "sound"
    voice: str = "user"

    @property
    def kind(self) -> Literal["embedded"]:
        return "embedded"


Instruction = Say | Embedded
"""The open set of instruction kinds (`show` and `gesture` join it later)."""

PRIOR = "prior"
"""Name of the path that the scenario goes on along, fixed beforehand."""

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
    paths: tuple[AnswerPath, ...] = ()
    """Other reasonable ways to go on, that the fixed path does not take."""

    @property
    def kind(self) -> Literal["answer"]:
        return "answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerPath:
    """A reasonable way beside the one that the scenario goes on along."""

    name: str
    answer: Answer
    """Without paths of its own."""


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
    """Hash of that file's bytes."""
    clips: Mapping[str, Clip]
    turns: tuple[Turn, ...]
    task: str = "custom"
    """Taxonomy code of the sub-task, or `custom`."""
    title: str = ""
    pace: Pace = Pace.WAIT
    goal: str = ""
    """Shown as a subtitle throughout; empty shows none."""
    prior: Prior = Prior()
    voices: Mapping[str, Voice] = field(default_factory=dict)
    """Who speaks, by the name that `Say.voice` uses."""
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
