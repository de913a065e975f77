"""Plays one attempt over WebRTC: the engine with a link of that kind.

The only place that knows both. Counterparts: `simulator.session.engine` plays over any link,
`simulator.rtc.peer` is this one, `simulator.run.pool` carries out a plan with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from simulator.agent import Dial, Traits
from simulator.clock import Clock
from simulator.media.timeline import Prepared
from simulator.protocol.conditions import Conditions
from simulator.rtc.peer import dial
from simulator.session.engine import Result, Watcher, play


async def play_attempt(
    prepared: Prepared,
    target: Dial,
    /,
    *,
    traits: Traits,
    folder: Path,
    identity: Mapping[str, Any],
    conditions: Conditions,
    instructions: str,
    secrets: Sequence[str] = (),
    observer: Watcher | None = None,
    stop: asyncio.Event | None = None,
    clock: Clock | None = None,
) -> Result:
    """Play `prepared` to the agent at `target`; all else as `simulator.session.engine.play`."""
    return await play(
        prepared,
        partial(dial, target, parts=prepared.assets, tracks=prepared.tracks, video=prepared.codec),
        traits=traits,
        folder=folder,
        identity=identity,
        conditions=conditions,
        instructions=instructions,
        dialect=target.dialect,
        secrets=(*secrets, *target.headers.values()),
        observer=observer,
        stop=stop,
        clock=clock,
    )
