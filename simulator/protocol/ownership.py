"""Whose a response is by the time at which it begins: rules 2, 3, 4, 6 and 10, said here once.

They look back only, so they hold while a session goes on as they do over a whole one: the live
script asks them when a turn may be left, attribution whose answer each response is. What is known
only afterwards, or from the wire, is attribution's alone (ARCHITECTURE.md has all ten rules).
Pure. Counterparts: `simulator.session.script` and `simulator.measuring.attribution`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, Literal, Protocol, TypeVar

from simulator.protocol.conduct import Conduct, Wants

ACKNOWLEDGE = 3.0
"""Seconds after a standing instruction in which a reply is its acknowledgement; later, with another
turn playing, it is judged as that turn's."""

ByTime = Literal["time", "premature", "late", "unsolicited", "greeting"]


class Claimant(Protocol):
    """A turn that has begun, as far as these rules ask."""

    @property
    def id(self) -> str: ...
    @property
    def start(self) -> float: ...
    @property
    def done(self) -> float:
        """When it was left; infinite while it plays."""
        ...

    @property
    def due(self) -> float | None: ...
    @property
    def asked_at(self) -> float | None: ...
    @property
    def within(self) -> float: ...
    @property
    def conduct(self) -> Conduct: ...


Turn = TypeVar("Turn", bound=Claimant)


@dataclass(slots=True)
class Ownership(Generic[Turn]):
    """Who owns what is said. Ask in the order in which responses begin."""

    turns: list[Turn] = field(default_factory=list)
    """In the order in which they begin."""
    taken: dict[str, str] = field(default_factory=dict)
    """Response -> id of the turn whose it is."""

    def playing(self, t: float) -> Turn | None:
        """The turn that plays at `t`; after the last turn, that one."""
        found = None
        for turn in self.turns:
            if turn.start <= t:
                found = turn
        return found

    def last_due(self, t: float) -> Turn | None:
        """The turn with the latest due time at or before `t`."""
        fallen = [u for u in self.turns if u.due is not None and u.due <= t]
        return max(fallen, key=lambda u: u.due or 0.0, default=None)

    def answered(self, turn: Turn) -> bool:
        return turn.id in self.taken.values()

    def owes(self, turn: Turn) -> bool:
        """Whether an answer to it is still to come."""
        return turn.conduct.owed and not self.answered(turn)

    def take(self, response: str, turn: Turn) -> None:
        """A response is a turn's."""
        self.taken[response] = turn.id

    def release(self, response: str) -> None:
        """A response was none after all, or begins at another time than was thought."""
        self.taken.pop(response, None)

    def whose(self, onset: float) -> tuple[Turn | None, ByTime]:
        """The turn that owns what begins at `onset`, and why; None for a greeting."""
        now, due = self.playing(onset), self.last_due(onset)
        if now is None:
            return None, "greeting"
        # Owed before premature, rule 2 before rule 3: even if the next instruction has begun.
        if due is not None and self._open(due, onset, plays=due is now):
            return due, "time"
        asked = now.start if now.asked_at is None else max(now.asked_at, now.start)
        if now.due is not None and asked <= onset < now.due:
            return now, "premature"
        if due is not None and self.owes(due):
            return due, "late"
        if now.conduct.silent:
            return now, "unsolicited"
        return (due, "time") if due is not None else (None, "greeting")

    def _open(self, turn: Turn, onset: float, *, plays: bool) -> bool:
        """Whether a turn that is due claims what begins now."""
        if self.answered(turn) and turn.conduct.owed and not turn.conduct.many:
            return False
        return onset <= closes(turn) or (plays and not turn.conduct.owed)


def closes(turn: Claimant) -> float:
    """Until when what a turn wants is in time."""
    assert turn.due is not None
    patience = ACKNOWLEDGE if turn.conduct.wants is Wants.NOTHING else turn.within
    end = turn.due + patience
    return max(end, turn.done) if turn.conduct.many else end
