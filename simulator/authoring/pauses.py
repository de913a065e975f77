"""The pause after an instruction by which a turn detector knows that it is the agent's turn.

Counterpart: `simulator.authoring.material` knows where instructions lie and asks this for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.media.loudness import INSTRUCTION
from simulator.media.played import sounds_of
from simulator.media.probe import Probe
from simulator.protocol.samples import Mono, Stereo
from simulator.protocol.tracks import AUDIO_CLOCK
from simulator.scenario.types import Scenario, Turn

PAUSE = 0.5
"""Seconds of quiet after an instruction by which a turn detector knows that it has ended."""
_SOON = 0.3
"""It has to begin this soon."""
BELOW = 20.0
"""Sound that is so many dB under the instruction counts as quiet."""
_SILENT = -50.0
"""dBFS under which it is quiet in any case."""
_HEARD = 2.0
"""Seconds after an instruction that are listened to."""
_FRAME = AUDIO_CLOCK // 50


@dataclass(frozen=True, slots=True)
class Given:
    """An instruction at its place."""

    turn: Turn
    kind: str
    start: float
    """Clip time of its first audible sample, or of its first picture."""
    end: float
    user: bool
    loudness: float = INSTRUCTION
    """dBFS; for one that is seen, what one that is heard would have."""


def lacking(
    one: Given, given: Sequence[Given], scenario: Scenario, probes: Mapping[str, Probe]
) -> Iterator[str]:
    """What denies a turn detector its pause after `one`, if anything does. After an instruction
    that is seen, too, a model that listens waits for one. Raises InputError for a broken clip."""
    clips = _after(one, scenario, probes)
    frames = np.concatenate([clips, np.full(round(PAUSE * 50), -120.0)])
    busy = frames > max(_SILENT, one.loudness - BELOW)
    for other in given:
        begin = _stream(scenario, other.turn) + other.start - other.turn.start
        begin -= _stream(scenario, one.turn) + one.end - one.turn.start
        end = begin + other.end - other.start
        if other is not one and other.kind == "say" and end > 0:
            busy[max(0, round(begin * 50)) : max(0, round(end * 50))] = True
    begins = _first_pause(busy)
    if begins > _SOON:
        more = "or more " if begins >= _HEARD else ""
        yield (
            f"sound goes on right after it: under `pace: continuous` a turn detector gets its "
            f"pause of {PAUSE:g} s only {begins:.1f} s {more}later"
        )


def rms(samples: Mono | Stereo) -> float:
    """In dBFS."""
    power = float(np.mean(np.square(samples, dtype=np.float64))) if len(samples) else 0.0
    return 10 * float(np.log10(power + 1e-12))


def _first_pause(busy: NDArray[np.bool_]) -> float:
    """Seconds until a pause begins."""
    run, need = 0, round(PAUSE * 50)
    for n, loud in enumerate(busy):
        run = 0 if loud else run + 1
        if run == need:
            return (n + 1 - need) / 50
    return len(busy) / 50


def _stream(scenario: Scenario, turn: Turn) -> float:
    return sum(t.duration for t in scenario.turns[: turn.index])


def _after(one: Given, scenario: Scenario, probes: Mapping[str, Probe]) -> NDArray[np.float64]:
    """Levels, in dBFS, of the clips' sound in 20 ms frames after an instruction."""
    left, at, levels = _HEARD, one.end, list[float]()
    for turn in scenario.turns[one.turn.index :]:
        at = at if turn is one.turn else turn.start
        length = min(left, turn.end - at)
        source = probes.get(turn.clip)
        count = round(length * 50)
        if source is None or not source.sound or count <= 0:
            levels += [-120.0] * max(0, count)
        else:
            levels += _levels(source, round(at * AUDIO_CLOCK), count)
        left -= max(0.0, length)
        if left <= 0.02:
            break
    return np.array(levels)


def _levels(source: Probe, first: int, count: int) -> list[float]:
    with sounds_of(source) as reader:
        samples = np.concatenate(list(reader.read(first, first + count * _FRAME)))
    return [rms(samples[i * _FRAME : (i + 1) * _FRAME]) for i in range(count)]
