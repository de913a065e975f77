"""talkative: right when asked, and never quiet. Shows what false alarms cost."""

from __future__ import annotations

from simulator.agent import Traits
from simulator.bridge.baseline import Cued


class Talkative(Cued):
    """The oracle, but in quiet turns it remarks on whatever it hears, or on nothing at all."""

    traits = Traits(summary="right answers, but it also speaks when it should be quiet", cued=True)
    talkative = True
