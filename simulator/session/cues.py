"""What a cued baseline is told of the turn that begins: the right answer, and when it falls due.

Pure. Counterparts: `simulator.session.script` orders it, `simulator.bridge` reads it. No agent that
is being evaluated ever gets one.
"""

from __future__ import annotations

from simulator.media.timeline import PreparedTurn, falls_due
from simulator.protocol.conditions import Decide
from simulator.protocol.conduct import Wants
from simulator.protocol.events import Cue
from simulator.scenario.types import Turn


def _seen(turn: Turn) -> bool:
    """Whether an answer is asked for by something to see, whose end cannot be heard."""
    asked = [i for i in turn.instructions if i.voice == "user"]
    owed = turn.expect.wants is Wants.ANSWER
    return owed and bool(asked) and asked[-1].kind in ("show", "gesture")


def cue(prepared: PreparedTurn, starts_in: float, decide: Decide = Decide.AGENT) -> Cue:
    """The cue of a turn that begins `starts_in` seconds from now."""
    turn = prepared.turn
    return Cue(
        turn=turn.id,
        index=turn.index,
        wants=turn.expect.wants,
        answer=next(iter(turn.expect.right), None),
        asked=turn.asked,
        duration=prepared.duration,
        due_in=falls_due(prepared, decide).at,
        event=turn.event is not None or _seen(turn),
        starts_in=starts_in,
    )
