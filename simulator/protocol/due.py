"""When it falls due what a turn wants: said here once, for the live script, cues and measuring.

It can be asked on any time line (a segment's own, or session time), as long as all that is given
lies on one. Pure. Counterparts: `simulator.media.timeline.falls_due` asks it of prepared media,
`simulator.measuring.spans` of a manifest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from simulator.protocol.conduct import Conduct

DueKind = Literal["instruction", "event", "speech"]
"""What makes it due: the end of what the user asks, something that happens, or, where silence is
wanted, the end of what anybody says."""


class Said(NamedTuple):
    """An instruction, or a bystander's speech, in a turn."""

    voice: str
    start: float
    """First audible sample, or first picture."""
    end: float
    """Just after the last audible sample, or the last new picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """When something falls due, and why."""

    at: float | None = None
    """None if nothing does."""
    kind: DueKind | None = None
    asked_at: float | None = None
    """Since when it can be answered, if what asks for it lies in the turn."""


def due(
    conduct: Conduct,
    said: Sequence[Said],
    *,
    event: float | None = None,
    decided_at: float | None = None,
) -> Due:
    """When a turn falls due in which these things are said.

    `event`: when something happens that calls for an answer. `decided_at`: when the agent is made
    to decide, if it is, since nobody can answer before being asked: at the turn's end, wherever in
    it the instruction or the event lies.
    """
    found = _by_itself(conduct, said, event)
    if decided_at is None or not conduct.owed:
        return found
    return Due(at=decided_at, kind=found.kind, asked_at=found.asked_at)


def _by_itself(conduct: Conduct, said: Sequence[Said], event: float | None) -> Due:
    asking = [s for s in said if s.voice == "user"]
    if event is not None:
        return Due(at=event, kind="event", asked_at=min((s.start for s in asking), default=None))
    quiet = conduct.silent or not asking
    counted = said if quiet else asking
    if not counted:
        return Due()
    return Due(
        at=max(s.end for s in counted),
        kind="speech" if quiet else "instruction",
        asked_at=min(s.start for s in counted),
    )
