"""The agent's sound out of a recording: decoded, and placed on session time by its RTP stamps.

Samples lie where their stamps say, on the line between RTP time and session time under the fastest
packets, run by run (see `simulator.measuring.clockmap`): that is when they were sent. They are
heard then or, if that is later, when their packet has come, each by its place in it: a server that
stalls or sends in bursts keeps its stamps and is late all the same. Lost packets stay
gaps. An Opus decoder gives out what the encoder's look-ahead has delayed (312 samples, 6.5 ms for
libopus): that is part of what is heard, so it is not taken off here; `trace.CodecDelay` states it.
Counterparts: `simulator.measuring.speech` finds speech in it, `simulator.report.film` mixes it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import av
import numpy as np
from av.error import FFmpegError
from av.packet import Packet
from numpy.typing import NDArray

from simulator.measuring.clockmap import map_runs
from simulator.measuring.sources import counts
from simulator.measuring.speech import Detector
from simulator.measuring.stamps import paced
from simulator.measuring.stretch import Ending, Stretch, speeches
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
LONGEST = 120 * AUDIO_CLOCK // 1000
"""Ticks of the longest packet that Opus knows."""
PAUSE = AUDIO_CLOCK
"""Ticks without packets after which a new stretch begins: nothing was sent in between."""


USUAL_LEAST, USUAL_MOST = 0.005, 0.1
"""Seconds by which packets may be late before it says anything, at least and at most."""
USUAL_OF_MEDIAN = 4.3
"""19 of 20 exponential delays are less than so many medians."""


class Sound:
    """The agent's sound in a log of Opus packets, decoded as it is iterated over, once.

    `payload_type`: the negotiated one; None, or one that never came: the commonest.
    """

    def __init__(self, log: RtpLog, payload_type: int | None = None) -> None:
        if len(log) and (payload_type is None or not np.any(log.pt == payload_type)):
            values, counts = np.unique(log.pt, return_counts=True)
            payload_type = int(values[np.argmax(counts)])
        self._log = paced(log[log.pt == payload_type]) if len(log) else log
        self.lost = 0
        """Packets that never came, as far as it was iterated over."""
        self.unreadable = 0
        """Packets that did not decode; they are gaps as well."""
        self.stretches: list[Stretch] = []
        """Its stretches without their samples, once its islands were found."""

    def __iter__(self) -> Iterator[Stretch]:
        log = self._log
        for mine in counts(log.ssrc, log.seq, log.rtp, AUDIO_CLOCK):
            decode = opus_samples()
            before, stamp = None, 0
            for run in _runs(log[mine]):
                first, last = int(run.numbers[0]), int(run.numbers[-1])
                lost = 0 if before is None else first - before - 1
                # A large step is a new count of the sender, not a loss.
                lost = lost if 0 < lost < RESTART else 0
                self.lost += lost + last - first + 1 - len(run.numbers)
                follows = before is not None and first == before + 1
                follows = follows and (int(run.log.rtp[0]) - stamp) % (1 << 32) <= LONGEST
                for k, stretch in enumerate(self._fill(run, decode, lost * PTIME)):
                    stretch.follows = follows and k == 0
                    yield stretch
                before, stamp = last, int(run.log.rtp[-1])

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
            # Stamps that stood still say at last that what had piled up on one is over.
            back = at < part.last
            if part and (
                back or at - part.end >= PAUSE or rest or length >= CHUNK_MOST * AUDIO_CLOCK
            ):
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
            part.add(at, i, samples)
        if part:
            yield part.stretch()

    def islands(self, detector: Detector = "speech") -> tuple[Speech, ...]:
        """Where it is audible, in order of time, not joined."""
        found: list[Speech] = []
        endings: list[Ending] = []
        for stretch in self:
            before = next((e for e in reversed(endings) if e.leads_to(stretch)), None)
            told = speeches(stretch, before, detector)
            endings.append(Ending.of(stretch, told))
            found += told
            self.stretches.append(replace(stretch, samples=np.zeros(0, np.float32)))
        found.sort(key=lambda run: run.start)
        # A late sound that the next one caught up with was cut off, or heard faster.
        for k, (run, later) in enumerate(itertools.pairwise(found)):
            found[k] = replace(run, end=min(run.end, later.start))
        return tuple(found)


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
    times: NDArray[np.float64]
    """Session times of their stamps."""
    slope: float
    """Seconds per tick."""
    usual: float
    """Seconds by which this source's packets are late as a rule."""


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
    lead = order[np.maximum.accumulate(np.where(leads[order], np.arange(len(log)), 0))]
    run[order] = run[lead]
    times = np.zeros(len(log))
    times[leads] = mapped.times
    usual = USUAL_OF_MEDIAN * float(np.median(log.t[leads] - mapped.times))
    for k, found in enumerate(mapped.runs):
        mine = order[run[order] == k]
        stamps = unwrap(log.rtp[mine], 32)
        yield _Run(
            log=log[mine],
            numbers=numbers[mine],
            ticks=stamps - stamps[0],
            times=times[lead][run[order] == k],
            slope=(1 + found.slope) / AUDIO_CLOCK,
            usual=min(max(usual, USUAL_LEAST), USUAL_MOST),
        )


class _Part:
    """A stretch that is being filled; ticks are counted from its run's first."""

    def __init__(self, run: _Run, origin: int, lost_before: float) -> None:
        self.origin = self.end = self.last = origin
        self._run = run
        self._lost_before = lost_before
        self._pieces: list[tuple[int, int, Mono]] = []
        self._gaps: list[tuple[int, int]] = []

    def __bool__(self) -> bool:
        return bool(self._pieces)

    def add(self, at: int, packet: int, samples: Mono) -> None:
        """The samples of a packet, counted in the run, from a tick."""
        self._pieces.append((at - self.origin, packet, samples))
        self.last = at
        self.end = max(self.end, at + len(samples))

    def gap(self, until: int) -> None:
        """Nothing came from the end so far until this tick."""
        if until > self.end:
            self._gaps.append((self.end - self.origin, until - self.origin))
            self.end = until

    def stretch(self) -> Stretch:
        samples = np.zeros(self.end - self.origin, np.float32)
        for at, _, piece in self._pieces:
            samples[at : at + len(piece)] = piece
        run = self._run
        places = np.array([at for at, _, _ in self._pieces], np.int64)
        packets = np.array([packet for _, packet, _ in self._pieces], np.int64)
        # Of packets that share a stamp only the first is where it says.
        further = places + self.origin - run.ticks[packets]
        return Stretch(
            places=places,
            sent=run.times[packets] + further * run.slope,
            came=run.log.t[packets],
            seconds_per_sample=run.slope,
            usual=run.usual,
            lost_before=self._lost_before,
            samples=samples,
            gaps=self._gaps,
        )
