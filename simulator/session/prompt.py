"""What the agent is told in words before the first turn: its role, the path, the quiet contract.

Pure. There are two forms, for a model that can write a token and for one that can only speak;
`name` picks one, and it is recorded with the session.
"""

from __future__ import annotations

from simulator.scenario.types import Scenario
from simulator.session.silence import TOKEN

_ROLE = (
    "You assist a person live. You see through their camera and hear through their microphone. "
    "Speak to them directly, in one or two short sentences of at most fifty words, in English."
)
_QUIET = {
    "written": (
        "Answer only when they ask you something, or when something happens that they asked you to "
        f"tell them about. At every other time write exactly {TOKEN} and nothing else."
    ),
    "spoken": (
        "Speak only when they ask you something, or when something happens that they asked you to "
        "tell them about. At every other time stay silent: say nothing at all."
    ),
}
FORMS = tuple(_QUIET)


def instructions(scenario: Scenario, name: str = "written") -> str:
    """The session's instructions. Raises KeyError for a form that is not in FORMS."""
    parts = [_ROLE, _QUIET[name]]
    if scenario.goal:
        parts.append(f"Their goal: {scenario.goal}.")
    if scenario.prior.steps:
        steps = "\n".join(f"{n}. {step}" for n, step in enumerate(scenario.prior.steps, 1))
        parts.append(f"They will follow these steps, in this order:\n{steps}")
    return "\n\n".join(parts)
