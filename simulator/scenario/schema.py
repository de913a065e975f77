"""The keys of a scenario file and the types of their values, as pydantic models: the edge.

Nothing behind `simulator.scenario.load` sees these. Each message says what is wrong and what is
allowed; keys that a later version will read are named and refused as such.
"""

from __future__ import annotations

import re
from copy import copy
from functools import cache
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, create_model

from simulator.scenario.expectations.contract import Expectation
from simulator.scenario.expectations.kinds import kinds
from simulator.scenario.taxonomy import CUSTOM, TASKS, task_of
from simulator.scenario.values import (
    NUMBER,
    Name,
    Seconds,
    Strict,
    Text,
    as_list,
    as_name,
    as_text,
    as_texts,
    seconds,
    wrong,
)

_REACTION = re.compile(r"(speaking|stopped)(?:\s*\+\s*(\d+(?:\.\d*)?|\.\d+))?")
FORMS = ("text", "subtitles", "card", "clip")
"""How prior knowledge can be told."""
CORNERS = ("top-left", "top-right", "bottom-left", "bottom-right")


def _positive(value: float | None) -> float | None:
    if value is not None and value <= 0:
        raise wrong("must be more than 0 seconds")
    return value


def _whole(value: Any) -> int:
    text = as_text(value)
    if not text.isascii() or not text.isdigit() or not 0 < int(text[:9]) < 100_000:
        raise wrong(f"{text!r} must be a whole number from 1 to 99999")
    return int(text)


def _not_yet(value: Any) -> Any:
    raise wrong("is not in this version yet")


def _at(value: Any) -> float | str:
    text = as_text(value)
    if text in ("start", "end"):
        return text
    if found := _REACTION.fullmatch(text):
        if found[2] and float(found[2]) > 60:
            raise wrong(f"{text!r}: at most 60 seconds after the agent's speech")
        return f"{found[1]} + {float(found[2] or 0):g}"
    if text.startswith(("speaking", "stopped")):
        raise wrong(f"{text!r} is not known; allowed: speaking + seconds, stopped + seconds")
    return seconds(value)


def _clip(value: Any) -> Any:
    return {"file": value} if isinstance(value, str) else value


def _voice(value: Any) -> Any:
    return {"voice": value} if isinstance(value, str) else value


def _rate(value: Any) -> float:
    text = as_text(value)
    if not NUMBER.fullmatch(text) or not 0.5 <= float(text) <= 2:
        raise wrong(f"{text!r} is no rate: 0.5 (half as fast) to 2 (twice as fast)")
    return float(text)


