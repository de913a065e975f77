"""Sound of a clip: any codec, rate and layout to 48 kHz stereo, each sample at its clip time.

Time stamps rule: a stream that starts late, has gaps, or whose clock drifts against its stamps is
put where the stamps say (to 10 ms; smaller jitter is rounding, and is left to run smoothly).
Counterparts: `simulator.media.mix` lays speech over this, `simulator.media.encode` takes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import av
import numpy as np

from simulator.errors import InputError
from simulator.media.probe import Probe, probe
from simulator.protocol.samples import PACKET, Stereo
from simulator.protocol.tracks import AUDIO_CLOCK

_JUMP = 0.010
"""Seconds by which a stamp must leave the running count to be believed against it."""
_RUN_UP = 1.0
"""Seconds decoded ahead of what is wanted after a seek, for codecs that overlap blocks."""
_KEPT = 8 * PACKET
"""Samples kept behind, so that the next segment's run-in needs no seek."""
_SEEK_AHEAD = 10 * AUDIO_CLOCK
_BLOCK = AUDIO_CLOCK // 2
"""Most samples handed out at once."""
LONGEST = 600.0
"""Seconds that a sound file read whole may last."""


def silence(count: int) -> Stereo:
    return np.zeros((count, 2), np.float32)


class SoundReader:
    """The sound of one clip at sample positions of 48 kHz clip time. Cheap going forwards."""

    def __init__(self, source: Probe) -> None:
        self._probe = source
        self._container: av.container.InputContainer | None = None
        self._blocks: Iterator[Stereo] = iter(())
        self._held: Stereo = silence(0)
        self._held_at = 0
        self.ended_at: int | None = None
        """Position after the last sample, once reading has come there."""

    def read(self, first: int, last: int) -> Iterator[Stereo]:
        """Samples `first` to `last` (clip time × 48000), in blocks; silence where there is none.

        Raises InputError if the sound cannot be decoded.
        """
        if first < 0:
            before = min(-first, last - first)
            yield silence(before)
            first += before
        if first >= last:
            return
        ahead = self._held_at + len(self._held) + _SEEK_AHEAD
        if self._container is None or not self._held_at <= first <= ahead:
            self._seek(first)
        while first < last:
            self._fill(first)
            have = self._held_at + len(self._held)
            if have <= first:
                yield silence(min(_BLOCK, last - first))
                first += min(_BLOCK, last - first)
                continue
            stop = min(last, have)
            yield self._held[first - self._held_at : stop - self._held_at]
            first = stop

    def _fill(self, position: int) -> None:
        """Read on until `position` is held, or the stream ends."""
        while self.ended_at is None and self._held_at + len(self._held) <= position:
            block = self._next()
            if block is None:
                self.ended_at = self._held_at + len(self._held)
                return
            kept = self._held[-_KEPT:]
            self._held_at += len(self._held) - len(kept)
            self._held = np.concatenate((kept, block))

    def _next(self) -> Stereo | None:
        try:
            return next(self._blocks, None)
        except av.FFmpegError as error:
            near = (self._held_at + len(self._held)) / AUDIO_CLOCK
            raise InputError(
                f"{self._probe.path}: its sound cannot be decoded near {near:.2f} s: {error}",
                hint="the file is damaged; export it again",
            ) from error

    def _seek(self, position: int) -> None:
        target = position / AUDIO_CLOCK - _RUN_UP
        if target > 0 and self._probe.seekable:
            self._start(target)
            block = self._next()
            if block is not None and self._held_at <= position:
                self._held = block
                return
        self._start(None)

    def _start(self, target: float | None) -> None:
        self.close()
        self._container = av.open(str(self._probe.path))
        stream = self._container.streams.audio[self._probe.sound_index]
        if target is not None and stream.time_base is not None:
            offset = round((target + self._probe.zero) / stream.time_base)
            self._container.seek(offset, stream=stream)
        self._held, self._held_at, self.ended_at = silence(0), 0, None
        self._blocks = self._read(self._container.decode(stream), from_start=target is None)

    def _read(self, frames: Iterator[av.AudioFrame], *, from_start: bool) -> Iterator[Stereo]:
        """Blocks that follow each other without a hole from `_held_at` on, which this sets."""
        written = 0 if from_start else None
        for at, samples in _placed(frames, self._probe.zero):
            if written is None:
                written = self._held_at = max(0, at)
            while at > written:
                hole = min(at - written, _BLOCK)
                yield silence(hole)
                written += hole
            new = samples[written - at :]
            if len(new):
                yield new
                written += len(new)

    def close(self) -> None:
        if self._container is not None:
            self._container.close()
            self._container = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Run:
    """A stretch of frames that follow each other, resampled as one."""

    def __init__(self, first: int, rate: int) -> None:
        # The resampler begins on a position that both rates share, so that a sample comes out the
        # same whether the stream was read from its start or after a seek.
        self._grid = rate // math.gcd(rate, AUDIO_CLOCK)
        self._lead = first % self._grid
        self._rate = rate
        self.expected = first
        """Source position at which the next frame continues this run."""
        self.at = (first - self._lead) // self._grid * (AUDIO_CLOCK // math.gcd(rate, AUDIO_CLOCK))
        """Position (48 kHz) of the next sample that comes out."""
        self._resampler = av.AudioResampler(format="fltp", layout="stereo", rate=AUDIO_CLOCK)

    def add(self, samples: Stereo) -> Iterator[tuple[int, Stereo]]:
        self.expected += len(samples)
        if self._lead:
            samples = np.concatenate((silence(self._lead), samples))
            self._lead = 0
        if self._rate == AUDIO_CLOCK:
            yield self.at, samples
            self.at += len(samples)
            return
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(samples.T), format="fltp", layout="stereo"
        )
        frame.sample_rate = self._rate
        yield from self._out(frame)

    def finish(self) -> Iterator[tuple[int, Stereo]]:
        if self._rate != AUDIO_CLOCK:
            yield from self._out(None)

    def _out(self, frame: av.AudioFrame | None) -> Iterator[tuple[int, Stereo]]:
        for done in self._resampler.resample(frame):
            samples = _samples(done)
            yield self.at, samples
            self.at += len(samples)


