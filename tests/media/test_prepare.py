"""Prepared media, played back: in sync, continuous, at the right times, and encoded once."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest
from numpy.typing import NDArray

from simulator.errors import InputError, ScenarioError
from simulator.media.cache import Cache, hash_file
from simulator.media.packets import PacketFile
from simulator.media.prepare import prepare
from simulator.media.timeline import Asset, falls_due
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.load import load_scenario
from simulator.scenario.types import (
    Anchor,
    Canvas,
    Embedded,
    Placement,
    Say,
    Scenario,
)

Make = Callable[..., Path]
MakeScenario = Callable[..., Scenario]
Play = Callable[[Sequence[Asset]], Any]
Sound = NDArray[np.float32]
RATE = 48_000


def grey(level: int, width: int = 160, height: int = 96) -> NDArray[np.uint8]:
    return np.full((height, width, 3), level, np.uint8)


def burst(seconds: float = 0.05, pitch: float = 1_000) -> Sound:
    wave = 0.5 * np.sin(np.arange(round(seconds * RATE)) * 2 * np.pi * pitch / RATE)
    return np.stack([wave, wave], axis=1).astype(np.float32)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


@pytest.fixture
def flashing(make_clip: Make) -> Path:
    """Eight seconds; at each whole second a white picture and a burst, both for 0.1 s."""
    sound = np.zeros((8 * RATE, 2), np.float32)
    for second in range(8):
        sound[second * RATE : second * RATE + 4_800] = burst(0.1)
    pictures = [(i / 30, grey(230 if i % 30 < 3 else 30)) for i in range(240)]
    return make_clip("flash.mkv", pictures, sound, audio_codec="flac")


@pytest.fixture
def question(make_clip: Make) -> Path:
    """Spoken words, as a file: 0.3 s of silence, 0.8 s of a tone, 0.4 s of silence."""
    sound = np.zeros((round(1.5 * 24_000), 1), np.float32)
    wave = 0.4 * np.sin(np.arange(19_200) * 2 * np.pi * 2_000 / 24_000)
    sound[7_200 : 7_200 + 19_200, 0] = wave
    return make_clip("question.flac", sound=sound, rate=24_000, layout="mono", audio_codec="flac")


def say(path: Path, placement: Placement = Placement()) -> Say:  # noqa: B008 (frozen)
    return Say(text="words", sound=path, placement=placement)


def onsets(sound: Sound, level: float = 0.1) -> list[float]:
    """Times at which the sound becomes loud after 0.2 s of quiet."""
    loud = np.flatnonzero(np.abs(sound[:, 0]) > level)
    return [
        float(at) / RATE
        for at, before in zip(loud, np.r_[-RATE, loud[:-1]], strict=True)
        if at - before > 0.2 * RATE
    ]


def test_flash_and_burst_stay_together(
    flashing: Path, cache: Cache, make_scenario: MakeScenario, play: Play
) -> None:
    prepared = prepare(make_scenario(flashing, [0.5, 2.513, 4.333, 7.5]), cache=cache)
    assert [t.duration for t in prepared.turns] == pytest.approx([2.02, 1.82, 3.16])
    assert [t.stream_start for t in prepared.turns] == pytest.approx([0.0, 2.02, 3.84])
    played = play([t.segment for t in prepared.turns])
    heard = onsets(played.sound)
    seen = [
        time
        for (time, picture), (_, before) in zip(played.pictures[1:], played.pictures, strict=False)
        if picture.mean() > 150 > before.mean()
    ]
    assert heard == pytest.approx([0.5 + k for k in range(7)], abs=0.003)
    assert len(seen) == 7
    assert np.abs(np.array(seen) - np.array(heard)).max() <= 1 / 30 + 0.001


def test_turns_follow_each_other_without_a_seam(
    make_clip: Make, cache: Cache, make_scenario: MakeScenario, play: Play
) -> None:
    rng = np.random.default_rng(5)
    wave = np.sin(np.arange(4 * RATE) * 2 * np.pi * 330 / RATE) * 0.3
    sound = np.stack([wave, wave], axis=1) + 0.003 * rng.standard_normal((4 * RATE, 2))
    clip = make_clip("tone.wav", sound=sound.astype(np.float32))
    prepared = prepare(make_scenario(clip, [0.2, 1.5, 1.52, 3.0]), cache=cache)
    played = play([t.segment for t in prepared.turns])
    source = sound[round(0.2 * RATE) : 3 * RATE]
    assert len(played.sound) == len(source)
    error = np.abs(played.sound - source)
    assert float(error[4_800:-960].max()) < 0.06
    assert all(float(p.mean()) < 5 for _, p in played.pictures), "no picture: black"


def test_an_instruction_ends_with_its_segment(
    flashing: Path, question: Path, cache: Cache, make_scenario: MakeScenario, play: Play
) -> None:
    placed = {
        0: say(question),
        1: say(question, Placement(anchor=Anchor.START)),
        2: say(question, Placement(anchor=Anchor.TIME, at=5.35)),
    }
    prepared = prepare(make_scenario(flashing, [0.2, 1.9, 4.0, 7.0], says=placed), cache=cache)
    times = [(s.start, s.end) for t in prepared.turns for s in t.spoken]
    assert np.allclose(times, [(0.9, 1.7), (0.0, 0.8), (1.35, 2.15)], atol=0.001)
    assert falls_due(prepared.turns[0]).at == pytest.approx(1.7, abs=0.001)
    for turn, (start, end) in zip(prepared.turns, times, strict=True):
        sound = play([turn.segment]).sound[:, 0]
        # The question is a tone of 2 kHz; take the bursts of 1 kHz away by looking at that alone.
        shift = np.exp(-2j * np.pi * 2_000 * np.arange(len(sound)) / RATE)
        level = np.abs(np.convolve(sound * shift, np.ones(240) / 240, mode="same"))
        loud = np.flatnonzero(level > 0.6 * level.max()) / RATE
        assert loud[0] == pytest.approx(start, abs=0.005)
        assert loud[-1] == pytest.approx(end, abs=0.005)


def test_an_instruction_in_the_clip_falls_due_and_changes_no_bytes(
    flashing: Path, cache: Cache, make_scenario: MakeScenario
) -> None:
    plain = make_scenario(flashing, [0.2, 1.9])
    held = Embedded(text="?", start=0.0, end=1.5)
    asked = dataclasses.replace(
        plain, turns=(dataclasses.replace(plain.turns[0], instructions=(held,)),)
    )
    before, after = prepare(plain, cache=cache), prepare(asked, cache=cache)
    assert after.turns[0].segment == before.turns[0].segment
    assert (falls_due(before.turns[0]).at, before.turns[0].speech_end) == (None, None)
    assert falls_due(after.turns[0]).at == after.turns[0].speech_end == pytest.approx(1.3)
    assert after.turns[0].spoken[0].start == 0.0, "it begins before the turn does"


def test_the_hold_is_the_last_picture_and_near_silence(
    flashing: Path, question: Path, cache: Cache, make_scenario: MakeScenario, play: Play
) -> None:
    prepared = prepare(make_scenario(flashing, [0.5, 3.06], says={0: say(question)}), cache=cache)
    turn = prepared.turns[0]
    assert turn.hold.duration == 1.0
    part = PacketFile.open(turn.hold.path)
    assert (len(part.tracks["audio"]), len(part.tracks["video"])) == (50, 30)
    assert part.tracks["video"].key.tolist() == [True] + [False] * 29
    played = play([turn.segment, turn.hold, turn.hold])
    count = len(PacketFile.open(turn.segment.path).tracks["video"])
    last = played.pictures[count - 1][1].mean()
    assert last > 150, "a flash is held"
    assert all(abs(p.mean() - last) < 3 for _, p in played.pictures[count:])
    start = round(turn.duration * RATE)
    tail = played.sound[start + 1_920 :]
    assert float(np.abs(tail).max()) < 0.01
    seam = played.sound[start + RATE - 480 : start + RATE + 480]
    assert float(np.abs(np.diff(seam, axis=0)).max()) < 0.005


def test_a_clip_without_sound_and_one_without_picture(
    make_clip: Make, question: Path, cache: Cache, make_scenario: MakeScenario, play: Play
) -> None:
    silent = make_clip("silent.mp4", [(i / 10, grey(90)) for i in range(30)])
    prepared = prepare(make_scenario(silent, [0.0, 1.0, 2.9], says={1: say(question)}), cache=cache)
    played = play([t.segment for t in prepared.turns])
    assert float(np.abs(played.sound[: RATE - 1_000]).max()) < 0.001
    assert onsets(played.sound, 0.03) == pytest.approx([2.1], abs=0.003)
    assert played.pictures[-1][1].mean() == pytest.approx(90, abs=4)


def test_a_subtitle_is_drawn_throughout(
    flashing: Path, cache: Cache, make_scenario: MakeScenario, play: Play
) -> None:
    plain = prepare(make_scenario(flashing, [0.2, 0.6, 0.8]), cache=cache)
    titled = prepare(make_scenario(flashing, [0.2, 0.6, 0.8], goal="Goal"), cache=cache)
    for turn, other in zip(plain.turns, titled.turns, strict=True):
        for kind in ("segment", "hold"):
            without = play([getattr(turn, kind)]).pictures
            with_it = play([getattr(other, kind)]).pictures
            for (_, a), (_, b) in zip(without, with_it, strict=True):
                difference = np.abs(a.astype(int) - b.astype(int)).max(axis=2)
                assert difference[70:].max() > 100
                assert difference[:70].max() < 25


# ---------------------------------------------------------------- the cache


def test_only_what_changed_is_encoded_again(
    flashing: Path, question: Path, cache: Cache, make_scenario: MakeScenario
) -> None:
    cuts = [0.0, 1.0, 2.0, 4.0]
    first = prepare(make_scenario(flashing, cuts, says={2: say(question)}), cache=cache)
    made = {t.segment.path: t.segment.path.stat().st_mtime_ns for t in first.turns}

    answers = {0: Answer(text="Yes."), 2: Answer(text="No.")}
    gold = prepare(
        make_scenario(flashing, cuts, says={2: say(question)}, expects=answers), cache=cache
    )
    assert {t.segment.path: t.segment.path.stat().st_mtime_ns for t in gold.turns} == made
    assert gold.turns[0].turn.expect == Answer(text="Yes.")

    moved = prepare(
        make_scenario(
            flashing, cuts, says={2: say(question, Placement(anchor=Anchor.TIME, at=2.5))}
        ),
        cache=cache,
    )
    assert [
        a.segment.key == b.segment.key for a, b in zip(first.turns, moved.turns, strict=True)
    ] == [
        True,
        True,
        False,
    ]
    assert moved.turns[0].segment.path.stat().st_mtime_ns == made[moved.turns[0].segment.path]


@pytest.mark.parametrize("which", ["segment", "hold", "turn.json"])
def test_a_cut_off_entry_is_made_again(
    flashing: Path, cache: Cache, make_scenario: MakeScenario, which: str
) -> None:
    scenario = make_scenario(flashing, [0.0, 0.5, 1.0])
    first = prepare(scenario, cache=cache)
    broken = first.turns[1].segment.path.with_name(which)
    whole = broken.read_bytes()
    broken.write_bytes(whole[: len(whole) // 2])
    again = prepare(scenario, cache=cache)
    assert again.turns[1].segment == first.turns[1].segment
    assert broken.read_bytes() == whole


def test_workers_make_the_same_bytes(
    flashing: Path, tmp_path: Path, make_scenario: MakeScenario
) -> None:
    scenario = make_scenario(flashing, [0.0, 1.1, 2.3, 2.9, 4.7, 5.5])
    told: list[float] = []
    one = prepare(scenario, cache=Cache(tmp_path / "one"), progress=lambda _, s: told.append(s))
    two = prepare(scenario, cache=Cache(tmp_path / "two"), workers=3)
    assert told == sorted(told)
    assert told[-1] == 1.0
    for a, b in zip(one.turns, two.turns, strict=True):
        assert a.segment.path.read_bytes() == b.segment.path.read_bytes()
        assert a.hold.path.read_bytes() == b.hold.path.read_bytes()


# ---------------------------------------------------------------- what is wrong


def test_who_is_told_to_stop_does_not_wait_for_another_process(
    flashing: Path, cache: Cache, make_scenario: MakeScenario
) -> None:
    scenario = make_scenario(flashing, [0.0, 1.0, 2.0])
    first, second = (turn.segment.key for turn in prepare(scenario, cache=cache).turns)
    for key in (first, second):
        cache.forget(key)

    def stop(what: str, share: float) -> None:
        raise KeyboardInterrupt

    # The second turn is somebody else's, who never lets go while we are here.
    with cache.lock(second), pytest.raises(KeyboardInterrupt):
        prepare(scenario, cache=cache, workers=2, progress=stop)


def test_times_outside_the_clip(flashing: Path, cache: Cache, make_scenario: MakeScenario) -> None:
    with pytest.raises(ScenarioError) as caught:
        prepare(make_scenario(flashing, [0.0, 7.0, 9.0, 12.0]), cache=cache)
    assert len(caught.value.problems) == 3
    assert "turns[1] (t2): until: 9 s is after the end" in caught.value.problems[0]
    assert "8.00 s" in caught.value.problems[0]


def test_an_instruction_that_does_not_fit(
    flashing: Path, question: Path, cache: Cache, make_scenario: MakeScenario
) -> None:
    with pytest.raises(InputError, match=r"lasts 0\.80 s and does not fit.*lasts 0\.50 s"):
        prepare(make_scenario(flashing, [0.0, 0.5], says={0: say(question)}), cache=cache)
    late = say(question, Placement(anchor=Anchor.TIME, at=0.9))
    with pytest.raises(InputError, match=r"would begin at 0\.9"):
        prepare(make_scenario(flashing, [0.0, 1.5], says={0: late}), cache=cache)


def test_a_silent_instruction(
    flashing: Path, make_clip: Make, cache: Cache, make_scenario: MakeScenario
) -> None:
    nothing = make_clip("nothing.wav", sound=np.zeros((RATE, 2), np.float32))
    with pytest.raises(InputError, match="nothing is audible"):
        prepare(make_scenario(flashing, [0.0, 1.5], says={0: say(nothing)}), cache=cache)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_file_cut_off(
    make_clip: Make, cache: Cache, make_scenario: MakeScenario, workers: int
) -> None:
    rng = np.random.default_rng(1)
    pictures = [(i / 30, rng.integers(0, 255, (96, 160, 3), dtype=np.uint8)) for i in range(150)]
    path = make_clip("cut.mp4", pictures, options={"movflags": "faststart"})
    with (
        av.open(str(path)) as whole,
        av.open(str(path.with_name("front.mp4")), "w", options={"movflags": "faststart"}) as out,
    ):
        stream = out.add_stream_from_template(whole.streams.video[0])
        for packet in whole.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                out.mux(packet)
    front = path.with_name("front.mp4")
    front.write_bytes(front.read_bytes()[: front.stat().st_size * 6 // 10])
    with pytest.raises(InputError, match=r"front\.mp4"):
        prepare(make_scenario(front, [0.0, 1.0, 2.0, 4.9]), cache=cache, workers=workers)
    assert not list(cache.root.rglob(".new-*")), "nothing half made is left"


def test_missing_files(
    tmp_path: Path, flashing: Path, cache: Cache, make_scenario: MakeScenario
) -> None:
    with pytest.raises(InputError, match=r"gone\.mp4: no such file"):
        prepare(make_scenario(tmp_path / "gone.mp4", [0.0, 1.0]), cache=cache)
    with pytest.raises(InputError, match=r"gone\.wav: no such file"):
        prepare(
            make_scenario(flashing, [0.0, 1.0], says={0: say(tmp_path / "gone.wav")}), cache=cache
        )


@pytest.mark.parametrize("canvas", [Canvas(width=101, height=90), Canvas(width=9000, height=9000)])
def test_a_canvas_that_cannot_be(
    flashing: Path, cache: Cache, make_scenario: MakeScenario, canvas: Canvas
) -> None:
    with pytest.raises(InputError, match="canvas"):
        prepare(make_scenario(flashing, [0.0, 1.0], canvas=canvas), cache=cache)


NAMED = """\
version: 1
id: named
clip:
  url: https://clips.example/flash.mkv
  sha256: {sha256}
  licence: CC0-1.0
