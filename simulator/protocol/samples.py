"""Sound as numbers: its shapes, its types and its rate, said once. Pure.

Levels of float sound are from -1 to 1, those of integers from -32768 to 32767. Counterparts: what
is prepared is `Stereo` (`simulator.media`), what is measured is `Mono` (`simulator.measuring`), and
what a voice is spoken and heard in is `MonoInt16` (`simulator.bridge`).
"""

from __future__ import annotations

import numpy as np

RATE = 48_000
"""Samples a second, wherever no other rate stands beside them: that of Opus."""
PACKET = RATE // 50
"""Samples in a packet of 20 ms."""

Mono = np.ndarray[tuple[int], np.dtype[np.float32]]
"""(samples,)"""
Stereo = np.ndarray[tuple[int, int], np.dtype[np.float32]]
"""(samples, 2): left and right."""
MonoInt16 = np.ndarray[tuple[int], np.dtype[np.int16]]
"""(samples,)"""
