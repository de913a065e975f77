"""Finds speech in a stream of samples: where it began and ended, to a few milliseconds.

webrtcvad says that a frame is speech; the level of single milliseconds says where. An end is known
only after a hangover, but is then reported as what it was: the last audible sample. No I/O and no
clock: times come with the samples. Counterpart: `simulator.bridge.hearing` feeds it.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from typing import Literal

import numpy as np
import webrtcvad
from numpy.typing import NDArray

from simulator.protocol.samples import RATE, MonoInt16

FRAME = RATE // 50
"""Samples of one frame: 20 ms."""
STEP = RATE // 1000
"""Samples of one step of level: 1 ms."""
_FULL = 32768.0
_FULL_FRAME = _FULL**2 * FRAME
"""Energy of a frame at full scale."""
_NEEDED, _OF = 3, 5
"""So many of so many frames have to be speech before it counts."""
_REACH_BACK = 0.15
"""Seconds before the first such frame in which a soft beginning is looked for."""
_REACH_ON = 0.06
"""Seconds after the last such frame in which a soft ending is."""
_JOIN = 0.04
"""Silence shorter than this, in seconds, does not cut off a soft beginning."""
_AUDIBLE = -50.0
"""dBFS under which nothing is audible, in a silent room."""
_OVER = 10.0
"""dB by which speech is above the room."""
_FLOOR_MOST = -36.0
"""dBFS: no room is taken to be louder, or steady speech would become its own background."""
_WINDOW = 150
"""Frames over which the room is measured."""
_PEAK_S, _BELOW_PEAK = 0.06, 30.0
"""At its edges, what is so many dB below the peak within so many seconds is the codec or an echo.
The recording's measuring takes the same, so that both mean the same by an edge."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Speech began or ended."""

    edge: Literal["start", "end"]
    time: float
    """Of its first audible sample, or just after its last."""
    found: float
    """Time just after the samples that made it known."""


@dataclass(slots=True)
class _Frame:
    time: float
    samples: MonoInt16
    voiced: bool


class SpeechDetector:
    """Feed it frame after frame; it returns the edges that each made known.

    `kind` "speech" asks webrtcvad; "sound" takes whatever is audible (clicks, tones). `hangover`:
    seconds of silence that end speech.
    """

    def __init__(
        self,
        *,
        kind: Literal["speech", "sound"] = "speech",
        hangover: float = 0.25,
        mode: int = 2,
    ) -> None:
        self.hangover = hangover
        self._vad = webrtcvad.Vad(mode) if kind == "speech" else None
        self._recent: deque[_Frame] = deque(maxlen=round((_REACH_BACK + hangover) / 0.02) + _OF)
        self._levels: deque[float] = deque(maxlen=_WINDOW)
        self._floor = _AUDIBLE - _OVER
        self._count = 0
        self._speaking = False
        self._last_voiced = 0.0
        """End of the last voiced frame."""

    @property
    def speaking(self) -> bool:
        return self._speaking

    @property
    def audible(self) -> float:
        """The level in dBFS that speech has to pass now."""
        return max(_AUDIBLE, self._floor + _OVER)

    def feed(self, samples: MonoInt16, time: float) -> list[Edge]:
        """One frame of 20 ms whose first sample has `time`."""
        wide = samples.astype(np.float32)
        self._listen_to_the_room(10 * math.log10(float(np.dot(wide, wide)) / _FULL_FRAME + 1e-10))
        # In a silent room most frames are done with after one look at their peak.
        peak = max(int(samples.max()), -int(samples.min()))
        voiced = peak > _FULL * 10 ** (self.audible / 20) and self._is_voiced(samples)
        self._recent.append(_Frame(time, samples, voiced))
        found = time + FRAME / RATE
        if voiced:
            self._last_voiced = found
        if not self._speaking:
            return self._look_for_start(found)
        if found - self._last_voiced < self.hangover - 1e-9:
            return []
        self._speaking = False
        return [Edge("end", self._ending(), found)]

    def _is_voiced(self, samples: MonoInt16) -> bool:
        if float(_levels(samples).max()) <= self.audible:
            return False
        return self._vad is None or bool(self._vad.is_speech(samples.tobytes(), RATE))

    def _look_for_start(self, found: float) -> list[Edge]:
        needed, of = (1, 1) if self._vad is None else (_NEEDED, _OF)
        frames = list(self._recent)
        last = frames[-of:]
        if sum(f.voiced for f in last) < needed:
            return []
        self._speaking = True
        first = next(f for f in last if f.voiced)
        reach = 0.0 if self._vad is None else _REACH_BACK
        return [Edge("start", self._beginning(frames, first.time, reach), found)]

    def _beginning(self, frames: list[_Frame], first: float, reach: float) -> float:
        """Time of the first audible sample around `first`, joined across short gaps."""
        frames = [f for f in frames if f.time > first - reach - FRAME / RATE]
        samples = np.concatenate([f.samples for f in frames])
        levels = _levels(samples)
        begin = frames[0].time
        sure = round((first - begin) * RATE / STEP)
        loud = np.flatnonzero(levels > self.audible)
        if not len(loud) or loud[-1] < sure:
            return first
        at = int(loud[np.searchsorted(loud, sure)])
        for step in loud[loud < at][::-1].tolist():
            if at - step > _JOIN * RATE / STEP:
                break
            at = step
        peak = float(levels[at : at + round(_PEAK_S * RATE / STEP)].max())
        floor = max(self.audible, peak - _BELOW_PEAK)
        at = at + int(np.argmax(levels[at:] > floor))
        near = np.abs(samples[at * STEP : (at + 1) * STEP].astype(np.int32))
        return begin + (at * STEP + int(np.argmax(near > _FULL * 10 ** (floor / 20)))) / RATE

    def _ending(self) -> float:
        """Time just after the last audible sample, by what was heard since."""
        frames = [f for f in self._recent if f.time < self._last_voiced + _REACH_ON]
        samples = np.concatenate([f.samples for f in frames])
        levels = _levels(samples)
        begin = frames[0].time
        loud = np.flatnonzero(levels > self.audible)
        if not len(loud):
            return self._last_voiced
        at = int(loud[-1]) + 1
        tail = levels[max(0, at - round(_PEAK_S * RATE / STEP)) : at]
        floor = max(self.audible, float(tail.max()) - _BELOW_PEAK)
        at -= int(np.argmax(tail[::-1] > floor))
        last = np.abs(samples[(at - 1) * STEP : at * STEP].astype(np.int32))[::-1]
        quiet = int(np.argmax(last > _FULL * 10 ** (floor / 20)))
        return begin + (at * STEP - quiet) / RATE

    def _listen_to_the_room(self, level: float) -> None:
        """The room's level is what is quieter than all but a seventh of the last seconds."""
        self._levels.append(level)
        self._count += 1
        if self._count <= 10 or self._count % 10 == 0:
            ranked = sorted(self._levels)
            self._floor = min(ranked[len(ranked) // 7], _FLOOR_MOST)


def _levels(samples: MonoInt16) -> NDArray[np.float32]:
    """dBFS of each whole step."""
    power = np.square(samples.astype(np.float32)).reshape(-1, STEP).mean(axis=1)
    levels: NDArray[np.float32] = np.float32(10) * np.log10(power / _FULL**2 + 1e-10)
    return levels
