"""The contact sheet of a preview: a timeline, and each turn with its pictures.

Counterparts: `simulator.authoring.moments` has the times; `simulator.authoring.film` hands the
pictures over as it decodes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import av
from PIL import Image, ImageDraw

from simulator.authoring import ink
from simulator.authoring.moments import (
    clip_time,
    clock,
    evidence,
    given,
    waits,
    windows,
)
from simulator.media.timeline import Prepared, PreparedTurn
from simulator.scenario.expectations.kinds import kinds

WIDTH = 1600
_PAD = 24
_LABEL = 230
"""Width of the column with names."""
_THUMBS = 6
"""Pictures of a turn, at most."""
_GAP = 8
_LANE = 30
_APART = 0.15
"""Seconds by which pictures of one turn have to lie apart."""


@dataclass(slots=True)
class _Shot:
    """A picture that is wanted."""

    at: float
    """Segment time."""
    why: str
    rank: int
    """Lower is kept sooner."""
    image: Image.Image | None = None


@dataclass(slots=True)
class Sheet:
    """Collects pictures, then draws."""

    prepared: Prepared
    _shots: dict[int, list[_Shot]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for turn in self.prepared.turns:
            self._shots[turn.turn.index] = list(_wanted(self.prepared, turn))

    @property
    def _size(self) -> tuple[int, int]:
        canvas = self.prepared.scenario.canvas
        width = (WIDTH - 2 * _PAD - _LABEL - (_THUMBS - 1) * _GAP) // _THUMBS
        return width, max(2, round(width * canvas.height / canvas.width))

    def see(self, turn: PreparedTurn, seconds: float, frame: av.VideoFrame) -> None:
        """A picture of the film; the one nearest to a wanted time is kept."""
        half = 0.5 / self.prepared.scenario.canvas.fps
        for shot in self._shots[turn.turn.index]:
            close = shot.at - 0.25 < seconds <= shot.at + half
            if close or shot.image is None:
                small = frame.reformat(*self._size, format="rgb24")
                shot.image = Image.fromarray(small.to_ndarray())

    # ------------------------------------------------------------------ drawing

    def draw(self, path: Path) -> None:
        """Write the sheet as PNG."""
        row = self._size[1] + 62
        head = 128 + 5 * _LANE + 56
        height = head + row * len(self.prepared.turns) + _PAD
        image = Image.new("RGB", (WIDTH, height), ink.PAPER)
        pen = ImageDraw.Draw(image)
        self._head(pen)
        self._timeline(pen, 100)
        for n, turn in enumerate(self.prepared.turns):
            self._row(image, pen, turn, head + n * row)
        image.save(path, format="PNG", optimize=True)

    def _head(self, pen: ImageDraw.ImageDraw) -> None:
        scenario = self.prepared.scenario
        ink.write(pen, (_PAD, _PAD), scenario.title or scenario.id, 30, ink.INK)
        told = (
            f"{scenario.id}   task {scenario.task}   pace {scenario.pace}   "
            f"{len(self.prepared.turns)} turns   {clock(self.prepared.duration)} s of stream"
        )
        ink.write(pen, (_PAD, _PAD + 40), told, 18, ink.FAINT)

    # ------------------------------------------------------------------ timeline

    def _x(self, at: float) -> float:
        room = WIDTH - 2 * _PAD - _LABEL
        return _PAD + _LABEL + room * min(1.0, max(0.0, at / self.prepared.duration))

    def _timeline(self, pen: ImageDraw.ImageDraw, top: int) -> None:
        lanes = ("turns", "user and others", "evidence", "windows")
        for n, lane in enumerate(lanes):
            ink.write(pen, (_PAD, top + n * _LANE + 12), lane, 16, ink.FAINT, "lm")
        bottom = top + len(lanes) * _LANE
        for turn in self.prepared.turns:
            start, end = turn.stream_start, turn.stream_start + turn.duration
            colour = ink.WANTS[turn.turn.expect.wants]
            self._bar(pen, start, end, top, colour)
            name = f"{turn.turn.index + 1} {turn.turn.id}"
            room = self._x(end) - self._x(start) - 6
            if ink.font(14).getlength("1 ...") < room:
                at = (self._x(start) + 4, top + 12)
                ink.write(pen, at, ink.fitted(name, 14, room), 14, ink.PAPER, "lm")
            pen.line((self._x(start), top, self._x(start), bottom), fill=ink.LINE)
        for item in given(self.prepared):
            self._bar(pen, item.start, item.end, top + _LANE, ink.USER if item.user else ink.OTHER)
        for _, start, end in evidence(self.prepared):
            self._bar(pen, start, end, top + 2 * _LANE, ink.EVIDENCE)
        for window in windows(self.prepared):
            end = window.turn.stream_start + window.turn.duration
            held = waits(self.prepared, window.turn)
            last = window.due + window.within
            self._bar(
                pen, window.due, min(last, end) if held else last, top + 3 * _LANE, ink.WINDOW
            )
            x = self._x(window.due)
            pen.line((x, top + _LANE, x, bottom), fill=ink.DUE, width=2)
            pen.polygon(
                ((x - 6, bottom - _LANE), (x + 6, bottom - _LANE), (x, bottom - _LANE + 10)),
                fill=ink.DUE,
            )
        for turn in self.prepared.turns:
            if waits(self.prepared, turn):
                x = self._x(turn.stream_start + turn.duration)
                for shift in (-7, -3):
                    pen.rectangle((x + shift, bottom - 18, x + shift + 1, bottom - 8), fill=ink.INK)
        self._scale(pen, bottom)
        self._legend(pen, bottom + 34)

    def _bar(
        self, pen: ImageDraw.ImageDraw, start: float, end: float, top: int, colour: ink.Colour
    ) -> None:
        left = self._x(start)
        pen.rectangle((left, top + 3, max(left + 2, self._x(end) - 1), top + 22), fill=colour)

    def _scale(self, pen: ImageDraw.ImageDraw, top: int) -> None:
        steps = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)
        step = next((s for s in steps if self.prepared.duration / s <= 14), steps[-1])
        at = 0
        while at <= self.prepared.duration:
            x = self._x(at)
            pen.line((x, top, x, top + 6), fill=ink.FAINT)
            ink.write(pen, (x, top + 8), clock(at, 0), 14, ink.FAINT, "ma")
            at += step

    @staticmethod
    def _legend(pen: ImageDraw.ImageDraw, top: int) -> None:
        x = float(_PAD + _LABEL)
        for name, colour in (
            *((kind.kind, ink.WANTS[kind.wants]) for kind in kinds()),
            ("user", ink.USER),
            ("others", ink.OTHER),
            ("evidence", ink.EVIDENCE),
            ("may begin", ink.WINDOW),
            ("due", ink.DUE),
        ):
            pen.rectangle((x, top + 3, x + 14, top + 17), fill=colour)
            ink.write(pen, (x + 20, top + 10), name, 15, ink.INK, "lm")
            x += 44 + ink.font(15).getlength(name)
        ink.write(pen, (x, top + 10), "II the picture is held", 15, ink.INK, "lm")

    # ------------------------------------------------------------------ turns

    def _row(
        self, image: Image.Image, pen: ImageDraw.ImageDraw, turn: PreparedTurn, top: int
    ) -> None:
        plain = turn.turn
        pen.line((_PAD, top, WIDTH - _PAD, top), fill=ink.LINE)
        colour = ink.WANTS[plain.expect.wants]
        pen.rectangle((_PAD, top + 8, _PAD + 5, top + self._size[1] + 46), fill=colour)
        left, room = _PAD + 14, _LABEL - 24
        name = ink.fitted(f"{plain.index + 1}  {plain.id}", 20, room)
        ink.write(pen, (left, top + 8), name, 20, ink.INK)
        first, last = clip_time(turn, 0.0), clip_time(turn, turn.duration)
        ink.write(pen, (left, top + 36), f"{clock(first)} to {clock(last)}", 15, ink.FAINT)
        lines = [(plain.expect.told, colour)]
        for item in given(self.prepared):
            if item.turn is turn:
                said = f"{item.voice}: {item.text}"
                lines.append((said, ink.USER if item.user else ink.OTHER))
        y = top + 58
        for text, fill in lines:
            for line in _wrapped(text, 15, room):
                if y < top + self._size[1] + 44:
                    ink.write(pen, (left, y), line, 15, fill)
                y += 19
        for n, shot in enumerate(self._shots[plain.index]):
            x = _PAD + _LABEL + n * (self._size[0] + _GAP)
            if shot.image is not None:
                image.paste(shot.image, (x, top + 8))
            told = f"{clock(clip_time(turn, shot.at))}  {shot.why}"
            y = top + self._size[1] + 12
            for line in _wrapped(told, 14, self._size[0])[:2]:
                ink.write(pen, (x, y), line, 14, ink.INK)
                y += 18


def _wanted(prepared: Prepared, turn: PreparedTurn) -> Iterator[_Shot]:
    """The moments of a turn that a picture is wanted of, in order."""
    begin, end = turn.stream_start, turn.stream_start + turn.duration
    frame = 1.0 / prepared.scenario.canvas.fps
    shots = [_Shot(0.0, "begins", 3), _Shot(turn.duration - frame, "ends", 2)]
    for item in given(prepared):
        if item.turn is turn:
            shots.append(_Shot(item.start - begin, f"{item.voice} begins", 4))
            shots.append(_Shot(item.end - begin - frame, f"{item.voice} ends", 2))
    for window in windows(prepared):
        if window.turn is turn:
            shots.append(_Shot(window.due - begin, "due", 0))
    for owner, start, last in evidence(prepared):
        if begin <= start < end:
            whose = "evidence" if owner is turn else f"evidence for {owner.turn.id}"
            shots.append(_Shot(start - begin, f"{whose} begins", 1))
            if last < end:
                shots.append(_Shot(last - begin, f"{whose} ends", 1))
    kept: list[_Shot] = []
    for shot in sorted(shots, key=lambda s: s.rank):
        shot.at = min(max(0.0, shot.at), turn.duration - frame)
        same = next((k for k in kept if abs(k.at - shot.at) < _APART), None)
        if same is not None:
            if shot.why not in same.why:
                same.why += f", {shot.why}"
        elif len(kept) < _THUMBS:
            kept.append(shot)
    yield from sorted(kept, key=lambda s: s.at)


def _wrapped(text: str, size: int, width: float) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and ink.font(size).getlength(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(ink.fitted(word, size, width))
    return lines
