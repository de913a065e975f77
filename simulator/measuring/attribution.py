"""Whose answer a response is: the ten rules, as one pure function over a whole session.

The rules and their numbers are in ARCHITECTURE.md. Those that go by time alone are in
`simulator.protocol.ownership`, where the live script asks them as well. One needed sharpening here:

- A guessed link is weaker than a stated one. `trigger` is the wire's own word; `input_item` is the
  last thing the agent's turn detector heard, and a reply of its own accord much later has one too.
  It counts inside the turn's window only, and only once the detector had done with it.

Counterparts: `simulator.measuring.measure` calls it, `simulator.measuring.metrics` reads what
comes of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from simulator.measuring.trace import Attributed, By, Flag, Heard, Response, TurnSpan
from simulator.protocol.ownership import ACKNOWLEDGE, Ownership, closes
from simulator.protocol.silence import is_silence_token


def attribute(
    turns: Sequence[TurnSpan],
    heard: Sequence[Heard],
    responses: Sequence[Response],
    *,
    user_items: Mapping[str, tuple[float, float]],
    gold: Mapping[str, tuple[str, ...]],
    asked: bool = False,
) -> tuple[Attributed, ...]:
    """Attribute every response exactly once, in order of onset.

    `user_items`: id of an input item -> the interval in which the agent's own detector heard us,
    without an end for one that it never closed.
    `gold`: turn id -> its right answers, for the mark `maybe_previous` (content never moves an
    answer). `asked`: the agent was made to decide at each turn's end, so that it did not have to
    notice what began under its own speech. All times in session seconds.
    """
    state = _Session(
        owners=Ownership([t for t in turns if t.reached]),
        heard=tuple(heard),
        user_items=user_items,
        gold=gold,
    )
    order = sorted(responses, key=lambda r: (r.onset is None, r.onset or 0.0))
    placed = tuple(state.place(r) for r in order)
    return placed if asked else _mark_overlapped(placed, responses, turns)


@dataclass(slots=True)
class _Session:
    owners: Ownership[TurnSpan]
    heard: tuple[Heard, ...]
    user_items: Mapping[str, tuple[float, float]]
    gold: Mapping[str, tuple[str, ...]]

    def named(self, response: Response, onset: float) -> TurnSpan | None:
        """The turn that the wire names as the cause (rule 1)."""
        for turn in self.owners.turns:
            if turn.id == response.trigger:
                return turn
        item = self.user_items.get(response.input_item or "")
        if item is None:
            return None
        at = onset if response.begun is None else min(response.begun, onset)
        about = self.item_of(item, at)
        if about is not None and not self.owners.owes(about):
            # What an eager agent had left over of a turn that is done with, while it hears more.
            newer = [i for i in self.user_items.values() if item[0] < i[0] <= at]
            about = self.item_of(max(newer), at) if newer else about
        if about is None or onset < about.done or _fresh(about, onset):
            return about
        return None

    def item_of(self, item: tuple[float, float], at: float) -> TurnSpan | None:
        """The turn that an input item is about, to what the wire began to answer at `at`: the
        latest instruction in it that is owed an answer, one that was whole before one of which
        only the beginning is in it; else the latest that has ended."""
        start, end = item
        if end > at:
            return None
        turns = {t.id: t for t in self.owners.turns}
        inside = [h for h in self.heard if h.start < end and h.end > start and h.turn in turns]
        owed = [h for h in inside if h.voice == "user" and self.owners.owes(turns[h.turn])]
        whole = [h for h in owed if h.end <= end]
        latest = max(whole or owed or [h for h in inside if h.end <= at], key=_began, default=None)
        return None if latest is None else turns[latest.turn]

    # ------------------------------------------------------------ the rules

    def place(self, response: Response) -> Attributed:
        onset = response.onset
        if onset is None:
            # Neither sound nor text: it said nothing to anybody.
            return Attributed(response=response.id, turn=None, by="greeting")
        if response.listened or (response.text and is_silence_token(response.text)):
            return self.decision(response, onset)
        turn, by = self.whose(response, onset)
        if turn is None:
            return Attributed(response=response.id, turn=None, by=by, flags=("greeting",))
        flags = self.flags(response, onset, turn, by)
        self.owners.take(response.id, turn)
        if by != "wire" and "late" in flags:
            by = "late"
        return Attributed(response=response.id, turn=turn.id, by=by, flags=flags)

    def decision(self, response: Response, onset: float) -> Attributed:
        """Rule 8: the silence token is a decision of its turn."""
        turn = self.named(response, onset)
        if turn is None:
            due = self.owners.last_due(onset)
            fresh = due is not None and due.due is not None and onset <= due.due + due.within
            turn = due if fresh else self.owners.playing(onset)
        flag: Flag = "spoken_token" if response.speech else "silence_token"
        return Attributed(
            response=response.id, turn=turn.id if turn else None, by="token", flags=(flag,)
        )

    def whose(self, response: Response, onset: float) -> tuple[TurnSpan | None, By]:
        """Rule 1, else what the time says."""
        named = self.named(response, onset)
        if named is not None:
            return named, "wire"
        return self.owners.whose(onset)

    def flags(self, response: Response, onset: float, turn: TurnSpan, by: By) -> tuple[Flag, ...]:
        """What else there is to say of it (rules 3-9)."""
        flags: list[Flag] = []
        if turn.conduct.silent:
            flags.append("false_alarm")
        elif turn.due is not None:
            if onset < turn.due:
                flags.append("premature")
            elif turn.conduct.owed and onset > closes(turn):
                flags.append("late")
        if turn.conduct.owed:
            if self.owners.answered(turn) and not turn.conduct.many:
                flags.append("extra")
                if turn.due_kind != "event":
                    flags.append("joined")
            if by != "wire" and self.previous(response, turn):
                flags.append("maybe_previous")
        if response.status == "cancelled":
            flags.append("interrupted")
        elif response.status in ("failed", "incomplete"):
            flags.append("cut")
        if response.end is not None and onset < turn.done < response.end:
            flags.append("overrun")
        return tuple(flags)

    def previous(self, response: Response, turn: TurnSpan) -> bool:
        """Whether it says what an unanswered turn before wanted, and not what this one wants."""
        if says_any(response.text, self.gold.get(turn.id, ())):
            return False
        before = [t for t in self.owners.turns if t.index < turn.index and self.owners.owes(t)]
        return bool(before) and says_any(response.text, self.gold.get(before[-1].id, ()))


def _began(heard: Heard) -> float:
    return heard.start


def _fresh(turn: TurnSpan, onset: float) -> bool:
    """Whether a guessed link to a turn still counts at `onset`."""
    if turn.due is None:
        return True
    return onset <= (closes(turn) if turn.conduct.owed else turn.due + ACKNOWLEDGE)


def _mark_overlapped(
    attributed: Sequence[Attributed],
    responses: Sequence[Response],
    turns: Sequence[TurnSpan],
) -> tuple[Attributed, ...]:
    """Rule 7: flag answers whose instruction began under other speech of the agent."""
    asked = {t.id: t.asked_at for t in turns if t.due_kind == "instruction"}
    out = []
    for a in attributed:
        at = asked.get(a.turn or "")
        under = at is not None and any(
            s.start < at < s.end for r in responses if r.id != a.response for s in r.speech
        )
        out.append(replace(a, flags=(*a.flags, "overlapped")) if under else a)
    return tuple(out)


def says_any(text: str, golds: Sequence[str]) -> bool:
    """Whether the words of one of `golds` stand in `text`, one after the other."""
    words = _words(text)
    for gold in golds:
        want = _words(gold)
        if want and any(words[i : i + len(want)] == want for i in range(len(words))):
            return True
    return False


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
