"""late: right, but slow. Shows what latency does to a session."""

from __future__ import annotations

from simulator.agent import Traits
from simulator.bridge.baseline import Cued


class Late(Cued):
    """The oracle with 3.5 s of delay."""

    traits = Traits(summary="right answers, 3.5 s after they fall due", cued=True)

    def __init__(self, *, delay: str = "3.5", mode: str = "speech", yields: str = "no") -> None:
        super().__init__(delay=delay, mode=mode, yields=yields)
