"""Is rendered speech understood? Word errors of an independent recogniser, and engines' speed.

    python tests/bench/bench_speech.py [--json] [--quick] [--bed FILE] [--bundled]

Every engine that is installed speaks the same questions; each is prepared as a turn over a noise
bed (`mdn_voices-around-a-fire.mp3` in OMNISTAGE_MEDIA, else pink noise) that is so many LU quieter,
decoded as a receiver would, and transcribed. `--bundled` does so with every instruction of the
scenarios that come with Omnistage, at the default level. Needs `omnistage[recognise]`.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import av
import numpy as np

from simulator.errors import InputError
from simulator.media.cache import Cache
from simulator.media.loudness import INSTRUCTION, loudness
from simulator.media.packets import PacketFile
from simulator.media.prepare import prepare
from simulator.media.sound import load
from simulator.protocol.samples import Stereo
from simulator.scenario.load import bundled_scenarios, load_scenario
from simulator.scenario.types import Canvas, Clip, Say, Scenario, Turn
from simulator.speech.engine import Engine, Voice
from simulator.speech.engines import engines
from simulator.speech.finish import finish, write_flac
from simulator.speech.hearing import recogniser, word_errors

TARGET = 0.10
"""Word error rate at the default level."""
VOICES = {
    "kokoro": ("af_heart", "am_fenrir", "bf_emma", "bm_george"),
    "piper": ("joe",),
    "edge": ("en-US-AvaNeural", "en-GB-RyanNeural"),
    "espeak": ("en-us", "en-us+f3"),
}
TEXTS = (
    "How many bottles are on the table?",
    "Which bottle is missing?",
    "Tell me whenever all three of them are back.",
    "What do I do next?",
    "Is it lunch time, do you think?",
    "What was written on the second sign that we passed?",
    "Who came in first, the woman in red or the man with the hat?",
    "Count the red cars, and tell me the number when I ask.",
)
DEFAULT = 15.0
"""LU by which a background is quieter than the instruction where nothing is said of it."""
BEDS = (None, DEFAULT, 12.0, 6.0, 0.0)
"""None is silence."""
SLOT = 6.0
"""Seconds of a turn."""
LONG_SLOT = 20.0


def noise(path: Path | None) -> Stereo:
    if path is not None:
        return load(path)
    spectrum = np.fft.rfft(np.random.default_rng(1).standard_normal(30 * 48_000))
    wave = np.fft.irfft(spectrum / np.sqrt(np.maximum(np.arange(len(spectrum)), 600.0)))
    return np.repeat((0.1 * wave / np.abs(wave).max()).astype(np.float32)[:, None], 2, axis=1)


def bed_file(folder: Path, sound: Stereo, below: float | None, seconds: float) -> Path:
    path = folder / f"bed-{below}.flac"
    found = loudness(sound)
    assert found is not None
    level = 0.0 if below is None else 10 ** ((INSTRUCTION - below - found) / 20)
    one = sound.mean(axis=1) * np.float32(level)
    write_flac(path, np.resize(one, round(seconds * 48_000)), 48_000)
    return path


def decoded(path: Path) -> Stereo:
    part = PacketFile.open(path)
    codec = av.CodecContext.create("libopus", "r")
    assert isinstance(codec, av.AudioCodecContext)
    codec.sample_rate, codec.layout = 48_000, "stereo"
    return np.concatenate(
        [
            frame.to_ndarray().reshape(-1, 2).astype(np.float32) / 32768
            for i in range(len(part.tracks["audio"]))
            for frame in codec.decode(av.Packet(part.tracks["audio"].payload(i)))
        ]
    )


def over(
    bed: Path, sounds: Sequence[tuple[str, Path]], cache: Cache, slot: float = SLOT
) -> Iterator[tuple[str, Stereo]]:
    """Each text, and its turn over the bed as a receiver hears it from shortly before it begins."""
    turns = tuple(
        Turn(
            id=f"t{i}",
            index=i,
            clip="bed",
            start=slot * i,
            end=slot * (i + 1),
            instructions=(Say(text=text, sound=sound),),
        )
        for i, (text, sound) in enumerate(sounds)
    )
    scenario = Scenario(
        id="bed",
        path=bed.with_suffix(".yaml"),
        sha256="0" * 64,
        clips={"bed": Clip(name="bed", path=bed)},
        turns=turns,
        canvas=Canvas(width=160, height=90, fps=5),
    )
    for turn in prepare(scenario, cache=cache).turns:
        begin = round((turn.spoken[0].start - 0.2) * 48_000)
        yield turn.turn.instructions[0].text, decoded(turn.segment.path)[begin:]


def spoken(
    engine: Engine, voices: Sequence[Voice], texts: Sequence[str], folder: Path
) -> tuple[dict[str, list[tuple[str, Path]]], float]:
    """The sounds by voice, and how many seconds of work a second of speech takes."""
    made: dict[str, list[tuple[str, Path]]] = {}
    took = length = 0.0
    with engine.open() as speaker:
        speaker.speak("Hello.", voices[0], 1.0)
        for voice in voices:
            for n, text in enumerate(texts):
                start = time.perf_counter()
                speech = speaker.speak(text, voice, 1.0)
                took += time.perf_counter() - start
                samples, seconds = finish(speech)
                length += seconds
                path = folder / f"{engine.name}-{voice.name}-{n}.flac"
                write_flac(path, samples, speech.rate)
                made.setdefault(voice.name, []).append((text, path))
    return made, took / length


def bundled(sound: Stereo, folder: Path) -> dict[str, object]:
    """How every instruction of the bundled scenarios is heard over the bed."""
    sounds = [
        (say.text, say.sound)
        for path in bundled_scenarios()
        for turn in load_scenario(path).turns
        for say in turn.instructions
        if isinstance(say, Say)
    ]
    bed = bed_file(folder, sound, DEFAULT, LONG_SLOT * len(sounds))
    hear = recogniser()
    wrong = words = 0
    for text, heard in over(bed, sounds, Cache(folder / "cache"), LONG_SLOT):
        said = hear(heard)
        errors, count = word_errors(text, said)
        wrong, words = wrong + errors, words + count
        if errors:
            print(f"  {errors} of {count}: {text}  ->  {said}")
    rate = wrong / words
    print(f"{len(sounds)} instructions, {words} words: {rate:.1%} wrong at {DEFAULT:g} LU")
    return {"instructions": len(sounds), "words": words, "bundled": round(rate, 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--bed", type=Path, help="a sound file of noise")
    parser.add_argument("--bundled", action="store_true")
    arguments = parser.parse_args()
    media = os.environ.get("OMNISTAGE_MEDIA", "").split(os.pathsep)[0]
    fire = Path(media) / "mdn_voices-around-a-fire.mp3"
    source = arguments.bed or (fire if media and fire.is_file() else None)
    texts, beds = (TEXTS[:2], (None, DEFAULT)) if arguments.quick else (TEXTS, BEDS)
    figures: dict[str, object] = {"bed": source.name if source else "pink noise"}
    if arguments.bundled:
        with tempfile.TemporaryDirectory() as name:
            figures |= bundled(noise(source), Path(name))
        if arguments.json:
            print(json.dumps(figures))
        return
    hear = recogniser()
    print(f"bed: {figures['bed']}; word error by LU that it is quieter, target {TARGET:.0%}")
    print(f"{'voice':24}" + "".join(f"{'none' if b is None else f'{b:g} LU':>8}" for b in beds))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cache = Cache(folder / "cache")
        sound = noise(source)
        files = [bed_file(folder, sound, below, SLOT * len(texts)) for below in beds]
        for engine in engines():
            if lacking := engine.missing():
                print(f"{engine.name:24}not installed: {lacking}")
                continue
            wanted = VOICES[engine.name][: 1 if arguments.quick else None]
            voices = [v for n in wanted if (v := engine.voice(n)) is not None]
            try:
                made, speed = spoken(engine, voices, texts, folder)
            except InputError as error:
                print(f"{engine.name:24}{error.message}")
                continue
            figures[f"{engine.name} work per second of speech"] = round(speed, 3)
            for voice, sounds in made.items():
                shown = []
                for below, file in zip(beds, files, strict=True):
                    pairs = [word_errors(t, hear(x)) for t, x in over(file, sounds, cache)]
                    rate = sum(e for e, _ in pairs) / sum(n for _, n in pairs)
                    shown.append(rate)
                    figures[f"{engine.name}:{voice} at {below}"] = round(rate, 3)
                row = "".join(f"{rate:8.1%}" for rate in shown)
                print(f"{engine.name + ':' + voice:24}{row}   {speed:.2f} s of work a second")
    if arguments.json:
        print(json.dumps(figures))


if __name__ == "__main__":
    main()