canvas:
  width: 160
  height: 96
turns:
  - until: 1.5
    quiet: true
"""


def test_a_clip_is_found_by_its_hash(
    flashing: Path, cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMNISTAGE_MEDIA", str(flashing.parent))
    written = tmp_path / "named.yaml"
    written.write_text(NAMED.format(sha256=hash_file(flashing)))
    prepared = prepare(load_scenario(written), cache=cache)
    assert prepared.duration == pytest.approx(1.5)
    assert not cache.clips.exists(), "nothing was downloaded"


def test_real_speech_in_a_real_clip(
    media_dir: Path, cache: Cache, make_scenario: MakeScenario, play: Play
) -> None:
    """AAC at 44.1 kHz: what comes out is what a plain decoder gives, at the same time."""
    clip = media_dir / "his_girl_friday_talk.mp4"
    prepared = prepare(make_scenario(clip, [0.0, 2.0, 5.9]), cache=cache)
    played = play([t.segment for t in prepared.turns])
    blocks = []
    resampler = av.AudioResampler(format="fltp", layout="stereo", rate=RATE)
    with av.open(str(clip)) as container:
        for frame in container.decode(audio=0):
            blocks += [r.to_ndarray() for r in resampler.resample(frame)]
    plain = np.concatenate(blocks, axis=1)[0][: len(played.sound)]
    heard = played.sound[: len(plain), 0]
    size = 1 << 20
    product = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(plain, size))
    correlation = np.fft.irfft(product, size)
    at = int(np.argmax(correlation))
    assert abs(at if at < size // 2 else at - size) <= 48
    assert correlation.max() / np.sqrt((heard**2).sum() * (plain**2).sum()) > 0.97
