"""Which response a record of the wire is about, where not all of them call it the same. Pure.

A server may give a response another id in its texts, at its end, or in what it says of its sound,
than it announced it with. What was never announced, and is just what one that was announced lacks,
is that one's. Counterparts: `simulator.measuring.utterances` asks; what no name joins,
`simulator.measuring.halves` does by time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from simulator.measuring.texts import TEXT_REACH
from simulator.recording.records import Record, ResponseRecord, Stamped, TextRecord, Unknown

FORGOTTEN = 10.0
"""Seconds after the last that was told of a response in which something more may be of it."""

Aspect = Literal["start", "text", "end", "sound", "listened"]
"""What the wire tells of a response."""


@dataclass(slots=True)
class _Named:
    """What the wire told under one name."""

    first: float
    last: float = 0.0
    aspects: set[Aspect] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The names in one session's records."""

    announced: frozenset[str]
    """Responses of which the wire said that they began."""
    known: frozenset[str]
    """Those of which it said that, or their end, or a text."""
    others: Mapping[str, str]
    """Another name of an announced response -> its own."""
    items: Mapping[str, str]
    """Item -> the announced response that it belongs to."""

    @classmethod
    def of(cls, events: Iterable[Stamped]) -> Names:
        named: dict[str, _Named] = {}
        items: dict[str, str] = {}
        for event in events:
            name, aspect = _told(event)
            if not name:
                continue
            mine = named.setdefault(name, _Named(event.t))
            mine.last = event.t
            mine.aspects.add(aspect)
            if isinstance(event.record, TextRecord) and event.record.item:
                items.setdefault(event.record.item, name)
        announced = {n: it for n, it in named.items() if "start" in it.aspects}
        others = {}
        for name, it in named.items():
            if name not in announced and "listened" not in it.aspects:
                own = _lacking(it, announced)
                if own is not None:
                    announced[own].aspects |= it.aspects
                    others[name] = own
        return cls(
            announced=frozenset(announced),
            known=frozenset(n for n, it in named.items() if it.aspects != {"sound"}),
            others=others,
            items={item: name for item, name in items.items() if name in announced},
        )

    def response(self, record: ResponseRecord | TextRecord) -> str | None:
        """The id of the response that a record is about; None if nothing names one, or nothing but
        what is told of its sound."""
        name, _ = _told_by(record)
        if isinstance(record, TextRecord) and name not in self.announced:
            name = self.items.get(record.item or "", name)
        name = self.others.get(name, name)
        return name if name in self.known else None


def apart(events: Sequence[Stamped]) -> Iterator[Stamped]:
    """The same events, each response under a name of its own: a server may use an id again once
    the response that had it has ended, or have one for what it tells of all of them."""
    announced = {name for name, aspect in map(_told, events) if aspect == "start"}
    uses: dict[str, _Use] = {}
    begun = 0
    for event in events:
        record = event.record
        name, aspect = _told(event)
        begun += aspect == "start"
        use = uses.setdefault(name, _Use())
        final = record.text if isinstance(record, TextRecord) and record.final else None
        twice = final is not None and final in use.said
        if not twice and use.over(aspect, begun, announced=name in announced):
            use = uses[name] = _Use(use.number + 1)
        if final is not None:
            use.said.add(final)
        if final is not None or aspect != "text":
            use.told.add(aspect)
            use.begun = begun
        if name and use.number > 1:
            record = _called(record, again(name, use.number))
        yield replace(event, record=record)


@dataclass(slots=True)
class _Use:
    """What is told under an id of one response."""

    number: int = 1
    told: set[Aspect] = field(default_factory=set)
    """What was told to its end,"""
    begun: int = 0
    """and how many responses had been announced by then."""
    said: set[str] = field(default_factory=set)
    """Final texts."""

    def over(self, aspect: Aspect, begun: int, *, announced: bool) -> bool:
        """Whether what is told now is of another one; `announced`: such an id announces them."""
        if announced:
            return aspect == "start" and {"start", "end"} <= self.told
        return aspect in self.told and begun > self.begun


def _called(record: Record | Unknown, name: str) -> Record | Unknown:
    """What the wire tells of a response, under another name."""
    match record:
        case ResponseRecord():
            return replace(record, id=name)
        case TextRecord():
            return replace(record, response=name)
        case _:
            return record


def again(name: str, use: int) -> str:
    """What the response is called that has an id for the second time, or a later one."""
    return f"{name}#{use}"


def _told(event: Stamped) -> tuple[str, Aspect]:
    record = event.record
    return _told_by(record) if isinstance(record, ResponseRecord | TextRecord) else ("", "text")


def _told_by(record: ResponseRecord | TextRecord) -> tuple[str, Aspect]:
    """The name that a record gives to a response, and what it tells of it; empty for none."""
    if isinstance(record, TextRecord):
        return "" if record.kind == "user" else record.response or "", "text"
    if record.edge in ("drained", "cleared"):
        return record.id, "sound"
    if record.edge in ("start", "end"):
        return record.id, record.edge
    return record.id, "listened"


def _lacking(it: _Named, announced: Mapping[str, _Named]) -> str | None:
    """The announced response that lacks just what was told under another name: the last before it,
    else the next, if that is near."""
    near = {
        name: own
        for name, own in announced.items()
        if own.first <= it.last + TEXT_REACH
        and it.first - own.last <= FORGOTTEN
        and not own.aspects & it.aspects
    }
    return min(
        near,
        key=lambda n: (near[n].first > it.first, abs(near[n].first - it.first)),
        default=None,
    )
