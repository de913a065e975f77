"""Values as an author writes them: text, names, times, lists; each message says what is allowed.

Counterparts: `simulator.scenario.schema` has the keys that take them, and so have the kinds in
`simulator.scenario.expectations`.
"""

from __future__ import annotations

import math
import re
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_CLOCK = re.compile(r"(?:(\d+):)?(\d{1,2}):(\d{1,2}(?:\.\d+)?)")
NUMBER = re.compile(r"\d+(?:\.\d*)?|\.\d+")


def wrong(message: str) -> PydanticCustomError:
    """An error whose text stands as it is."""
    return PydanticCustomError("omnistage", "{text}", {"text": message})


def as_text(value: Any) -> str:
    if value is None:
        raise wrong("is empty; text that begins with # must be in quotes")
    if isinstance(value, dict):
        raise wrong("must be text and reads as a mapping; if it is text with a colon, quote it")
    if isinstance(value, list):
        raise wrong(
            "must be text and reads as a list; if it is text that begins with [ or -, quote it"
        )
    if not str(value).strip():
        raise wrong("is empty")
    return str(value).strip()


def as_name(value: Any) -> str:
    text = as_text(value)
    if not _NAME.fullmatch(text):
        raise wrong(f"{text!r} is not a name: letters, digits, '-', '_' and '.', at most 64")
    return text


def seconds(value: Any) -> float:
    """A time: seconds, or mm:ss, or h:mm:ss."""
    text = as_text(value)
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, rest = clock.groups()
        if float(rest) < 60 and (hours is None or int(minutes) < 60):
            return int(hours or 0) * 3600 + int(minutes) * 60 + float(rest)
    if not NUMBER.fullmatch(text) or not math.isfinite(float(text)) or float(text) > 1e6:
        raise wrong(f"{text!r} is not a time: seconds (12.5) or minutes:seconds (1:30.5)")
    return float(text)


def as_true(value: Any) -> bool:
    if as_text(value).lower() != "true":
        raise wrong(f"{value!r}: only `true` is allowed; leave the key out for the contrary")
    return True


def as_texts(value: Any) -> Any:
    """A list; a single text is a list of one."""
    return [value] if isinstance(value, str) else as_list(value)


def as_list(value: Any) -> Any:
    if value is None:
        raise wrong("is empty")
    if not isinstance(value, list):
        raise wrong("must be a list: lines that begin with '- '")
    return value


def as_point(value: Any) -> Any:
    if isinstance(value, list) and not value:
        raise wrong("is empty")
    return as_texts(value)


Text = Annotated[str, BeforeValidator(as_text)]
Name = Annotated[str, BeforeValidator(as_name)]
Seconds = Annotated[float, BeforeValidator(seconds)]
Texts = Annotated[list[Text], BeforeValidator(as_texts)]


Points = Annotated[list[Annotated[list[Text], BeforeValidator(as_point)]], BeforeValidator(as_list)]
"""Things that must be said, each with its alternatives."""
Flag = Annotated[bool, BeforeValidator(as_true)]
"""`true`, or left out."""


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=False)
