"""Bundled dialects, a package each, and finding one by reference, as for agents.

Counterparts: `simulator.rtc.dialect` is the contract, `simulator.plugins` loads what is named.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar, cast

from simulator.agent import Dial
from simulator.contracts import Contract
from simulator.errors import InputError
from simulator.plugins import load, parse_reference
from simulator.rtc.dialect import Codec, Dialect, Signalling

_CODEC = Contract(
    one="codec",
    members={
        "channels": Sequence,
        "connected": Callable,
        "read": Callable,
        "tick": Callable,
        "write": Callable,
    },
)
_SIGNALLING = Contract(
    one="signalling", members={"servers": Callable, "call": Callable, "hang_up": Callable}
)

_Part = TypeVar("_Part", Codec, Signalling)
_Given = TypeVar("_Given")


def found(dial: Dial, agent: object) -> Dial:
    """What `agent` yielded, its dialect found and tried: a file is seen from the agent's own file.

    Raises InputError as `speak` does.
    """
    said: object = dial.dialect
    if not isinstance(said, str):
        raise InputError(
            f"the dialect of a Dial is a reference, not {said!r}",
            hint="write a name, or a file as in dialect='words.py:Mine'",
        )
    ref = parse_reference(said)
    if ref.path is not None and not ref.path.is_absolute():
        path = _home(agent) / ref.path
        dial = replace(dial, dialect=f"{path}:{ref.cls}" if ref.cls else str(path))
    speak(dial)
    return dial


def _home(agent: object) -> Path:
    """The folder of an agent's file; where there is none (it was typed in), the working one."""
    try:
        return Path(inspect.getfile(type(agent))).resolve().parent
    except (OSError, TypeError):
        return Path.cwd()


def speak(target: Dial) -> tuple[Codec, Signalling]:
    """Both parts of the dialect of `target`, for one call.

    Raises InputError if there is no such dialect, if it cannot be loaded or made, and if it lacks a
    part or a part lacks something.
    """
    said = target.dialect
    dialect = cast(Dialect, load("dialects", said, root=Path(__file__).parent))
    codec = _made(said, _CODEC, dialect.codec, target.session)
    if not all(isinstance(label, str) for label in codec.channels):
        raise InputError(f"{said}: its codec: `channels` must be labels, which are text")
    return codec, _made(said, _SIGNALLING, dialect.signalling, target)


def _made(said: str, part: Contract, make: Callable[[_Given], _Part], given: _Given) -> _Part:
    its = f"{said}: its {part.one}"
    needs = f"it needs {part.needs}; simulator.rtc.dialect has a class to begin with"
    if inspect.isclass(make) and (lacking := part.lacking(make)):
        raise InputError(f"{its} lacks {', '.join(lacking)}", hint=needs)
    try:
        made = make(given)
    except InputError:
        raise
    except Exception as error:
        # As with every plug-in: other people's code may raise anything while it is made.
        what = f"{type(error).__name__}: {error}"
        raise InputError(f"{its} cannot be made: {what}") from error
    if wrong := part.unlike(made):
        raise InputError(f"{its} is none: {wrong}", hint=needs)
    return made
