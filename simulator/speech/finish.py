"""What an engine said, made ready: trimmed, as loud as instructions are, without clicks, a file.

Counterparts: `simulator.speech.process` gives the samples, `simulator.media.loudness` the level,
`simulator.media.build` lays the file into a turn.
"""

from __future__ import annotations

from pathlib import Path

import av
import numpy as np

from simulator.errors import InputError
from simulator.media.loudness import INSTRUCTION, MOST, loudness
from simulator.media.mix import audible
from simulator.protocol.samples import Mono, Stereo
from simulator.protocol.tracks import AUDIO_CLOCK
from simulator.speech.engine import Speech

CODE = 1
"""Raise when the same speech makes another file."""
PEAK = 10 ** (-1 / 20)
"""What samples may reach: 1 dB under full scale, as coders overshoot."""
_FADE = 0.004
"""Seconds faded in and out, so that the cuts do not click."""


def finish(speech: Speech) -> tuple[Mono, float]:
    """The audible part at `INSTRUCTION` LUFS, and how many seconds it is. Raises InputError if
    nothing is audible."""
    span = audible(speech.samples[:, None])
    if span is None:
        raise InputError("nothing is audible in what was spoken")
    samples = speech.samples[span[0] : span[1]].astype(np.float32)
    found = loudness(_heard(samples, speech.rate))
    if found is not None:
        samples = samples * np.float32(10 ** (min(MOST, INSTRUCTION - found) / 20))
    samples = samples * np.float32(min(1.0, PEAK / float(np.abs(samples).max())))
    count = min(round(_FADE * speech.rate), len(samples) // 2)
    ramp = np.linspace(0, 1, count, dtype=np.float32)
    samples[:count] *= ramp
    samples[len(samples) - count :] *= ramp[::-1]
    return samples, len(samples) / speech.rate


def _heard(samples: Mono, rate: int) -> Stereo:
    """Sound of any rate as it will be heard."""
    resampler = av.AudioResampler(format="fltp", layout="stereo", rate=AUDIO_CLOCK)
    frame = av.AudioFrame.from_ndarray(samples[None, :], format="fltp", layout="mono")
    frame.sample_rate = rate
    parts = [f.to_ndarray() for given in (frame, None) for f in resampler.resample(given)]
    return np.concatenate(parts, axis=1).T.astype(np.float32)


def write_flac(path: Path, samples: Mono, rate: int) -> None:
    """One channel of 16 bits, losslessly."""
    whole = np.clip(np.round(samples * 32767), -32768, 32767).astype(np.int16)
    with av.open(str(path), "w", format="flac") as out:
        stream = out.add_stream("flac", rate=rate, layout="mono")
        for at in range(0, len(whole), 4096):
            frame = av.AudioFrame.from_ndarray(
                np.ascontiguousarray(whole[None, at : at + 4096]), format="s16", layout="mono"
            )
            frame.sample_rate, frame.pts = rate, at
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
