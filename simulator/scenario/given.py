"""Instructions as an author writes them, as values: when one is given, and how writing appears.

Counterpart: `simulator.scenario.checks` builds turns with these.
"""

from __future__ import annotations

from simulator.scenario.schema import ShowModel
from simulator.scenario.types import Anchor, Corner, Placement, Show

_LETTER = {"typed": 0.07, "handwritten": 0.12}
"""Seconds that a letter takes where the author does not say how long the whole takes."""


def written(show: ShowModel) -> Show:
    """A written instruction."""
    pace = _LETTER[show.style]
    return Show(
        text=" ".join(show.text.split()),
        style="handwritten" if show.style == "handwritten" else "typed",
        full=show.place == "full",
        corner=Corner(show.corner),
        takes=show.takes if show.takes is not None else round(max(0.4, pace * len(show.text)), 2),
        stay=show.stay,
        placement=placement(show.at),
    )


def placement(at: float | str) -> Placement:
    """When an instruction is given: a clip time, `start`, `end`, or `speaking + 1.5`."""
    if isinstance(at, float):
        return Placement(anchor=Anchor.TIME, at=at)
    if "+" in at:
        anchor, after = at.split(" + ")
        return Placement(anchor=Anchor(anchor), at=float(after))
    return Placement(anchor=Anchor(at))