def _say(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _spoken(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


def _shown(value: Any) -> Any:
    return {"text": value} if isinstance(value, str) else value


def _signed(value: Any) -> Any:
    return {"clip": value} if isinstance(value, str) else value


def _speed(value: Any) -> float:
    text = as_text(value)
    if not NUMBER.fullmatch(text) or not 0.05 <= float(text) <= 4:
        raise wrong(f"{text!r} is no speed: 0.05 (twenty times as slow) to 4 (four times as fast)")
    return float(text)


def _copies(value: Any) -> int:
    text = as_text(value)
    if not re.fullmatch(r"[0-9]{1,4}", text) or not 1 <= int(text) <= 1_000:
        raise wrong(f"{text!r} is no number of copies: a whole number, 1 to 1000")
    return int(text)


def _level(value: Any) -> float:
    text = as_text(value)
    if not re.fullmatch(r"[+-]?\d+(?:\.\d+)?", text) or not -60 <= float(text) <= 20:
        raise wrong(f"{text!r} is not a level in LU against the instructions: -60 to 20")
    return float(text)


def _share(value: Any) -> float:
    text = as_text(value)
    if not NUMBER.fullmatch(text) or not 0.1 <= float(text) <= 1:
        raise wrong(f"{text!r} is not a share of the picture's height: 0.1 to 1")
    return float(text)


def _task(value: Any) -> str:
    text = as_text(value)
    if task_of(text) is None:
        raise wrong(
            f"{text!r} is no task; allowed: {', '.join(TASKS)}, {CUSTOM}, {CUSTOM}:a-name-of-yours"
        )
    return text


def _sha256(value: Any) -> str:
    text = as_text(value).lower()
    if not re.fullmatch(r"[0-9a-f]{64}", text):
        raise wrong("is not a SHA-256: 64 hexadecimal digits")
    return text


def _url(value: Any) -> str:
    text = as_text(value)
    if not re.match(r"https?://[^/\s]+/\S*$", text) or not _has_host(text):
        raise wrong(f"{text!r} is not an address that begins with https:// or http:// and a host")
    return text


def _has_host(url: str) -> bool:
    """Whether it names a host as hosts can be named, and a port, if any, that there can be."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
        labels = host.encode("idna").decode().removesuffix(".").split(".")
    except ValueError:
        return False
    return ":" in host or all(labels)


def _choice(*allowed: str) -> BeforeValidator:
    def check(value: Any) -> str:
        text = as_text(value)
        if text not in allowed:
            raise wrong(f"{text!r} is not known; allowed: {', '.join(allowed)}")
        return text

    return BeforeValidator(check)


def _pair(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise wrong("must be two times: [from, to]")
    return value


Patience = Annotated[float, BeforeValidator(seconds), AfterValidator(_positive)]
LATER = BeforeValidator(_not_yet)
"""Marks a key that a later version will read."""
Later = Annotated[Any, LATER]
At = Annotated[float | str, BeforeValidator(_at)]
"""A clip time, `start`, `end`, or `speaking + s` and `stopped + s` in just these forms."""


class ClipModel(Strict):
    file: Text | None = None
    url: Annotated[str | None, BeforeValidator(_url)] = None
    sha256: Annotated[str | None, BeforeValidator(_sha256)] = None
    licence: Text | None = None
    named: Text | None = None
    speed: Annotated[float, BeforeValidator(_speed)] = 1.0
    repeat: Annotated[int, BeforeValidator(_copies)] = 1
    level: Annotated[float | None, BeforeValidator(_level)] = None


class SayModel(Strict):
    text: Text
    file: Annotated[str | None, BeforeValidator(as_text)] = None
    voice: Name = "user"
    level: Annotated[float, BeforeValidator(_level)] = 0.0
    at: At = "end"


class ShowModel(Strict):
    text: Text
    style: Annotated[str, _choice("typed", "handwritten")] = "typed"
    place: Annotated[str, _choice("pip", "full")] = "pip"
    corner: Annotated[str, _choice(*CORNERS)] = "top-left"
    takes: Annotated[float | None, BeforeValidator(seconds)] = None
    stay: Annotated[float | None, BeforeValidator(seconds)] = None
    at: At = "end"


class GestureModel(Strict):
    clip: Name
    start: Annotated[float, BeforeValidator(seconds)] = Field(default=0.0, alias="from")
    until: Annotated[float | None, BeforeValidator(seconds)] = None
    size: Annotated[float, BeforeValidator(_share)] = 0.4
    corner: Annotated[str, _choice(*CORNERS)] = "top-right"
    means: Text = ""
    at: At = "end"


class EmbeddedModel(Strict):
    text: Text
    medium: Annotated[str, _choice("sound", "picture")] = Field(default="sound", alias="in")
    start: Annotated[float | None, BeforeValidator(seconds)] = Field(default=None, alias="from")
    end: Seconds
    uncertainty: Seconds = 0.0


class VoiceModel(Strict):
    voice: Text
    rate: Annotated[float, BeforeValidator(_rate)] = 1.0


class LimitsModel(Strict):
    answer_within: Patience = 8.0
    reply_max: Patience = 30.0
    quiet_tail: Seconds = 3.0


class BackgroundModel(Strict):
    file: Text
    level: Annotated[float, BeforeValidator(_level)] = -15.0
    clip: Annotated[str | None, BeforeValidator(as_name)] = None
    at: Annotated[float | None, BeforeValidator(seconds)] = None
    until: Annotated[float | None, BeforeValidator(seconds)] = None


class CanvasModel(Strict):
    width: Annotated[int, BeforeValidator(_whole)] = 1280
    height: Annotated[int, BeforeValidator(_whole)] = 720
    fps: Annotated[int, BeforeValidator(_whole)] = 30


class PriorModel(Strict):
    forms: Annotated[list[Annotated[str, _choice(*FORMS)]], BeforeValidator(as_texts)] = Field(
        default=["text"], alias="as"
    )
    steps: Annotated[list[Text], BeforeValidator(as_list)] = Field(default=[])
    card_for: Annotated[float | None, BeforeValidator(seconds), AfterValidator(_positive)] = None
    clip: Annotated[str | None, BeforeValidator(as_name)] = None
    start: Annotated[float, BeforeValidator(seconds)] = Field(default=0.0, alias="from")
    until: Annotated[float | None, BeforeValidator(seconds)] = None


class TurnModel(Strict):
    """The keys of a turn whatever it expects; `turn_model` has those of each kind beside them."""

    id: Annotated[str | None, BeforeValidator(as_name)] = None
    clip: Annotated[str | None, BeforeValidator(as_name)] = None
    start: Annotated[float | None, BeforeValidator(seconds)] = Field(default=None, alias="from")
    until: Seconds
    say: Annotated[list[Annotated[SayModel, BeforeValidator(_spoken)]], BeforeValidator(_say)] = (
        Field(default=[])
    )
    embedded: EmbeddedModel | None = None
    show: Annotated[list[Annotated[ShowModel, BeforeValidator(_shown)]], BeforeValidator(_say)] = (
        Field(default=[])
    )
    gesture: Annotated[
        list[Annotated[GestureModel, BeforeValidator(_signed)]], BeforeValidator(_say)
    ] = Field(default=[])
    event: Annotated[float | None, BeforeValidator(seconds)] = None
    within: Annotated[float | None, BeforeValidator(seconds)] = None
    asked_in: Annotated[str | None, BeforeValidator(as_name)] = None
    evidence: Annotated[
        list[Annotated[list[Seconds], BeforeValidator(_pair)]], BeforeValidator(as_list)
    ] = Field(default=[])
    choice: Later = None
    caption: Later = None


def turn_model() -> type[TurnModel]:
    """All keys of a turn. Those of a kind may be left out: which one it is shows by them."""
    return _turn_model(kinds())


@cache
def _turn_model(some: tuple[type[Expectation], ...]) -> type[TurnModel]:
    own: dict[str, Any] = {}
    for kind in some:
        for name, field in kind.keys.model_fields.items():
            there = TurnModel.model_fields.get(name)
            if name in own or (there is not None and LATER not in there.metadata):
                raise TypeError(f"the key {name!r} of {kind.kind!r} is another's already")
            loose = copy(field)
            loose.default = None if field.is_required() else field.default
            own[name] = (field.annotation, loose)
    return create_model("TurnModel", __base__=TurnModel, **own)


class ScenarioModel(Strict):
    version: Annotated[str, _choice("1")]
    id: Name
    title: Text = ""
    task: Annotated[str, BeforeValidator(_task)] = CUSTOM
    pace: Annotated[str, _choice("wait", "continuous")] = "wait"
    clip: Annotated[ClipModel | None, BeforeValidator(_clip)] = None
    clips: dict[Name, Annotated[ClipModel, BeforeValidator(_clip)]] = Field(default={})
    voices: dict[Name, Annotated[VoiceModel, BeforeValidator(_voice)]] = Field(default={})
    goal: Text = ""
    font: Annotated[str | None, BeforeValidator(as_text)] = None
    prior: PriorModel | None = None
    backgrounds: Annotated[list[BackgroundModel], BeforeValidator(as_list)] = Field(default=[])
    limits: LimitsModel = LimitsModel()
    canvas: CanvasModel = CanvasModel()
    turns: Annotated[list[Any], BeforeValidator(as_list)]
    """Each is read on its own (`turn_model`), so that one wrong turn hides no other's problems."""


class CollectionModel(Strict):
    """`collection.yaml`: what the scenarios of a folder share."""

    version: Annotated[str, _choice("1")]
    title: Text = ""
    pace: Annotated[str, _choice("wait", "continuous")] = "wait"
    voices: dict[Name, Annotated[VoiceModel, BeforeValidator(_voice)]] = Field(default={})
    limits: LimitsModel = LimitsModel()
    canvas: CanvasModel = CanvasModel()
    licences: dict[str, Text] = Field(default={})
