"""What a text says stands before, left of, above or in front of what. Pure.

Two texts with the same words can say the opposite here. Counterpart: `simulator.judging.points`
compares the relations of an answer with those of the gold answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.judging.wording import Wording


@dataclass(frozen=True, slots=True)
class Relation:
    """Something before, left of, above or in front of something else."""

    kind: str
    one: frozenset[str]
    """Keys of what is before (left, above, in front)."""
    other: frozenset[str]
    said: str = ""
    at: int = 0
    words: frozenset[str] = frozenset()
    """Keys of the relation's own words."""


_FORWARD = {"before": "time", "then": "time", "above": "height", "over": "height"}
_BACKWARD = {"after": "time", "below": "height", "under": "height", "beneath": "height"}


def relations(wording: Wording) -> tuple[Relation, ...]:
    """The orders that a text states: `X before Y`, `after Y, X`, `X, then Y`, `X left of Y`, ..."""
    words = wording.words
    out: list[Relation] = []
    for i, word in enumerate(words):
        after = words[i + 1].text if i + 1 < len(words) else ""
        kind, forward, width = "", True, 1
        if word.text in _FORWARD:
            kind = _FORWARD[word.text]
        elif word.text in _BACKWARD:
            kind, forward = _BACKWARD[word.text], False
        elif word.text in ("left", "right") and after == "of":
            kind, forward, width = "side", word.text == "left", 2
        elif word.text == "followed" and after == "by":
            kind, width = "time", 2
        elif word.text == "front" and after == "of":
            kind, width = "depth", 2
        elif word.text == "behind":
            kind, forward = "depth", False
        if not kind:
            continue
        relation = _sides(wording, i, width, kind, forward)
        if relation is not None:
            out.append(relation)
    return tuple(out)


def _sides(wording: Wording, i: int, width: int, kind: str, forward: bool) -> Relation | None:
    words = wording.words
    own = frozenset(w.key for w in words[i : i + width])
    here = words[i]

    def keys(at: Sequence[int]) -> frozenset[str]:
        return frozenset(
            words[j].key
            for j in at
            if not words[j].stop and not words[j].negator and not words[j].key.startswith("#")
        )

    right = keys([j for j in range(i + width, len(words)) if words[j].segment == here.segment])
    near = [j for j in range(i) if words[j].segment == here.segment]
    left = keys(near)
    if here.text == "then" and not left:
        # "X, then Y" and "X. Then Y": what comes first is the part before.
        past = [w.segment for w in words[:i] if w.segment < here.segment and not w.stop]
        left = keys([j for j in range(i) if past and words[j].segment == past[-1]])
    elif not left:
        # "After Y, X": the other side follows the comma.
        coming = [w.segment for w in words[i:] if w.segment > here.segment]
        at = [j for j in range(i, len(words)) if coming and words[j].segment == coming[0]]
        left = keys([j for j in at if words[j].sentence == here.sentence])
    if not left or not right:
        return None
    one, other = (left, right) if forward else (right, left)
    said = " ".join(w.text for w in words[i : i + width])
    return Relation(kind=kind, one=one, other=other, said=said, at=i, words=own)
