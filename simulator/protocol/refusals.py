"""What a provider's words of failure mean: its errors, and why a response is not completed. Pure.

As the Realtime API shapes them. Counterparts: the codec of `simulator.rtc.dialects.openai` asks
while a call goes on, `simulator.measuring.before` of recordings from before that was understood.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

from simulator.text import excerpt

SAID = 1_000
"""Characters of a provider's words that are kept."""
ACKNOWLEDGED = {
    "session.update": "session.updated",
    "input_audio_buffer.commit": "input_audio_buffer.committed",
    "response.cancel": "response.done",
    "output_audio_buffer.clear": "output_audio_buffer.cleared",
}
"""What of ours a server acknowledges, and by what."""
_INVALID = "invalid_request_error"
"""The type of errors about something of ours; others, and those without a type, are the server's
own."""
_ENDINGS = {"completed", "cancelled", "failed", "incomplete"}


class Refusals:
    """Follows what we said and what of it is answered, to tell which errors are in place of an
    answer."""

    def __init__(self) -> None:
        self._ours: set[str] = set()
        """The names of all messages of ours."""
        self._waiting: dict[str, str] = {}
        """Those that are not acknowledged: name -> by what they would be, the oldest first."""
        self._turn: str | None = None
        """The turn for which a response was asked for, until that begins."""
        self._by = ""
        """The name of the command that asked for it."""

    def says(self, name: str, kind: str) -> None:
        """A message of ours goes out."""
        self._ours.add(name)
        if kind in ACKNOWLEDGED:
            self._waiting[name] = ACKNOWLEDGED[kind]

    def hears(self, kind: str) -> str | None:
        """A message comes in: the name of the one of ours that it acknowledges, if it does."""
        name = next((n for n, by in self._waiting.items() if by == kind), None)
        if name is not None:
            del self._waiting[name]
        return name

    def waits(self, kind: str) -> bool:
        """Whether a message of ours of this kind is not acknowledged."""
        return ACKNOWLEDGED[kind] in self._waiting.values()

    def asks(self, turn: str, name: str) -> None:
        """A response is asked for in a turn's name."""
        self._turn, self._by = turn, name

    def begins(self) -> str | None:
        """A response begins: the turn for which it was asked for, if it was."""
        turn, self._turn = self._turn, None
        return turn

    def unanswered(self, error: Mapping[str, Any]) -> tuple[bool, str | None]:
        """Whether an error says that there will be no answer, and in which turn, if it names that.

        Not every server says which message of ours it is about. Then one about something of ours is
        about the first that is not acknowledged, else about the response that was asked for; where
        there is neither it is about the session (which has expired, say). An error of the server's
        own may be of any turn, whatever it names that is not ours; while a response that was asked
        for has not begun it is that one's, which may begin all the same.
        """
        about = _word(error, "event_id")
        if about not in self._ours:
            if _word(error, "type") != _INVALID:
                return True, self._turn
            about = next(iter(self._waiting), None)
            if about is None:
                return True, self.begins()
        self._waiting.pop(about, None)
        if self._turn is None or about != self._by:
            return False, None
        return True, self.begins()


def error_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an error message tells, also where that is not in the place that it should be in."""
    found = _error_in(message)
    return found or {key: message[key] for key in ("code", "message") if key in message}


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a server asks to wait; None if it does not say, or not readably."""
    with suppress(ValueError, KeyError):
        return max(0.0, float(headers["Retry-After-Ms"]) / 1000)
    said = headers.get("Retry-After", "")
    with suppress(ValueError):
        seconds = float(said)
        return max(0.0, seconds) if seconds < float("inf") else None
    with suppress(ValueError, TypeError, KeyError):
        # Against the server's own clock: ours may be wrong.
        until, now = parsedate_to_datetime(said), parsedate_to_datetime(headers["Date"])
        return max(0.0, (until - now).total_seconds())
    return None


def code_of(error: Mapping[str, Any]) -> str | None:
    """What a provider calls an error; None if it has no word for it."""
    return _word(error, "code") or _word(error, "type")


def words_of(error: Mapping[str, Any]) -> str | None:
    """What it says of it, as far as that is kept."""
    words = _word(error, "message")
    return words and excerpt(words, SAID)


def ending_of(response: Mapping[str, Any]) -> str:
    """How a response ended, also where its status is missing or none of the API's: with an error it
    has failed."""
    details = _within(response, "status_details")
    said = _word(response, "status") or _word(details, "type") or "completed"
    known = said.lower()
    if known in _ENDINGS:
        return known
    return "failed" if _error_in(details) or _error_in(response) else said


def why_not_completed(response: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The code and the words of a response that has ended, for why it is not completed."""
    details = _within(response, "status_details")
    # `reason` says why it is cancelled or incomplete, `error` why it failed.
    error = _error_in(details) or _error_in(response)
    return code_of(error) or _word(details, "reason"), words_of(error) or words_of(details)


def _error_in(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The error that fields hold, as an object; empty if they hold none."""
    found = fields.get("error")
    return {"message": found} if isinstance(found, str) else _within(fields, "error")


def _within(fields: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = fields.get(key)
    return found if isinstance(found, dict) else {}


def _word(fields: Mapping[str, Any], key: str) -> str | None:
    found = fields.get(key)
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)  # a status, as some give it
    return found if isinstance(found, str) and found else None
