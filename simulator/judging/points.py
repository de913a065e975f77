"""Looks for key points in an answer and says, for each, whether it was made or what spoils it.

A point is made when the words of one of its alternatives stand close together in one clause, in any
order, and nothing there takes them back: denial, a rival (another number, left for right), a choice
left open, a correction, a list to pick from, the order of two things turned round. What the gold
answer itself does is allowed to the answer. Pure. Counterparts: `simulator.judging.wording` reads
the texts, `judges/keypoints.py` turns the result into a verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from simulator.judging.gold import Alternative, Gold
from simulator.judging.lexicon import CONTRAST
from simulator.judging.relations import relations
from simulator.judging.rivals import rivals
from simulator.judging.troubles import Place
from simulator.judging.wording import Wording, read

CANDIDATES = 16
"""Places of an alternative in an answer that are looked at, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PointResult:
    """Whether one key point was made."""

    point: tuple[str, ...]
    """Its alternatives, as the author wrote them."""
    met: bool
    by: str = ""
    """The alternative that was found."""
    why: str = ""
    """If not made: the reason, in words."""


def judge_points(answer: str, gold: Gold) -> list[PointResult]:
    """Whether each key point of `gold` is made in `answer`."""
    wording = read(answer)
    sheet = _Sheet(wording, gold)
    return [sheet.point(p) for p in gold.points]


class _Sheet:
    """One answer against one gold."""

    def __init__(self, answer: Wording, gold: Gold) -> None:
        self.answer = answer
        self.words = answer.words
        self.gold = gold

    @cached_property
    def stuffing(self) -> str:
        """Why the answer is a heap of keywords, if it is."""
        content = [w for w in self.words if not w.stop and not w.negator]
        plain = len(self.words) - len(content)
        distinct = len({w.key for w in content})
        bare = plain <= 0.12 * len(self.words) and len(content) >= 6
        if bare and distinct >= 3 and len(content) > 2 * self.gold.words + 2:
            return f"a list of {len(content)} keywords, not a statement"
        return ""

    @cached_property
    def turned(self) -> list[tuple[frozenset[str], str]]:
        """Words whose order the answer states the other way round than the gold answer."""
        out = []
        for want in self.gold.relations:
            one, other = want.one - want.other, want.other - want.one
            for has in relations(self.answer):
                if has.kind != want.kind or not (one and other):
                    continue
                same = (one & has.one and not one & has.other) or (
                    other & has.other and not other & has.one
                )
                if one & has.other and other & has.one and not same:
                    out.append((one | other, f'the order is turned round ("{has.said}")'))
        return out

    # ------------------------------------------------------------ one point

    def point(self, alternatives: tuple[str, ...]) -> PointResult:
        wanted = [a for a in (self.alternative(t) for t in alternatives) if a.keys]
        flipped = any(self.denied_in_gold(a) for a in wanted if not a.denied)
        stated = any(self.stated_in_gold(a) for a in wanted if not a.denied)
        whys: list[str] = []
        for one in wanted:
            denied = one.denied or (flipped and not stated)
            allowed = self.allowed(one, denied)
            why = self.find(one, denied, allowed)
            if why is None:
                return PointResult(point=alternatives, met=True, by=one.text)
            whys.append(why)
        spoilt = [w for w in whys if w] or [self.missing(wanted)]
        return PointResult(point=alternatives, met=False, why=spoilt[0])

    def alternative(self, text: str) -> Alternative:
        wording = read(text)
        words = wording.words
        own = next(iter(relations(wording)), None)
        if own is not None:
            keys = tuple(dict.fromkeys((*sorted(own.one), *sorted(own.other))))
            return Alternative(text=text, keys=keys, denied=False, relation=own)
        denied = any(w.denied_by for w in words) and not any(w.number == 0 for w in words)
        at = wording.content()
        keys = tuple(dict.fromkeys(words[i].key for i in at if not (denied and words[i].negator)))
        last = words[-1] if words else None
        if last is not None and last.text == "on" and last.key not in keys:
            keys = (*keys, last.key)  # "turn it on": here it is a point
        return Alternative(text=text, keys=keys, denied=denied)

    def denied_in_gold(self, one: Alternative) -> bool:
        return any(self.occurs(t, one, denied=True) for t in self.gold.texts[:1])

    def stated_in_gold(self, one: Alternative) -> bool:
        return any(self.occurs(t, one, denied=False) for t in self.gold.texts[:1])

    @staticmethod
    def occurs(text: Wording, one: Alternative, *, denied: bool) -> bool:
        return any(
            any(text.words[i].denied_by for i in place) is denied for place in _places(text, one)
        )

    def allowed(self, one: Alternative, denied: bool) -> frozenset[str]:
        """The kinds of trouble that the gold answer has itself with this point."""
        kinds: set[str] = set()
        for text in self.gold.texts[:1]:
            for place in _places(text, one):
                kinds |= {k for k, _ in Place(text, place, one, self.gold).troubles(denied)}
        return frozenset(kinds)

    def find(self, one: Alternative, denied: bool, allowed: frozenset[str]) -> str | None:
        """None if the point is made; else why not ("" if the words are just not there)."""
        first = ""
        met = False
        for place in _places(self.answer, one):
            found = Place(self.answer, place, one, self.gold)
            why = next((w for k, w in found.troubles(denied) if k not in allowed), "")
            if not why:
                met = True
            elif met and why.startswith("it is denied") and not denied:
                return f"the answer says it and then denies it: {why}"
            first = first or why
        if not met:
            return first
        for keys, why in self.turned:
            if keys & set(one.keys):
                return why
        return self.stuffing or None

    def missing(self, wanted: Sequence[Alternative]) -> str:
        """What there is instead of a point that was not found."""
        if not wanted:
            return "the point has no words"
        best = wanted[0]
        said = {w.key: w for w in self.words if not w.denied_by and not w.supposed}
        for one in wanted:
            for key in one.keys:
                for other, word in said.items():
                    if rivals(key, other) and other not in self.gold.licensed:
                        return f'the answer says "{word.text}"'
        have = [k for k in best.keys if k in said]
        lack = [k for k in best.keys if k not in said]
        if have and lack:
            names = {k: n for n, k in _names(best)}
            return f'it has "{names.get(have[0], have[0])}" but not "{names.get(lack[0], lack[0])}"'
        return "not said" if lack else "its words are not together in one clause"


