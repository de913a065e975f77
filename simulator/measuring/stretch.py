"""A stretch of the agent's sound without long pauses, and the speech in it on session time.

A sender may count anew, or stand still, in the middle of a word: what a stretch goes on with is
looked at together with the end of the one before, so that the first few samples of speech are not
missed where they are too short to be known for it. What comes while speech before it is still being
heard waits for it: who listens hears a second in a second, however fast it came. Counterparts:
`simulator.measuring.sound` fills stretches from packets, `simulator.measuring.speech` finds speech
in samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from simulator.measuring.edges import Island
from simulator.measuring.speech import Detector, find
from simulator.measuring.trace import Speech
from simulator.protocol.samples import PACKET, Mono
from simulator.protocol.tracks import AUDIO_CLOCK

TAIL = AUDIO_CLOCK // 10
"""Samples at a stretch's end that are looked at again with the next one."""
REJOIN = 0.1
"""Seconds from the end of one stretch in which the next begins that may go on with it, though
counted otherwise."""

DRAINED = 0.2
"""Seconds of silence after speech was played out in which a listener has made up for what it had in
hand: what comes later is heard as it comes."""


@dataclass(slots=True, kw_only=True)
class Stretch:
    """Sound without long pauses, each packet of it placed on session time."""

    places: NDArray[np.int64]
    """First sample of each packet,"""
    sent: NDArray[np.float64]
    """the session time of it by the packet's stamp,"""
    came: NDArray[np.float64]
    """and when the packet had come."""
    seconds_per_sample: float
    usual: float
    """Seconds by which the packets of the call are late as a rule."""
    lost_before: float = 0.0
    """Seconds of sound that were lost just before it."""
    follows: bool = False
    """By number and stamp it goes on just where the one before it ended."""
    samples: Mono = field(default_factory=lambda: np.zeros(0, np.float32))
    gaps: list[tuple[int, int]] = field(default_factory=list)
    """Samples that never came: first, and one past the last."""

    @property
    def start(self) -> float:
        return self.at(0)

    @property
    def end(self) -> float:
        return self.at(len(self.samples))

    def at(self, sample: int) -> float:
        """Session time of a sample by its stamp."""
        k = self._packet(sample)
        return float(self.sent[k]) + self._into(k, sample)

    def heard(self, sample: int) -> float:
        """Session time at which a sample could be heard: not before its packet had come."""
        k = self._packet(sample)
        return max(float(self.sent[k]), float(self.came[k])) + self._into(k, sample)

    def sample(self, time: float) -> int:
        """The sample of a session time by its stamp; may lie before the first or after the last."""
        k = max(0, int(np.searchsorted(self.sent, time, "right")) - 1)
        return int(self.places[k]) + round((time - float(self.sent[k])) / self.seconds_per_sample)

    def unsure(self, sample: int) -> float:
        """Seconds by which sound that begins at `sample` may have begun earlier, or been late."""
        lost = self.lost_before if sample < 2 * PACKET else 0.0
        for a, b in self.gaps:
            # A decoder needs a moment to come back after a gap.
            if b <= sample < b + 2 * PACKET:
                lost = (b - a) / AUDIO_CLOCK
        late = self.heard(sample) - self.at(sample)
        return lost + (late if late > self.usual else 0.0)

    def speech(self, island: Island) -> Speech:
        """An island of its samples on session time."""
        start, last = self.heard(island.first), island.stop - 1
        lasts = (island.stop - island.first) * self.seconds_per_sample
        return Speech(
            start=start,
            end=max(
                self.heard(last) + self.seconds_per_sample,
                # What came all at once takes its time all the same.
                start + lasts,
                self._caught(island),
            ),
            uncertainty=island.unsure * self.seconds_per_sample + self.unsure(island.first),
            sent=self.at(island.first),
            sent_end=self.at(island.stop),
            sound_from=None if island.sound is None else self.heard(island.sound),
        )

    def _caught(self, island: Island) -> float:
        """When an island is over if what came late in it is played at its rate from there on."""
        inside = slice(self._packet(island.first), self._packet(island.stop - 1) + 1)
        came = self.came[inside]
        held = came - self.sent[inside] > self.usual
        rest = (island.stop - self.places[inside]) * self.seconds_per_sample
        return float(np.max((came + rest)[held], initial=-np.inf))

    def came_with(self, sample: int) -> float:
        """When the packet of a sample had come."""
        return float(self.came[self._packet(sample)])

    def _packet(self, sample: int) -> int:
        return max(0, int(np.searchsorted(self.places, sample, "right")) - 1)

    def _into(self, packet: int, sample: int) -> float:
        return (sample - int(self.places[packet])) * self.seconds_per_sample


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """The end of a stretch, and what was found up to it."""

    stretch: Stretch
    """Without its samples."""
    length: int
    """How many it had,"""
    end: float
    """and when they ended."""
    tail: Mono
    """The last of them."""
    spoken: float
    """Until when somebody spoke in it, as was heard; -inf for nobody."""
    silent: int
    """Samples after that."""

    @classmethod
    def of(cls, stretch: Stretch, told: Sequence[Speech]) -> Ending:
        ends = [stretch.sample(speech.sent_end) for speech in told if speech.sent_end is not None]
        return cls(
            stretch=replace(stretch, samples=np.zeros(0, np.float32)),
            length=len(stretch.samples),
            end=stretch.end,
            tail=stretch.samples[-TAIL:].copy(),
            spoken=max((speech.end for speech in told), default=-np.inf),
            silent=len(stretch.samples) - max(ends, default=0),
        )

    def leads_to(self, stretch: Stretch) -> bool:
        """Whether another goes on with its sound."""
        return stretch.follows or abs(stretch.start - self.end) < REJOIN

    def place(self, sample: int) -> int:
        """The sample of the stretch that one of its tail is."""
        return self.length - len(self.tail) + sample


