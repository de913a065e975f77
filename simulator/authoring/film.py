"""The film of a preview: what the agent gets, with a strip below that says where one is.

Picture and sound are the prepared packets, decoded; nothing is drawn over the picture. The sound is
copied as it is. A hold is shown once (a second), where in a session it lasts until the agent has
answered. Counterparts: `simulator.report.timeline` has the times, `simulator.report.film` makes the
film of a session.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
from av.packet import Packet
from PIL import Image, ImageDraw

from simulator.authoring import ink
from simulator.authoring.wording import clock
from simulator.media.packets import PacketFile
from simulator.media.timeline import Asset, Prepared, PreparedTurn
from simulator.protocol.conduct import Wants
from simulator.protocol.tracks import AUDIO, AUDIO_CLOCK, VIDEO, VIDEO_CLOCK
from simulator.report.timeline.lanes import Span, Timeline, clip_time

_STRIP = 0.11
"""Height of the strip, as a share of the picture's."""
_DUE_SHOWN = 0.4
"""Seconds for which the moment at which an answer falls due is marked."""

See = Callable[[PreparedTurn, float, av.VideoFrame], None]
"""Gets each picture of a segment as the agent gets it: turn, segment time, picture."""


@dataclass(frozen=True, slots=True)
class _Part:
    turn: PreparedTurn
    played: Span
    """Its segment, or the moment at which the picture is held."""
    at: float
    """Film time."""

    @property
    def hold(self) -> bool:
        return self.played.kind == "hold"

    @property
    def asset(self) -> Asset:
        return self.turn.hold if self.hold else self.turn.segment


def make_film(
    prepared: Prepared,
    timeline: Timeline,
    path: Path,
    *,
    see: See | None = None,
    progress: Callable[[float], None] | None = None,
) -> float:
    """Write the film as MP4; its length in seconds. `progress` gets the share done."""
    turns = {turn.turn.id: turn for turn in prepared.turns}
    placed, at = list[_Part](), 0.0
    for played in timeline.spans("video"):
        placed.append(_Part(turns[played.turn], played, at))
        at += placed[-1].asset.duration
    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as out:
        picture = _Picture(prepared, timeline, out, see)
        sound: Any = out.add_stream("libopus", rate=AUDIO_CLOCK, layout="stereo")
        tracks = (_pictures(picture, placed), _sounds(sound, placed))
        for when, _, packet in heapq.merge(*tracks, key=lambda timed: timed[:2]):
            out.mux_one(packet)
            if progress is not None:
                progress(when / at)
    return at


Timed = tuple[float, int, "Packet[Any]"]


def _sounds(stream: Any, placed: list[_Part]) -> Iterator[Timed]:
    for part in placed:
        track = PacketFile.open(part.asset.path).tracks[AUDIO.id]
        for i in range(len(track)):
            at = part.at + int(track.pts[i]) / AUDIO_CLOCK
            packet = Packet(track.payload(i))
            packet.pts = packet.dts = round(at * AUDIO_CLOCK)
            packet.duration = 960
            packet.time_base = Fraction(1, AUDIO_CLOCK)
            packet.stream = stream
            yield at, 1, packet


def _pictures(picture: _Picture, placed: list[_Part]) -> Iterator[Timed]:
    for part in placed:
        for seconds, frame in decoded(part.asset):
            yield from picture.add(part, seconds, frame)
    yield from picture.finish()


def decoded(asset: Asset) -> Iterator[tuple[float, av.VideoFrame]]:
    """A part's pictures with their times from its start, as a receiver decodes them."""
    track = PacketFile.open(asset.path).tracks[VIDEO.id]
    decoder: Any = av.CodecContext.create("h264", "r")
    times: deque[float] = deque()
    for i in range(len(track)):
        times.append(int(track.pts[i]) / VIDEO_CLOCK)
        for frame in decoder.decode(Packet(track.payload(i))):
            yield times.popleft(), frame
    for frame in decoder.decode(None):
        yield times.popleft(), frame


