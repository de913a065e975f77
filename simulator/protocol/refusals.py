"""What a provider's words of failure mean: its errors, and why a response is not completed. Pure.

As the Realtime API shapes them. Counterparts: the codec of `simulator.rtc.dialects.openai` asks
while a call goes on, `simulator.measuring.before` of recordings from before that was understood.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SAID = 1_000
"""Characters of a provider's words that are kept."""
_INVALID = "invalid_request_error"
"""The type of errors about something of ours; others, and those without a type, are the server's
own."""


class Refusals:
    """Follows what was asked for, to tell which errors are in place of an answer."""

    def __init__(self) -> None:
        self._turn: str | None = None
        """The turn for which a response was asked for, until that begins."""
        self._by = ""
        """The name of the command that asked for it."""

    def asks(self, turn: str, name: str) -> None:
        """A response is asked for in a turn's name."""
        self._turn, self._by = turn, name

    def begins(self) -> str | None:
        """A response begins: the turn for which it was asked for, if it was."""
        turn, self._turn = self._turn, None
        return turn

    def unanswered(
        self, *, kind: str | None, command: str | None, waiting: bool
    ) -> tuple[bool, str | None]:
        """Whether an error says that there will be no answer, and in which turn, if it names that.

        `kind`: the error's type. `command`: the message of ours that it is about, which not every
        server says; then it is about what was asked for last, if it is about something of ours and
        nothing else of ours is `waiting`. An error of the server's own may be of any turn.
        """
        if command is None and kind != _INVALID:
            return True, None
        unnamed = command is None and not waiting
        if self._turn is None or not (unnamed or command == self._by):
            return False, None
        return True, self.begins()


def code_of(error: Mapping[str, Any]) -> str | None:
    """What a provider calls an error; None if it has no word for it."""
    return _word(error, "code") or _word(error, "type")


def words_of(error: Mapping[str, Any]) -> str | None:
    """What it says of it, as far as that is kept."""
    words = _word(error, "message")
    return words and words[:SAID]


def why_not_completed(response: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The code and the words of a response that has ended, for why it is not completed."""
    details = _within(response, "status_details")
    # `reason` says why it is cancelled or incomplete, `error` why it failed.
    error = _within(details, "error")
    return code_of(error) or _word(details, "reason"), words_of(error)


def _within(fields: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = fields.get(key)
    return found if isinstance(found, dict) else {}


def _word(fields: Mapping[str, Any], key: str) -> str | None:
    found = fields.get(key)
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)  # a status, as some give it
    return found if isinstance(found, str) and found else None
