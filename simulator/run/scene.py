"""What attempts play: a scenario as conditions have it.

Counterparts: `simulator.run.plan` says which attempt plays which, `simulator.run.pool` takes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simulator.media.timeline import Prepared
from simulator.protocol.conditions import Conditions


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """One scenario under one set of conditions."""

    prepared: Prepared
    """Its media."""
    instructions: str
    """What the agent is told in words."""


Scenes = Mapping[tuple[str, Conditions], Scene]
"""By scenario id and conditions."""
