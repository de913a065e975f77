"""What is owed: which answers are waited for and until when, and what each response settles. Pure.

Counterparts: `simulator.session.script` plays on by it, `simulator.session.onsets` tells when each
response begins, and `simulator.protocol.ownership` whose it is. Attribution asks the same rules of
the same times afterwards, so that both say of a response that it is the same turn's, which a test
holds; but for what the wire names (rule 1), which attribution alone goes by.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from simulator.media.timeline import PreparedTurn, falls_due
from simulator.protocol.conditions import Decide
from simulator.protocol.conduct import Conduct
from simulator.protocol.due import DueKind
from simulator.protocol.events import Event, Fault, ResponseEnded, ResponseStarted
from simulator.protocol.ownership import Ownership
from simulator.session.onsets import Onsets

EPS = 1e-6


@dataclass(slots=True, kw_only=True)
class _Begun:
    """A turn that has begun, in session time."""

    id: str
    start: float
    due: float | None
    due_kind: DueKind | None
    asked_at: float | None
    within: float
    conduct: Conduct
    done: float = math.inf
    deadline: float = -math.inf
    """Until when its answer is waited for."""


class Debts:
    """What is owed in one session. Every turn goes through `begin`, every event through `hear`."""

    def __init__(self, *, quiet_tail: float, decide: Decide) -> None:
        self._quiet_tail = quiet_tail
        self._decide = decide
        self._onsets = Onsets()
        self._owners: Ownership[_Begun] = Ownership()
        self._began: dict[str, float] = {}
        """When each response began that says something."""
        self._announced: dict[str, tuple[float, str | None]] = {}
        """When the wire first told of each response, and the turn that it named."""
        self._owed: list[_Begun] = []

    @property
    def owners(self) -> Mapping[str, str]:
        """Whose each response is, as far as can be told by now: its name (`Onsets`) -> turn id."""
        return self._owners.taken

    def __bool__(self) -> bool:
        """Whether anything is owed, or will be when it falls due."""
        return bool(self._owed)

    def begin(self, prepared: PreparedTurn, at: float) -> None:
        """A turn begins at `at`: note when it falls due, and what it owes then."""
        turn, due = prepared.turn, falls_due(prepared, self._decide)
        if self._owners.turns:
            self._owners.turns[-1].done = at
        # A standing instruction was given in an earlier turn: this one can be answered at once.
        standing = due.kind == "event" and turn.asked_in is not None
        asked = 0.0 if standing else due.asked_at
        begun = _Begun(
            id=turn.id,
            start=at,
            due=None if due.at is None else at + due.at,
            due_kind=due.kind,
            asked_at=None if asked is None else at + asked,
            within=turn.within,
            conduct=turn.expect.conduct,
        )
        self._owners.turns.append(begun)
        if begun.conduct.owed and begun.due is not None:
            begun.deadline = begun.due + turn.within
            self._owed.append(begun)

    def until(self, now: float) -> float | None:
        """How long answers are waited for; None if none is, or not any more."""
        self._owed = [turn for turn in self._owed if turn.deadline > now + EPS]
        return max((turn.deadline for turn in self._owed), default=None)

    def hear(self, event: Event, now: float) -> None:
        """The agent does something."""
        for name, at in self._onsets.hear(event, now):
            self._begins(name, at)
        match event:
            case ResponseStarted():
                self._announced[event.response] = now, event.trigger
            case ResponseEnded(status="failed" | "incomplete"):
                began, turn = self._announced.get(event.response, (now, None))
                if event.response not in self._began:
                    self._fails(turn, began, now)
            case Fault(unanswered=True):
                self._fails(event.turn, now, now)
            case _:
                pass

    def _fails(self, named: str | None, at: float, now: float) -> None:
        """The provider says that it could not give an answer, which would have been the `named`
        turn's, or whose it is by its time. It may try again by itself, for which it has the quiet
        tail: what begins by then is followed like any other reply."""
        turn = next((t for t in self._owners.turns if t.id == named), None)
        turn = turn or self._owners.whose(at)[0]
        if turn is not None and turn.due is not None and turn.due <= now + EPS:
            turn.deadline = min(turn.deadline, now + self._quiet_tail)

    def _begins(self, name: str, at: float | None) -> None:
        """A response began at `at`, or turns out to have begun then, or to be none. Where that
        corrects what was thought, those that began later may be others' than was thought."""
        before = self._began.pop(name, math.inf)
        if at is not None:
            self._began[name] = at
        first = before if at is None else min(before, at)
        later = sorted((t, n) for n, t in self._began.items() if t >= first)
        for _, response in ((before, name), *later):
            self._owners.release(response)
        for began, response in later:
            self._settle(response, began)

    def _settle(self, name: str, began: float) -> None:
        """Give a response to the turn whose it is, and wait no longer for what it can answer.

        One that begins under its own instruction settles it too, but we give the agent the quiet
        tail to answer again once it has heard the whole.
        """
        turn, by = self._owners.whose(began)
        if turn is not None:
            self._owners.take(name, turn)
            if by == "premature" and turn.due is not None and turn.due_kind == "instruction":
                turn.deadline = min(turn.deadline, turn.due + self._quiet_tail)
        # What fell due before has been answered, or is out of reach of what comes after.
        self._owed = [t for t in self._owed if t.due is None or began < t.due - EPS]
