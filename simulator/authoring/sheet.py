"""The contact sheet of a preview: a timeline, and each turn with its pictures.

Counterparts: `simulator.report.timeline` has the times; `simulator.authoring.film` hands the
pictures over as it decodes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import av
from PIL import Image, ImageDraw

from simulator.authoring import ink
from simulator.authoring.wording import clock
from simulator.media.timeline import Prepared, PreparedTurn
from simulator.protocol.conduct import Wants
from simulator.report.timeline.lanes import Span, Timeline, clip_time
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
    """Stream time."""
    why: str
    rank: int
    """Lower is kept sooner."""
    image: Image.Image | None = None


@dataclass(slots=True)
class Sheet:
    """Collects pictures, then draws."""

    prepared: Prepared
    timeline: Timeline
    _shots: dict[str, list[_Shot]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        frame = 1.0 / self.prepared.scenario.canvas.fps
        for turn in self.timeline.spans("turns"):
            self._shots[turn.turn] = _kept(_moments(self.timeline, turn, frame), turn, frame)

    @property
    def _size(self) -> tuple[int, int]:
        canvas = self.prepared.scenario.canvas
        width = (WIDTH - 2 * _PAD - _LABEL - (_THUMBS - 1) * _GAP) // _THUMBS
        return width, max(2, round(width * canvas.height / canvas.width))

    def see(self, turn: PreparedTurn, seconds: float, frame: av.VideoFrame) -> None:
        """A picture of the film; the one nearest to a wanted time is kept."""
        half = 0.5 / self.prepared.scenario.canvas.fps
        for shot in self._shots[turn.turn.id]:
            close = shot.at - 0.25 < turn.stream_start + seconds <= shot.at + half
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
        for n, turn in enumerate(self.timeline.spans("turns")):
            self._row(image, pen, f"{n + 1}  {turn.turn}", turn, head + n * row)
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
        return _PAD + _LABEL + room * min(1.0, max(0.0, at / self.timeline.end))

    def _timeline(self, pen: ImageDraw.ImageDraw, top: int) -> None:
        lanes = ("turns", "user and others", "evidence", "windows")
        for n, lane in enumerate(lanes):
            ink.write(pen, (_PAD, top + n * _LANE + 12), lane, 16, ink.FAINT, "lm")
        bottom = top + len(lanes) * _LANE
        for n, turn in enumerate(self.timeline.spans("turns"), start=1):
            self._bar(pen, turn, top, ink.WANTS[Wants(turn.by)])
            room = self._x(turn.end) - self._x(turn.start) - 6
            if ink.font(14).getlength("1 ...") < room:
                at = (self._x(turn.start) + 4, top + 12)
                name = ink.fitted(f"{n} {turn.turn}", 14, room)
                ink.write(pen, at, name, 14, ink.PAPER, "lm")
            pen.line((self._x(turn.start), top, self._x(turn.start), bottom), fill=ink.LINE)
        for given in self.timeline.spans("instructions"):
            self._bar(pen, given, top + _LANE, _speaker(given))
        for seen in self.timeline.spans("evidence"):
            self._bar(pen, seen, top + 2 * _LANE, ink.EVIDENCE)
        for window in self.timeline.spans("windows"):
            self._bar(pen, window, top + 3 * _LANE, ink.WINDOW)
            x = self._x(window.start)
            pen.line((x, top + _LANE, x, bottom), fill=ink.DUE, width=2)
            pen.polygon(
                ((x - 6, bottom - _LANE), (x + 6, bottom - _LANE), (x, bottom - _LANE + 10)),
                fill=ink.DUE,
            )
        for played in self.timeline.spans("video"):
            if played.kind == "hold":
                x = self._x(played.start)
                for shift in (-7, -3):
                    pen.rectangle((x + shift, bottom - 18, x + shift + 1, bottom - 8), fill=ink.INK)
        self._scale(pen, bottom)
        self._legend(pen, bottom + 34)

    def _bar(self, pen: ImageDraw.ImageDraw, span: Span, top: int, colour: ink.Colour) -> None:
        left = self._x(span.start)
        pen.rectangle((left, top + 3, max(left + 2, self._x(span.end) - 1), top + 22), fill=colour)

    def _scale(self, pen: ImageDraw.ImageDraw, top: int) -> None:
        steps = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)
        step = next((s for s in steps if self.timeline.end / s <= 14), steps[-1])
        at = 0
        while at <= self.timeline.end:
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
        self, image: Image.Image, pen: ImageDraw.ImageDraw, name: str, turn: Span, top: int
    ) -> None:
        played = self.timeline.spans("video", turn=turn.turn)[0]
        pen.line((_PAD, top, WIDTH - _PAD, top), fill=ink.LINE)
        colour = ink.WANTS[Wants(turn.by)]
        pen.rectangle((_PAD, top + 8, _PAD + 5, top + self._size[1] + 46), fill=colour)
        left, room = _PAD + 14, _LABEL - 24
        ink.write(pen, (left, top + 8), ink.fitted(name, 20, room), 20, ink.INK)
        first, last = clip_time(played, turn.start), clip_time(played, turn.end)
        ink.write(pen, (left, top + 36), f"{clock(first)} to {clock(last)}", 15, ink.FAINT)
        lines = [(turn.text, colour)]
        for given in self.timeline.spans("instructions", turn=turn.turn):
            lines.append((f"{given.by}: {given.text}", _speaker(given)))
        y = top + 58
        for text, fill in lines:
            for line in _wrapped(text, 15, room):
                if y < top + self._size[1] + 44:
                    ink.write(pen, (left, y), line, 15, fill)
                y += 19
        for n, shot in enumerate(self._shots[turn.turn]):
            x = _PAD + _LABEL + n * (self._size[0] + _GAP)
            if shot.image is not None:
                image.paste(shot.image, (x, top + 8))
            told = f"{clock(clip_time(played, shot.at))}  {shot.why}"
            y = top + self._size[1] + 12
            for line in _wrapped(told, 14, self._size[0])[:2]:
                ink.write(pen, (x, y), line, 14, ink.INK)
                y += 18


def _speaker(given: Span) -> ink.Colour:
    return ink.USER if given.by == "user" else ink.OTHER


def _moments(timeline: Timeline, turn: Span, frame: float) -> Iterator[_Shot]:
    """The moments of a turn that a picture is wanted of; `frame` is how long one is shown."""
    yield _Shot(turn.start, "begins", 3)
    yield _Shot(turn.end - frame, "ends", 2)
    for given in timeline.spans("instructions", turn=turn.turn):
        yield _Shot(given.start, f"{given.by} begins", 4)
        yield _Shot(given.end - frame, f"{given.by} ends", 2)
    for window in timeline.spans("windows", turn=turn.turn):
        yield _Shot(window.start, "due", 0)
    for seen in timeline.spans("evidence"):
        if turn.holds(seen.start):
            whose = "evidence" if seen.turn == turn.turn else f"evidence for {seen.turn}"
            yield _Shot(seen.start, f"{whose} begins", 1)
            if seen.end < turn.end:
                yield _Shot(seen.end, f"{whose} ends", 1)


def _kept(shots: Iterable[_Shot], turn: Span, frame: float) -> list[_Shot]:
    """As many as there is room for, in order; those that lie close together are one."""
    kept: list[_Shot] = []
    for shot in sorted(shots, key=lambda s: s.rank):
        shot.at = min(max(turn.start, shot.at), turn.end - frame)
        same = next((k for k in kept if abs(k.at - shot.at) < _APART), None)
        if same is not None:
            if shot.why not in same.why:
                same.why += f", {shot.why}"
        elif len(kept) < _THUMBS:
            kept.append(shot)
    return sorted(kept, key=lambda s: s.at)


def _wrapped(text: str, size: int, width: float) -> list[str]:
    lines: list[str] = []
    for word in text.split():
        joined = f"{lines[-1]} {word}" if lines else word
        if lines and ink.font(size).getlength(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(ink.fitted(word, size, width))
    return lines