def _samples(frame: av.AudioFrame) -> Stereo:
    return frame.to_ndarray().T.astype(np.float32, copy=False)


def _placed(frames: Iterator[av.AudioFrame], zero: float) -> Iterator[tuple[int, Stereo]]:
    """Frames as (position at 48 kHz, samples), by their time stamps."""
    run: _Run | None = None
    to_stereo: av.AudioResampler | None = None
    shape: tuple[str, str, int] = ("", "", 0)
    for frame in frames:
        rate = frame.sample_rate
        here = (frame.format.name, frame.layout.name, rate)
        stamp = None
        if frame.pts is not None and frame.time_base is not None:
            stamp = round((float(frame.pts * frame.time_base) - zero) * rate)
        if here != shape or to_stereo is None:
            if run is not None:
                yield from run.finish()
            run, shape = None, here
            to_stereo = av.AudioResampler(format="fltp", layout="stereo", rate=rate)
        if run is None or (stamp is not None and abs(stamp - run.expected) > _JUMP * rate):
            if run is not None:
                yield from run.finish()
            run = _Run(stamp if stamp is not None else 0, rate)
        frame.pts = None
        for stereo in to_stereo.resample(frame):
            yield from run.add(_samples(stereo))
    if run is not None:
        yield from run.finish()


def load(path: Path) -> Stereo:
    """A whole sound file. Raises InputError if it is missing, broken, silent of streams or longer
    than ten minutes."""
    source = probe(path)
    if not source.sound:
        raise InputError(f"{path}: there is no sound in it")
    if source.duration > LONGEST:
        raise InputError(
            f"{path}: {source.duration:.0f} s is too long for an instruction "
            f"(at most {LONGEST:.0f} s)"
        )
    with SoundReader(source) as reader:
        whole = list(reader.read(0, round((source.duration + 1) * AUDIO_CLOCK)))
        end = reader.ended_at
    if end == 0:
        # A demuxer chosen by the file's name alone finds a stream in anything.
        raise InputError(
            f"{path}: no sound can be decoded from it", hint="is it a sound file? play it"
        )
    return np.concatenate(whole)[:end] if whole else silence(0)
