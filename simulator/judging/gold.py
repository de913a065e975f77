"""What a turn wants to hear, read once: its right answers and its key points. Pure.

Counterpart: `simulator.judging.points` holds an answer against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.judging.relations import Relation, relations
from simulator.judging.rivals import rivals
from simulator.judging.wording import Wording, read


@dataclass(frozen=True, slots=True)
class Alternative:
    """One wording of a point, as what must be found."""

    text: str
    keys: tuple[str, ...]
    denied: bool
    """It is the denial of its words that makes the point."""
    relation: Relation | None = None


class Gold:
    """What a turn wants to hear: its right answers and its key points, read once."""

    def __init__(
        self, texts: Sequence[str], points: Sequence[tuple[str, ...]], asked: str = ""
    ) -> None:
        """`texts`: gold answer and accepted ones; `asked`: the words of the instruction."""
        self.texts = [read(t) for t in texts]
        self.points = [tuple(p) for p in points] or [
            (w,) for w in content_points(self.texts[0], read(asked))
        ]
        said = [*self.texts, *(read(a) for p in self.points for a in p)]
        self.licensed = frozenset(
            w.key for t in said for w in t.words if not w.denied_by and not w.stop
        )
        """What the gold answer says itself is no rival of another part of it."""
        self.topic = frozenset(
            w.key for t in (*said, read(asked)) for w in t.words if not w.stop and w.number is None
        )
        self.relations = [r for t in self.texts for r in relations(t)]
        self.words = max((len(t.content()) for t in self.texts), default=0)


def content_points(gold: Wording, asked: Wording) -> list[str]:
    """The points of an answer whose author gave none: its content words.

    Words that the question has said already need not be said again, unless it offered a choice
    between them.
    """
    words = [gold.words[i] for i in gold.content()]
    given = {w.key for w in asked.words}
    fresh = [w for w in words if w.key not in given]
    # "left or right?": what the question offers is what the answer has to choose from.
    offered = {k for k in given if any(rivals(k, other) for other in given)}
    kept = [w for w in words if w in fresh or w.key in offered] if fresh else words
    out: list[str] = []
    for word in kept:
        said = f"not {word.text}" if word.denied_by else word.text
        if said not in out:
            out.append(said)
    return out
