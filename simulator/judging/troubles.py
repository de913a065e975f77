"""What spoils a key point at the place where its words stand: denial, rivals, choices. Pure.

Counterparts: `simulator.judging.points` finds the places, `simulator.judging.gold` says what the
gold answer does itself and may therefore not be held against an answer.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from simulator.judging.gold import Alternative, Gold
from simulator.judging.lexicon import (
    APPROXIMATE,
    ARTICLES,
    CORRECTIONS,
    EXCLUSIVE_WITH_AND,
    LABELS,
    MAYBE,
    PAST,
    PRESENT,
)
from simulator.judging.relations import relations
from simulator.judging.rivals import has_rival, rivals
from simulator.judging.stems import stem
from simulator.judging.wording import Word, Wording

LIST_LENGTH = 4
"""As many bare items in a row are a list to pick from, unless the gold answer has most of them."""
LONGEST_RUN = 20
"""As many numbers in a row are looked at, when somebody counts aloud."""

_STATING = frozenset({"is", "are", "was", "were", "will", "no"}) | CORRECTIONS
_EXCLUSIVE = frozenset(stem(w) for w in EXCLUSIVE_WITH_AND)


class Place:
    """One place in a text where an alternative's words stand, and what is wrong with it."""

    def __init__(self, text: Wording, place: tuple[int, ...], one: Alternative, gold: Gold) -> None:
        self.text = text
        self.words = text.words
        self.place = place
        self.one = one
        self.gold = gold
        self.sums: dict[int, list[int]] = {}

    def troubles(self, denied: bool) -> Iterator[tuple[str, str]]:
        """(kind, reason) of everything that spoils it, worst first."""
        at = set(self.place)
        by = {b for i in at for b in self.words[i].denied_by if b not in at}
        if denied:
            if not by:
                yield "denial", f'it is said without "not": "{self.quote()}"'
        elif by:
            yield "denial", f'it is denied: "{self.quote(min(by), max(by))}"'
        if any(self.words[i].supposed for i in at):
            yield "supposed", f'it is asked or supposed, not stated: "{self.quote()}"'
        yield from self.relation_troubles()
        for i in self.place:
            word = self.words[i]
            if has_rival(word.key):
                yield from self.rival_troubles(i, word, denied)
            yield from self.choice_troubles(i)
            yield from self.list_troubles(i)
            if word.number is not None:
                yield from self.count_troubles(i, word)

    def quote(self, *more: int) -> str:
        at = (*self.place, *more)
        low, high = min(at), max(at)
        return " ".join(w.text for w in self.words[low : high + 1])

    def relation_troubles(self) -> Iterator[tuple[str, str]]:
        want = self.one.relation
        if want is None:
            return
        one, other = want.one - want.other, want.other - want.one
        for has in relations(self.text):
            if has.kind == want.kind and one <= has.one and other <= has.other:
                return
        yield "order", f'the order "{want.said}" is not said so'

    # ------------------------------------------------------------ rivals

    def live(self, j: int) -> bool:
        word = self.words[j]
        return not word.denied_by and not word.supposed and j not in self.place

    def rival_troubles(self, i: int, word: Word, denied: bool) -> Iterator[tuple[str, str]]:
        for j, other in enumerate(self.words):
            if not self.live(j) or not rivals(word.key, other.key) or other.stop:
                continue
            if other.key in self.gold.licensed:
                if self.swapped(i, j):
                    yield "swap", f'"{word.text}" and "{other.text}" have changed places'
                continue
            if self.corrected(i, j):
                yield "correction", f'it is corrected to "{other.text}"'
            elif j in self.parts_of_sum(i):
                continue
            elif self.side_by_side(i, j) and not self.counted_up(i, j):
                yield "choice", f'it says "{self.span(i, j)}"'
            elif word.number is None and not denied and self.same_frame(i, j):
                yield "both", f'it says the same of "{other.text}"'

    def span(self, i: int, j: int) -> str:
        return " ".join(w.text for w in self.words[min(i, j) : max(i, j) + 1])

    def corrected(self, i: int, j: int) -> bool:
        """Whether what stands at j takes back what stands at i."""
        if not i < j <= i + 14:
            return False
        between = self.words[i + 1 : j]
        for n, word in enumerate(between, start=i + 1):
            sharp = word.text in CORRECTIONS or (word.key == "no" and self.text.breaks[n] != "")
            if sharp and j - n <= 7:
                return True
        return False

    def side_by_side(self, i: int, j: int) -> bool:
        """Whether two rivals are offered together: joined by `or`, `to`, a comma or nothing."""
        low, high = min(i, j), max(i, j)
        if self.words[low].sentence != self.words[high].sentence or high - low > 9:
            return False
        counts = self.words[i].number is not None
        shared = {w.key for w in self.words[high + 1 : high + 4]} if counts else set()
        joined = high == low + 1 and self.text.breaks[high] in ("", ",", "—")
        for n in range(low + 1, high):
            word = self.words[n]
            if word.text in MAYBE or (counts and word.text == "to"):
                joined = True
            elif word.text == "and":
                if not counts and self.words[i].key not in _EXCLUSIVE:
                    return False
                joined = True
            elif not (
                (word.key in shared and not word.stop)
                or word.text in self.fillers()
                or word.key == self.words[i].key
            ):
                return False
        commas = all(
            self.text.breaks[n] in ("", ",", "—") for n in range(low + 1, high + 1)
        ) and any(self.text.breaks[n] for n in range(low + 1, high + 1))
        return joined or commas

    @staticmethod
    def fillers() -> frozenset[str]:
        return ARTICLES | {
            "on", "in", "at", "it", "is", "they", "are", "there", "one", "your", "my", "even", "i",
            "think", "side", "could", "be", "might", "may", "what", "about",
        }  # fmt: skip

    def counted_up(self, i: int, j: int) -> bool:
        """`one, two, three` beside a statement of three elsewhere: counting aloud."""
        run = self.run_of_numbers(i)
        if j not in run or not self.counts_up(run):
            return False
        return any(
            self.words[n].key == self.words[i].key and n not in run and not self.words[n].denied_by
            for n in self.text.numbers
        )

    def run_of_numbers(self, i: int) -> list[int]:
        """The numbers that stand in a row around i."""
        run = [i]
        while run[0] > 0 and self.words[run[0] - 1].number is not None and len(run) < LONGEST_RUN:
            run.insert(0, run[0] - 1)
        while (
            run[-1] + 1 < len(self.words)
            and self.words[run[-1] + 1].number is not None
            and len(run) < LONGEST_RUN
        ):
            run.append(run[-1] + 1)
        return run

    def counts_up(self, run: Sequence[int]) -> bool:
        return [self.words[n].number for n in run] == [float(n + 1) for n in range(len(run))]

    def same_frame(self, i: int, j: int) -> bool:
        """Whether two clauses say the same of two rivals."""
        one, other = self.words[i].segment, self.words[j].segment
        if one == other:
            return False
        return self.rest(one, i) == self.rest(other, j)

    def rest(self, segment: int, but: int) -> frozenset[str]:
        inside = [self.words[n] for n in self.text.segments[segment] if n != but]
        return frozenset(w.key for w in inside if not w.stop and w.number is None)

    def near(self, text: Wording, key: str) -> frozenset[str]:
        """The content words of the clauses in which a word stands."""
        segments = {w.segment for w in text.words if w.key == key}
        return frozenset(
            w.key
            for w in text.words
            if w.segment in segments and not w.stop and not w.negator and not has_rival(w.key)
        )

    def swapped(self, i: int, j: int) -> bool:
        """Whether two words of the gold answer have changed places."""
        mine, its = self.words[i].key, self.words[j].key
        if self.words[i].segment == self.words[j].segment:
            return False
        here = self.rest_content(i)
        for gold in self.gold.texts[:1]:
            own, other = self.near(gold, mine), self.near(gold, its)
            own, other = own - other, other - own
            if own and other and here & other and not here & own:
                return True
        return False

    def rest_content(self, i: int) -> frozenset[str]:
        inside = [self.words[n] for n in self.text.segments[self.words[i].segment]]
        return frozenset(w.key for w in inside if not w.stop)

    # ------------------------------------------------------------ choices and lists

    def choice_troubles(self, i: int) -> Iterator[tuple[str, str]]:
        """`X or Y` where Y is not a part of the gold answer."""
        word = self.words[i]
        for n in range(max(0, i - 5), min(len(self.words), i + 6)):
            if self.words[n].text != "or" or self.words[n].sentence != word.sentence:
                continue
            side = self.side(n, 1 if n < i else -1)
            far = self.side(n, -1 if n < i else 1)
            if i not in side[:3] or not far:
                continue
            other = self.words[far[0]]
            if other.text == "so" or (other.stop and other.text != "not"):
                continue
            open_end = other.text == "not"
            denied = other.denied_by or word.denied_by
            if open_end or (other.key not in self.gold.licensed and not denied):
                yield "choice", f'it leaves open: "{self.span(i, far[0])}"'

    def side(self, n: int, step: int) -> list[int]:
        """The content words on one side of an `or`, nearest first, to the end of the clause."""
        out = []
        j = n + step
        while 0 <= j < len(self.words) and self.words[j].sentence == self.words[n].sentence:
            mark = self.text.breaks[j]
            if step > 0 and mark and j > n + 1:
                break
            if not self.words[j].stop or self.words[j].text == "so":
                out.append(j)
            if step < 0 and mark:
                break
            if len(out) >= 3 or self.words[j].text in ("and", "but"):
                break
            j += step
        return out

    def list_troubles(self, i: int) -> Iterator[tuple[str, str]]:
        """One item of a bare list that the gold answer does not have."""
        run = self.list_around(self.words[i].segment)
        inside = [n for s in run for n in self.text.segments[s]]
        ors = [n for n in inside if self.words[n].text == "or"]
        open_end = [n for n in ors if n > i and self.words[n].segment != self.words[i].segment]
        if open_end and self.words[open_end[-1] - 1].key not in self.gold.licensed:
            yield "choice", f'it leaves open: "{self.span(i, open_end[-1])} ..."'
        items = {self.words[n].key for n in inside if not self.words[n].stop}
        if len(run) >= LIST_LENGTH and len(items & self.gold.licensed) * 2 < len(items):
            yield "list", f"it is one of a list of {len(run)} things"

    def list_around(self, segment: int) -> list[int]:
        def bare(s: int) -> bool:
            inside = self.text.segments.get(s, ())
            if not inside or self.words[inside[0]].sentence != sentence:
                return False
            content = [n for n in inside if not self.words[n].stop]
            said = {self.words[n].text for n in inside}
            return 1 <= len(content) <= 2 and not said & _STATING

        sentence = self.words[self.text.segments[segment][0]].sentence
        low = high = segment
        while bare(low - 1):
            low -= 1
        while bare(high + 1):
            high += 1
        return list(range(low, high + 1))

    # ------------------------------------------------------------ numbers

    def count_troubles(self, i: int, word: Word) -> Iterator[tuple[str, str]]:
        """Another number where this one should stand alone."""
        before = " ".join(w.text for w in self.words[max(0, i - 2) : i])
        for phrase, said in APPROXIMATE.items():
            if before.endswith(phrase):
                yield "approximate", f'it says "{said} {word.text}"'
        whole = self.part_of(i)
        if whole is not None:
            yield "part", f'it says "{self.span(i, whole)}"'
        parts = self.parts_of_sum(i)
        for j in self.other_numbers(i):
            if j not in parts and self.same_role(i, j):
                yield "number", f'it also says "{self.words[j].text}"'

    def other_numbers(self, i: int) -> list[int]:
        """Where other numbers stand that could contradict the one at i."""
        mine = self.words[i].key
        same = {mine, *self.gold.licensed}
        found = [j for j in self.text.numbers if self.words[j].key not in same]
        return [j for j in found if self.live(j) and not self.harmless(i, j)]

    def parts_of_sum(self, i: int) -> list[int]:
        """`three: two on the left and one on the right`: the parts of a number, told after it."""
        total = self.words[i].number
        if total is None:
            return []
        if i in self.sums:
            return self.sums[i]
        parts = [j for j in self.other_numbers(i) if j > i and self.head(j)]
        whole = sum(self.words[j].number or 0.0 for j in parts) == total
        self.sums[i] = parts if whole and len(parts) > 1 else []
        return self.sums[i]

    def part_of(self, i: int) -> int | None:
        """For the `three` of `two of the three`: where the `two` stands."""
        j = i - 1
        while j >= 0 and self.words[j].text in ("the", "these", "those", "all", "your", "my"):
            j -= 1
        if j >= 1 and self.words[j].text == "of" and self.words[j - 1].number is not None:
            return j - 1 if self.words[j - 1].key != self.words[i].key else None
        return None

    def harmless(self, i: int, j: int) -> bool:
        """Whether a number is a name, a whole, a past state or taken back."""
        label = self.words[j - 1].text in LABELS if j else False
        mine = self.words[i - 1].text in LABELS if i else False
        referred = any(w.text in ("after", "before", "than") for w in self.words[max(0, j - 3) : j])
        if (label and not mine) or referred:
            return True
        if self.part_of(j) is not None or self.corrected(j, i) or self.counted_up(i, j):
            return True
        if self.run_up(i, j):
            return True
        past = self.tense(j, PAST) and not self.tense(j, PRESENT)
        return past and not self.tense(i, PAST)

    def run_up(self, i: int, j: int) -> bool:
        """Whether j is in a count from one up to this number, which is stated elsewhere."""
        run = self.run_of_numbers(j)
        last = self.words[run[-1]].number
        return (
            len(run) > 1 and i not in run and last == self.words[i].number and self.counts_up(run)
        )

    def tense(self, i: int, marks: frozenset[str]) -> bool:
        return any(self.words[n].text in marks for n in self.text.segments[self.words[i].segment])

    def same_role(self, i: int, j: int) -> bool:
        mine, its = self.head(i), self.head(j)
        if mine & its:
            return True
        if not its:
            return self.elliptic(j)
        return not mine and bool(its & self.gold.topic)

    def head(self, i: int) -> frozenset[str]:
        """What a number counts: the content words after it, up to three, in its clause."""
        out: list[str] = []
        for j in range(i + 1, len(self.words)):
            word = self.words[j]
            if word.segment != self.words[i].segment or word.number is not None or len(out) == 3:
                break
            if not word.stop:
                out.append(word.key)
        return frozenset(out)

    def elliptic(self, j: int) -> bool:
        """Whether a number stands for the whole answer: nothing is said of it after it."""
        after = itertools.takewhile(
            lambda w: w.segment == self.words[j].segment, self.words[j + 1 :]
        )
        return not any(w.text in ("is", "are", "was", "were", "in", "on", "at") for w in after)
