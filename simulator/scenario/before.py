"""Prior knowledge that is seen before the author's first turn: a card with the steps, an example.

Counterparts: `simulator.scenario.load` puts these turns first, `simulator.media.card` draws a card.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from simulator.scenario.expectations.either import Either
from simulator.scenario.schema import PriorModel
from simulator.scenario.types import Clip, Scenario, Turn

CARD, EXAMPLE = "prior-card", "prior-clip"
"""Ids of the turns."""
_SHORTEST = 4.0
_WORD = 0.4
"""Seconds for which a card stands at least, and for each of its words: read at leisure."""


def check(
    prior: PriorModel,
    clips: Mapping[str, Clip],
    ids: Sequence[str],
    add: Callable[[Sequence[str | int], str], None],
) -> None:
    """Tell `add` what is wrong with `prior`: where, and what is wrong and allowed."""
    forms = [form for form in prior.forms if form != "clip"]
    if forms and not prior.steps:
        add(("steps",), f"is missing: needed with `as: {forms[0]}`")
    example = "clip" in prior.forms
    if example and prior.clip is None:
        add(("clip",), f"is missing: needed with `as: clip`; allowed: {', '.join(clips)}")
    if example and prior.until is None:
        add(("until",), "is missing: the time at which the example ends")
    if not example:
        for key, there in (("clip", prior.clip), ("until", prior.until), ("from", prior.start)):
            if there:
                add((key,), "is allowed only with `as: clip`")
    if prior.clip is not None and clips and prior.clip not in clips:
        add(("clip",), f"{prior.clip!r} is no clip; allowed: {', '.join(clips)}")
    if prior.until is not None and prior.until <= prior.start:
        add(("until",), f"{prior.until:g} must be after `from` ({prior.start:g})")
    if prior.card_for is not None and "card" not in prior.forms:
        add(("card_for",), "is allowed only with `as: card`")
    for name in {CARD, EXAMPLE} & set(ids):
        add(("as",), f"{name!r} is the id of a turn; give that turn another one")


def with_prior(prior: PriorModel, goal: str, turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns behind those that tell what `prior` says."""
    first = list(_turns(prior, goal))
    return tuple(replace(turn, index=n) for n, turn in enumerate((*first, *turns)))


def listed(scenario: Scenario, turn: Turn) -> int:
    """Where a turn stands in the file's own list, which has none of those that come first."""
    return turn.index - sum(t.prior for t in scenario.turns)


def _turns(prior: PriorModel, goal: str) -> Iterator[Turn]:
    if "card" in prior.forms:
        steps = (f"{n}. {step}" for n, step in enumerate(prior.steps, 1))
        lines = (*filter(None, (goal.strip(),)), *steps)
        words = sum(len(line.split()) for line in lines)
        yield Turn(
            id=CARD,
            index=0,
            clip="",
            start=0.0,
            end=prior.card_for or max(_SHORTEST, round(_WORD * words)),
            expect=Either(),
            prior=True,
            card=lines,
        )
    if "clip" in prior.forms and prior.clip is not None and prior.until is not None:
        yield Turn(
            id=EXAMPLE,
            index=0,
            clip=prior.clip,
            start=prior.start,
            end=prior.until,
            expect=Either(),
            prior=True,
        )
