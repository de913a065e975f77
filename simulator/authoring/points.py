"""Key points that the rules judge could not tell apart, found before anybody is judged by them.

Counterpart: `simulator.judging.points` has the rules themselves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from simulator.judging.gold import Gold
from simulator.judging.points import judge_points
from simulator.judging.wording import read
from simulator.protocol.silence import is_silence_token
from simulator.scenario.before import listed
from simulator.scenario.expectations.answer import Answer, KeyPoint
from simulator.scenario.types import Scenario, Turn

Trouble = tuple[tuple[str | int, ...], str]
"""Where in the file, and what is wrong."""


def weak_points(scenario: Scenario) -> Iterator[Trouble]:
    """What the `keypoints` judge would misjudge in a scenario's own answers."""
    before: Turn | None = None
    for turn in scenario.turns:
        if not isinstance(turn.expect, Answer):
            continue
        expect = turn.expect
        at: tuple[str | int, ...] = ("turns", listed(scenario, turn))
        if is_silence_token(expect.text):
            yield (*at, "answer"), "is the sign for keeping quiet; write `quiet: true` instead"
            continue
        if expect.key_points:
            yield from _own(turn, expect, at, _asked(scenario, turn))
            if before is not None and isinstance(before.expect, Answer):
                yield from _neighbour(turn, expect, before, before.expect, at)
        before = turn


def _own(turn: Turn, expect: Answer, at: tuple[str | int, ...], asked: str) -> Iterator[Trouble]:
    empty = [n for n, point in enumerate(expect.key_points) if not any(map(_keys, point))]
    for n in empty:
        yield (
            (*at, "key_points", n),
            f"{expect.key_points[n][0]!r} has no word that the judge looks for",
        )
    for (one, a), (other, b) in combinations(enumerate(expect.key_points), 2):
        same = {_keys(x) for x in a} & {_keys(x) for x in b}
        if any(same):
            yield (
                (*at, "key_points", other),
                f"{b[0]!r} cannot be told from the point {a[0]!r} (number {one + 1}): "
                "the same words make both",
            )
    if empty:
        return
    for n, text in enumerate((expect.text, *expect.accept)):
        lost = _lost(text, expect, asked)
        if lost:
            where = (*at, "answer") if n == 0 else (*at, "accept", n - 1)
            yield where, f"does not make the turn's own key point {lost[0][0]!r}"
    # What is to be told at an event is in the standing instruction anyway: there the time counts.
    if asked and turn.event is None and not _lost(asked, expect, asked):
        yield (
            (*at, "key_points"),
            "are all in the question, so that repeating it counts as an answer",
        )


def _neighbour(
    turn: Turn, expect: Answer, before: Turn, said: Answer, at: tuple[str | int, ...]
) -> Iterator[Trouble]:
    """A late answer to the turn before must not pass for an answer to this one."""
    if set(said.key_points) == set(expect.key_points):
        return
    if read(said.text).plain() == read(expect.text).plain():
        return
    if not _lost(said.text, expect, ""):
        yield (
            (*at, "key_points"),
            f"are all in the answer of turn {before.id!r}, {said.text!r}: the judge cannot tell "
            "the two apart",
        )


def _lost(text: str, expect: Answer, asked: str) -> Sequence[KeyPoint]:
    """The points that `text` does not make."""
    gold = Gold((expect.text, *expect.accept), expect.key_points, asked)
    return [r.point for r in judge_points(text, gold) if not r.met]


def _keys(text: str) -> frozenset[str]:
    wording = read(text)
    return frozenset(
        ("not " if wording.words[i].denied_by else "") + wording.words[i].key
        for i in wording.content()
    )


def _asked(scenario: Scenario, turn: Turn) -> str:
    ids = {turn.id, turn.asked_in}
    said = [
        i
        for t in scenario.turns
        if t.id in ids
        for i in t.instructions
        if getattr(i, "voice", "user") == "user"
    ]
    # As a statement: the judge gives nothing for a question, but a model may not say it as one.
    return " ".join(str(getattr(i, "text", "")) for i in said).strip().replace("?", ".")
