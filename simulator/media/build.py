"""One turn's segment and hold: cut, spoken into, subtitled and encoded into packet files.

Counterparts: `simulator.media.prepare` decides which turns are to be made and keeps what comes out;
the readers (`.picture`, `.sound`), the mixer and the encoders do the work.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import av
import numpy as np

from simulator.errors import InputError
from simulator.media.beds import Bed, over_beds
from simulator.media.cache import key_of
from simulator.media.clips import Located
from simulator.media.encode import LOOKAHEAD, Encoding, PictureEncoder, SoundEncoder, info
from simulator.media.layers import GestureLayer, Layer, Stretch, WritingLayer, over
from simulator.media.lettering import Lettering
from simulator.media.loudness import gain
from simulator.media.mix import Laid, audible, lay, mixed
from simulator.media.packets import PacketWriter
from simulator.media.picture import SLACK, Fitter, black, matrix_of
from simulator.media.played import Pictures, Sounds, pictures_of
from simulator.media.probe import Probe
from simulator.media.room import Quietest
from simulator.media.sound import load, silence
from simulator.media.subtitle import Overlay
from simulator.media.timeline import PTIME, Spoken
from simulator.protocol.samples import PACKET, Stereo
from simulator.protocol.tracks import AUDIO, AUDIO_CLOCK, VIDEO
from simulator.scenario.types import Anchor, Background, Canvas, Gesture, Say, Show, Turn

CODE = 4
"""Raise when prepared bytes change for the same input."""
_A_SECOND = round(1.0 / PTIME)
"""Packets in a second."""
HOLD = _A_SECOND
"""Packets in a hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What one turn's bytes are made of."""

    name: str
    """What messages call the turn."""
    turn: Turn
    clip: Located
    first: int
    """Packet of clip time with which it begins."""
    last: int
    """And the one after its last."""
    sounds: tuple[str, ...]
    """Hashes of the instructions' sound files."""
    subtitle: str
    canvas: Canvas
    encoding: Encoding
    extras: tuple[object, ...] = ()
    """What else decides the bytes, as JSON can hold it; nothing for a turn that has only speech."""
    insets: Mapping[str, Probe] = field(default_factory=dict)
    """The clips of its gestures, by name."""
    font: Path | None = None
    """The scenario's own font file."""
    backgrounds: tuple[Background, ...] = ()
    """Those that are heard in this turn."""

    @property
    def says(self) -> list[tuple[int, Say]]:
        """The spoken instructions, each with its index in the turn."""
        return [(n, i) for n, i in enumerate(self.turn.instructions) if isinstance(i, Say)]

    @property
    def key(self) -> str:
        return key_of(
            "turn",
            CODE,
            self.clip.sha256,
            self.first,
            self.last,
            [
                (sound, i.placement.within.anchor, i.placement.within.at)
                for sound, (_, i) in zip(self.sounds, self.says, strict=True)
            ],
            self.subtitle,
            dataclasses.asdict(self.canvas),
            self.encoding.identity(),
            *self.extras,
        )


