"""The agent's sound out of a recording: decoded, and placed on session time by its RTP stamps.

Arrival times only fit the line between RTP time and session time, run by run (see
`simulator.measuring.clockmap`); within a run, samples lie where their stamps say. Lost packets stay
gaps. An Opus decoder gives out what the encoder's look-ahead has delayed (312 samples, 6.5 ms for
libopus): that is part of what is heard, so it is not taken off here; `trace.CodecDelay` states it.
Counterparts: `simulator.measuring.speech` finds speech in it, `simulator.report.film` mixes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import av
import numpy as np
from av.error import FFmpegError
from av.packet import Packet
from numpy.typing import NDArray

from simulator.measuring.clockmap import map_runs
from simulator.measuring.speech import Detector
from simulator.measuring.speech import islands as islands_of
from simulator.measuring.trace import Speech
from simulator.media.timeline import PTIME
from simulator.protocol.rtp import unwrap
from simulator.protocol.samples import PACKET, Mono
from simulator.protocol.tracks import AUDIO_CLOCK
from simulator.recording.reader import Recording, RtpLog

Decode = Callable[[bytes], Mono | None]

CHUNK_SECONDS = 60
"""Sound is handed out in stretches of about this length, cut in silence: memory is bounded."""
CHUNK_MOST = 300
"""Seconds after which it is cut wherever it is."""
QUIET_PACKETS = 25
"""Silent packets in a row that are silence enough to cut in."""
QUIET_PEAK = 1e-3
"""Largest sample of a silent packet (-60 dB)."""
RESTART = 3_000
"""Steps of the sequence numbers that are too large for a loss."""
PAUSE = AUDIO_CLOCK
"""Ticks without packets after which a new stretch begins: nothing was sent in between."""


@dataclass(slots=True, kw_only=True)
class Stretch:
    """Sound on one straight line between samples and session time."""

    start: float
    """Session time at which its first sample could be heard."""
    seconds_per_sample: float
    uncertainty: float
    """Seconds by which the line may be off."""
    lost_before: float = 0.0
    """Seconds of sound that were lost just before it."""
    samples: Mono = field(default_factory=lambda: np.zeros(0, np.float32))
    gaps: list[tuple[int, int]] = field(default_factory=list)
    """Samples that never came: first, and one past the last."""

    @property
    def end(self) -> float:
        return self.at(len(self.samples))

    def at(self, sample: int) -> float:
        """Session time of a sample."""
        return self.start + sample * self.seconds_per_sample

    def unsure(self, sample: int) -> float:
        """Seconds by which sound that begins at `sample` may have begun earlier, or the line be
        off."""
        lost = self.lost_before if sample < 2 * PACKET else 0.0
        for a, b in self.gaps:
            # A decoder needs a moment to come back after a gap.
            if b <= sample < b + 2 * PACKET:
                lost = (b - a) / AUDIO_CLOCK
        return self.uncertainty + lost


class Sound:
    """The agent's sound in a log of Opus packets, decoded as it is iterated over, once.

    `payload_type`: the negotiated one; None, or one that never came: the commonest.
    """

    def __init__(self, log: RtpLog, payload_type: int | None = None) -> None:
        if len(log) and (payload_type is None or not np.any(log.pt == payload_type)):
            values, counts = np.unique(log.pt, return_counts=True)
            payload_type = int(values[np.argmax(counts)])
        self._log = log[log.pt == payload_type] if len(log) else log
        self.lost = 0
        """Packets that never came, as far as it was iterated over."""
        self.unreadable = 0
        """Packets that did not decode; they are gaps as well."""

    def __iter__(self) -> Iterator[Stretch]:
        for ssrc in dict.fromkeys(self._log.ssrc.tolist()):
            decode = opus_samples()
            before: int | None = None
            for run in _runs(self._log[self._log.ssrc == ssrc]):
                first, last = int(run.numbers[0]), int(run.numbers[-1])
                lost = 0 if before is None else first - before - 1
                # A large step is a new count of the sender, not a loss.
                lost = lost if 0 < lost < RESTART else 0
                self.lost += lost + last - first + 1 - len(run.numbers)
                yield from self._fill(run, decode, lost * PTIME)
                before = last

    def _fill(self, run: _Run, decode: Decode, lost_before: float) -> Iterator[Stretch]:
        """The samples of a run in one or several stretches."""
        part = _Part(run, 0, lost_before)
        quiet, before = 0, int(run.numbers[0]) - 1
        stamp: int | None = None
        for i, (number, tick) in enumerate(
            zip(run.numbers.tolist(), run.ticks.tolist(), strict=True)
        ):
            # Some senders cut a long frame into packets that all have its stamp.
            at = part.end if tick == stamp else max(tick, part.origin)
            stamp = tick
            missing, before = max(0, number - before - 1), number
            length = part.end - part.origin
            rest = quiet >= QUIET_PACKETS and length >= CHUNK_SECONDS * AUDIO_CLOCK
            if part and (at - part.end >= PAUSE or rest or length >= CHUNK_MOST * AUDIO_CLOCK):
                yield part.stretch()
                part, quiet = _Part(run, at, missing * PTIME), 0
            elif missing:
                part.gap(at)
            samples = decode(run.log.payload(i))
            if samples is None:
                self.unreadable += 1
                part.gap(at + PACKET)
                continue
            quiet = quiet + 1 if float(np.max(np.abs(samples))) < QUIET_PEAK else 0
            part.add(at, samples)
        if part:
            yield part.stretch()

    def islands(self, detector: Detector = "speech") -> tuple[Speech, ...]:
        """Where it is audible, in order of time, not joined."""
        out = [
            Speech(start=s.at(first), end=s.at(stop), uncertainty=s.unsure(first))
            for s in self
            for first, stop in islands_of(s.samples, detector)
        ]
        return tuple(sorted(out, key=lambda s: s.start))


def agent_sound(recording: Recording) -> Sound:
    """What the agent said in a recording."""
    voice = recording.voice
    value = recording.negotiated(voice).get("payload_type")
    return Sound(recording.received(voice), value if isinstance(value, int) else None)


def opus_samples() -> Decode:
    """A fresh Opus decoder, as a function from a packet to its mono samples; None if it does not
    decode. It remembers the sound before, so it takes the packets of one stream in order."""
    context = av.CodecContext.create("libopus", "r")
    context.sample_rate = AUDIO_CLOCK
    context.layout = "mono"
    context.format = "s16"

    def samples(payload: bytes) -> Mono | None:
        if not payload:
            return None
        try:
            frames = context.decode(Packet(payload))
        except FFmpegError:
            return None
        parts = [f.to_ndarray()[0] for f in frames]
        return np.concatenate(parts).astype(np.float32) / np.float32(32768) if parts else None

    return samples


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of packets whose stamps go on continuously, in their order."""

    log: RtpLog
    numbers: NDArray[np.int64]
    """Their sequence numbers, unwrapped."""
    ticks: NDArray[np.int64]
    """Their stamps, counted from the first one's."""
    start: float
    """Session time of the first stamp."""
    slope: float
    """Seconds per tick."""
    uncertainty: float


