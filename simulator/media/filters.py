"""Sound through FFmpeg's filters, block by block: nothing is held but what a filter holds.

Counterparts: `simulator.media.loudness` measures with it, `simulator.media.stretch` slows down.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

import av
import numpy as np
from av.filter import Graph

from simulator.protocol.samples import Stereo
from simulator.protocol.tracks import AUDIO_CLOCK


def filtered(blocks: Iterable[Stereo], *filters: tuple[str, str]) -> Iterator[av.AudioFrame]:
    """What comes out of a chain of filters, each a name and its options, at 48 kHz stereo."""
    graph = Graph()
    last = graph.add_abuffer(
        sample_rate=AUDIO_CLOCK, format="fltp", layout="stereo", time_base=Fraction(1, AUDIO_CLOCK)
    )
    for name, options in (*filters, ("abuffersink", "")):
        following = graph.add(name, options or None)
        last.link_to(following)
        last = following
    graph.configure()
    for frame in _frames(blocks):
        graph.push(frame)
        yield from _ready(graph)


def samples_of(frame: av.AudioFrame) -> Stereo:
    """A frame's samples; it must have two channels of floats, apart or by turns."""
    found = frame.to_ndarray()
    found = found.T if frame.format.is_planar else found.reshape(-1, 2)
    return found.astype(np.float32, copy=False)


def _frames(blocks: Iterable[Stereo]) -> Iterator[av.AudioFrame | None]:
    """Blocks as a filter takes them, and the None that ends them."""
    at = 0
    for block in blocks:
        if len(block):
            frame = av.AudioFrame.from_ndarray(
                np.ascontiguousarray(block.T, np.float32), format="fltp", layout="stereo"
            )
            frame.sample_rate, frame.pts = AUDIO_CLOCK, at
            at += len(block)
            yield frame
    yield None


def _ready(graph: Graph) -> Iterator[av.AudioFrame]:
    while True:
        try:
            out = graph.pull()
        except (av.BlockingIOError, EOFError):
            return
        assert isinstance(out, av.AudioFrame)
        yield out
