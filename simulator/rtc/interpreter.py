"""A codec at work: whatever it says or raises becomes a step that a call can take. Pure.

A codec may be anybody's code, and reads what anybody's server says. What cannot be read is told
and counted; what goes wrong in the codec itself ends the call as the agent's fault, with its place;
text without end is cut. Counterparts: `simulator.rtc.channels` takes the steps,
`simulator.rtc.dialect` is the contract.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from simulator.errors import AgentError, OmnistageError
from simulator.protocol.events import MALFORMED, Fault, Text, Whose, WireCommand
from simulator.rtc.dialect import Codec, Message, Step, Written
from simulator.text import excerpt

MALFORMED_LIMIT = 1_000
"""Malformed messages after which the call is given up."""
TEXT_CAP = 200_000
"""Characters of text of one response that are passed on."""
_FORGET_AFTER = 1_000
"""Responses whose text is counted; older ones are forgotten."""
_EXCERPT = 200


class Interpreter:
    """Stands between one call and its codec. Nothing but `write` raises."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._malformed = 0
        self._texts: dict[str, int] = {}
        self._cut: str | None = None
        """The last response whose text went beyond the cap."""

    def connected(self) -> Sequence[Step]:
        """See `Codec.connected`."""
        return self._steps(self._codec.connected)

    def tick(self, now: float) -> Sequence[Step]:
        """See `Codec.tick`."""
        return self._steps(lambda: self._codec.tick(now))

    def read(self, message: Message) -> Sequence[Step]:
        """See `Codec.read`; what cannot be read is a fault, and at some time one too many."""
        return self._steps(lambda: self._read(message))

    def write(self, command: WireCommand) -> Written:
        """See `Codec.write`. Raises AgentError as well, if the codec is broken."""
        try:
            written: object = self._codec.write(command)
        except OmnistageError:
            raise
        except (KeyboardInterrupt, SystemExit):
            raise
        # A codec may be other people's code, and its bug is the agent's fault. It never waits, so
        # that even a cancellation is its own.
        except BaseException as error:
            raise AgentError(f"its dialect cannot write a command: {_place(error)}") from error
        if not isinstance(written, Written):
            raise AgentError(f"its dialect's `write` gave {type(written).__name__}, no Written")
        try:
            messages = [_sound(message) for message in written.messages]
        except Exception as error:
            raise AgentError(f"its dialect's `write` gave no messages: {_place(error)}") from error
        return replace(written, messages=messages)

    def _read(self, message: Message) -> Sequence[Step]:
        try:
            return self._codec.read(message)
        except (ValueError, OverflowError) as error:
            self._malformed += 1
            if self._malformed > MALFORMED_LIMIT:
                return (_fault(MALFORMED, f"over {MALFORMED_LIMIT} malformed messages"),)
            body = message.body
            said = body if isinstance(body, str) else repr(body[: 2 * _EXCERPT])
            return (_fault(MALFORMED, f"{error}: {excerpt(said, _EXCERPT)}", fatal=False),)

    def _steps(self, say: Callable[[], Sequence[Step]]) -> Sequence[Step]:
        try:
            return [step for said in say() for step in self._checked(said)]
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # noqa: BLE001 - as in `write`
            return (_fault("dialect", f"its dialect failed: {_place(error)}"),)

    def _checked(self, said: object) -> Sequence[Step]:
        if not isinstance(said, Step):
            raise TypeError(f"{type(said).__name__} is neither an event nor a message")
        said = _sound(said)
        if isinstance(said, Fault) and said.whose not in (Whose.AGENT, Whose.NETWORK):
            # Nothing that an agent's words say is ours, or the user's.
            said = replace(said, whose=Whose.AGENT)
        if not isinstance(said, Text) or said.kind == "user":
            return (said,)
        text = said.text[:TEXT_CAP] if said.final else self._room(said)
        passed = (replace(said, text=text),) if text or said.final else ()
        if len(text) == len(said.text) or self._cut == (said.response or ""):
            return passed
        self._cut = said.response or ""
        cut = f"of a response's text the first {TEXT_CAP} characters are kept"
        return (*passed, _fault("text_cut", cut, fatal=False))

    def _room(self, said: Text) -> str:
        """A delta's text as far as the response's cap allows."""
        key = said.response or ""
        had = self._texts.pop(key, 0)
        kept = said.text[: max(0, TEXT_CAP - had)]
        self._texts[key] = had + len(kept)
        if len(self._texts) > _FORGET_AFTER:
            del self._texts[next(iter(self._texts))]
        return kept


_S = TypeVar("_S")


_KINDS: dict[type[object], TypeAdapter[Any]] = {}
"""What is said, by its type."""


def _sound(said: _S) -> _S:
    """`said`, with its fields as their types say. Raises TypeError if one cannot be: it would be
    written down as something that nobody can read."""
    kind = type(said)
    if kind not in _KINDS:
        _KINDS[kind] = TypeAdapter(kind)
    held = {f.name: getattr(said, f.name) for f in fields(said)}  # type: ignore[arg-type]
    try:
        return cast("_S", _KINDS[kind].validate_python(held))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise TypeError(f"{kind.__name__}: {where}: {first['msg']}") from None


def _fault(code: str, message: str, *, fatal: bool = True) -> Fault:
    return Fault(whose=Whose.AGENT, code=code, message=message, fatal=fatal)


def _place(error: BaseException) -> str:
    """An error with the last place that it came through."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(error).__name__}: {error}{where}"
