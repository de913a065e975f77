"""Recordings that never were, for tests of judges: a turn, what was said when, as a Question.

    q = question(answers("count", "There are three."), said("Three.", at=0.6))
    verdict = await MyJudge().judge(q)

Public: for people who write judges (judges/README.md). `trace` and `scenario` build whole sessions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from simulator.judging.judge import Question
from simulator.measuring.attribution import attribute
from simulator.measuring.trace import (
    Heard,
    Life,
    Pacing,
    Response,
    Speech,
    Trace,
    TurnSpan,
)
from simulator.protocol.conditions import USUAL, Conditions
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.expectations.contract import Expectation
from simulator.scenario.expectations.either import Either
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.types import (
    Clip,
    Say,
    Scenario,
    Turn,
)

SEGMENT = 10.0
"""Seconds that every turn lasts; an instruction is said from 7 to 9 s of it."""
ASKED, DUE = 7.0, 9.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scripted:
    """A turn to be: what is asked and expected."""

    id: str
    expect: Expectation
    asks: str = ""
    """The instruction; empty if nobody speaks."""
    voice: str = "user"
    within: float = 5.0


def answers(
    turn_id: str,
    gold: str,
    *key_points: tuple[str, ...],
    accept: Sequence[str] = (),
    asks: str = "What is it?",
    within: float = 5.0,
) -> Scripted:
    """A turn that wants an answer."""
    expect = Answer(text=gold, accept=tuple(accept), key_points=key_points)
    return Scripted(id=turn_id, expect=expect, asks=asks, within=within)


def quiet(turn_id: str, *, bystander: str = "") -> Scripted:
    """A turn that wants silence."""
    return Scripted(id=turn_id, expect=Quiet(), asks=bystander, voice="guest")


def either(turn_id: str, asks: str = "Tell me when it is back.") -> Scripted:
    """A turn that is not scored."""
    return Scripted(id=turn_id, expect=Either(), asks=asks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """Something that the agent said or wrote."""

    text: str
    at: float
    """Seconds after the first turn's due time (its end, if nothing is asked), for `question`;
    session seconds for `trace`."""
    seconds: float = 1.0
    """How long it sounds; 0 for text only."""
    listened: bool = False
    transcript: bool = True


def said(text: str, *, at: float = 0.5, seconds: float = 1.0) -> Said:
    """An answer of the agent; `seconds=0` writes it without sound."""
    return Said(text=text, at=at, seconds=seconds)


def scenario(*turns: Scripted, id: str = "made-up", task: str = "custom") -> Scenario:
    """A scenario of these turns, without media."""
    made = tuple(
        Turn(
            id=t.id,
            index=n,
            clip="main",
            start=n * SEGMENT,
            end=(n + 1) * SEGMENT,
            instructions=(Say(text=t.asks, sound=Path("none.flac"), voice=t.voice),)
            if t.asks
            else (),
            expect=t.expect,
            within=t.within,
        )
        for n, t in enumerate(turns)
    )
    return Scenario(
        id=id,
        path=Path(f"{id}.yaml"),
        sha256="0" * 64,
        clips={"main": Clip(name="main", path=Path("none.mp4"))},
        turns=made,
        task=task,
    )


def trace(
    played: Scenario,
    *utterances: Said,
    outcome: str = "completed",
    reason: str = "",
    reached: int | None = None,
    life: Life | None = None,
    agent: str = "oracle",
    conditions: Conditions = USUAL,
) -> Trace:
    """A session of `played` in which the agent said these things, attributed by the real rules.

    Turn n plays from `n * SEGMENT`. `reached`: how many turns were played, the last of them cut off
    in its middle; None plays all. `life` is by default what the utterances prove.
    """
    count = len(played.turns) if reached is None else reached
    cut = reached is not None and count > 0
    end = count * SEGMENT - (SEGMENT / 2 if cut else 0.0)
    spans = tuple(_span(t, n, count, cut, end) for n, t in enumerate(played.turns))
    heard = tuple(
        Heard(id=f"{s.id}/0", turn=s.id, voice=i.voice, start=s.start + ASKED, end=s.start + DUE)
        for s, t in zip(spans, played.turns, strict=True)
        for i in t.instructions
        if s.reached and s.complete
    )
    responses = tuple(_response(n, u) for n, u in enumerate(utterances, start=1))
    proof = Life(transport=True, session=True, response=bool(responses))
    return Trace(
        scenario=played.id,
        agent=agent,
        outcome=outcome,
        reason=reason,
        play_at=0.0 if count else None,
        end=max([end, *(r.end or 0.0 for r in responses)]) + (0.0 if cut else 6.0),
        turns=spans,
        heard=heard,
        speech=tuple(s for r in responses for s in r.speech),
        responses=responses,
        attribution=attribute(
            spans,
            heard,
            responses,
            user_items={},
            gold={t.id: t.expect.right for t in played.turns},
        ),
        pacing=Pacing(p50_ms=0.1, p99_ms=0.8, max_ms=2.5, packets=1000),
        life=life or proof,
        conditions=conditions,
    )


def _span(turn: Turn, n: int, count: int, cut: bool, end: float) -> TurnSpan:
    reached = n < count
    complete = reached and not (cut and n == count - 1)
    start = n * SEGMENT if reached else end
    asked = bool(turn.instructions) and complete
    last = n == count - 1
    return TurnSpan(
        id=turn.id,
        index=n,
        expect=turn.expect.kind,
        conduct=turn.expect.conduct,
        start=start,
        end=(n + 1) * SEGMENT if complete else end,
        done=((n + 1) * SEGMENT + (6.0 if last else 0.0)) if complete else end,
        reached=reached,
        complete=complete,
        due=start + DUE if asked else None,
        due_kind=None if not asked else "instruction" if turn.asked else "speech",
        asked_at=start + ASKED if asked else None,
        within=turn.within,
    )


def _response(n: int, what: Said) -> Response:
    speech = (Speech(start=what.at, end=what.at + what.seconds),) if what.seconds else ()
    return Response(
        id=f"r{n}",
        speech=speech,
        first_text=what.at if what.transcript else None,
        text=what.text if what.transcript else "",
        transcript_missing=bool(what.seconds) and not what.transcript,
        status="completed",
        listened=what.listened,
    )


def question(turn: Scripted, *utterances: Said, before: Said | None = None) -> Question:
    """One turn with what was said in answer to it; times count from its due time.

    A turn before it (not shown) holds `before`, whose time is session time, as proof of life.
    """
    played = scenario(quiet("before"), turn)
    origin = SEGMENT + (DUE if turn.asks else 0.0)
    shifted = [replace(u, at=u.at + origin) for u in utterances]
    made = trace(played, *([before] if before else []), *shifted)
    return Question(
        scenario=played,
        turn=played.turns[1],
        span=made.turns[1],
        responses=made.responses_of(turn.id),
        trace=made,
        recording=Path("nowhere"),
    )
