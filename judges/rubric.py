"""Judge that is a model: OmniAssistBench's rubric through any OpenAI-compatible endpoint.

What it asks is in `simulator.judging.rubric`, what it accepts in `simulator.judging.replies`; how
it asks, pays and waits in `simulator.judging.chat`. judges/README.md has its rules.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, ClassVar, Self

from simulator.errors import InputError, JudgeError
from simulator.judging.answered import (
    Along,
    answers_of,
    asked,
    counted,
    mode_of,
    standing,
    text_of,
    timing,
    ways,
)
from simulator.judging.chat import Asked, Chat, Endpoint, NoReply
from simulator.judging.judge import Question, Verdict, VerdictState
from simulator.judging.kept import judgements
from simulator.judging.options import flag, number, prices
from simulator.judging.replies import FULL, Grade, read_grade
from simulator.judging.rubric import (
    PROMPT_HASH,
    PROMPT_VERSION,
    addressed_to_judge,
    case_of,
    mend,
    rules,
    schema,
    shortened,
)
from simulator.judging.spending import REPLY_TOKENS, Budget, Estimate, tokens_in
from simulator.protocol.silence import TOKEN
from simulator.scenario.expectations.answer import PRIOR, Answer
from simulator.scenario.expectations.quiet import Quiet

MODEL, URL, KEY = "OMNISTAGE_JUDGE_MODEL", "OPENAI_BASE_URL", "OPENAI_API_KEY"
DEFAULT_URL = "https://api.openai.com/v1"
_LOCAL = re.compile(r"https?://(localhost|127\.[\d.]+|\[::1\])(:\d+)?(/|$)")


class Rubric:
    """Seven labels and a score from 0 to 5, by a model."""

    name: str = "rubric"
    version: ClassVar[str] = "1"
    summary: ClassVar[str] = "a model: seven labels and 0-5 by rubric, any OpenAI-compatible server"
    expects: ClassVar[frozenset[str]] = frozenset({"answer", "quiet"})

    def __init__(
        self,
        model: str = "",
        url: str = "",
        key_env: str = KEY,
        label: str = "",
        mode: str = "strict",
        structured: str = "true",
        temperature: str = "0",
        seed: str = "7",
        concurrency: str = "16",
        timeout: str = "120",
        tries: str = "6",
        cache: str = "true",
        max_calls: str = "",
        max_cost: str = "",
        price_in: str = "",
        price_out: str = "",
    ) -> None:
        """`mode`: strict counts the scenario's own path, open whichever path was taken.
        `price_in`, `price_out`: of a million tokens, in the currency of `max_cost`.
        """
        self.mode = mode_of(mode)
        model = model or os.environ.get(MODEL, "")
        if not model:
            raise InputError(
                "judge rubric: no model is named",
                hint=f"--judge rubric:MODEL[@URL], or set {MODEL}",
            )
        url = (url or os.environ.get(URL, "") or DEFAULT_URL).rstrip("/")
        key = os.environ.get(key_env, "")
        if not key and not _LOCAL.match(url):
            raise InputError(
                f"judge rubric: there is no key for {url}",
                hint=f"set {key_env}, or name another variable with -o key_env=...",
            )
        self.name = f"rubric-{_slug(label or model)}"
        endpoint = Endpoint(
            url=url,
            model=model,
            key=key,
            structured=flag("structured", structured),
            temperature=number("temperature", temperature, least=0),
            seed=int(seed),
            concurrency=int(number("concurrency", concurrency, least=1)),
            timeout=number("timeout", timeout, least=0.001),
            tries=int(number("tries", tries, least=1)),
        )
        self.prices = prices(price_in, price_out)
        if max_cost and self.prices is None:
            raise InputError("judge rubric: max_cost needs price_in and price_out")
        budget = Budget(
            max_calls=int(number("max_calls", max_calls, least=0)) if max_calls else None,
            max_cost=number("max_cost", max_cost, least=0) if max_cost else None,
            prices=self.prices,
        )
        self.chat = Chat(
            endpoint, budget=budget, cache=judgements() if flag("cache", cache) else None
        )
        self.at_once = endpoint.concurrency
        self.settings: Mapping[str, Any] = {
            "model": model,
            "url": url,
            "temperature": endpoint.temperature,
            "seed": endpoint.seed,
            "structured": endpoint.structured,
            "prompt": PROMPT_HASH,
            "mode": self.mode,
        }

    async def __aenter__(self) -> Self:
        await self.chat.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.chat.__aexit__(kind, error, trace)

    def spent(self) -> str:
        """What was spent so far."""
        return f"{self.name}: {self.chat.spend.told(self.prices)}"

    def estimate(self, question: Question) -> Estimate:
        """What a verdict would take: nothing where no model is asked, or where it has answered."""
        put = self._before_asking(question)
        if isinstance(put, Verdict):
            return Estimate()
        quiet = isinstance(question.turn.expect, Quiet)
        total = Estimate()
        for case, messages in self._put(question, put).values():
            found = self.chat.find(
                self.chat.address(messages, schema()),
                lambda text, case=case: read_grade(text, case, quiet=quiet),  # type: ignore[misc]
            )
            if found is not None:
                total += Estimate(cached=1)
                if found.value.score == FULL:
                    break
            else:
                tokens = sum(tokens_in(m["content"]) for m in messages)
                total += Estimate(calls=1, tokens_in=tokens, tokens_out=REPLY_TOKENS)
        return total

    # ------------------------------------------------------------------ judging

    async def judge(self, question: Question) -> Verdict:
        put = self._before_asking(question)
        return put if isinstance(put, Verdict) else await self._graded(question, put)

    async def _graded(self, question: Question, put: str) -> Verdict:
        """The verdict on a text."""
        quiet = isinstance(question.turn.expect, Quiet)
        details: dict[str, Any] = {"candidate": shortened(put), **self._source()}
        if len(details["candidate"]) < len(put):
            details["candidate_characters"] = len(put)
        if addressed_to_judge(put):
            details["addressed_to_judge"] = True
        worth: dict[str, float] = {}
        told: dict[str, Asked[Grade]] = {}
        try:
            for name, (case, messages) in self._put(question, put).items():
                told[name] = await self._ask(case, messages, quiet)
                worth[name] = told[name].value.score / FULL
                if worth[name] == 1.0:
                    break
        except JudgeError as error:
            if isinstance(error, NoReply):
                details["raw"] = error.raw
            return self._verdict(question, VerdictState.JUDGE_FAILED, str(error), details=details)
        along = Along(worth=worth)
        counts = told[along.taken or PRIOR if self.mode == "open" else PRIOR]
        details |= _told(counts)
        grade, content = counts.value, along.score(self.mode)
        if quiet:
            semantic = FULL if grade.score == FULL - 1 else grade.score
            details["silence"] = {"strict": grade.score, "semantic": semantic, "kept_by": "text"}
            why = f"{_of(grade)}, semantic {semantic}/5; it replied in a turn that wants silence"
            why += f": {grade.rationale}"
            return self._scored(question, content, content, why, details)
        why = f"{_of(grade)}: {grade.rationale}"
        if isinstance(question.turn.expect, Answer) and question.turn.expect.paths:
            details["paths"] = along.details()
            why = along.told(why)
        when = timing(question, answers_of(question.responses))
        score = 0.0 if when.late else content
        return self._scored(question, score, content, when.told(why), details)

    def _before_asking(self, question: Question) -> Verdict | str:
        """The candidate to put before the model, or the verdict that needs none."""
        expect = question.turn.expect
        if isinstance(expect, Quiet):
            return self._quiet(question)
        if not isinstance(expect, Answer) or not expect.text.strip():
            return self._verdict(
                question, VerdictState.UNMEASURABLE, "the turn has no right answer to judge by"
            )
        given = answers_of(question.responses)
        if not given:
            return self._missed(question)
        text = text_of(given)
        if not text:
            what = "no transcript of what it said" if given[0][0].speech else "no text"
            return self._verdict(question, VerdictState.UNMEASURABLE, what)
        return text

    def _quiet(self, question: Question) -> Verdict | str:
        alarms = counted(question)
        if alarms:
            text = " ".join(r.text.strip() for r in alarms if r.text.strip())
            if text:
                return text
            return self._verdict(
                question, VerdictState.UNMEASURABLE, "it spoke, and there is no transcript of it"
            )
        if not question.trace.life.response:
            return self._verdict(
                question,
                VerdictState.UNPROVEN,
                "silent, as in the whole session: no proof that it could have spoken",
            )
        tokens = any(a.by == "token" for _, a in question.responses)
        how = "token" if tokens else "silence"
        details = {"silence": {"strict": FULL, "semantic": FULL, "kept_by": how}}
        return self._scored(question, 1.0, 1.0, f"5/5: kept quiet ({how}); no model asked", details)

    def _missed(self, question: Question) -> Verdict:
        if not question.trace.life.session:
            return self._verdict(
                question,
                VerdictState.UNPROVEN,
                "no answer, and no proof that it was connected",
            )
        token = any(a.by == "token" for _, a in question.responses)
        why = f"no answer within {question.span.within:g} s"
        why += ": it chose to keep quiet" if token else ""
        return self._scored(question, 0.0, 0.0, why, {"missed": True, "token": token})

    def _put(
        self, question: Question, candidate: str
    ) -> dict[str, tuple[str, list[dict[str, str]]]]:
        """For each path, the case's number and the messages."""
        expect = question.turn.expect
        if isinstance(expect, Answer):
            cases = {
                name: case_of(asked(question), (way.text, *way.accept), way.key_points, candidate)
                for name, way in ways(expect)
            }
        else:
            cases = {PRIOR: case_of(standing(question), (TOKEN,), (), candidate)}
        system = rules(quiet=not isinstance(expect, Answer))
        return {
            name: (
                case,
                [{"role": "system", "content": system}, {"role": "user", "content": data}],
            )
            for name, (case, data) in cases.items()
        }

    async def _ask(self, case: str, messages: list[dict[str, str]], quiet: bool) -> Asked[Grade]:
        return await self.chat.ask(
            messages, schema(), lambda text: read_grade(text, case, quiet=quiet), mend
        )

    # ------------------------------------------------------------------ verdicts

    def _source(self) -> dict[str, Any]:
        return {
            "model": self.chat.endpoint.model,
            "url": self.chat.endpoint.url,
            "prompt": {"version": PROMPT_VERSION, "sha256": PROMPT_HASH},
        }

    def _verdict(
        self,
        question: Question,
        state: VerdictState,
        why: str,
        *,
        details: Mapping[str, Any] | None = None,
    ) -> Verdict:
        return Verdict(
            turn=question.turn.id,
            judge=self.name,
            judge_version=self.version,
            state=state,
            why=why,
            details=details or {},
        )

    def _scored(
        self,
        question: Question,
        score: float,
        content: float,
        why: str,
        details: Mapping[str, Any],
    ) -> Verdict:
        verdict = self._verdict(question, VerdictState.SCORED, why, details=details)
        return replace(verdict, score=score, content=content)


def _told(asked_for: Asked[Grade]) -> dict[str, Any]:
    grade, reply = asked_for.value, asked_for.reply
    told: dict[str, Any] = {
        "rubric": {
            "score": grade.score,
            "percent": grade.score * 20,
            "labels": dict(grade.labels),
            "rationale": grade.rationale,
        },
        "tokens": {"in": reply.tokens_in, "out": reply.tokens_out},
        "cached": asked_for.cached,
    }
    if reply.repaired:
        told["repaired"] = True
    if reply.without:
        told["without"] = list(reply.without)
    return told


def _of(grade: Grade) -> str:
    return f"{grade.score}/5"


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[:60] or "model"
