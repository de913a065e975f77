"""The schedule: due times, continuous stamps, loops, replacing what has not left yet."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from simulator.clock import ManualClock
from simulator.errors import InstrumentError
from simulator.media.packets import PacketFile, PacketWriter
from simulator.protocol.tracks import AUDIO, VIDEO, Track
from simulator.rtc.playlist import Playlist, Scheduled


class FakeTrack:
    def __init__(self, pts: list[int], name: str) -> None:
        self.pts = np.asarray(pts, np.int64)
        self.name = name

    def __len__(self) -> int:
        return len(self.pts)

    def ticks(self, index: int) -> int:
        return int(self.pts[index])

    def payload(self, index: int) -> bytes:
        return f"{self.name}{index}".encode()


class FakePart:
    """`seconds` of sound in 20 ms packets and of pictures at `fps`."""

    def __init__(self, name: str, seconds: float, fps: int = 30) -> None:
        self.duration = seconds
        frames = [i * 90_000 // fps for i in range(1_000)]
        self.path = name
        self.tracks = {
            "audio": FakeTrack([960 * i for i in range(round(seconds * 50))], f"{name}a"),
            "video": FakeTrack([p for p in frames if p < round(seconds * 90_000)], f"{name}v"),
        }


def part(name: str, seconds: float, fps: int = 30) -> PacketFile:
    return cast(PacketFile, FakePart(name, seconds, fps))


def playlist() -> Playlist:
    return Playlist(ManualClock(100.0), 100.0)


def take(plan: Playlist, track: str, until: float) -> list[Scheduled]:
    """Packets due before `until`, taken as they leave."""
    taken: list[Scheduled] = []
    while (packet := plan.peek(track)) is not None and packet.due < until - 1e-9:
        plan.advance(track)
        taken.append(packet)
    return taken


def steps(packets: list[Scheduled]) -> set[int]:
    return {b.ticks - a.ticks for a, b in itertools.pairwise(packets)}


def test_sound_leaves_at_its_end_and_a_picture_at_its_time() -> None:
    plan = playlist()
    assert plan.peek("audio") is None
    plan.play(part("a", 0.1), 1.0)
    sound, picture = take(plan, "audio", 9), take(plan, "video", 9)
    assert [p.due for p in sound] == pytest.approx([1.02, 1.04, 1.06, 1.08, 1.10])
    assert [p.due for p in picture] == pytest.approx([1.0, 1 + 1 / 30, 1 + 2 / 30])
    assert [p.ticks for p in sound] == [0, 960, 1920, 2880, 3840]
    assert [p.ticks for p in picture] == [0, 3000, 6000]
    assert [p.payload for p in picture] == [b"av0", b"av1", b"av2"]
    assert plan.peek("audio") is None


def test_stamps_run_on_over_borders_holds_and_loops() -> None:
    plan = playlist()
    plan.play(part("a", 1.0), 0.5)
    plan.play(part("h", 0.4), 1.5, loop=True)
    assert plan.end is None
    sound, picture = take(plan, "audio", 3.3), take(plan, "video", 3.3)
    plan.play(part("b", 1.0), 3.3)
    assert plan.end == pytest.approx(4.3)
    sound += take(plan, "audio", 9)
    picture += take(plan, "video", 9)
    assert steps(sound) == {960}
    assert len(sound) == 190
    assert sound[-1].due == pytest.approx(4.3)
    assert min(steps(picture)) >= 1800
    assert sorted({p.payload[:2] for p in picture}) == [b"av", b"bv", b"hv"]
    assert next(p for p in picture if p.payload == b"bv0").due == pytest.approx(3.3)


def test_a_new_part_cuts_what_plays_and_drops_what_would_have() -> None:
    plan = playlist()
    plan.play(part("a", 2.0), 0.0)
    plan.play(part("b", 2.0), 2.0)
    taken = take(plan, "audio", 0.5) + take(plan, "video", 0.5)
    assert len(taken) == 24 + 15
    plan.play(part("c", 0.2), 1.0)
    rest = take(plan, "audio", 9)
    assert [p.payload for p in rest[-10:]] == [f"ca{i}".encode() for i in range(10)]
    assert steps(rest) == {960}
    assert plan.end == pytest.approx(1.2)


def test_the_same_time_scheduled_twice_is_the_last_word() -> None:
    plan = playlist()
    plan.play(part("a", 1.0), 1.0)
    plan.play(part("b", 1.0), 1.0)
    assert {p.payload[:1] for p in take(plan, "audio", 9)} == {b"b"}


def test_what_is_next_changes_with_the_schedule_and_listeners_hear_of_it() -> None:
    plan = playlist()
    heard: list[None] = []
    plan.on_change(lambda: heard.append(None))
    plan.play(part("h", 1.0, fps=1), 0.0, loop=True)
    take(plan, "video", 0.5)
    before = plan.peek("video")
    plan.play(part("b", 1.0), 0.6)
    after = plan.peek("video")
    assert before is not None
    assert after is not None
    assert before.due == 1.0
    assert after.due == pytest.approx(0.6)
    assert len(heard) == 2


def test_a_gap_is_silence_on_the_wire_and_a_jump_of_the_stamps() -> None:
    plan = playlist()
    plan.play(part("a", 0.1), 1.0)
    plan.play(part("b", 0.1), 2.0)
    sound = take(plan, "audio", 9)
    assert [p.due for p in sound[4:6]] == pytest.approx([1.10, 2.02])
    assert sound[5].ticks == 48_000


@pytest.mark.parametrize("at", [1.003, 0.0101])
def test_off_the_grid_is_an_error(at: float) -> None:
    with pytest.raises(InstrumentError, match="not on the 20 ms grid"):
        playlist().play(part("a", 1.0), at)


def test_what_has_left_cannot_be_replaced() -> None:
    plan = playlist()
    plan.play(part("a", 1.0), 0.0)
    take(plan, "audio", 0.5)
    with pytest.raises(InstrumentError, match=r"audio has left up to 0\.460 s"):
        plan.play(part("b", 1.0), 0.4)
    plan.play(part("b", 1.0), 0.48)


def test_times_do_not_creep_over_hours() -> None:
    plan = playlist()
    hold: Any = part("h", 0.02, fps=50)
    plan.play(hold, 7200.0, loop=True)
    assert take(plan, "audio", 7200.5)[-1].due == 7200.48
    plan.play(part("b", 0.02), 10800.02)
    cursor = plan._cursors["audio"]
    cursor.round = 179_999
    last = plan.peek("audio")
    assert last is not None
    assert last.due == pytest.approx(7200.02 + 179_999 * 0.02, abs=1e-9)


def test_every_track_of_a_part_keeps_its_own_times(tmp_path: Path) -> None:
    desk, door = Track(id="desk", kind="video"), Track(id="door", kind="video")
    path = tmp_path / "views"
    with PacketWriter(path, {AUDIO: "opus", desk: "h264", door: "h264"}) as writer:
        for n in range(5):
            writer.add(AUDIO, 960 * n, b"s")
        writer.add(desk, 0, b"x")
        for n in range(2):
            writer.add(door, 4_500 * n, b"y", key=n == 0)
        writer.finish(0.1, {})
    plan = Playlist(ManualClock(), 0.0, (AUDIO, desk, door))
    plan.play(PacketFile.open(path), 1.0, loop=True)
    assert [p.due for p in take(plan, "desk", 1.25)] == pytest.approx([1.0, 1.1, 1.2])
    assert [p.due for p in take(plan, "door", 1.25)] == pytest.approx([1.0, 1.05, 1.1, 1.15, 1.2])
    assert len(take(plan, "audio", 1.25)) == 12


def test_a_part_that_lacks_a_track_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "silent"
    with PacketWriter(path, {VIDEO: "h264"}) as writer:
        writer.add(VIDEO, 0, b"x")
        writer.finish(0.1, {})
    with pytest.raises(InstrumentError, match="silent has no track 'audio'"):
        Playlist(ManualClock(), 0.0).play(PacketFile.open(path), 1.0)
