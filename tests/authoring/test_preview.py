"""A preview shows what was prepared: every picture, the sound to the millisecond, all moments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from PIL import Image

from simulator.authoring.film import decoded
from simulator.authoring.preview import make_preview
from simulator.authoring.transcript import transcript
from simulator.authoring.wording import clock
from simulator.errors import InputError
from simulator.media.cache import Cache
from simulator.media.prepare import prepare
from simulator.media.timeline import Prepared
from simulator.report.timeline.stream import stream_timeline
from simulator.scenario.load import load_scenario

from .conftest import Desk

TURNS = """\
  - id: ask
    until: 3
    say:
      text: Which square moves?
      file: ask.wav
    answer: The yellow square moves.
    key_points:
      - [yellow, gold]
    evidence:
      - [1, 4]
      - [2.5, 2.5]
  - id: guest
    from: 4
    until: 6
    say:
      text: Well
      file: ask.wav
      voice: guest
      at: 4.5
    quiet: true
  - id: told
    until: 8
    event: 7.2
    within: 2
    answer: It is there.
    evidence:
      - [6, 7.2]
"""
HEAD = "voices:\n  guest: someone\ncanvas:\n  width: 320\n  height: 180\n  fps: 10\n"


@pytest.fixture
def prepared(desk: Desk, tmp_path: Path) -> Prepared:
    desk.sound("ask.wav", 1)
    scenario = load_scenario(desk.write(TURNS, head=HEAD))
    return prepare(scenario, cache=Cache(tmp_path / "cache"))


def test_moments(prepared: Prepared) -> None:
    timeline = stream_timeline(prepared)
    given = [(round(g.start, 2), round(g.end, 2), g.by) for g in timeline.spans("instructions")]
    assert given == [(2, 3, "user"), (3.5, 4.5, "guest")]
    due = [(round(w.start, 2), w.numbers["within_s"], w.by) for w in timeline.spans("windows")]
    assert due == [(3, 8, "instruction"), (6.2, 2, "event")]
    # What is cut out between the turns is no evidence.
    seen = [(e.turn, round(e.start, 2), round(e.end, 2)) for e in timeline.spans("evidence")]
    assert seen == [("ask", 1, 3), ("ask", 2.5, 2.5), ("told", 5, 6.2)]


def test_the_transcript(prepared: Prepared) -> None:
    text = transcript(prepared, stream_timeline(prepared))
    for line in (
        "#1 ask  0.00-3.00 [0.00-3.00]",
        "    2.00-3.00  user (say): Which square moves?",
        "    due at 3.00 (end of the instruction), within 8 s",
        "    must say: yellow | gold",
        "#2 guest  4.00-6.00 [3.00-5.00]",
        "    4.50-5.50  guest (say): Well",
        "    due at 7.20 (event), within 2 s",
    ):
        assert line in text.splitlines()
    assert "[KEEP QUIET]" in text


def test_the_film_is_what_the_agent_gets(prepared: Prepared, tmp_path: Path) -> None:
    made = make_preview(prepared, tmp_path / "p")
    # Three turns, and a second of hold after each, where an agent may say something.
    assert made.duration == pytest.approx(3 + 1 + 2 + 1 + 2 + 1)
    with av.open(str(made.film)) as film:
        frames = [f for f in film.decode(video=0) if isinstance(f, av.VideoFrame)]
        times = [f.time for f in frames]
    assert times == pytest.approx(np.arange(100) / 10, abs=1e-3)
    sent = [f for t in prepared.turns for a in (t.segment, t.hold) for _, f in decoded(a)]
    for ours, theirs in zip(frames[::9], sent[::9], strict=True):
        a, b = ours.to_ndarray(format="rgb24"), theirs.to_ndarray(format="rgb24")
        assert a.shape == (212, 320, 3)
        assert b.shape == (180, 320, 3)
        assert np.abs(a[:180].astype(int) - b).mean() < 3
    strips = {f.to_ndarray(format="rgb24")[180:].tobytes() for f in frames}
    assert len(strips) > 60, "the clock goes on"


def test_the_films_sound_is_in_time(prepared: Prepared, tmp_path: Path) -> None:
    made = make_preview(prepared, tmp_path / "p")
    heard: list[tuple[float, np.ndarray[Any, Any]]] = []
    with av.open(str(made.film)) as film:
        for frame in film.decode(audio=0):
            assert isinstance(frame, av.AudioFrame)
            assert frame.time is not None
            heard.append((frame.time, frame.to_ndarray()[0]))
    track = np.concatenate([samples for _, samples in heard])
    loud = np.flatnonzero(np.abs(track) > 0.1)
    first = heard[0][0] + loud[0] / 48_000
    # A hold of a second lies before the guest; the tone starts at 2 s and at 4.5 s.
    assert first == pytest.approx(2.0, abs=0.002)
    gap = loud[np.flatnonzero(np.diff(loud) > 4_800) + 1]
    assert heard[0][0] + gap / 48_000 == pytest.approx([4.5], abs=0.002)


def test_the_sheet(prepared: Prepared, tmp_path: Path) -> None:
    made = make_preview(prepared, tmp_path / "p")
    with Image.open(made.sheet) as sheet:
        assert sheet.width == 1600
        assert sheet.height > 700
        colours = {c for _, c in sheet.convert("RGB").getcolors(1 << 24) or []}
    assert {(40, 100, 190), (200, 110, 40), (40, 150, 160), (200, 40, 40)} <= colours


def test_nothing_is_written_over(prepared: Prepared, tmp_path: Path) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "sheet.png").write_text("mine")
    with pytest.raises(InputError, match=r"sheet\.png: exists already"):
        make_preview(prepared, folder)
    assert (folder / "sheet.png").read_text() == "mine"
    make_preview(prepared, folder, force=True)
    assert sorted(f.name for f in folder.iterdir()) == [
        "preview.mp4",
        "sheet.png",
        "transcript.txt",
    ]
    with pytest.raises(InputError, match="is a file"):
        make_preview(prepared, folder / "sheet.png")
    with pytest.raises(InputError, match="cannot be written"):
        make_preview(prepared, folder / "sheet.png" / "x", force=True)


def test_clocks() -> None:
    assert [clock(t) for t in (0, 9.996, 59.999, 61.5, 3601)] == [
        "0.00",
        "10.00",
        "1:00.00",
        "1:01.50",
        "60:01.00",
    ]
    assert [clock(t, 0) for t in (5, 65)] == ["5", "1:05"]
