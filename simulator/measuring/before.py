"""What recordings of before do not say of failures, out of the raw messages that they hold. Pure.

In them an error is a fault of which it was not asked whether it is in place of an answer, and a
response that was not completed lacks the provider's code and words. Counterparts:
`simulator.protocol.refusals` understands the messages, as it does in a call of today,
`simulator.measuring.measure` reads a recording's events through this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from simulator.protocol.refusals import (
    Refusals,
    code_of,
    error_of,
    why_not_completed,
    words_of,
)
from simulator.recording.records import (
    FaultRecord,
    Record,
    ResponseRecord,
    Stamped,
    Unknown,
    WireRecord,
)

DIALECT = "openai"
"""The one whose messages are understood here."""


def understood(events: Sequence[Stamped], dialect: str) -> tuple[Stamped, ...]:
    """The same events, with what their messages say of failures; those of today stay as they
    are."""
    if dialect != DIALECT or not any(_untold(e.record) for e in events):
        return tuple(events)
    errors = list(_errors(events))
    reasons = dict(_reasons(events))

    def told(record: Record | Unknown) -> Record | Unknown:
        if not _untold(record):
            return record
        if isinstance(record, ResponseRecord):
            reason, message = reasons.get(record.id, (None, None))
            return replace(record, reason=reason, message=message)
        assert isinstance(record, FaultRecord)
        said = (record.code, record.message)
        known = next((e for e in errors if (e.code, e.message) == said), None)
        if known is None:
            return record
        errors.remove(known)
        return known

    return tuple(replace(event, record=told(event.record)) for event in events)


def _untold(record: Record | Unknown) -> bool:
    """Whether more may be known of it than it says."""
    match record:
        case FaultRecord():
            return record.unanswered is None and record.whose == "agent" and not record.fatal
        case ResponseRecord(edge="end", status="failed" | "incomplete", reason=None, message=None):
            return True
        case _:
            return False


def _reasons(events: Sequence[Stamped]) -> Iterator[tuple[str, tuple[str | None, str | None]]]:
    """By response why it is not completed."""
    for event in events:
        match event.record:
            case WireRecord(dir="in", name="response.done", body={"response": dict() as response}):
                yield str(response.get("id")), why_not_completed(response)
            case _:
                pass


def _errors(events: Sequence[Stamped]) -> Iterator[FaultRecord]:
    """The errors among the messages as faults of today, in order."""
    refusals = Refusals()
    for event in events:
        match event.record:
            case WireRecord(dir="out", name="response.create", body={"event_id": str(sent)}) as out:
                refusals.says(sent, out.name)
                refusals.asks(_turn(out.body), sent)
            case WireRecord(dir="out", name=name, body={"event_id": str(sent)}):
                refusals.says(sent, name)
            case WireRecord(dir="in", name="error", body=body) if isinstance(body, dict):
                error = error_of(body)
                unanswered, turn = refusals.unanswered(error)
                yield FaultRecord(
                    whose="agent",
                    code=code_of(error) or "error",
                    message=words_of(error) or "",
                    fatal=False,
                    unanswered=unanswered,
                    of=turn,
                )
            case WireRecord(dir="in", name=name):
                refusals.hears(name)
                if name == "response.created":
                    refusals.begins()
            case _:
                pass


def _turn(body: object) -> str:
    """The turn in whose name a response was asked for."""
    match body:
        case {"response": {"metadata": {"turn": str(turn)}}}:
            return turn
        case _:
            return ""
