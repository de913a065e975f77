"""Word errors, and that what we prepare is understood over a noise bed."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import av
import numpy as np
import pytest

from simulator.errors import MissingExtra
from simulator.media.cache import Cache
from simulator.media.loudness import INSTRUCTION, loudness
from simulator.media.packets import PacketFile
from simulator.media.prepare import prepare
from simulator.media.sound import load
from simulator.plugins import content_root
from simulator.protocol.samples import Stereo
from simulator.scenario.load import load_scenario
from simulator.scenario.types import Canvas, Clip, Placement, Say, Scenario, Turn
from simulator.speech.finish import write_flac
from simulator.speech.hearing import recogniser, word_errors, words

BED = 12.0
"""LU by which the bed is quieter than the instructions."""


@pytest.mark.parametrize(
    ("said", "heard", "errors"),
    [
        ("How many bottles?", "how many bottles", 0),
        ("It's 3.", "It’s three!", 0),
        ("take the left one away", "take left one a way", 3),
        ("one", "", 1),
        ("one", "two one two", 2),
    ],
)
def test_word_errors(said: str, heard: str, errors: int) -> None:
    assert word_errors(said, heard) == (errors, len(words(said)))


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "moonshine_voice", None)
    with pytest.raises(MissingExtra) as caught:
        recogniser()
    assert "omnistage[recognise]" in caught.value.hint


def decoded(path: Path) -> Stereo:
    """The sound of a prepared part, as a receiver hears it."""
    part = PacketFile.open(path)
    codec = av.CodecContext.create("libopus", "r")
    assert isinstance(codec, av.AudioCodecContext)
    codec.sample_rate, codec.layout = 48_000, "stereo"
    frames = [
        frame.to_ndarray().reshape(-1, 2).astype(np.float32) / 32768
        for i in range(len(part.tracks["audio"]))
        for frame in codec.decode(av.Packet(part.tracks["audio"].payload(i)))
    ]
    return np.concatenate(frames)


@pytest.mark.skipif(
    importlib.util.find_spec("moonshine_voice") is None,
    reason="needs a recogniser: pip install 'omnistage[recognise]'",
)
def test_prepared_instructions_are_understood_over_noise(media_dir: Path, tmp_path: Path) -> None:
    bed = load(media_dir / "mdn_voices-around-a-fire.mp3")
    found = loudness(bed)
    assert found is not None
    quiet = bed.mean(axis=1) * np.float32(10 ** ((INSTRUCTION - BED - found) / 20))
    write_flac(tmp_path / "bed.flac", np.tile(quiet, 2), 48_000)
    said = [
        i
        for turn in load_scenario(content_root("scenarios") / "demo").turns
        for i in turn.instructions
        if isinstance(i, Say)
    ]
    turns = tuple(
        Turn(
            id=f"t{i}",
            index=i,
            clip="bed",
            start=4.0 * i,
            end=4.0 * (i + 1),
            instructions=(Say(text=s.text, sound=s.sound, placement=Placement()),),
        )
        for i, s in enumerate(said)
    )
    scenario = Scenario(
        id="bed",
        path=tmp_path / "bed.yaml",
        sha256="0" * 64,
        clips={"bed": Clip(name="bed", path=tmp_path / "bed.flac")},
        turns=turns,
        canvas=Canvas(width=160, height=90, fps=10),
    )
    prepared = prepare(scenario, cache=Cache(tmp_path / "cache"))
    hear = recogniser()
    for turn in prepared.turns:
        sound = decoded(turn.segment.path)
        (spoken,) = turn.spoken
        heard = hear(sound[round((spoken.start - 0.2) * 48_000) :])
        text = turn.turn.instructions[0].text
        errors, count = word_errors(text, heard)
        assert errors < 0.1 * count, f"{text!r} was heard as {heard!r}"
