"""What a turn may expect of the agent."""

from __future__ import annotations

from simulator.scenario.expectations.answer import Answer
from simulator.scenario.expectations.either import Either
from simulator.scenario.expectations.quiet import Quiet

Expectation = Answer | Quiet | Either
