"""Answers that the provider says it could not give, and whose turn each would have been. Pure.

A response that failed before it said anything, an error in place of one that was asked for, an
error of the whole session: neither a miss nor silence. A content filter's refusal is the model's
answer, a reply that yielded to the user is no failure, and one that was cut after it had said
something is judged on that. After a failure that lasts (a quota, a key, a session that is over),
of an agent that says nothing again, all that follows is left to it. Counterparts:
`simulator.measuring.measure` puts them into the trace, `simulator.judging.run` makes `agent_error`
of a turn that has nothing else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from simulator.measuring.trace import Attributed, Failure, Response, TurnSpan, unanswered
from simulator.protocol.ownership import Ownership, closes
from simulator.recording.records import FaultRecord

SHARE = 0.1
"""Of an attempt's turns: with more than these left to the provider's failures the agent failed."""
FILTERED = "content_filter"
"""Why a response is incomplete that the model, or what guards it, did not want to give."""
_LASTS = re.compile(
    r"quota|billing|payment|credit|balance|expired|terminated|deactivated|suspended|api_?key|"
    r"unauthori[sz]ed|authentication|permission|forbidden|40[123]$"
)
"""In a provider's code: it will not go away by itself."""


def failures(
    turns: Sequence[TurnSpan],
    responses: Sequence[Response],
    attributed: Sequence[Attributed],
    faults: Iterable[tuple[float, FaultRecord]],
) -> tuple[Failure, ...]:
    """What the provider failed at, in order. `faults` with their session times.

    The wire's own word says whose it was, else the time at which it came, by the rules for answers.
    """
    faults = list(faults)
    owners = Ownership([t for t in turns if t.reached])
    by_id = {t.id: t for t in owners.turns}
    onsets = {r.id: r.onset for r in responses}
    given = sorted(
        (onset, a.response, a.turn)
        for a in attributed
        if a.by != "token" and a.turn in by_id and (onset := onsets[a.response]) is not None
    )
    found = [f for r in responses if (f := _failed(r)) is not None]
    found += [
        Failure(at=t, turn=r.of, code=r.code, message=r.message) for t, r in faults if r.unanswered
    ]
    out = []
    for i, failure in enumerate(sorted(found, key=lambda f: f.at)):
        while given and given[0][0] <= failure.at:
            _, response, turn = given.pop(0)
            owners.take(response, by_id[turn or ""])
        named = by_id.get(failure.turn or "")
        whose = named or owners.whose(failure.at)[0]
        if whose is not None:
            # It was what came of that turn: another one later on is not that turn's again.
            owners.take(f"failure {i}", whose)
        out.append(failure.of(None if whose is None else whose.id))
    over = {t for t, r in faults if r.unanswered and r.fatal}
    out += _since(owners.turns, responses, attributed, out, over)
    return tuple(sorted(out, key=lambda f: f.at))


def _since(
    turns: Sequence[TurnSpan],
    responses: Sequence[Response],
    attributed: Sequence[Attributed],
    failed: Sequence[Failure],
    over: Collection[float],
) -> list[Failure]:
    """The turns that were going on, or came, after a failure that lasts and after which the agent
    said nothing again, as far as they have none of their own. `over`: when the session was."""
    last = max((r.onset for r in responses if r.onset is not None), default=-math.inf)
    after = (f for f in failed if f.at >= last)
    first = next((f for f in after if f.at in over or _LASTS.search(f.code.lower())), None)
    if first is None:
        return []
    known = {a.turn for a in attributed} | {f.turn for f in failed}
    words = f"{first.message} (at {first.at:.1f} s; it said nothing since)".lstrip()
    return [
        replace(first, at=max(first.at, t.start), turn=t.id, message=words, response=None)
        for t in turns
        if t.done > first.at and t.id not in known and not _missed(t, first.at)
    ]


def _missed(turn: TurnSpan, before: float) -> bool:
    """Whether an answer to it was out of time before."""
    return turn.conduct.owed and turn.due is not None and closes(turn) < before


def _failed(response: Response) -> Failure | None:
    """A response as a failure, if it is one."""
    filtered = response.status == "incomplete" and response.reason == FILTERED
    if response.status not in ("failed", "incomplete") or filtered:
        return None
    if response.onset is not None or response.begun is None:
        return None
    return Failure(
        at=response.begun,
        turn=response.trigger,
        code=response.reason or response.status,
        message=response.message or "",
        response=response.id,
    )


def left_unanswered(
    turns: Sequence[TurnSpan], attributed: Sequence[Attributed], failed: Sequence[Failure]
) -> list[Failure]:
    """The first failure of each turn in which nothing else came of the agent."""
    first = unanswered(attributed, failed)
    return [first[t.id] for t in turns if t.id in first]


def too_many(turns: Sequence[TurnSpan], left: Sequence[Failure]) -> str:
    """Why the agent failed as a whole, if it did; else empty."""
    if len(left) <= SHARE * len(turns):
        return ""
    return f"agent_error: in {len(left)} of {len(turns)} turns, first {left[0].told}"
