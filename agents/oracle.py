"""oracle: the right answer, a set time after it fell due. What an ideal assistant would score."""

from __future__ import annotations

from simulator.agent import Traits
from simulator.bridge.baseline import Cued


class Oracle(Cued):
    """Answers rightly `delay` seconds after the question's end (or the event), and keeps quiet in
    quiet turns. `-o mode=text` writes instead of speaking."""

    traits = Traits(summary="right answers, 0.6 s after they fall due", cued=True)
