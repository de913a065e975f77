"""What a cued baseline is told of the turn that begins: the right answer, and when it falls due.

Pure. Counterpart: `simulator.bridge` reads it. No agent that is being evaluated ever gets one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simulator.media.timeline import PreparedTurn, falls_due
from simulator.protocol.conditions import Decide
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.types import Turn

CUE = "omnistage.cue"
"""The message's type on the wire."""


def _seen(turn: Turn) -> bool:
    """Whether an answer is asked for by something to see, whose end cannot be heard."""
    asked = [i for i in turn.instructions if i.voice == "user"]
    return bool(asked) and asked[-1].kind in ("show", "gesture") and isinstance(turn.expect, Answer)


def cue(
    prepared: PreparedTurn, starts_in: float, decide: Decide = Decide.AGENT
) -> Mapping[str, Any]:
    """The message. `starts_in`: seconds from sending it until the turn's first sample."""
    turn = prepared.turn
    return {
        "type": CUE,
        "turn": {
            "id": turn.id,
            "index": turn.index,
            "expect": turn.expect.kind,
            "answer": turn.expect.text if isinstance(turn.expect, Answer) else None,
            "asked": turn.asked,
            "duration": prepared.duration,
            "due_in": falls_due(prepared, decide),
            "event": turn.event is not None or _seen(turn),
        },
        "starts_in": starts_in,
    }
