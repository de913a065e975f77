"""Any judge on what was heard as well as on what was said: two verdicts, of which one counts.

What a model says that it said is its own transcript; after a barge-in, or where its voice failed,
less was heard. The same judge gets the same turn a second time, with the words of an independent
recogniser. Counterpart: `simulator.judging.heard` hears.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from types import TracebackType
from typing import Any, Literal, Self, cast

from simulator.errors import InputError, OmnistageError
from simulator.judging.answered import counted
from simulator.judging.heard import DEFAULT, Listener, load_recogniser
from simulator.judging.judge import Frugal, Judge, Question, Verdict, VerdictState
from simulator.judging.spending import Estimate, Prices
from simulator.plugins import load_judge

By = Literal["said", "heard"]


def load_with_ears(
    references: Sequence[tuple[str, Mapping[str, str]]], heard: str = ""
) -> list[Judge]:
    """Judges by reference and options. Two options are every judge's: `heard`, a recogniser
    (the argument `heard` where it is not given), and `by`, which verdict counts.

    Raises InputError, MissingExtra for a recogniser that is not installed.
    """
    listeners: dict[str, Listener] = {}
    judges = []
    for reference, options in references:
        own = dict(options)
        named, by = own.pop("heard", heard), own.pop("by", "said")
        judge = load_judge(reference, own)
        if by not in ("said", "heard"):
            raise InputError(f"judge {judge.name}: by={by} must be said or heard")
        if by == "heard" and not named:
            raise InputError(
                f"judge {judge.name}: by=heard needs a recogniser",
                hint=f"-o heard={DEFAULT}, or a file of yours",
            )
        if named and named not in listeners:
            listeners[named] = Listener(load_recogniser(named))
        judges.append(by_ear(judge, listeners[named], cast("By", by)) if named else judge)
    return judges


def by_ear(judge: Judge, listener: Listener, by: By = "said") -> Judge:
    """`judge` on both; `by` says which of the two verdicts counts."""
    kind = _FrugalByEar if isinstance(judge, Frugal) else _ByEar
    return cast("Judge", kind(judge, listener, by))


class _ByEar:
    """A judge that judges twice."""

    def __init__(self, judge: Judge, listener: Listener, by: By) -> None:
        self.judged_by = judge
        self.listener = listener
        self.by = by
        self.name = judge.name
        self.version = judge.version
        self.summary = judge.summary
        self.expects = judge.expects
        self.settings: Mapping[str, Any] = {
            **getattr(judge, "settings", {}),
            "heard": listener.told,
            "by": by,
        }
        if hasattr(judge, "at_once"):
            self.at_once = judge.at_once

    async def __aenter__(self) -> Self:
        if isinstance(self.judged_by, AbstractAsyncContextManager):
            await self.judged_by.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(self.judged_by, AbstractAsyncContextManager):
            await self.judged_by.__aexit__(kind, error, trace)

    async def judge(self, question: Question) -> Verdict:
        said = await self.judged_by.judge(question)
        if not counted(question):
            return said  # nothing was said, so there is nothing to hear
        heard = await self._heard(question)
        if self.by == "heard":
            return replace(heard, details={**heard.details, "said": _brief(said)})
        return replace(said, details={**said.details, "heard": _brief(heard)})

    async def _heard(self, question: Question) -> Verdict:
        """The verdict on what could be heard."""
        words: dict[str, str] = {}
        runs = {r.id: r.speech for r in counted(question) if r.speech}
        if not runs:
            return self._none(question, VerdictState.UNMEASURABLE, "it made no sound")
        try:
            for name, speech in runs.items():
                words[name] = await self.listener.hear(question.recording, speech)
        except OmnistageError as error:
            return self._none(question, VerdictState.JUDGE_FAILED, str(error))
        text = " ".join(w for w in words.values() if w)
        if not text:
            why = f"{self.listener.told} could make out no words"
            return self._none(question, VerdictState.UNMEASURABLE, why)
        verdict = await self.judged_by.judge(_with(question, words))
        told = {"text": text, "recogniser": self.listener.told}
        return replace(verdict, details={**verdict.details, **told})

    def _none(self, question: Question, state: VerdictState, why: str) -> Verdict:
        return Verdict(
            turn=question.turn.id,
            judge=self.name,
            judge_version=self.version,
            state=state,
            why=why,
        )


class _FrugalByEar(_ByEar):
    """The same with a judge that costs something."""

    @property
    def prices(self) -> Prices | None:
        return getattr(self.judged_by, "prices", None)

    def estimate(self, question: Question) -> Estimate:
        """What is heard is not known yet: taken to cost as much as what was said."""
        judge = cast("Frugal", self.judged_by)
        once = judge.estimate(question)
        return once + once if any(r.speech for r in counted(question)) else once

    def spent(self) -> str:
        return cast("Frugal", self.judged_by).spent()


def _with(question: Question, words: Mapping[str, str]) -> Question:
    """The turn with what was heard in place of what was said; what was only written stays unheard,
    decisions to keep quiet stay as they are."""
    mine = {r.id for r in counted(question)}
    return replace(
        question,
        responses=tuple(
            (
                replace(r, text=words.get(r.id, ""), transcript_missing=False)
                if r.id in mine
                else r,
                a,
            )
            for r, a in question.responses
        ),
    )


def _brief(verdict: Verdict) -> dict[str, Any]:
    """A verdict as a part of another one's details."""
    return {
        "state": verdict.state.value,
        "score": verdict.score,
        "content": verdict.content,
        "why": verdict.why,
        **verdict.details,
    }


def difference(verdicts: Sequence[Verdict]) -> tuple[float, float, int, int] | None:
    """Mean content (0 to 1) by what was said and by what was heard, over the turns that have both;
    how many of those differ, and how many there are. None if there are none."""
    pairs = []
    for verdict in verdicts:
        other = verdict.details.get("heard") or verdict.details.get("said")
        if not isinstance(other, Mapping) or verdict.state is not VerdictState.SCORED:
            continue
        mine, theirs = (
            _content(verdict.content, verdict.score),
            _content(other.get("content"), other.get("score")),
        )
        if mine is not None and theirs is not None:
            pairs.append((mine, theirs) if "heard" in verdict.details else (theirs, mine))
    if not pairs:
        return None
    said, heard = (sum(p[n] for p in pairs) / len(pairs) for n in (0, 1))
    return said, heard, sum(a != b for a, b in pairs), len(pairs)


def _content(content: float | None, score: float | None) -> float | None:
    return score if content is None else content
