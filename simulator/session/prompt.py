"""What the agent is told in words before the first turn: its role, the path, the quiet contract.

Pure. It is a template, which can be exchanged: `written` for a model that can write a token,
`spoken` for one that can only speak, or an author's own. Placeholders: `{token}`, the silence
token; `{goal}`; `{steps}`, numbered, one a line; `{before}`, what the agent sees before the first
turn. A paragraph with a placeholder that has nothing to say is left out. Its name is recorded with
the session, and what came of it word by word. Counterpart: `simulator.cli.run` reads files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass

from simulator.errors import InputError
from simulator.protocol.silence import TOKEN
from simulator.scenario.types import Scenario

_PLACE = re.compile(r"\{(\w+)\}")
PLACES = ("token", "goal", "steps", "before")
"""The placeholders of a template."""
LONGEST = 20_000
"""Characters of a template."""

_ROLE = (
    "You assist a person live. You see through their camera and hear through their microphone. "
    "Speak to them directly, in one or two short sentences of at most fifty words, in English."
)
_REST = """\
Their goal: {goal}.

They will follow these steps, in this order:
{steps}

{before}"""
_WRITTEN = (
    "Answer only when they ask you something, or when something happens that they asked you to "
    "tell them about. At every other time write exactly {token} and nothing else."
)
_SPOKEN = (
    "Speak only when they ask you something, or when something happens that they asked you to "
    "tell them about. At every other time stay silent: say nothing at all."
)
_BEFORE = {
    ("card",): "First you are shown a card with the steps.",
    ("clip",): "First you are shown an example of how it is done, which is not the person's own.",
    ("card", "clip"): (
        "First you are shown a card with the steps, and then an example of how it is done, which "
        "is not the person's own."
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """What is told in words, with placeholders."""

    name: str
    """How it was asked for: one of `TEMPLATES`, or a file's name."""
    text: str

    def __post_init__(self) -> None:
        unknown = [p for p in _PLACE.findall(self.text) if p not in PLACES]
        if unknown:
            raise InputError(
                f"template {self.name}: {{{unknown[0]}}} is no placeholder; allowed: "
                + ", ".join(f"{{{p}}}" for p in PLACES)
            )
        if not self.text.strip() or len(self.text) > LONGEST:
            raise InputError(
                f"template {self.name}: {len(self.text)} characters; allowed: 1 to {LONGEST}"
            )

    @property
    def recorded(self) -> str:
        """Its name, with a hash if it is not one of ours: what numbers must not be mixed across."""
        if TEMPLATES.get(self.name) == self:
            return self.name
        return f"{self.name}#{hashlib.sha256(self.text.encode()).hexdigest()[:12]}"


TEMPLATES: Mapping[str, Template] = {
    name: Template(name=name, text="\n\n".join((_ROLE, quiet, _REST)))
    for name, quiet in (("written", _WRITTEN), ("spoken", _SPOKEN))
}
"""The templates that can be named."""
DEFAULT = TEMPLATES["written"]


def instructions(scenario: Scenario, template: Template = DEFAULT) -> str:
    """The session's instructions."""
    prior = scenario.prior
    told = prior.steps if "text" in prior.forms else ()
    seen = tuple(form for form in ("card", "clip") if form in prior.forms)
    values = {
        "token": TOKEN,
        "goal": scenario.goal,
        "steps": "\n".join(f"{n}. {step}" for n, step in enumerate(told, 1)),
        "before": _BEFORE.get(seen, ""),
    }
    parts = []
    for paragraph in re.split(r"\n\s*\n", template.text.strip()):
        if all(values[place] for place in _PLACE.findall(paragraph)):
            parts.append(_PLACE.sub(lambda found: values[found[1]], paragraph))
    return "\n\n".join(parts)
