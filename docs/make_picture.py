"""Draws docs/demo.png from a demo's run folder: python docs/make_picture.py runs/<folder>.

Every bar is measured: the turns as they were played, the user's speech as it was sent, the agents'
speech as it was heard.
"""

from __future__ import annotations

import sys
from pathlib import Path

import av
from PIL import Image, ImageDraw, ImageFont

from simulator.measuring.measure import load_trace
from simulator.media.lettering import Lettering
from simulator.report.timeline.lanes import Span, Timeline
from simulator.report.timeline.session import session_timeline
from simulator.scenario.load import load_recorded_scenario

WIDTH, LEFT, ROW = 1600, 120, 96
INK, FAINT, USER, RIGHT, WRONG = "#202124", "#9aa0a6", "#1a73e8", "#188038", "#d93025"
TURN = {"answer": "#e8f0fe", "silence": "#f1f3f4", "nothing": "#fef7e0"}


def frames(film: Path, times: list[float]) -> list[Image.Image]:
    """The pictures of a film at some times, in seconds, ascending."""
    out: list[Image.Image] = []
    with av.open(str(film)) as container:
        for frame in container.decode(video=0):
            while len(out) < len(times) and (frame.time or 0.0) >= times[len(out)]:
                out.append(frame.to_image())
            if len(out) == len(times):
                break
    return out


def row(
    draw: ImageDraw.ImageDraw,
    timeline: Timeline,
    y: int,
    scale: float,
    small: ImageFont.FreeTypeFont,
) -> None:
    """One session: its turns, and who speaks when."""

    def x(at: float) -> float:
        return LEFT + (at - (timeline.origin or 0.0)) * scale

    def bar(span: Span, top: int, bottom: int, colour: str, gap: int = 0) -> None:
        left = x(span.start)
        draw.rectangle((left, y + top, max(left, x(span.end) - gap), y + bottom), fill=colour)

    for turn in timeline.spans("turns"):
        if turn.end > turn.start:
            bar(turn, 0, 62, TURN[turn.by], gap=2)
            draw.text((x(turn.start) + 4, y + 2), turn.turn, font=small, fill=INK)
    for window in timeline.spans("windows"):
        draw.line((x(window.start), y + 20, x(window.start), y + 62), fill=INK, width=2)
    for given in timeline.spans("instructions"):
        bar(given, 24, 38, USER if given.by == "user" else FAINT)
    for run in timeline.spans("speech"):
        bar(run, 44, 58, WRONG if {"false_alarm", "late"} & set(run.flags) else RIGHT)


def timeline_of(recording: Path) -> Timeline:
    scenario = load_recorded_scenario(recording)
    return session_timeline(load_trace(recording, scenario), scenario)


def main(run: Path) -> None:
    folders = sorted((run / "recordings").iterdir(), key=lambda f: "oracle" not in f.name)
    timelines = [timeline_of(folder) for folder in folders]
    end = max(t.end - (t.origin or 0.0) for t in timelines)
    scale = (WIDTH - LEFT - 20) / end
    font, small = (ImageFont.truetype(str(Lettering().path), size) for size in (20, 14))
    first = timelines[0]
    asked = {window.turn for window in first.spans("windows")}
    times = [
        turn.end - (first.origin or 0.0) - 0.2
        for turn in first.spans("turns")
        if turn.turn in asked
    ]
    shots = frames(folders[0] / "session.mkv", times)
    width = (WIDTH - LEFT - 20) // len(shots) - 8
    height = width * 9 // 16
    image = Image.new("RGB", (WIDTH, height + 50 + ROW * len(timelines) + 40), "white")
    draw = ImageDraw.Draw(image)
    for n, shot in enumerate(shots):
        image.paste(
            shot.resize((width, height), Image.Resampling.LANCZOS), (LEFT + n * (width + 8), 12)
        )
    y = height + 36
    for timeline in timelines:
        draw.text((10, y + 16), timeline.agent, font=font, fill=INK)
        row(draw, timeline, y, scale, small)
        y += ROW
    x = float(LEFT)
    for words, colour in (
        ("the user speaks to the agent", USER),
        ("a bystander speaks", FAINT),
        ("the agent speaks", RIGHT),
        ("late, or when it should be quiet", WRONG),
        ("| an answer falls due", INK),
    ):
        draw.rectangle((x, y + 4, x + 14, y + 18), fill=colour)
        draw.text((x + 20, y), words, font=small, fill=INK)
        x += 50 + draw.textlength(words, font=small)
    draw.text((WIDTH - 160, y), f"{end:.0f} s of wall-clock time", font=small, fill=INK)
    image.save(Path(__file__).with_name("demo.png"), optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
