"""The film of a session: what is in it, and that picture, voices and words are in step."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from struct import pack
from typing import Any

import av
import numpy as np
import pytest
from av.stream import Disposition

from simulator.errors import RecordingError
from simulator.judging.testing import answers, scenario
from simulator.measuring.speech import islands
from simulator.measuring.trace import Heard, Life, Pacing, Response, Speech, Trace, TurnSpan
from simulator.media.cache import Cache, key_of
from simulator.media.packets import PacketWriter
from simulator.protocol.tracks import AUDIO, OURS, VIDEO
from simulator.recording.manifest import PartInfo, SpokenInfo, TurnInfo
from simulator.recording.reader import Recording
from simulator.recording.records import (
    ResponseRecord,
    SegmentRecord,
    SessionRecord,
    TextRecord,
)
from simulator.report.film import from_cache, make_film
from simulator.report.subtitles import Line, lines
from simulator.report.timeline.lanes import Timeline
from simulator.report.timeline.session import session_timeline

PLAY_AT = 3.1
FLASH = 1.0
"""Segment time of a white frame and of the user's beep."""
SECOND_AT = PLAY_AT + 4.0
"""After 2 s of segment and 2 s of hold, in which the part of 1 s is shown twice."""
AGENT_AT = PLAY_AT + 3.0


@lru_cache
def pictures(seconds: float, flash: float | None) -> tuple[tuple[int, bool, bytes], ...]:
    """Dark frames, one of them white, as access units with their ticks."""
    codec: Any = av.CodecContext.create("libx264", "w")
    codec.width, codec.height, codec.pix_fmt = 320, 180, "yuv420p"
    codec.framerate, codec.time_base = Fraction(30), Fraction(1, 30)
    codec.options = {"preset": "ultrafast", "tune": "zerolatency", "profile": "baseline", "g": "30"}
    out = []
    for i in range(round(seconds * 30)):
        bright = flash is not None and i == round(flash * 30)
        picture = np.full((180, 320, 3), 255 if bright else 16, np.uint8)
        frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
        frame.pts = i
        out += [(round((p.pts or 0) * 3000), p.is_keyframe, bytes(p)) for p in codec.encode(frame)]
    out += [(round((p.pts or 0) * 3000), p.is_keyframe, bytes(p)) for p in codec.encode(None)]
    return tuple(out)


