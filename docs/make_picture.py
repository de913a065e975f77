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
from simulator.measuring.trace import Trace
from simulator.media.lettering import Lettering
from simulator.scenario.load import load_recorded_scenario

WIDTH, LEFT, ROW = 1600, 120, 96
INK, FAINT, USER, RIGHT, WRONG = "#202124", "#9aa0a6", "#1a73e8", "#188038", "#d93025"
TURN = {"answer": "#e8f0fe", "quiet": "#f1f3f4", "either": "#fef7e0"}


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
    draw: ImageDraw.ImageDraw, trace: Trace, y: int, scale: float, small: ImageFont.FreeTypeFont
) -> None:
    """One session: its turns, and who speaks when."""
    origin = trace.play_at or 0.0

    def x(t: float) -> float:
        return LEFT + (t - origin) * scale

    for turn in trace.turns:
        draw.rectangle((x(turn.start), y, x(turn.done) - 2, y + 62), fill=TURN[turn.expect])
        draw.text((x(turn.start) + 4, y + 2), turn.id, font=small, fill=INK)
        if turn.due is not None and turn.expect == "answer":
            draw.line((x(turn.due), y + 20, x(turn.due), y + 62), fill=INK, width=2)
    for heard in trace.heard:
        colour = USER if heard.voice == "user" else FAINT
        draw.rectangle((x(heard.start), y + 24, x(heard.end), y + 38), fill=colour)
    flags = {a.response: a.flags for a in trace.attribution}
    for response in trace.responses:
        wrong = {"false_alarm", "late"} & set(flags.get(response.id, ()))
        for run in response.speech:
            colour = WRONG if wrong else RIGHT
            draw.rectangle((x(run.start), y + 44, x(run.end), y + 58), fill=colour)


def main(run: Path) -> None:
    folders = sorted((run / "recordings").iterdir(), key=lambda f: "oracle" not in f.name)
    traces = [load_trace(f, load_recorded_scenario(f)) for f in folders]
    end = max(t.end - (t.play_at or 0.0) for t in traces)
    scale = (WIDTH - LEFT - 20) / end
    font, small = (ImageFont.truetype(str(Lettering().path), size) for size in (20, 14))
    first = traces[0]
    times = [t.done - (first.play_at or 0.0) - 0.2 for t in first.turns if t.expect == "answer"]
    shots = frames(folders[0] / "session.mkv", times)
    width = (WIDTH - LEFT - 20) // len(shots) - 8
    height = width * 9 // 16
    image = Image.new("RGB", (WIDTH, height + 50 + ROW * len(traces) + 40), "white")
    draw = ImageDraw.Draw(image)
    for n, shot in enumerate(shots):
        image.paste(
            shot.resize((width, height), Image.Resampling.LANCZOS), (LEFT + n * (width + 8), 12)
        )
    y = height + 36
    for trace in traces:
        draw.text((10, y + 16), trace.agent, font=font, fill=INK)
        row(draw, trace, y, scale, small)
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
