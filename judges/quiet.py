"""Judge of turns that want silence: was it kept, and how?

Silence counts only with proof of life: an agent that never spoke nor wrote in the whole session did
not choose to be silent (`unproven`). Speech that an earlier answer carried in is not charged here,
because attribution leaves it with its own turn.
"""

from __future__ import annotations

from typing import Any, ClassVar

from simulator.judging.judge import Question, Verdict, VerdictState
from simulator.measuring.metrics.conduct import carried_in_s, kept_by


class KeptQuiet:
    """Whether a quiet turn was kept quiet."""

    name: ClassVar[str] = "quiet"
    version: ClassVar[str] = "1"
    summary: ClassVar[str] = "rules: silence kept where nothing calls for an answer, and how"
    expects: ClassVar[frozenset[str]] = frozenset({"quiet"})

    async def judge(self, question: Question) -> Verdict:
        span = question.span
        alarms = [(r, a) for r, a in question.responses if "false_alarm" in a.flags]
        details: dict[str, Any] = {
            "opportunity": span.opportunity,
            "false_alarms": len(alarms),
            "carried_in_s": round(carried_in_s(question.trace, span), 3),
        }
        if alarms:
            response, _ = alarms[0]
            at = response.onset
            details |= {"said": response.text, "at": at, "kept_by": None}
            when = "" if at is None else f" {at - span.start:.1f} s into the turn"
            said = f": {_short(response.text)}" if response.text else " (no transcript)"
            more = f" and {len(alarms) - 1} more" if len(alarms) > 1 else ""
            return self._scored(span.id, 0.0, f"spoke{when}{said}{more}", details)
        how = kept_by(question.trace, span) or "silence"
        details["kept_by"] = how
        if not question.trace.life.response:
            return Verdict(
                turn=span.id,
                judge=self.name,
                judge_version=self.version,
                state=VerdictState.UNPROVEN,
                why="silent, as in the whole session: no proof that it could have spoken",
                details=details,
            )
        why = f"kept quiet ({how.replace('_', ' ')})"
        if how == "spoken_token":
            why += ": the token was said aloud"
        if span.opportunity is False:
            why += "; it was given no occasion to decide"
        return self._scored(span.id, 1.0, why, details)

    def _scored(self, turn: str, score: float, why: str, details: dict[str, Any]) -> Verdict:
        return Verdict(
            turn=turn,
            judge=self.name,
            judge_version=self.version,
            state=VerdictState.SCORED,
            score=score,
            why=why,
            details=details,
        )


def _short(text: str, limit: int = 60) -> str:
    text = " ".join(text.split())
    return f'"{text}"' if len(text) <= limit else f'"{text[: limit - 1]}…"'
