"""The decision that is asked for at a turn's end, where the simulator decides. Pure.

`Decide.TURN_END` is how OmniAssistBench runs its models: one forced decision a turn, in quiet turns
too. The server's own turn detection is off; when a turn has been sent, its sound is committed, and
once that is acknowledged a response is asked for, which names the turn. Counterpart:
`simulator.session.script` carries a decision along with its turn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simulator.protocol.events import (
    Acknowledged,
    AgentSpeech,
    Cancel,
    Command,
    Commit,
    Event,
    Fault,
    Respond,
    ResponseStarted,
)

SETTLE = 0.1
"""Seconds from a turn's end to the commit: sound and messages take different ways, and all of the
sound has to be there before."""
ACKNOWLEDGED_WITHIN = 0.5
"""Seconds for which the acknowledgement of a commit is waited for."""
EPS = 1e-6


@dataclass(slots=True)
class Decision:
    """The one decision that is asked for in a turn."""

    turn: str
    """Its id."""
    commit_at: float
    within: float
    """Seconds in which a response has to have begun, from when it was asked for."""
    again_within: float
    """And from when the agent says that it cannot give it: it may try again by itself."""
    committed: float | None = None
    acknowledged: bool = False
    asked: float | None = None
    begun: bool = False
    """There is a response, or sound: what becomes of it is followed like any other reply."""
    failed: float | None = None
    """When the agent first said that there will be none."""

    def hear(self, event: Event, now: float) -> None:
        match event:
            case Acknowledged(what="commit"):
                self.acknowledged = self.committed is not None
            case ResponseStarted() | AgentSpeech(edge="start"):
                self.begun = self.begun or self.asked is not None
            case Fault(unanswered=True) if self.asked is not None and self.failed is None:
                self.failed = now
            case _:
                pass

    def orders(self, now: float, *, talks: bool, response: str | None) -> list[Command]:
        """What is to be sent now. `talks`: a reply from before is going on, of the wire's
        `response` if that has not been finished; it is cut, as there can be but one."""
        out: list[Command] = []
        if self.committed is None and now >= self.commit_at - EPS:
            self.committed = now
            out += [Cancel(response=response)] if talks else []
            out.append(Commit())
        if self.committed is None or self.asked is not None:
            return out
        if self.acknowledged or now >= self.committed + ACKNOWLEDGED_WITHIN - EPS:
            self.asked = now
            out.append(Respond(turn=self.turn))
        return out

    def pending(self, now: float) -> bool:
        """Whether a response is still to begin."""
        return not self.begun and now < self.until - EPS

    @property
    def until(self) -> float:
        """How long its beginning is waited for."""
        asked = self.commit_at + ACKNOWLEDGED_WITHIN if self.asked is None else self.asked
        again = math.inf if self.failed is None else self.failed + self.again_within
        return min(asked + self.within, again)

    @property
    def next_at(self) -> float | None:
        """When `orders` has something to say, if nothing happens before."""
        if self.asked is not None:
            return None
        return self.commit_at if self.committed is None else self.committed + ACKNOWLEDGED_WITHIN
