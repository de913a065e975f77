"""The conditions of an attempt: what a run imposes on a scenario, so that no mean mixes them.

One frozen value travels whole from the command line through plan, manifest and trace to the report.
Everything on that way goes through its fields, so a new condition is a new field here and nothing
else. What a scenario says itself (its pace, its canvas) is compared by the scenario's hash, a
judge's settings by its verdicts. Pure. Counterparts: `simulator.cli.conditions` makes options of
the fields, `simulator.run.sides` keeps attempts of unlike conditions apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import Field, dataclass, field, fields
from enum import StrEnum


class Decide(StrEnum):
    """Who decides when the model runs: what it does when it is asked says nothing of when it would
    have spoken."""

    AGENT = "agent"
    TURN_END = "turn-end"


class Video(StrEnum):
    """Codecs of the pictures that are sent."""

    H264 = "h264"
    VP8 = "vp8"


class Source(StrEnum):
    """What the answers were taken from."""

    LIVE = "live"
    CSV = "csv"


def shown(words: str, *, option: bool = True) -> Mapping[str, object]:
    """How a field of `Conditions` is told to people: in `words`, in help and in reports.

    `option`: `omnistage run` has an option for it; else it follows from which command was given.
    """
    return {"words": words, "option": option}


@dataclass(frozen=True, slots=True, kw_only=True)
class Conditions:
    """What a run imposes on a scenario.

    A field's value is a word, a number, yes or no, or None. Its default is also what was so before
    there was the field, since older files are read with it.
    """

    decide: Decide = field(
        default=Decide.AGENT,
        metadata=shown(
            "When the model runs: when the agent decides so (agent), or once at the end of each "
            "turn, asked by the simulator (turn-end)"
        ),
    )
    """Who decides when the model runs."""
    video: Video = field(
        default=Video.H264,
        metadata=shown("Codec of the pictures that are sent; vp8 for agents without H264"),
    )
    """Codec of the pictures that are sent."""
    no_video: bool = field(
        default=False,
        metadata=shown("Send sound alone, for agents without eyes: no video is offered"),
    )
    """Sound alone is sent; parts hold their pictures as ever."""
    prompt: str = field(
        default="written",
        metadata=shown("What agents are told in words: the template written or spoken, or a file"),
    )
    """By the template's name, with a hash if it is not one of ours."""
    source: Source = field(
        default=Source.LIVE,
        metadata=shown(
            "What the answers were taken from: a session (live), or a table of answers (csv), of "
            "whose other conditions only `decide` is known",
            option=False,
        ),
    )
    """What the answers were taken from."""


USUAL = Conditions()
"""What is so where nothing else was asked for."""


def words_of(condition: Field[object]) -> str:
    """What a field of `Conditions` is, for people."""
    return str(condition.metadata["words"])


def has_option(condition: Field[object]) -> bool:
    """Whether the command line has an option for a field of `Conditions`."""
    return bool(condition.metadata["option"])


def written(value: object) -> str:
    """A condition's value, for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None else str(value)


def differences(several: Iterable[Conditions]) -> Mapping[str, tuple[str, ...]]:
    """The fields in which conditions are unlike: each with its values as people read them, in the
    order in which they come. Empty if they are all alike."""
    every = tuple(dict.fromkeys(several))
    found = {
        f.name: tuple(dict.fromkeys(getattr(c, f.name) for c in every)) for f in fields(Conditions)
    }
    return {name: tuple(map(written, v)) for name, v in found.items() if len(v) > 1}


def told(apart: Mapping[str, tuple[str, ...]]) -> str:
    """Differences in a line: `decide is agent and turn-end; video is h264 and vp8`."""
    return "; ".join(f"{name} is {' and '.join(values)}" for name, values in apart.items())


def marks(conditions: Conditions, apart: Iterable[str]) -> str:
    """What sets conditions apart from others: `decide turn-end, video vp8`."""
    return ", ".join(f"{name} {written(getattr(conditions, name))}" for name in apart)
