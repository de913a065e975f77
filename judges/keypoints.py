"""Judge of answers by their key points: rules only, offline, the same result every time.

Its rules and how well they do are in judges/README.md; the reading of texts is in
`simulator.judging.points` and `simulator.judging.wording`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from simulator.judging.answered import (
    Along,
    Given,
    answers_of,
    asked,
    mode_of,
    text_of,
    timing,
    ways,
)
from simulator.judging.gold import Gold
from simulator.judging.judge import Question, Verdict, VerdictState
from simulator.judging.points import PointResult, judge_points
from simulator.judging.wording import read
from simulator.scenario.expectations.answer import PRIOR, Answer


class KeyPoints:
    """The share of an answer's key points that were made, in time."""

    name: ClassVar[str] = "keypoints"
    version: ClassVar[str] = "1"
    summary: ClassVar[str] = "rules: the answer's key points, with negation, numbers and sides"
    expects: ClassVar[frozenset[str]] = frozenset({"answer"})

    def __init__(self, mode: str = "strict") -> None:
        """`mode`: strict counts the scenario's own path, open whichever path was taken."""
        self._mode = mode_of(mode)
        self.settings = {"mode": self._mode} if self._mode != "strict" else {}

    async def judge(self, question: Question) -> Verdict:
        expect = question.turn.expect
        if not isinstance(expect, Answer):
            return self._verdict(question, VerdictState.UNMEASURABLE, "the turn wants no answer")
        answers = answers_of(question.responses)
        if not answers:
            return self._no_answer(question)
        text = text_of(answers)
        if not text:
            what = "no transcript of what it said" if answers[0][0].speech else "no text"
            return self._verdict(question, VerdictState.UNMEASURABLE, what)
        scored = {name: score_text(text, way, asked(question)) for name, way in ways(expect)}
        along = Along(worth={name: s[0] for name, s in scored.items()})
        content = along.score(self._mode)
        _, results, why = scored[along.taken or PRIOR if self._mode == "open" else PRIOR]
        details: dict[str, Any] = {
            "candidate": text,
            "points": [
                {"point": list(r.point), "met": r.met, "by": r.by, "why": r.why} for r in results
            ],
        }
        if expect.paths:
            why = along.told(why)
            details["paths"] = along.details()
        missing = [r for r, _ in answers if r.transcript_missing]
        if missing:
            details["without_transcript"] = len(missing)
        return self._timed(question, answers, content, why, details)

    def _timed(
        self,
        question: Question,
        answers: Sequence[Given],
        content: float,
        why: str,
        details: dict[str, Any],
    ) -> Verdict:
        """The verdict with the conduct counted."""
        when = timing(question, answers)
        return self._verdict(
            question,
            VerdictState.SCORED,
            when.told(why),
            score=0.0 if when.late else content,
            content=content,
            details=details,
        )

    def _no_answer(self, question: Question) -> Verdict:
        if not question.trace.life.session:
            return self._verdict(
                question, VerdictState.UNPROVEN, "no answer, and no proof that it was connected"
            )
        within = f"no answer within {question.span.within:g} s"
        tokens = [a for _, a in question.responses if a.by == "token"]
        why = f"{within}: it chose to keep quiet" if tokens else within
        details = {"missed": True, "token": bool(tokens)}
        return self._verdict(
            question, VerdictState.SCORED, why, score=0.0, content=0.0, details=details
        )

    def _verdict(
        self,
        question: Question,
        state: VerdictState,
        why: str,
        *,
        score: float | None = None,
        content: float | None = None,
        details: dict[str, Any] | None = None,
    ) -> Verdict:
        return Verdict(
            turn=question.turn.id,
            judge=self.name,
            judge_version=self.version,
            state=state,
            score=score,
            content=content,
            why=why,
            details=details or {},
        )


def score_text(text: str, expect: Answer, asked: str = "") -> tuple[float, list[PointResult], str]:
    """(score from 0 to 1, the points, why) of an answer's text.

    A text that is one of the right answers, word for word, is right. Else its key points count; if
    the author gave none, the content words of the right answer which suits it best.
    """
    said = read(text).plain()
    for right in (expect.text, *expect.accept):
        if said and said == read(right).plain():
            return 1.0, [], f'it is the right answer "{right}"'
    texts = (expect.text, *expect.accept)
    if expect.key_points:
        golds = [Gold(texts, expect.key_points, asked)]
    else:
        golds = [Gold((t, *(o for o in texts if o != t)), (), asked) for t in texts]
    best: tuple[float, list[PointResult]] = (-1.0, [])
    for gold in golds:
        results = judge_points(text, gold)
        score = sum(r.met for r in results) / len(results) if results else 0.0
        if score > best[0]:
            best = (score, results)
    return best[0], best[1], _why(best[1])


def _why(results: Sequence[PointResult]) -> str:
    met = [r for r in results if r.met]
    lost = [r for r in results if not r.met]
    if not lost:
        return "says " + ", ".join(f'"{r.by}"' for r in met)
    reasons = "; ".join(f'missing "{r.point[0]}": {r.why}' for r in lost)
    return f"{reasons} ({len(met)} of {len(results)} points)"
