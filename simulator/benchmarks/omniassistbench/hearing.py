"""Where the question at the end of a clip's sound ends, heard and not told.

The release says that a question is there, not when. The last run of speech in the clip is taken for
it; how sure that is, is stated. Counterpart: `simulator.measuring.speech` finds speech.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import av
import numpy as np

from simulator.errors import InputError
from simulator.measuring.levels import STEP, levels_db
from simulator.measuring.speech import islands
from simulator.protocol.samples import RATE, Mono

LISTENED = 40.0
"""Seconds at the end of a clip that are listened to; a question is shorter."""
PAUSE = 0.8
"""A longer pause parts what was said before from the question."""
SURE, UNSURE = 0.1, 1.0
"""Uncertainty of the end, seconds, where the words stand out and where they do not. Measured with
six questions on noise, murmur, a battle and film talk: at most 0.08 s off on silence, up to 1 s
where the background is 20 dB below the words or louder."""
STANDS_OUT_DB = 30.0
AROUND = 3.0
"""Seconds on either side of the words that are their background."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """The last thing said in a clip."""

    duration: float
    """Of the clip, seconds."""
    start: float | None
    """None if no speech was found; then `end` is the clip's."""
    end: float
    uncertainty: float


def listen(source: Path | bytes, name: str) -> Question:
    """Find the last speech of a clip. Raises InputError for what cannot be played."""
    try:
        opened = BytesIO(source) if isinstance(source, bytes) else str(source)
        with closing(av.open(opened, mode="r")) as container:
            duration = _duration(container)
            sound, first = _tail(container, duration)
    except av.FFmpegError as error:
        raise InputError(f"{name}: not a video that can be read: {error}") from None
    return question(sound, first, duration)


def question(sound: Mono, first: float, duration: float) -> Question:
    """The last run of speech in `sound`, whose first sample lies at clip time `first`.

    `uncertainty`: by how the words stand out of what is heard around them; the whole clip if there
    is no speech at all.
    """
    spoken = islands(sound)
    if not spoken:
        return Question(duration=duration, start=None, end=duration, uncertainty=duration)
    start, end = spoken[-1]
    for a, b in reversed(spoken[:-1]):
        if start - b > PAUSE * RATE:
            break
        start = a
    return Question(
        duration=duration,
        start=min(duration, first + start / RATE),
        end=min(duration, first + end / RATE),
        uncertainty=SURE if _contrast_db(sound, start, end) >= STANDS_OUT_DB else UNSURE,
    )


def _contrast_db(sound: Mono, start: int, end: int) -> float:
    """How far the loud part of the words is above what is mostly heard around them."""
    levels = levels_db(sound, STEP)
    a, b, wide = start // STEP, max(end // STEP, start // STEP + 1), round(AROUND * RATE) // STEP
    margin = round(SURE * RATE) // STEP
    around = np.concatenate([levels[max(0, a - wide) : max(0, a - margin)], levels[b + margin :]])
    if not len(around):
        return 0.0
    return float(np.percentile(levels[a:b], 90) - np.median(around))


def _duration(container: av.container.InputContainer) -> float:
    if container.duration:
        return float(container.duration) / 1e6
    streams = [s for s in container.streams if s.duration and s.time_base]
    lengths = [float((s.duration or 0) * (s.time_base or 0)) for s in streams]
    if not lengths:
        raise InputError(f"{container.name}: its length is not known")
    return max(lengths)


def _tail(container: av.container.InputContainer, duration: float) -> tuple[Mono, float]:
    """The last LISTENED seconds of sound, mono at RATE, and the clip time of the first sample."""
    if not container.streams.audio:
        return np.zeros(0, dtype=np.float32), 0.0
    stream = container.streams.audio[0]
    zero = float(container.start_time or 0) / 1e6
    if duration > LISTENED:
        container.seek(int((zero + duration - LISTENED) * 1e6))
    resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
    parts, first = [], None
    for frame in _frames(container.decode(stream)):
        if first is None:
            first = 0.0 if frame.time is None else frame.time - zero
        parts += [f.to_ndarray()[0] for f in resampler.resample(frame)]
    parts += [f.to_ndarray()[0] for f in resampler.resample(None)]
    sound = np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)
    return sound.astype(np.float32), first or 0.0


def _frames(decoded: Iterator[av.AudioFrame]) -> Iterator[av.AudioFrame]:
    """Decoded frames up to where a file is cut off."""
    try:
        yield from decoded
    except av.FFmpegError:
        return
