"""Hears live when the agent begins and ends to speak: level with hysteresis on its sound packets.

Good enough to decide when a turn may go on; measured onsets come from the recording
(`simulator.measuring.measure`). Counterpart: `simulator.rtc.peer` feeds it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import av
import numpy as np
from av.error import FFmpegError
from av.packet import Packet

from simulator.protocol.events import AgentSpeech
from simulator.protocol.rtp import rtp_payload
from simulator.protocol.samples import RATE

LOUD_DB = -45.0
"""Level (RMS of a packet, dB below full scale) that counts as sound while there is none yet."""
FAINT_DB = -52.0
"""Level that still counts as sound once there is some."""
BEGIN_AFTER = 0.06
"""Seconds of sound that make a beginning; a click is shorter."""
END_AFTER = 0.2
"""Seconds without sound that make an end."""
_EMPTY = 8
"""Bytes; an Opus packet of so few carries silence or comfort noise, and is not decoded."""


class Ear:
    """Detects speech in one stream of Opus packets. `payload_type`: the stream's, None for any."""

    def __init__(self, payload_type: int | None = None) -> None:
        self._payload_type = payload_type
        self._decoder = av.CodecContext.create("opus", "r")
        self._loud = 0.0
        self._last: float | None = None
        self.speaking = False
        """Sound has begun and not ended."""
        self.unreadable = 0
        """Packets that did not decode."""

    def feed(self, t: float, packet: bytes) -> Sequence[AgentSpeech]:
        """An RTP packet arrived at session time `t`; what it changes."""
        if self._payload_type is not None and (packet[1] & 0x7F) != self._payload_type:
            return ()
        level, seconds = self._level(rtp_payload(packet))
        if level >= (FAINT_DB if self.speaking else LOUD_DB):
            self._loud += seconds
            self._last = t
            if not self.speaking and self._loud >= BEGIN_AFTER:
                self.speaking = True
                return (AgentSpeech(edge="start"),)
            return ()
        if not self.speaking:
            self._loud = 0.0
        return self.tick(t)

    def tick(self, t: float) -> Sequence[AgentSpeech]:
        """Time passes without packets (some agents send nothing while they are silent)."""
        if self.speaking and self._last is not None and t - self._last >= END_AFTER:
            self.speaking = False
            self._loud = 0.0
            return (AgentSpeech(edge="end"),)
        return ()

    def _level(self, payload: bytes) -> tuple[float, float]:
        """Level in dB of full scale (-inf for silence) and length in seconds."""
        if len(payload) <= _EMPTY:
            return -math.inf, 0.02
        packet: Packet[Any] = Packet(payload)
        try:
            frames = self._decoder.decode(packet)
        except FFmpegError:
            self.unreadable += 1
            return -math.inf, 0.02
        power, samples = 0.0, 0
        for frame in frames:
            left = np.frombuffer(memoryview(frame.planes[0]), np.float32, count=frame.samples)
            power += float(np.dot(left, left))
            samples += frame.samples
        if samples == 0 or power <= 0:
            return -math.inf, 0.02
        return 10 * math.log10(power / samples), samples / RATE