def speeches(stretch: Stretch, before: Ending | None, detector: Detector) -> list[Speech]:
    """The speech in a stretch on session time; `before`: what it goes on with."""
    tail = stretch.samples[:0] if before is None else before.tail
    skip = len(tail)
    spoken, place = -np.inf, 0
    if before is not None and stretch.follows:
        spoken, place = before.spoken, -before.silent
    found: list[Speech] = []
    for island in find(np.concatenate((tail, stretch.samples)), detector):
        if island.stop <= skip:
            continue
        sound = None if island.sound is None else max(0, island.sound - skip)
        here = replace(
            island, first=max(0, island.first - skip), stop=island.stop - skip, sound=sound
        )
        speech = stretch.speech(here)
        after = spoken + (here.first - place) * stretch.seconds_per_sample
        waits = after > speech.start + stretch.usual
        if waits and stretch.came_with(here.first) < spoken + DRAINED:
            speech = _waiting(speech, after, (here.stop - here.first) * stretch.seconds_per_sample)
        if before is not None and island.first < skip:
            speech = _begun(speech, before, island)
        found.append(speech)
        spoken, place = speech.end, here.stop
    return found


def _waiting(speech: Speech, start: float, lasts: float) -> Speech:
    """Speech that is heard only then, after what is before it, though it had come."""
    return replace(
        speech,
        start=start,
        end=max(speech.end, start + lasts),
        uncertainty=speech.uncertainty + start - speech.start,
        sound_from=None,
    )


def _begun(speech: Speech, before: Ending, island: Island) -> Speech:
    """Speech that begins in the tail of the stretch before, unless it began before that."""
    first = before.place(island.first)
    heard = before.stretch.heard(first)
    if heard <= before.spoken:
        return speech
    unsure = island.unsure * before.stretch.seconds_per_sample + before.stretch.unsure(first)
    return replace(
        speech,
        start=heard,
        end=max(speech.end, heard),
        sent=before.stretch.at(first),
        uncertainty=unsure,
    )
