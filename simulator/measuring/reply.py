"""A response while it is gathered.

Counterparts: `simulator.measuring.utterances` gathers, `simulator.measuring.halves` joins what the
wire has torn apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from simulator.measuring.texts import spoken
from simulator.measuring.trace import Speech
from simulator.recording.records import TextRecord

UTTERANCE_GAP = 0.7
"""Silence, in seconds, across which runs of speech are one utterance."""
LAG = 0.3
"""Seconds by which sound may trail what the wire says of it."""
LEAD = 0.1
"""Seconds by which sound may be ahead of what the wire says of it."""
ANNOUNCED = 0.5
"""Seconds by which it may, if it is nobody else's."""


@dataclass(slots=True)
class Reply:
    """A response of the wire, while it is gathered."""

    id: str
    begun: float
    wire: bool = True
    """It has an id of the wire,"""
    announced: bool = False
    """and the wire said that it began; else only its texts or its end have told of it."""
    trigger: str | None = None
    input_item: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    listened: bool = False
    cut: bool = False
    """Its sound was cleared before it had all been heard, however the wire calls its end."""
    sound_from: float | None = None
    sound_to: float | None = None
    islands: list[Speech] = field(default_factory=list)
    texts: list[tuple[float, TextRecord]] = field(default_factory=list)

    @property
    def writes(self) -> bool:
        """Whether it has words, and nothing tells of a voice that says them."""
        told = self.sound_from is not None or self.sound_to is not None
        return bool(self.texts) and not told and not spoken(self.texts)

    def claims(self, voice: Sequence[Speech]) -> bool:
        """Whether a voice that is nobody's, and goes on in the sound of this one, is its own: it
        was announced before that voice, while it spoke, or in a pause of it."""
        late = self.begun - voice[0].start
        return not self.islands and (self.trigger is None or late <= ANNOUNCED)

    def takes(self, part: Reply) -> None:
        """Make another's sound, texts and what the wire says of it this one's."""
        self.islands = sorted([*self.islands, *part.islands], key=lambda island: island.start)
        self.texts = sorted([*self.texts, *part.texts], key=lambda text: text[0])
        self.trigger = self.trigger or part.trigger
        self.input_item = self.input_item or part.input_item
        self.status = self.status or part.status
        self.reason = self.reason or part.reason
        self.message = self.message or part.message
        self.cut = self.cut or part.cut