def part(path: Path, sounds: Any, seconds: float, flash: float | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with PacketWriter(path, {AUDIO: "opus", VIDEO: "h264"}) as writer:
        for ticks, key, data in pictures(seconds, flash):
            writer.add(VIDEO, ticks, data, key=key)
        for i, data in enumerate(sounds.opus(sounds.silence(seconds))):
            writer.add(AUDIO, i * 960, data)
        writer.finish(seconds, {})


@pytest.fixture
def filmed(stage: Any, sounds: Any, tmp_path: Path) -> tuple[Recording, Timeline, Cache]:
    """Two turns of 2 s with a hold of 2 s between; flash and beep in each; the agent speaks."""
    cache = Cache(tmp_path / "cache")
    turns = []
    for index, name in enumerate(("first", "second")):
        folder = key_of(name)
        parts = {}
        for what, seconds, flash in (("segment", 2.0, FLASH), ("hold", 1.0, None)):
            place = Path("parts") / folder[:2] / folder / what
            part(cache.root / place, sounds, seconds, flash)
            parts[what] = PartInfo(
                asset=key_of(folder, what), duration=seconds, file=place.as_posix()
            )
        spoken = SpokenInfo(
            index=0, kind="say", voice="user", text="How many?", start=FLASH, end=FLASH + 0.5
        )
        turns.append(
            TurnInfo(
                id=name, index=index, expect="answer", clip="main", start=0, end=2,
                stream_start=2.0 * index, segment=parts["segment"], hold=parts["hold"],
                spoken=(spoken,),
            )
        )  # fmt: skip
    made = stage(turns=tuple(turns), tracks=OURS)
    made.event(PLAY_AT, SessionRecord(state="playing", play_at=PLAY_AT))
    shown: Any = (("play", 0, PLAY_AT), ("hold", 0, PLAY_AT + 2), ("play", 1, SECOND_AT))
    for kind, index, at in shown:
        info = turns[index].segment if kind == "play" else turns[index].hold
        made.event(
            at, SegmentRecord(edge="start", part=kind, of=turns[index].id, at=at, asset=info.asset)
        )
    voice = sounds.voice(0.5)
    made.user(
        PLAY_AT,
        sounds.placed(6.0, (FLASH, voice), (4 + FLASH, voice)),
        late=lambda due: 0.0,
    )
    for i in range(180):
        due = PLAY_AT + i / 30
        packet = pack(">BBHII", 0x80, 96, i, i * 3000, 1002) + b"\x65\x88" + b"x" * 100
        made.packets.append((due, lambda d=due, p=packet: made.writer.sent_rtp(d, "video", [p], d)))
    made.agent(0.5, sounds.placed(9.0, (AGENT_AT - 0.5, sounds.voice(0.6, pitch=220.0))))
    made.event(AGENT_AT, ResponseRecord(id="r1", edge="start"))
    made.event(AGENT_AT, TextRecord(text="Three\n bottles.", response="r1", final=True))
    recording = Recording.open(made.close())
    trace = Trace(
        scenario="stage", agent="fake", outcome="completed", play_at=PLAY_AT, end=recording.end,
        turns=(
            TurnSpan(id="first", index=0, expect="answer", start=PLAY_AT, end=PLAY_AT + 2,
                     done=SECOND_AT),
            TurnSpan(id="second", index=1, expect="answer", start=SECOND_AT, end=SECOND_AT + 2,
                     done=recording.end),
        ),
        heard=(Heard(id="first/0", turn="first", voice="user", start=PLAY_AT + 1,
                     end=PLAY_AT + 1.5),),
        speech=(),
        responses=(Response(id="r1", speech=(Speech(start=AGENT_AT, end=AGENT_AT + 0.6),),
                            text="Three\n bottles."),),
        attribution=(),
        pacing=Pacing(p50_ms=0, p99_ms=0, max_ms=0, packets=0),
        life=Life(transport=True, session=True, response=True),
    )  # fmt: skip
    played = scenario(*(answers(t, "Three.", asks="How many?") for t in ("first", "second")))
    return recording, session_timeline(trace, played, events=recording.events()), cache


def onsets(path: Path, track: int) -> list[float]:
    """When sound begins in a track of the film."""
    with av.open(str(path)) as film:
        stream = film.streams.audio[track]
        resampler = av.AudioResampler(format="flt", layout="mono", rate=48_000)
        parts: list[tuple[float, Any]] = []
        for frame in film.decode(stream):
            for out in resampler.resample(frame):
                parts.append((float(frame.time or 0.0), out.to_ndarray()[0]))
    samples = np.zeros(round((parts[-1][0] + 1) * 48_000), np.float32)
    for at, piece in parts:
        first = max(0, round(at * 48_000))
        samples[first : first + len(piece)] = piece
    return [a / 48_000 for a, _ in islands(samples, "level")]


def flashes(path: Path) -> list[float]:
    with av.open(str(path)) as film:
        return [
            float(f.time or 0.0)
            for f in film.decode(video=0)
            if f.to_ndarray(format="gray").mean() > 128
        ]


def test_everything_is_in_step(filmed: Any) -> None:
    recording, timeline, cache = filmed
    film = make_film(recording, timeline, find=from_cache(cache))
    assert film.missing == ()
    assert film.path == recording.folder / "session.mkv"
    assert film.duration == pytest.approx(recording.end - PLAY_AT)
    seen = flashes(film.path)
    assert seen == pytest.approx([1.0, 5.0], abs=0.002)
    both, user, agent = (onsets(film.path, k) for k in range(3))
    assert user == pytest.approx([1.0, 5.0], abs=0.005)
    heard = AGENT_AT - PLAY_AT + 312 / 48_000
    assert agent == pytest.approx([heard], abs=0.005)
    assert both == pytest.approx([1.0, heard, 5.0], abs=0.005)


def test_tracks_and_words(filmed: Any) -> None:
    recording, timeline, cache = filmed
    film = make_film(recording, timeline, find=from_cache(cache))
    with av.open(str(film.path)) as container:
        kinds = [s.type for s in container.streams]
        assert kinds == ["video", "audio", "audio", "audio", "subtitle"]
        titles = [s.metadata.get("title") for s in container.streams.audio]
        assert titles == ["user and agent", "user as sent", "agent as heard"]
        assert container.streams.video[0].codec_context.name == "h264"
        texts = container.streams.subtitles[0]
        assert texts.disposition & Disposition.default, "players show them without being asked"
        defaults = [bool(s.disposition & Disposition.default) for s in container.streams.audio]
        assert defaults == [True, False, False]
        packets = [p for p in container.demux(container.streams.subtitles[0]) if p.size]
    words = {round(float((p.pts or 0) * p.time_base), 2): bytes(p).decode() for p in packets}
    assert words[0.0] == "[first: answer]"
    assert words[1.0] == "[first: answer]\nuser: How many?"
    assert words[3.0] == "[first: answer]\nagent: Three bottles."
    assert words[4.0] == "[second: answer]"


def test_the_video_is_copied(filmed: Any) -> None:
    recording, timeline, cache = filmed
    film = make_film(recording, timeline, find=from_cache(cache))
    with av.open(str(film.path)) as container:
        frames = sum(1 for _ in container.decode(video=0))
    # 2 s, 2 s of hold, and 2 s, as they were sent.
    assert frames == 180


def test_without_the_prepared_parts_there_is_sound(filmed: Any, tmp_path: Path) -> None:
    recording, timeline, _ = filmed
    film = make_film(recording, timeline, find=from_cache(Cache(tmp_path / "empty")))
    assert len(film.missing) == 3
    with av.open(str(film.path)) as container:
        assert [s.type for s in container.streams] == ["audio"] * 3 + ["subtitle"]
    assert onsets(film.path, 1) == pytest.approx([1.0, 5.0], abs=0.005)


def test_the_cache_is_not_left(tmp_path: Path) -> None:
    find = from_cache(Cache(tmp_path / "cache"))
    (tmp_path / "secret").write_text("x")
    assert find(PartInfo(asset="x", duration=1.0, file="../secret")) is None
    assert find(PartInfo(asset="x", duration=1.0, file=str(tmp_path / "secret"))) is None
    assert find(PartInfo(asset="x", duration=1.0)) is None


def test_a_place_that_cannot_be_written(filmed: Any, tmp_path: Path) -> None:
    recording, timeline, cache = filmed
    with pytest.raises(RecordingError, match="is a folder"):
        make_film(recording, timeline, path=tmp_path, find=from_cache(cache))
    for place in (tmp_path / "nowhere/x.mkv", tmp_path / ("x" * 300)):
        with pytest.raises(RecordingError, match="the film cannot be written"):
            make_film(recording, timeline, path=place, find=from_cache(cache))


def test_nothing_played_no_film(stage: Any, filmed: Any) -> None:
    recording, timeline, _ = filmed
    with pytest.raises(RecordingError, match="nothing was played"):
        make_film(recording, replace(timeline, origin=None))


def test_lines_do_not_overlap_and_say_all_that_holds(filmed: Any) -> None:
    _, timeline, _ = filmed
    found = lines(timeline)
    assert all(a.end <= b.start + 1e-9 for a, b in pairwise(found))
    assert found[0] == Line(start=PLAY_AT, end=PLAY_AT + 1, text="[first: answer]")
    # An answer stays for a second at least.
    assert [ln.end - ln.start for ln in found if "agent" in ln.text] == pytest.approx([1.0])


def test_a_player_finds_no_fault(filmed: Any) -> None:
    recording, timeline, cache = filmed
    film = make_film(recording, timeline, find=from_cache(cache))
    # Picture and all voices are decoded, and the words are written as an SRT file.
    outputs = ["-map", "0:v", "-map", "0:a", "-f", "null", "-", "-map", "0:s", "-f", "srt", "-"]
    try:
        done = subprocess.run(
            ["ffmpeg", "-v", "error", "-i", str(film.path), *outputs],
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        pytest.skip("ffmpeg is not installed: only PyAV has read the film")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "agent: Three bottles." in done.stdout
