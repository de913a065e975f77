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

from simulator.scenario.expectations.contract import Expectation
from simulator.scenario.expectations.quiet import Quiet


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
    speed: float = 1.0
    """How many times as fast it plays. Clip times are those of the clip as it plays."""
    repeat: int = 1
    """How many times over, end to end."""
    level: float | None = None
    """How loud its own sound is made against the instructions, in LU; None leaves it as it is."""


class Anchor(StrEnum):
    """What an instruction's time is measured from."""

    END = "end"
    """Its last audible sample ends with the segment (the default)."""
    START = "start"
    """It begins with the segment."""
    TIME = "time"
    """It begins at a clip time."""
    SPEAKING = "speaking"
    """It begins with the segment, and that so long after the agent began to speak: barge-in."""
    STOPPED = "stopped"
    """It begins with the segment, and that so long after the agent fell silent."""


REACTIONS = (Anchor.SPEAKING, Anchor.STOPPED)
"""Anchors that tie a whole turn's beginning to what the agent does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """When an instruction is given."""

    anchor: Anchor = Anchor.END
    at: float = 0.0
    """For TIME: the clip time at which it begins. For SPEAKING and STOPPED: seconds after that."""

    @property
    def within(self) -> Placement:
        """Where it lies in its segment, whenever that begins."""
        return Placement(anchor=Anchor.START) if self.anchor in REACTIONS else self


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
    level: float = 0.0
    """How loud it is against the instructions, in LU."""
    placement: Placement = Placement()

    @property
    def kind(self) -> Literal["say"]:
        return "say"


class Corner(StrEnum):
    """Where a picture-in-picture lies."""

    TOP_LEFT = "top-left"
    TOP_RIGHT = "top-right"
    BOTTOM_LEFT = "bottom-left"
    BOTTOM_RIGHT = "bottom-right"


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """A written instruction, which appears on the picture as it is written."""

    text: str
    style: Literal["typed", "handwritten"] = "typed"
    full: bool = False
    """Over the picture's whole width, at its top; else picture-in-picture."""
    corner: Corner = Corner.TOP_LEFT
    takes: float = 1.0
    """Seconds from its first letter to its last; 0 shows it at once."""
    stay: float | None = None
    """Seconds for which it stands once it is written; None: until the segment ends. Placed at the
    END, it is whole this long before the segment ends (None: with its last picture)."""
    placement: Placement = Placement()

    @property
    def kind(self) -> Literal["show"]:
        return "show"

    @property
    def voice(self) -> str:
        """Who writes: always the user."""
        return "user"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gesture:
    """A clip shown picture-in-picture, without its sound: the user's hands."""

    clip: str
    """Name of the clip."""
    start: float = 0.0
    """Time in that clip at which it begins."""
    end: float | None = None
    """Time in that clip at which it ends; None: with the clip."""
    size: float = 0.4
    """Its height as a share of the picture's."""
    corner: Corner = Corner.TOP_RIGHT
    means: str = ""
    """What it says in words, for people and judges; the agent is never told."""
    placement: Placement = Placement()

    @property
    def kind(self) -> Literal["gesture"]:
        return "gesture"

    @property
    def voice(self) -> str:
        """Whose it is: always the user's."""
        return "user"

    @property
    def text(self) -> str:
        """What it means, or else which clip it is."""
        return self.means or self.clip


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

    @property
    def placement(self) -> Placement:
        return Placement(anchor=Anchor.TIME, at=self.start)


Instruction = Say | Show | Gesture | Embedded
"""The open set of instruction kinds; the end of one that is seen is its last new picture."""

_QUIET = Quiet()


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
    expect: Expectation = _QUIET
    event: float | None = None
    """Clip time at which the answer falls due, for an answer that no instruction in this turn asks
    for; None if it falls due at the end of this turn's instruction."""
    within: float = 8.0
    """Seconds after the due time in which the answer must begin."""
    asked_in: str | None = None
    """Id of the turn whose standing instruction asked for this answer."""
    evidence: tuple[tuple[float, float], ...] = ()
    """Clip times between which the answer can be seen or heard."""
    prior: bool = False
    """It tells the prior knowledge before the author's first turn."""
    card: tuple[str, ...] = ()
    """Lines of text that fill the picture, in silence, instead of a clip."""

    @property
    def duration(self) -> float:
        return self.end - self.start

    @property
    def reacts(self) -> Placement | None:
        """What the agent must do for the turn to begin, and how long after; None: nothing."""
        placed = (i.placement for i in self.instructions)
        return next((p for p in placed if p.anchor in REACTIONS), None)

    @property
    def asked(self) -> bool:
        """Whether the user says something to the agent in this turn."""
        return any(i.voice == "user" for i in self.instructions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """The path that the user will follow, told to the agent beforehand."""

    steps: tuple[str, ...] = ()
    forms: tuple[str, ...] = ("text",)
    """How it is told: `text` puts the steps into the session's instructions, `subtitles` below the
    goal throughout, `card` and `clip` are turns of their own before the author's first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """A sound under the clip's own: noise, or people who talk among themselves."""

    sound: Path
    """Absolute path of the sound file."""
    level: float = -15.0
    """How loud it is against the instructions, in LU."""
    clip: str | None = None
    """Name of the clip under which it lies; None for all."""
    at: float | None = None
    """Clip time at which it begins; None loops it all along."""
    until: float | None = None
    """Clip time at which it is cut; None lets it end by itself."""

    def under(self, turn: Turn) -> bool:
        """Whether it may be heard in that turn."""
        if turn.card or self.clip not in (None, turn.clip):
            return False
        begun = self.at is None or self.at < turn.end
        return begun and (self.until is None or self.until > turn.start)


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
    font: Path | None = None
    """Absolute path of the font file for all text on the picture; None takes the packaged ones."""
    prior: Prior = Prior()
    voices: Mapping[str, Voice] = field(default_factory=dict)
    """Who speaks, by the name that `Say.voice` uses."""
    backgrounds: tuple[Background, ...] = ()
    limits: Limits = Limits()
    canvas: Canvas = Canvas()
    warnings: tuple[str, ...] = field(default=())
    """What the loader noticed that is not wrong."""

    @property
    def subtitle(self) -> str:
        """What stands at the bottom of every picture: a paragraph a line; empty for nothing."""
        steps = self.prior.steps if "subtitles" in self.prior.forms else ()
        numbered = (f"{n}. {step}" for n, step in enumerate(steps, 1))
        return "\n".join((*filter(None, (" ".join(self.goal.split()),)), *numbered))

    def turn(self, turn_id: str) -> Turn:
        """The turn of that id; KeyError if there is none."""
        for turn in self.turns:
            if turn.id == turn_id:
                return turn
        raise KeyError(turn_id)