def _names(one: Alternative) -> list[tuple[str, str]]:
    return [(w.text, w.key) for w in read(one.text).words]


# ---------------------------------------------------------------- places


def _places(text: Wording, one: Alternative) -> Iterator[tuple[int, ...]]:
    """Where the words of an alternative stand close together, in one clause or two joined ones."""
    words = text.words
    spots: list[list[int]] = []
    for key in one.keys:
        at = [i for i, w in enumerate(words) if w.key == key]
        if not at:
            return
        spots.append(at)
    spots.sort(key=len)
    reach = 4 + 3 * len(one.keys) + (8 if one.relation is not None else 0)
    seen: set[tuple[int, ...]] = set()
    for anchor in spots[0][:CANDIDATES]:
        home = words[anchor].segment

        def far(i: int, anchor: int = anchor, home: int = home) -> tuple[bool, int]:
            return words[i].segment != home, abs(i - anchor)

        place = tuple(sorted([anchor, *(min(at, key=far) for at in spots[1:])]))
        if place in seen or place[-1] - place[0] > reach:
            continue
        if words[place[0]].sentence != words[place[-1]].sentence and one.relation is None:
            continue
        if not _together(text, place, one):
            continue
        seen.add(place)
        yield place


def _together(text: Wording, place: tuple[int, ...], one: Alternative) -> bool:
    """Whether words in different clauses can be said of one thing: no rival between them."""
    words = text.words
    if one.relation is not None or words[place[0]].segment == words[place[-1]].segment:
        return True
    for i, word in enumerate(words):
        if i in place or not words[place[0]].segment <= word.segment <= words[place[-1]].segment:
            continue
        if (word.text in CONTRAST and i > place[0]) or any(rivals(k, word.key) for k in one.keys):
            return False
    return True
