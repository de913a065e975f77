"""What a codec says and raises, as a call sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from simulator.errors import AgentError, InputError
from simulator.protocol.events import (
    Commit,
    ContextChanged,
    Fault,
    Ready,
    ResponseEnded,
    ResponseStarted,
    Text,
    Whose,
    WireCommand,
)
from simulator.rtc.dialect import Codec, Message, Step, Written
from simulator.rtc.interpreter import MALFORMED_LIMIT, TEXT_CAP, Interpreter


class Says(Codec):
    """Says what it is made with, whatever it is asked."""

    def __init__(self, says: Callable[[], Any]) -> None:
        self._says = says

    def connected(self) -> Sequence[Step]:
        return self._says()  # type: ignore[no-any-return]

    def read(self, message: Message) -> Sequence[Step]:
        return self._says()  # type: ignore[no-any-return]

    def tick(self, now: float) -> Sequence[Step]:
        return self._says()  # type: ignore[no-any-return]

    def write(self, command: WireCommand) -> Written:
        return self._says()  # type: ignore[no-any-return]


def raises(error: BaseException) -> Callable[[], Any]:
    def raising() -> Any:
        raise error

    return raising


def message(body: str | bytes = "?") -> Message:
    return Message(channel="c", body=body)


def test_events_and_messages_go_on_in_their_order() -> None:
    steps = [Ready(), message("hello"), Text(text="Yes.")]
    words = Interpreter(Says(lambda: steps))
    assert words.connected() == words.tick(1.0) == words.read(message()) == steps


@pytest.mark.parametrize("error", [ValueError("not so"), OverflowError("not so")])
def test_what_cannot_be_read_is_told_until_it_is_too_much(error: Exception) -> None:
    words = Interpreter(Says(raises(error)))
    for _ in range(MALFORMED_LIMIT):
        (fault,) = words.read(message(b"\x00" * 1_000))
        assert isinstance(fault, Fault)
        assert (fault.code, fault.fatal) == ("malformed", False)
        assert fault.message.startswith("not so: b'\\x00")
        assert len(fault.message) < 1_000
    (fault,) = words.read(message())
    assert isinstance(fault, Fault)
    assert (fault.fatal, fault.message) == (True, f"over {MALFORMED_LIMIT} malformed messages")


@pytest.mark.parametrize(
    ("says", "why"),
    [
        (raises(KeyError("text")), r"KeyError: 'text' \(test_interpreter.py:\d+\)"),
        (lambda: None, "TypeError: 'NoneType' object is not iterable"),
        (lambda: ["hello"], "TypeError: str is neither an event nor a message"),
        (lambda: [Commit()], "TypeError: Commit is neither an event nor a message"),
    ],
)
def test_a_codec_that_is_broken_ends_the_call_by_the_agents_fault(
    says: Callable[[], Any], why: str
) -> None:
    words = Interpreter(Says(says))
    for steps in (words.connected(), words.tick(1.0), words.read(message())):
        (fault,) = steps
        assert isinstance(fault, Fault)
        assert (fault.whose, fault.code, fault.fatal) == ("agent", "dialect", True)
        with pytest.raises(AssertionError, match=why):
            raise AssertionError(fault.message)


def test_a_command_that_has_no_words_is_the_users_to_mend_and_a_bug_is_the_agents() -> None:
    with pytest.raises(InputError, match="it cannot be asked"):
        Interpreter(Says(raises(InputError("it cannot be asked")))).write(Commit())
    with pytest.raises(AgentError, match=r"cannot write a command: KeyError: 1 \(test_interp"):
        Interpreter(Says(raises(KeyError(1)))).write(Commit())
    with pytest.raises(AgentError, match="`write` gave list, no Written"):
        Interpreter(Says(list)).write(Commit())


def test_text_is_capped_for_each_response() -> None:
    said = Text(text="x" * 150_000, response="r")
    words = Interpreter(Says(lambda: [said]))
    assert [len(t.text) for t in texts(words)] == [150_000]
    cut = words.read(message())
    assert [len(t.text) for t in cut if isinstance(t, Text)] == [TEXT_CAP - 150_000]
    # It is told once.
    assert [t.code for t in cut if isinstance(t, Fault)] == ["text_cut"]
    assert list(words.read(message())) == []
    said = Text(text="x" * 150_000, response="s")
    assert [len(t.text) for t in texts(words)] == [150_000]
    said = Text(text="x" * 250_000, response="r", final=True)
    assert [len(t.text) for t in texts(words)] == [TEXT_CAP]
    said = Text(text="", response="r", final=True)
    assert texts(words) == [said]


def texts(words: Interpreter) -> list[Text]:
    return [step for step in words.read(message()) if isinstance(step, Text)]


@pytest.mark.parametrize(
    ("said", "where"),
    [
        (ResponseStarted(response=17), "ResponseStarted: response"),  # type: ignore[arg-type]
        (ResponseStarted(response=None), "ResponseStarted: response"),  # type: ignore[arg-type]
        (ResponseEnded(response="r", status=7), "ResponseEnded: status"),  # type: ignore[arg-type]
        (Text(text=None), "Text: text"),  # type: ignore[arg-type]
        (Text(text="x", kind="song"), "Text: kind"),  # type: ignore[arg-type]
        (ContextChanged(op="cut", span="abc"), "ContextChanged: span"),  # type: ignore[arg-type]
        (Message(channel="c", body=None), "Message: body"),  # type: ignore[arg-type]
    ],
)
def test_what_nobody_could_read_back_is_the_agents_failure(said: Step, where: str) -> None:
    """Once, ids that were numbers gave a recording without responses, and a score of 0."""
    (fault,) = Interpreter(Says(lambda: [said])).read(message())
    assert isinstance(fault, Fault)
    assert (fault.code, fault.fatal, fault.whose) == ("dialect", True, Whose.AGENT)
    assert where in fault.message


@pytest.mark.parametrize("whose", [Whose.USER, Whose.INSTRUMENT, "agent"])
def test_a_dialect_blames_nobody_but_its_own_side(whose: Whose) -> None:
    said = Fault(whose=whose, code="x", message="", fatal=True)
    (fault,) = Interpreter(Says(lambda: [said])).read(message())
    assert isinstance(fault, Fault)
    assert fault.whose is Whose.AGENT


def test_a_cancellation_of_its_own_is_a_failure_of_its_own() -> None:
    words = Interpreter(Says(raises(asyncio.CancelledError())))
    (fault,) = words.tick(0.0)
    assert isinstance(fault, Fault)
    assert fault.fatal
    with pytest.raises(AgentError, match="cannot write a command: CancelledError"):
        words.write(Commit())


@pytest.mark.parametrize("messages", [None, [5], "abc"])
def test_what_is_written_are_messages(messages: Any) -> None:
    words = Interpreter(Says(lambda: Written(messages=messages)))
    with pytest.raises(AgentError, match="its dialect's `write` gave no messages"):
        words.write(Commit())
