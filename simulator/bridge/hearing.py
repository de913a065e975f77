"""What the caller's microphone sends, with the time of each sample, and where speech is in it.

A sample has the time at which it could first be heard: its packet's arrival, mapped through the RTP
clock by the earliest arrival, plus its place in the packet. That is one packet (20 ms) and one
codec (6.5 ms) after it was spoken; neither is subtracted. Counterparts: `simulator.rtc.taps` gives
the packets, `simulator.bridge.vad` finds the speech, `simulator.bridge.call` tells the agent.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import av
import numpy as np
from av.audio.codeccontext import AudioCodecContext

from simulator.bridge.vad import FRAME, Edge, SpeechDetector
from simulator.protocol.rtp import rtp_payload
from simulator.protocol.samples import RATE, MonoInt16

_GAP_FRAMES = 50
"""A hole of up to a second is filled with silence; after a longer one the clock starts afresh."""
_BUCKET = 10.0
"""Seconds for which an earliest arrival is kept; three of them count, so drift is followed."""
_SILENT = 3
"""Bytes: an Opus packet this short carries nothing, and is not worth decoding."""


class ArrivalClock:
    """RTP time to local time by the earliest arrival, while packets come in."""

    def __init__(self, rate: int = RATE) -> None:
        self._rate = rate
        self._last: int | None = None
        self._unwrapped = 0
        self._least: deque[tuple[float, float]] = deque(maxlen=3)
        """(begin of the bucket, least arrival minus RTP time in it)."""

    def feed(self, ticks: int, arrival: float) -> tuple[int, float]:
        """Unwrapped ticks of a packet, and the local time of its first sample."""
        if self._last is not None:
            step = (ticks - self._last + 2**31) % 2**32 - 2**31
            self._unwrapped += step
        self._last = ticks
        offset = arrival - self._unwrapped / self._rate
        if not self._least or arrival - self._least[-1][0] >= _BUCKET:
            self._least.append((arrival, offset))
        elif offset < self._least[-1][1]:
            self._least[-1] = (self._least[-1][0], offset)
        return self._unwrapped, self._unwrapped / self._rate + min(o for _, o in self._least)

    def restart(self) -> None:
        """Forget the mapping: the sender's clock has jumped."""
        self._least.clear()


class Hearing:
    """Decodes the caller's Opus packets and finds speech in them.

    `on_edge` is called as soon as an edge is known; `on_samples`, if set, with every frame of
    20 ms and its time. Set `payload_types` to the numbers that were agreed on for Opus.
    """

    def __init__(self, on_edge: Callable[[Edge], None]) -> None:
        self.on_edge = on_edge
        self.on_samples: Callable[[MonoInt16, float], None] | None = None
        self.payload_types: frozenset[int] = frozenset()
        self.origin: float | None = None
        """Local time of the first sample ever heard."""
        self.broken = 0
        """Packets that could not be decoded."""
        self._detector: SpeechDetector | None = SpeechDetector()
        self._clock = ArrivalClock()
        self._decoder: AudioCodecContext | None = None
        self._ringing = False
        """The decoder has not come to rest since the last sound."""
        self._next: int | None = None
        """Ticks of the sample that comes next."""
        self._rest: MonoInt16 = np.zeros(0, np.int16)
        self._kept: deque[tuple[float, MonoInt16]] = deque(maxlen=0)

    def detect(self, detector: SpeechDetector | None) -> None:
        """Find speech with another detector, or with none."""
        self._detector = detector

    def keep(self, seconds: float) -> None:
        """Keep the last `seconds` of sound for `between`; by default nothing is kept."""
        self._kept = deque(self._kept, maxlen=round(seconds * RATE / FRAME))

    def between(self, start: float, end: float) -> MonoInt16:
        """The kept samples heard from `start` to `end`."""
        frames = [(t, s) for t, s in self._kept if t + FRAME / RATE > start and t < end]
        if not frames:
            return np.zeros(0, np.int16)
        joined: MonoInt16 = np.concatenate([s for _, s in frames])
        first = max(0, round((start - frames[0][0]) * RATE))
        return joined[first : first + max(0, round((end - start) * RATE))]

    def feed(self, t: float, packet: bytes) -> None:
        """An RTP packet in clear that arrived at `t`; what is no Opus of the call is ignored."""
        if len(packet) < 12 or packet[1] & 0x7F not in self.payload_types:
            return
        payload = rtp_payload(packet)
        if not payload:
            return
        ticks, time = self._clock.feed(int.from_bytes(packet[4:8]), t)
        if self._next is not None:
            hole = ticks - self._next
            if hole < 0 and -hole < _GAP_FRAMES * FRAME:
                return  # a late copy: its place has been filled already
            if 0 < hole <= _GAP_FRAMES * FRAME:
                self._take(np.zeros(hole, np.int16), time - hole / RATE)
            elif hole:
                self._clock.restart()
                ticks, time = self._clock.feed(int.from_bytes(packet[4:8]), t)
                self._rest = self._rest[:0]
        silent = len(payload) <= _SILENT and not self._ringing
        samples = np.zeros(FRAME, np.int16) if silent else self._decode(payload)
        if not silent:
            self._ringing = len(payload) > _SILENT or bool(samples.any())
        self._next = ticks + len(samples)
        if self.origin is None:
            self.origin = time
        self._take(samples, time)

    def _decode(self, payload: bytes) -> MonoInt16:
        if self._decoder is None:
            decoder = av.CodecContext.create("libopus", "r")
            decoder.sample_rate = RATE
            decoder.layout = "mono"
            decoder.format = av.AudioFormat("s16")
            self._decoder = decoder
        try:
            frames = self._decoder.decode(av.Packet(payload))
        except av.FFmpegError:
            self.broken += 1
            return np.zeros(FRAME, np.int16)
        arrays = [_mono(f) for f in frames]
        return np.concatenate(arrays) if arrays else np.zeros(FRAME, np.int16)

    def _take(self, samples: MonoInt16, time: float) -> None:
        """Pass on whole frames; what is left waits for the next packet."""
        if len(self._rest):
            time -= len(self._rest) / RATE
            samples = np.concatenate([self._rest, samples])
        whole = len(samples) // FRAME * FRAME
        for start in range(0, whole, FRAME):
            self._frame(samples[start : start + FRAME], time + start / RATE)
        self._rest = samples[whole:]

    def _frame(self, frame: MonoInt16, time: float) -> None:
        if self._kept.maxlen:
            self._kept.append((time, frame))
        if self.on_samples is not None:
            self.on_samples(frame, time)
        if self._detector is not None:
            for edge in self._detector.feed(frame, time):
                self.on_edge(edge)


def _mono(frame: av.AudioFrame) -> MonoInt16:
    """An s16 frame as mono samples."""
    channels = frame.layout.nb_channels
    data = np.frombuffer(memoryview(frame.planes[0]), np.int16, count=frame.samples * channels)
    if channels == 1:
        return data.copy()  # the decoder may use its memory again
    mixed: MonoInt16 = data.reshape(-1, channels).mean(axis=1).astype(np.int16)
    return mixed
