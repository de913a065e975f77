"""Whose numbers stand together: a side is what one agent did under one set of conditions.

No mean is taken across sides' conditions unless that is asked for (`--mix-conditions`). Pure.
Counterparts: `simulator.protocol.conditions` says what sets attempts apart, `simulator.report` adds
each side up.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from simulator.errors import InputError
from simulator.protocol.conditions import Conditions, differences, marks, told
from simulator.run.plan import Attempt, Plan

MIX = "--mix-conditions"


def side_names(attempts: Iterable[Attempt]) -> Mapping[str, str]:
    """The side of each attempt by its id: the agent's label, and where the attempts of a run are
    under unlike conditions what marks its own: `oracle (decide turn-end)`."""
    every = tuple(attempts)
    apart = differences(a.conditions for a in every)
    return {a.id: f"{a.agent} ({marks(a.conditions, apart)})" if apart else a.agent for a in every}


def pick(
    plan: Plan, run: Path, name: str | None, *, options: str, mix: bool = False
) -> tuple[str, tuple[Attempt, ...]]:
    """The attempts of one side, by its name; an agent's label will do where the agent has but one,
    and no name where the run has but one agent. `mix` takes all of an agent's together.

    `options`: how a side is named on the command line, for hints. Raises InputError for a side that
    the run does not have, and for a label that leaves open which is meant.
    """
    names = side_names(plan.attempts)
    labels = [a.label for a in plan.agents]
    if name is None and len(labels) > 1:
        raise InputError(
            f"{run} has {len(labels)} agents: {', '.join(labels)}", hint=f"say which: {options}"
        )
    name = labels[0] if name is None else name
    own = tuple(a for a in plan.attempts if name in (a.agent, names[a.id]))
    if not own:
        there = ", ".join(dict.fromkeys([*labels, *names.values()]))
        raise InputError(f"{run} has no agent {name!r}", hint=f"it has: {there}")
    if not mix:
        sides = ", ".join(repr(s) for s in dict.fromkeys(names[a.id] for a in own))
        hint = f"say which: {options}, with one of {sides}"
        refuse_unlike((a.conditions for a in own), f"{name} in {run}", hint=hint)
    return name, own


def refuse_unlike(conditions: Iterable[Conditions], whose: str, *, hint: str) -> None:
    """Raises InputError, with what differs, if conditions are unlike."""
    apart = differences(conditions)
    if apart:
        raise InputError(f"{whose}: attempts under unlike conditions: {told(apart)}", hint=hint)
