"""Names of videos as ids of turns and scenarios, and back.

A video is called as YouTube or a data set calls it (`_aB-9x-seg2`), an id must begin with a letter
or a digit. What an id cannot hold is written as `uHEX.`, a second row of one name ends in `.dup2`.
"""

from __future__ import annotations

import re

from simulator.errors import InputError

LONGEST = 64
EXAMPLE = "example"
"""Id of the turn in which an example video plays; it stands for no row."""

_ODD = re.compile(r"[^A-Za-z0-9_.-]")
_LIKE = r"u[0-9a-f]{1,6}(?:\.|[^A-Za-z0-9_.-])"
"""What reads as written once an odd character behind it is."""
_FIRST = re.compile(rf"[^A-Za-z0-9]|{_LIKE}")
_INNER = re.compile(rf"\.(?={_LIKE})")
_WRITTEN = re.compile(r"(?:^|\.)u([0-9a-f]{1,6})\.")
_DOUBLE = re.compile(r"\.dup\d+$")
_SEGMENT = re.compile(r"^(?P<chain>.+)-seg(?P<number>\d+)$")
_KIND = re.compile(r"\.(?:mp4|mkv|webm|mov|avi|m4v)$", re.IGNORECASE)


def id_of(name: str, copy: int = 1) -> str:
    """The id for a video's name; `copy` counts rows of one name. Raises InputError if too long."""
    text = _INNER.sub(".u2e.", name)
    text = re.sub(r"d(?=up\d+$)", ".u64.", text) if _DOUBLE.search(name) else text
    if text and _FIRST.match(text):
        text = f"u{ord(text[0]):x}.{text[1:]}"
    text = _ODD.sub(lambda m: f".u{ord(m[0]):x}.", text)
    if name_of(text) != name:
        # What stands beside an odd character reads as part of what is written for it.
        text = "".join(_spelt(character, first=i == 0) for i, character in enumerate(name))
    if copy > 1:
        text += f".dup{copy}"
    if not text or len(text) > LONGEST:
        raise InputError(f"video name {name[:80]!r} cannot be an id: 1 to {LONGEST} characters")
    return text


def _spelt(character: str, *, first: bool) -> str:
    """A character of a name in which nothing is left to chance: only plain ones stay."""
    if re.match(r"[A-Za-tv-z0-9]", character):
        return character
    return f"{'' if first else '.'}u{ord(character):x}."


def name_of(turn_id: str) -> str:
    """The video's name that an id was made from."""
    return _WRITTEN.sub(lambda m: chr(int(m[1], 16)), _DOUBLE.sub("", turn_id))


def chain_of(name: str) -> tuple[str, int]:
    """(the chain's name, which segment of it): `x-seg2` is the second of `x`; anything else is a
    chain of its own."""
    found = _SEGMENT.match(name)
    return (found["chain"], int(found["number"])) if found else (name, 1)


def bare(name: str) -> str:
    """A name without folders and without the ending of a video file."""
    return _KIND.sub("", re.split(r"[/\\]", name.strip())[-1])
