"""The program that speaks, in a process of its own: `python -m simulator.speech.worker SETTINGS`.

Engines under the GPL stay out of Omnistage's process, and none of them can take it down. SETTINGS
is a JSON object with the engine's name and its files. Each line on stdin is one thing to say,
`{"text", "voice", "language", "rate"}`; the answer on stdout is a line `{"rate", "count"}` and
`count` float32 samples, or a line `{"error", "offline"}`.
Counterpart: `simulator.speech.process`, at the other end of the pipes.
"""

from __future__ import annotations

import asyncio
import ctypes
import importlib
import io
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from simulator.protocol.samples import Mono

Said = tuple[Mono, int]
Speak = Callable[[str, str, str, float], Said]
"""(text, voice, language, rate) -> samples and their rate."""


class Offline(Exception):
    """The engine needs a network and has none."""


def kokoro(settings: dict[str, Any]) -> Speak:
    engine = importlib.import_module("kokoro_onnx")
    folder = Path(settings["voices"])
    styles = {}

    def style(name: str) -> NDArray[np.float32]:
        if name not in styles:
            styles[name] = np.fromfile(folder / f"{name}.bin", np.float32).reshape(-1, 1, 256)
        return styles[name]

    first = next(iter(sorted(folder.glob("*.bin"))))
    packed = Path(settings["scratch"]) / "voices.npz"
    named: dict[str, Any] = {first.stem: style(first.stem)}
    np.savez(packed, **named)
    model = engine.Kokoro(settings["model"], str(packed))

    def speak(text: str, voice: str, language: str, rate: float) -> Said:
        samples, hertz = model.create(text, style(voice), speed=rate, lang=language)
        return np.asarray(samples, np.float32), int(hertz)

    return speak


def piper(settings: dict[str, Any]) -> Speak:
    voices = importlib.import_module("piper.voice")
    config = importlib.import_module("piper.config")
    loaded: dict[str, Any] = {}

    def speak(text: str, voice: str, language: str, rate: float) -> Said:
        if voice not in loaded:
            loaded[voice] = voices.PiperVoice.load(settings["models"][voice])
        how = config.SynthesisConfig(length_scale=1.0 / rate)
        chunks = list(loaded[voice].synthesize(text, how))
        whole = np.concatenate([c.audio_float_array for c in chunks])
        return np.asarray(whole, np.float32), int(chunks[0].sample_rate)

    return speak


def espeak(settings: dict[str, Any]) -> Speak:
    lib = ctypes.CDLL(settings["library"])
    data = settings["data"].encode() if settings["data"] else None
    synchronous, utf8, words_a_minute = 2, 1, 1
    hertz = lib.espeak_Initialize(synchronous, 0, data, 0)
    if hertz <= 0:
        raise RuntimeError("espeak-ng does not start")
    got: list[NDArray[np.int16]] = []

    def take(samples: Any, count: int, events: Any) -> int:
        if count > 0:
            got.append(np.ctypeslib.as_array(samples, (count,)).copy())
        return 0

    # Named, as it must live as long as the library may call it.
    callback = ctypes.CFUNCTYPE(
        ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p
    )(take)
    lib.espeak_SetSynthCallback(callback)

    def speak(text: str, voice: str, language: str, rate: float) -> Said:
        assert callback
        if lib.espeak_SetVoiceByName(voice.encode()) != 0:
            raise RuntimeError(f"espeak-ng has no voice {voice!r}")
        lib.espeak_SetParameter(words_a_minute, round(160 * rate), 0)
        got.clear()
        raw = text.encode() + b"\0"
        lib.espeak_Synth(raw, ctypes.c_size_t(len(raw)), 0, 0, 0, utf8, None, None)
        lib.espeak_Synchronize()
        whole = np.concatenate(got) if got else np.zeros(0, np.int16)
        return (whole / 32768).astype(np.float32), int(hertz)

    return speak


def edge(settings: dict[str, Any]) -> Speak:
    aiohttp = importlib.import_module("aiohttp")
    tts = importlib.import_module("edge_tts")
    av = importlib.import_module("av")

    async def fetch(text: str, voice: str, rate: float) -> bytes:
        speed = f"{round((rate - 1) * 100):+d}%"
        told = tts.Communicate(text, voice, rate=speed)
        return b"".join([c["data"] async for c in told.stream() if c["type"] == "audio"])

    def speak(text: str, voice: str, language: str, rate: float) -> Said:
        try:
            data = asyncio.run(fetch(text, voice, rate))
        except (aiohttp.ClientConnectionError, TimeoutError) as error:
            raise Offline(str(getattr(error, "os_error", error))) from error
        except tts.exceptions.NoAudioReceived as error:
            raise RuntimeError(f"the service knows no voice {voice!r}, or has no sound") from error
        with av.open(io.BytesIO(data)) as container:
            hertz = container.streams.audio[0].rate
            one = av.AudioResampler(format="flt", layout="mono", rate=hertz)
            frames = [f for a in container.decode(audio=0) for f in one.resample(a)]
        return np.concatenate([f.to_ndarray()[0] for f in frames]), int(hertz)

    return speak


ENGINES: dict[str, Callable[[dict[str, Any]], Speak]] = {
    "kokoro": kokoro,
    "piper": piper,
    "espeak": espeak,
    "edge": edge,
}


def serve(settings: dict[str, Any], lines: BinaryIO, out: BinaryIO) -> None:
    """Say line after line until there are no more."""

    def answer(**body: object) -> None:
        out.write(json.dumps(body).encode() + b"\n")
        out.flush()

    try:
        speak = ENGINES[settings["engine"]](settings)
    except Exception as error:  # noqa: BLE001 - whatever an engine raises is told to the other end
        answer(error=f"it does not start: {type(error).__name__}: {error}", offline=False)
        return
    for line in lines:
        asked = json.loads(line)
        try:
            samples, hertz = speak(asked["text"], asked["voice"], asked["language"], asked["rate"])
        except Offline as error:
            answer(error=str(error), offline=True)
            continue
        except Exception as error:  # noqa: BLE001 - as above
            answer(error=f"{type(error).__name__}: {error}", offline=False)
            continue
        answer(rate=hertz, count=len(samples))
        out.write(samples.astype("<f4").tobytes())
        out.flush()


def main() -> None:
    # What engines print goes to stderr; the pipe is ours alone.
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        serve(json.loads(sys.argv[1]), sys.stdin.buffer, out)


if __name__ == "__main__":
    main()
