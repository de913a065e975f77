"""late: right, but slow. Shows what latency does to a session."""

from __future__ import annotations

from simulator.agent import Traits
from simulator.bridge.baseline import Cued


class Late(Cued):
    """The oracle with 4 s of delay."""

    traits = Traits(summary="right answers, 4 s after they fall due", cued=True)

    def __init__(self, *, delay: str = "4.0", mode: str = "speech", yields: str = "no") -> None:
        super().__init__(delay=delay, mode=mode, yields=yields)