def _runs(log: RtpLog) -> Iterator[_Run]:
    """The runs of one source's packets, of which there is each only once."""
    numbers = unwrap(log.seq, 16)
    _, first = np.unique(np.stack([numbers, log.rtp]), axis=1, return_index=True)
    kept = np.sort(first)
    log, numbers = log[kept], numbers[kept]
    order = np.argsort(numbers, kind="stable")
    leads = np.ones(len(log), np.bool_)
    leads[order[1:]] = np.diff(log.rtp[order]) != 0
    # Packets that share a stamp leave together: only the first says when the others' time is.
    mapped = map_runs(log.seq[leads], log.rtp[leads], log.t[leads], AUDIO_CLOCK)
    run = np.full(len(log), -1, np.int64)
    run[leads] = mapped.run
    run[order] = run[order][np.maximum.accumulate(np.where(leads[order], np.arange(len(log)), 0))]
    for k, found in enumerate(mapped.runs):
        mine = order[run[order] == k]
        stamps = unwrap(log.rtp[mine], 32)
        yield _Run(
            log=log[mine],
            numbers=numbers[mine],
            ticks=stamps - stamps[0],
            start=found.start,
            slope=(1 + found.slope) / AUDIO_CLOCK,
            uncertainty=found.uncertainty,
        )


class _Part:
    """A stretch that is being filled; ticks are counted from its run's first."""

    def __init__(self, run: _Run, origin: int, lost_before: float) -> None:
        self.origin = self.end = origin
        self._run = run
        self._lost_before = lost_before
        self._pieces: list[tuple[int, Mono]] = []
        self._gaps: list[tuple[int, int]] = []

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def add(self, at: int, samples: Mono) -> None:
        self._pieces.append((at - self.origin, samples))
        self.end = max(self.end, at + len(samples))

    def gap(self, until: int) -> None:
        """Nothing came from the end so far until this tick."""
        if until > self.end:
            self._gaps.append((self.end - self.origin, until - self.origin))
            self.end = until

    def stretch(self) -> Stretch:
        samples = np.zeros(self.end - self.origin, np.float32)
        for at, piece in self._pieces:
            samples[at : at + len(piece)] = piece
        return Stretch(
            start=self._run.start + self.origin * self._run.slope,
            seconds_per_sample=self._run.slope,
            uncertainty=self._run.uncertainty,
            lost_before=self._lost_before,
            samples=samples,
            gaps=self._gaps,
        )
