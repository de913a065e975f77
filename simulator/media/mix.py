"""Speech laid over a clip's sound: where it goes, when it is audible, and no clipping. Pure.

Audible is what reaches 50 dB below the sound file's own peak, found on the samples: so the end of
an instruction is known to the sample. Counterparts: `simulator.media.sound` gives the bed and the
speech, `simulator.media.prepare` the times, `simulator.media.encode` takes the sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simulator.protocol.samples import Stereo

AUDIBLE = 10 ** (-50 / 20)
"""Share of the peak from which a sample is audible."""
CEILING = 0.98
"""What the sum may reach."""
_STEP = 240
"""Samples over which the limiter's gain moves: 5 ms."""
_CHUNK = 20 * _STEP
_RECOVERY = 0.02
"""Gain that the limiter gives back in a step: 0.25 s from half to full."""


def audible(samples: Stereo) -> tuple[int, int] | None:
    """First audible sample and the one after the last; None if there is only silence."""
    level = np.abs(samples).max(axis=1) if len(samples) else np.zeros(0, np.float32)
    peak = float(level.max(initial=0.0))
    if peak < 1e-5:
        return None
    loud = np.flatnonzero(level >= peak * AUDIBLE)
    return int(loud[0]), int(loud[-1]) + 1


@dataclass(frozen=True, slots=True)
class Laid:
    """Speech at its place."""

    at: int
    """Position of its first sample, in the bed's count."""
    samples: Stereo


def lay(samples: Stereo, span: tuple[int, int], audible_at: int, first: int, last: int) -> Laid:
    """`samples` so that its audible `span` begins at `audible_at`; what would lie outside `first`
    to `last` (inaudible by definition, if the span fits) is cut."""
    at = audible_at - span[0]
    begin, end = max(at, first), min(at + len(samples), last)
    return Laid(begin, samples[begin - at : end - at])


def mixed(bed: Iterable[Stereo], at: int, speech: Sequence[Laid]) -> Iterator[Stereo]:
    """The bed, whose first sample is at position `at`, with the speech added, limited."""
    if not speech:
        return limited(bed)
    return limited(_sum(bed, at, speech))


def _sum(bed: Iterable[Stereo], at: int, speech: Sequence[Laid]) -> Iterator[Stereo]:
    for block in bed:
        out = block
        for laid in speech:
            first = max(at, laid.at)
            last = min(at + len(block), laid.at + len(laid.samples))
            if first < last:
                if out is block:
                    out = block.copy()
                out[first - at : last - at] += laid.samples[first - laid.at : last - laid.at]
        yield out
        at += len(block)


def limited(blocks: Iterable[Stereo]) -> Iterator[Stereo]:
    """The same sound with its peaks held under `CEILING`; untouched where they are anyway.

    The gain moves in straight lines between steps of 5 ms and is down before a peak comes, as it
    looks one step ahead.
    """
    gain = 1.0
    held: Stereo | None = None
    for chunk in _chunks(blocks):
        if held is not None:
            done, gain = _limit(held, gain, _needed(chunk[:_STEP]))
            yield done
        held = chunk
    if held is not None:
        yield _limit(held, gain, 1.0)[0]


def _chunks(blocks: Iterable[Stereo]) -> Iterator[Stereo]:
    rest = np.zeros((0, 2), np.float32)
    for block in blocks:
        rest = np.concatenate((rest, block)) if len(rest) else block
        whole = len(rest) // _CHUNK
        for i in range(whole):
            yield rest[i * _CHUNK : (i + 1) * _CHUNK]
        rest = rest[whole * _CHUNK :]
    if len(rest):
        yield rest


def _needed(samples: Stereo) -> float:
    peak = float(np.abs(samples).max(initial=0.0))
    return min(1.0, CEILING / peak) if peak > 0 else 1.0


def _limit(chunk: Stereo, gain: float, following: float) -> tuple[Stereo, float]:
    """One chunk limited, and the gain at its end. `following` is what the next step needs."""
    if gain >= 1.0 and following >= 1.0 and float(np.abs(chunk).max()) <= CEILING:
        return chunk, 1.0
    starts = range(0, len(chunk), _STEP)
    needed = [_needed(chunk[i : i + _STEP]) for i in starts] + [following]
    curve: list[NDArray[np.float32]] = []
    for start, now, then in zip(starts, needed, needed[1:], strict=False):
        gain = min(gain, now)
        end = min(now, then, gain + _RECOVERY)
        length = min(_STEP, len(chunk) - start)
        curve.append(np.linspace(gain, end, length, endpoint=False, dtype=np.float32))
        gain = end
    return chunk * np.concatenate(curve)[:, None], gain