class _Picture:
    """The picture track: the agent's picture with the strip below."""

    def __init__(self, prepared: Prepared, timeline: Timeline, out: Any, see: See | None) -> None:
        canvas = prepared.scenario.canvas
        self._width, self._height = canvas.width, canvas.height
        self._strip = max(32, round(canvas.height * _STRIP)) // 2 * 2
        self._prepared = prepared
        self._timeline = timeline
        self._see = see
        self._drawn: tuple[str, ...] = ()
        self._below: av.VideoFrame | None = None
        stream = out.add_stream(
            "libx264", rate=canvas.fps, options={"preset": "veryfast", "crf": "20"}
        )
        stream.width, stream.height = canvas.width, canvas.height + self._strip
        stream.pix_fmt = "yuv420p"
        stream.time_base = stream.codec_context.time_base = Fraction(1, VIDEO_CLOCK)
        stream.codec_context.gop_size = canvas.fps
        stream.codec_context.max_b_frames = 0
        self._stream = stream

    def add(self, part: _Part, seconds: float, frame: av.VideoFrame) -> Iterator[Timed]:
        if self._see is not None and not part.hold:
            self._see(part.turn, seconds, frame)
        joined = self._joined(frame, self._text(part, seconds))
        joined.pts = round((part.at + seconds) * VIDEO_CLOCK)
        joined.time_base = Fraction(1, VIDEO_CLOCK)
        yield from self._timed(self._stream.encode(joined))

    def finish(self) -> Iterator[Timed]:
        yield from self._timed(self._stream.encode(None))

    def _timed(self, packets: Any) -> Iterator[Timed]:
        for packet in packets:
            yield float((packet.pts or 0) * packet.time_base), 0, packet

    # ------------------------------------------------------------------ strip

    def _text(self, part: _Part, seconds: float) -> tuple[str, ...]:
        """Clock, turn, and what goes on; the last of them is the kind of what goes on."""
        turn, played = part.turn.turn, part.played
        now = played.start if part.hold else played.start + seconds
        clip = f"{turn.clip} " if len(self._prepared.scenario.clips) > 1 else ""
        where = f"{clip}{clock(clip_time(played, now), 1)}"
        name = f"{turn.index + 1}/{len(self._prepared.turns)} {turn.id}"
        wants = turn.expect.wants
        if part.hold:
            owed = wants is Wants.ANSWER
            why = "until it has answered" if owed else "in case it says something"
            return where, name, f"the picture is held {why}", "hold", wants
        for window in self._timeline.spans("windows", turn=turn.id):
            if 0 <= now - window.start < _DUE_SHOWN:
                return where, name, "an answer is due", "due", wants
        for given in self._timeline.spans("instructions"):
            if given.holds(now):
                voice = "user" if given.by == "user" else "other"
                return where, name, f"{given.by}: {given.text}", voice, wants
        return where, name, turn.expect.told, "", wants

    def _joined(self, frame: av.VideoFrame, text: tuple[str, ...]) -> av.VideoFrame:
        if self._below is None or text != self._drawn:
            drawn = av.VideoFrame.from_ndarray(np.asarray(self._draw(text)), format="rgb24")
            self._below = drawn.reformat(format="yuv420p")
            self._drawn = text
        joined = av.VideoFrame(self._width, self._height + self._strip, "yuv420p")
        for plane, (above, below) in enumerate(zip(frame.planes, self._below.planes, strict=True)):
            half = 1 if plane == 0 else 2
            width = self._width // half
            target = _pixels(joined.planes[plane])
            rows = self._height // half
            target[:rows, :width] = _pixels(above)[:rows, :width]
            target[rows : rows + self._strip // half, :width] = _pixels(below)[
                : self._strip // half, :width
            ]
        return joined

    def _draw(self, text: tuple[str, ...]) -> Image.Image:
        where, name, what, kind, wants = text
        image = Image.new("RGB", (self._width, self._strip), ink.INK)
        pen = ImageDraw.Draw(image)
        size, middle = max(10, round(self._strip * 0.42)), self._strip / 2
        pad = size * 0.6
        pen.rectangle((0, 0, pad * 0.6, self._strip), fill=ink.WANTS[Wants(wants)])
        x = pad * 1.4
        ink.write(pen, (x, middle), where, size, ink.PAPER, "lm")
        x += max(ink.font(size).getlength("0:00:00.0"), ink.font(size).getlength(where)) + pad
        name = ink.fitted(name, size, self._width * 0.28)
        ink.write(pen, (x, middle), name, size, ink.LINE, "lm")
        x += ink.font(size).getlength(name) + pad
        colour = {"user": (120, 170, 255), "other": (255, 170, 100), "due": (255, 110, 110)}
        shown = ink.fitted(what, size, self._width - x - pad)
        ink.write(pen, (x, middle), shown, size, colour.get(kind, ink.FAINT), "lm")
        return image


def _pixels(plane: Any) -> np.ndarray[Any, np.dtype[np.uint8]]:
    return np.frombuffer(memoryview(plane), np.uint8).reshape(-1, plane.line_size)
