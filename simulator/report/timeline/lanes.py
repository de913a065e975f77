"""A timeline: what happens when, in lanes, as data that any drawing can be made from. Pure.

Lanes hold spans, and a moment is a span that ends where it starts. A lane that is empty says that
nothing of its sort was; a lane that is not there, that nobody looked. What the fields of a span
mean in each lane is specified in recordings/README.md, as is the JSON.
Counterparts: `.session` makes one of what was measured in a recording, `.stream` one of what a
prepared scenario will play; subtitles, previews and the README's picture draw it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import TypeAdapter
from pydantic_core import to_json

from simulator.text import all_well_formed

TIMELINE_VERSION: Literal[1] = 1

LaneId = Literal[
    "turns",
    "video",
    "instructions",
    "evidence",
    "windows",
    "responses",
    "speech",
    "overlaps",
    "verdicts",
    "context",
    "faults",
    "health",
]
"""The lanes that this version makes; one who reads a timeline may meet others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Something that lasts, or a moment."""

    start: float
    """Seconds on the timeline's clock."""
    end: float
    """Just after its last moment; `start` for one that has no length."""
    kind: str
    """Which of the lane's things it is; a drawing shows those that it does not know, too."""
    by: str = ""
    """Whose it is or what it comes of: a voice, a clip, a judge, the rule that placed it."""
    text: str = ""
    """Its words: what is said, what is expected, the reason."""
    turn: str = ""
    """Id of the turn that it belongs to, which need not be the one that plays; empty for none."""
    response: str = ""
    """Id of the response that it is or belongs to."""
    flags: tuple[str, ...] = ()
    """What else there is to say of it, a word each."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """What was measured of it; what came to no number is left out."""

    def holds(self, at: float) -> bool:
        """Whether it lasts at that time."""
        return self.start <= at < self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """Spans of one sort."""

    id: str
    """A `LaneId`; where there are several of a sort, with `/` and a name behind it (`video/p2`)."""
    spans: tuple[Span, ...]
    """In order of their starts. They may overlap, except for turns and what is played."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """A session, or a scenario that has not been played."""

    version: Literal[1]
    scenario: str
    """Its id."""
    agent: str
    """Reference of the agent; empty if none has played it."""
    clock: Literal["session", "stream"]
    """What all times are on: session time has the holds in it, and on stream time a hold is a
    moment."""
    origin: float | None
    """The time at which the stream began, which readers show as 0; None if it never did."""
    end: float
    """No span passes it; none starts before 0."""
    lanes: tuple[Lane, ...]

    def spans(self, lane: LaneId, *, turn: str | None = None) -> tuple[Span, ...]:
        """What a lane holds, or what of it belongs to a turn; nothing if there is no such lane."""
        spans = next((found.spans for found in self.lanes if found.id == lane), ())
        return spans if turn is None else tuple(s for s in spans if s.turn == turn)


def lane(id: LaneId, spans: Iterable[Span]) -> Lane:
    """A lane of these spans, in order."""
    return Lane(id=id, spans=tuple(sorted(spans, key=lambda s: (s.start, s.end))))


def clip_time(played: Span, at: float) -> float:
    """The clip time that a span of the lane `video` shows at a time inside it."""
    moves = played.kind != "hold"
    return played.numbers["clip_start"] + (at - played.start if moves else 0.0)


_ADAPTER: TypeAdapter[Timeline] = TypeAdapter(Timeline)


def timeline_to_json(timeline: Timeline) -> bytes:
    """As recordings/README.md specifies it: what is empty in a span is left out."""
    return to_json(all_well_formed(_ADAPTER.dump_python(timeline, exclude_defaults=True)))


def timeline_from_json(data: bytes) -> Timeline:
    """Raises pydantic.ValidationError for anything that is not a timeline of this version."""
    return _ADAPTER.validate_json(data)