class Maker:
    """Makes one turn's segment and hold in a folder."""

    def __init__(
        self,
        job: Job,
        source: Probe,
        *,
        pictures: Pictures | None,
        fitter: Fitter,
        sounds: Sounds | None,
        overlay: Overlay | None,
        beds: Sequence[Bed],
        advance: Callable[[int], None],
    ) -> None:
        """`fitter` may serve other turns of the clip too. `advance` is told of each stretch of
        packets that has been made."""
        self._job = job
        self._source = source
        self._pictures = pictures
        self._fitter = fitter
        self._sounds = sounds
        self._overlay = overlay
        self._beds = beds
        self._advance = advance
        self._duration = (job.last - job.first) * PTIME
        self._codecs = {AUDIO: "opus", VIDEO: job.encoding.codec}

    def build(self, folder: Path) -> None:
        laid, spoken = self._speech()
        quietest = Quietest()
        with PacketWriter(folder / "segment", self._codecs) as segment, ExitStack() as insets:
            layers = self._layers(insets)
            last = self._segment_pictures(segment, layers)
            spoken += [self._seen(layer) for layer in layers]
            self._segment_sound(segment, laid, quietest)
            segment.finish(self._duration, info(self._job.canvas, self._job.encoding.codec))
        with PacketWriter(folder / "hold", self._codecs) as hold:
            noisy = any(bed.at is None for bed in self._beds)
            self._hold(hold, last, quietest.tone(1.0) if noisy else quietest.tone())
            hold.finish(HOLD * PTIME, info(self._job.canvas, self._job.encoding.codec))
        (folder / "turn.json").write_text(json.dumps([dataclasses.asdict(s) for s in spoken]))

    # ------------------------------------------------------------------ pictures

    def _layers(self, stack: ExitStack) -> list[Layer]:
        """What lies over the pictures for a while, where it belongs."""
        job, layers = self._job, list[Layer]()
        stretch = Stretch(
            name=job.name, start=job.first * PTIME, count=self._count(), fps=job.canvas.fps
        )
        for index, instruction in enumerate(job.turn.instructions):
            match instruction:
                case Show():
                    lettering = Lettering(style=instruction.style, file=job.font)
                    layers.append(WritingLayer(index, instruction, job.canvas, stretch, lettering))
                case Gesture():
                    source = job.insets[instruction.clip]
                    reader = stack.enter_context(pictures_of(source))
                    layers.append(
                        GestureLayer(
                            index, instruction, job.canvas, stretch, reader, source.duration
                        )
                    )
        return layers

    def _seen(self, layer: Layer) -> Spoken:
        """An instruction that is seen: from its first picture to its last new one."""
        fps = self._job.canvas.fps
        return Spoken(index=layer.index, start=layer.first / fps, end=layer.newest / fps)

    def _count(self) -> int:
        """Pictures in the segment."""
        return -(-(self._job.last - self._job.first) * self._job.canvas.fps // _A_SECOND)

    def _segment_pictures(
        self, out: PacketWriter, layers: Sequence[Layer]
    ) -> tuple[av.VideoFrame, str]:
        """Write the segment's pictures; the last of them, for the hold, with its colour matrix."""
        canvas, reader, overlay = self._job.canvas, self._pictures, self._overlay
        start = self._job.first * PTIME
        count = self._count()
        encoder: PictureEncoder | None = None
        shown: av.VideoFrame | None = None
        fitted = picture = black(canvas)
        if overlay is not None:
            overlay.lay_on(fitted)
        matrix = "smpte170m"
        for k in range(count):
            if reader is not None:
                frame = reader.at(start + k / canvas.fps)
                if frame is not shown:
                    shown = frame
                    matrix = matrix_of(frame) if encoder is None else matrix
                    fitted = self._fitter.fit(frame, reader.aspect)
                    if overlay is not None:
                        fitted.make_writable()
                        overlay.lay_on(fitted)
            if encoder is None:
                encoder = PictureEncoder(canvas, self._job.encoding, matrix)
            picture = over(fitted, k, layers, matrix)
            for unit in encoder.add(picture):
                out.add(VIDEO, unit.pts, unit.data, key=unit.key)
            if k % canvas.fps == 0:
                self._advance(min(_A_SECOND, self._job.last - self._job.first))
        assert encoder is not None
        for unit in encoder.finish():
            out.add(VIDEO, unit.pts, unit.data, key=unit.key)
        return picture, matrix

    # ------------------------------------------------------------------ sound

    def _speech(self) -> tuple[list[Laid], list[Spoken]]:
        """The instructions at their places (clip time × 48000) and where they are audible."""
        first, last = self._job.first * PACKET, self._job.last * PACKET
        laid, spoken = [], []
        for index, instruction in self._job.says:
            samples = load(instruction.sound)
            span = audible(samples)
            where = f"{self._job.name}: say: {instruction.sound.name}"
            if span is None:
                raise InputError(f"{where}: nothing is audible in it")
            # One level for all, whoever made the files; a peak that this brings up is limited.
            level = gain(samples[span[0] : span[1]]) * 10.0 ** (instruction.level / 20)
            samples = samples * np.float32(level)
            length = span[1] - span[0]
            match instruction.placement.anchor:
                case Anchor.END:
                    begin = last - length
                case Anchor.START | Anchor.SPEAKING | Anchor.STOPPED:
                    begin = first
                case Anchor.TIME:
                    begin = round(instruction.placement.at * AUDIO_CLOCK)
            if begin < first or begin + length > last:
                raise InputError(
                    f"{where} lasts {length / AUDIO_CLOCK:.2f} s and does not fit: its segment "
                    f"lasts {self._duration:.2f} s ({self._job.turn.start:g} to "
                    f"{self._job.turn.end:g})"
                    + (
                        f", and it would begin at {instruction.placement.at:g}"
                        if instruction.placement.anchor is Anchor.TIME
                        else ""
                    ),
                    hint="move `until`, or say it in fewer words",
                )
            laid.append(lay(samples, span, begin, first, last))
            spoken.append(
                Spoken(
                    index=index,
                    start=(begin - first) / AUDIO_CLOCK,
                    end=(begin + length - first) / AUDIO_CLOCK,
                )
            )
        return laid, spoken

    def _segment_sound(self, out: PacketWriter, laid: Sequence[Laid], quietest: Quietest) -> None:
        first, last = self._job.first * PACKET, self._job.last * PACKET
        begin = first - SoundEncoder.before
        if self._sounds is not None:
            bed = self._sounds.read(begin, last + LOOKAHEAD)
        else:
            bed = _blocks(silence(AUDIO_CLOCK), last + LOOKAHEAD - begin)
        if self._beds:
            bed = over_beds(bed, begin, self._beds)
        sound = mixed(quietest.watch(bed), begin, laid)
        for i, packet in enumerate(SoundEncoder(self._job.encoding.audio_rate).packets(sound)):
            out.add(AUDIO, i * PACKET, packet)
        if not self._source.picture and self._sounds is not None:
            ended = self._sounds.ended_at
            if ended is not None and ended < last - round(SLACK * AUDIO_CLOCK):
                raise InputError(
                    f"{self._source.path}: its sound ends at {ended / AUDIO_CLOCK:.2f} s, before "
                    f"{self._job.turn.end:g} s",
                    hint="the file says that it is longer than it is; it may be cut off",
                )

    # ------------------------------------------------------------------ hold

    def _hold(self, out: PacketWriter, last: tuple[av.VideoFrame, str], tone: Stereo) -> None:
        canvas = self._job.canvas
        encoder = PictureEncoder(canvas, self._job.encoding, last[1])
        units = [unit for _ in range(canvas.fps) for unit in encoder.add(last[0])]
        for unit in units + encoder.finish():
            out.add(VIDEO, unit.pts, unit.data, key=unit.key)
        # A loop: what goes before its first sample is its own end, what follows its last its start.
        around = (tone[-SoundEncoder.before :], tone, tone[:LOOKAHEAD])
        for i, packet in enumerate(SoundEncoder(self._job.encoding.audio_rate).packets(around)):
            out.add(AUDIO, i * PACKET, packet)


def _blocks(block: Stereo, count: int) -> Iterator[Stereo]:
    """`block` over and over, `count` samples in all."""
    while count > 0:
        yield block[:count]
        count -= len(block)
