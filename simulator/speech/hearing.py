"""An independent listener: what a recogniser hears in speech, and how far that is from the text.

Nothing that plays or judges a session uses it; it checks that instructions can be understood.
Counterparts: `simulator.speech.render` speaks, `simulator.cli.speech` reports what is misheard.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import av
import numpy as np

from simulator.errors import MissingExtra, install
from simulator.protocol.samples import Mono, Stereo
from simulator.protocol.tracks import AUDIO_CLOCK

_RATE = 16_000
"""Samples a second that a recogniser takes."""
_QUIET = _RATE // 2
"""Samples of silence around what is heard: recognisers lose words at the very edge."""

Hear = Callable[[Stereo], str]
"""Sound -> words."""


def recogniser() -> Hear:
    """Moonshine's tiny English model. Raises MissingExtra."""
    try:
        from moonshine_voice import ModelArch, Transcriber, get_model_path
    except ImportError as error:
        raise MissingExtra("a recogniser is not installed", hint=install("recognise")) from error
    model = Transcriber(str(get_model_path("tiny-en")), ModelArch.TINY)

    def hear(samples: Stereo) -> str:
        padded = np.pad(_narrow(samples), (_QUIET, _QUIET))
        lines = model.transcribe_without_streaming(padded.tolist(), _RATE).lines
        return " ".join(str(line.text).strip() for line in lines)

    return hear


def _narrow(samples: Stereo) -> Mono:
    resampler = av.AudioResampler(format="fltp", layout="mono", rate=_RATE)
    frame = av.AudioFrame.from_ndarray(
        np.ascontiguousarray(samples.T, np.float32), format="fltp", layout="stereo"
    )
    frame.sample_rate = AUDIO_CLOCK
    parts = [f.to_ndarray()[0] for given in (frame, None) for f in resampler.resample(given)]
    return np.concatenate(parts).astype(np.float32)


_NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)


def words(text: str) -> list[str]:
    """The words of a text as a listener would write them down: no case, no signs, small numbers in
    words."""
    small = _NUMBERS.split()
    found = re.findall(r"[^\W_]+(?:'[^\W_]+)*", text.lower().replace("’", "'"))
    return [small[int(w)] if w.isdecimal() and int(w) < len(small) else w for w in found]


def word_errors(said: str, heard: str) -> tuple[int, int]:
    """Words that were put in, left out or changed, at least, and how many words were said."""
    a, b = words(said), words(heard)
    return _distance(a, b), len(a)


def _distance(a: Sequence[str], b: Sequence[str]) -> int:
    row = list(range(len(b) + 1))
    for i, left in enumerate(a, 1):
        above, row = row, [i]
        for j, right in enumerate(b, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (left != right)))
    return row[-1]
