"""Hears live when the agent begins and ends to speak: level with hysteresis on its sound packets.

Where something sounds all the time (a room, a fan, hiss), speech is what stands out from that: both
levels rise with the floor, which is the faintest tenth of a second of the last few seconds.
Good enough to decide when a turn may go on; measured onsets come from the recording
(`simulator.measuring.measure`). Counterpart: `simulator.rtc.peer` feeds it.
"""

from __future__ import annotations

import math
from collections import deque
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
OVER_FLOOR = 10.0
"""dB by which sound has to stand out from the floor while there is none yet."""
STILL_OVER = 5.0
"""dB by which it has to once there is some."""
FLOOR_DB = -30.0
"""The floor at most: what is louder all the time is no room."""
FLOOR_SECONDS = 3.0
"""Seconds over which the floor is the faintest stretch. Speech pauses more often."""
STRETCH = 0.1
"""Seconds of sound of which it is the mean level."""
BEGIN_AFTER = 0.06
"""Seconds of sound that make a beginning; a click is shorter."""
END_AFTER = 0.2
"""Seconds without sound that make an end."""
_SOURCES = 8
"""Senders in one track that are listened to."""
_EMPTY = 8
"""Bytes; an Opus packet of so few carries silence or comfort noise, and is not decoded."""


class Floor:
    """The level that is always there."""

    def __init__(self) -> None:
        self._stretches: deque[tuple[float, float]] = deque()
        """When each ended and its mean power, the faintest first and each later one louder."""
        self._since: float | None = None
        self._power = 0.0
        self._packets = 0

    def hear(self, t: float, power: float) -> float:
        """A packet of that mean power came; the floor in dB of full scale by now, -inf for none."""
        if self._since is None or t - self._since > FLOOR_SECONDS:
            # Nothing came for long: what there is now is found anew.
            self._stretches.clear()
            self._since, self._power, self._packets = t, 0.0, 0
        self._power += power
        self._packets += 1
        if t - self._since >= STRETCH - 1e-6:
            self._add(t, self._power / self._packets)
            self._since, self._power, self._packets = t, 0.0, 0
        if not self._stretches or self._stretches[0][1] <= 0.0:
            return -math.inf
        return min(FLOOR_DB, 10 * math.log10(self._stretches[0][1]))

    def _add(self, t: float, power: float) -> None:
        kept = self._stretches
        while kept and kept[-1][1] >= power:
            kept.pop()
        kept.append((t, power))
        while kept[0][0] < t - FLOOR_SECONDS:
            kept.popleft()


class Ear:
    """Detects speech in a track of Opus packets, whichever of its sources speaks. `payload_type`:
    the track's, None for any."""

    def __init__(self, payload_type: int | None = None) -> None:
        self._payload_type = payload_type
        self._sources: dict[int, _Source] = {}
        """By SSRC, the last heard of last."""
        self.unreadable = 0
        """Packets that did not decode."""

    @property
    def speaking(self) -> bool:
        """Sound has begun and not ended."""
        return any(source.speaking for source in self._sources.values())

    def feed(self, t: float, packet: bytes) -> Sequence[AgentSpeech]:
        """An RTP packet arrived at session time `t`; what it changes."""
        if self._payload_type is not None and (packet[1] & 0x7F) != self._payload_type:
            return ()
        before, ssrc = self.speaking, int.from_bytes(packet[8:12])
        source = self._sources.pop(ssrc) if ssrc in self._sources else _Source()
        self._sources[ssrc] = source
        if len(self._sources) > _SOURCES:
            del self._sources[next(iter(self._sources))]
        self.unreadable += not source.feed(t, rtp_payload(packet))
        return self._edges(before, t)

    def tick(self, t: float) -> Sequence[AgentSpeech]:
        """Time passes without packets (some agents send nothing while they are silent)."""
        return self._edges(self.speaking, t)

    def _edges(self, before: bool, t: float) -> Sequence[AgentSpeech]:
        for source in self._sources.values():
            source.tick(t)
        if self.speaking is before:
            return ()
        return (AgentSpeech(edge="end" if before else "start"),)


class _Source:
    """One sender's packets."""

    def __init__(self) -> None:
        self._decoder = av.CodecContext.create("opus", "r")
        self._floor = Floor()
        self._loud = 0.0
        self._last: float | None = None
        self.speaking = False

    def feed(self, t: float, payload: bytes) -> bool:
        """Hear a packet that came at `t`; False if it did not decode."""
        power, seconds, readable = self._power(payload)
        level = 10 * math.log10(power) if power > 0 else -math.inf
        if level >= self._threshold(self._floor.hear(t, power)):
            self._loud += seconds
            self._last = t
            self.speaking = self.speaking or self._loud >= BEGIN_AFTER
        elif not self.speaking:
            self._loud = 0.0
        return readable

    def tick(self, t: float) -> None:
        if self.speaking and self._last is not None and t - self._last >= END_AFTER:
            self.speaking = False
            self._loud = 0.0

    def _threshold(self, floor: float) -> float:
        if self.speaking:
            return max(FAINT_DB, floor + STILL_OVER)
        return max(LOUD_DB, floor + OVER_FLOOR)

    def _power(self, payload: bytes) -> tuple[float, float, bool]:
        """Mean power (of full scale, 0 for silence), length in seconds, and whether it decoded."""
        if len(payload) <= _EMPTY:
            return 0.0, 0.02, True
        packet: Packet[Any] = Packet(payload)
        try:
            frames = self._decoder.decode(packet)
        except FFmpegError:
            return 0.0, 0.02, False
        power, samples = 0.0, 0
        for frame in frames:
            left = np.frombuffer(memoryview(frame.planes[0]), np.float32, count=frame.samples)
            power += float(np.dot(left, left))
            samples += frame.samples
        return (power / samples, samples / RATE, True) if samples else (0.0, 0.02, True)
