"""What asking a model costs: an estimate before, a budget meanwhile, the sum after. Pure.

Counterpart: `simulator.judging.chat` counts as it asks. Prices are never built in, since they
change: a judge is told them, or costs are not known.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.errors import JudgeError

CHARACTERS = 4
"""Characters of a token, about, in English."""
REPLY_TOKENS = 250
"""Tokens of a verdict, about."""


class BudgetSpent(JudgeError):
    """The next call could go over the budget; it was not made."""


def tokens_in(text: str) -> int:
    """Tokens of a text, about."""
    return -(-len(text) // CHARACTERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a million tokens cost, in one currency."""

    tokens_in: float
    tokens_out: float

    def of(self, tokens_in: int, tokens_out: int) -> float:
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What judging would take, about."""

    calls: int = 0
    cached: int = 0
    """Replies that are there already and cost nothing."""
    tokens_in: int = 0
    tokens_out: int = 0

    def __add__(self, other: Estimate) -> Estimate:
        return Estimate(
            calls=self.calls + other.calls,
            cached=self.cached + other.cached,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
        )

    def told(self, prices: Prices | None) -> str:
        """In a line."""
        cost = f", {prices.of(self.tokens_in, self.tokens_out):.2f}" if prices else ""
        kept = f", {self.cached} from the cache" if self.cached else ""
        calls = f"{self.calls} call{'' if self.calls == 1 else 's'}"
        return f"about {calls}, {self.tokens_in + self.tokens_out:,} tokens{cost}{kept}"


@dataclass(slots=True, kw_only=True)
class Spend:
    """What was spent so far."""

    calls: int = 0
    """Requests that were sent, whatever came back."""
    cached: int = 0
    repairs: int = 0
    retries: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    def add(self, tokens_in: int, tokens_out: int) -> None:
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out

    def told(self, prices: Prices | None) -> str:
        """In a line."""
        parts = [f"{self.calls} call{'' if self.calls == 1 else 's'}"]
        if self.repairs:
            parts.append(f"{self.repairs} to mend a reply")
        if self.retries:
            parts.append(f"{self.retries} tried again")
        parts.append(f"{self.tokens_in:,} tokens in and {self.tokens_out:,} out")
        if prices is not None:
            parts.append(f"cost {prices.of(self.tokens_in, self.tokens_out):.4f}")
        if self.cached:
            parts.append(f"{self.cached} from the cache")
        return ", ".join(parts)


@dataclass(slots=True, kw_only=True)
class Budget:
    """What may be spent at most. What is under way counts as if it had been spent."""

    max_calls: int | None = None
    max_cost: float | None = None
    prices: Prices | None = None
    _under_way: int = 0
    _tokens: int = 0

    def reserve(self, spend: Spend, tokens: int) -> None:
        """Before a call of so many tokens. Raises BudgetSpent."""
        hint = "raise it and judge again with --retry-failed"
        if self.max_calls is not None and spend.calls >= self.max_calls:
            raise BudgetSpent(f"budget: max_calls={self.max_calls} is used up", hint=hint)
        if self.max_cost is not None and self.prices is not None:
            out = spend.tokens_out + (self._under_way + 1) * REPLY_TOKENS
            cost = self.prices.of(spend.tokens_in + self._tokens + tokens, out)
            if cost > self.max_cost:
                raise BudgetSpent(
                    f"budget: the next call could cost more than is left of max_cost="
                    f"{self.max_cost:g}",
                    hint=hint,
                )
        self._under_way += 1
        self._tokens += tokens

    def release(self, tokens: int) -> None:
        """After that call."""
        self._under_way -= 1
        self._tokens -= tokens
