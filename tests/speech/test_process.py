"""An engine in a process of its own: what it says arrives, what goes wrong is one clear line."""

from __future__ import annotations

import io
import json
import os
import sys
import types
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from simulator.errors import InputError
from simulator.media.cache import Cache
from simulator.speech import worker
from simulator.speech.engine import Speech, Voice
from simulator.speech.engines import Edge, Espeak, engines
from simulator.speech.finish import finish
from simulator.speech.process import running

ANYONE = Voice(engine="any", name="anyone", language="en-us")


def test_an_engine_that_does_not_start() -> None:
    with (
        running("espeak", {"library": "/nowhere/lib.so", "data": ""}) as process,
        pytest.raises(InputError, match="it does not start"),
    ):
        process.speak("Hello.", ANYONE, 1.0)


def test_a_process_that_dies() -> None:
    with running("no such engine", {}) as process:
        for _ in range(2):
            with pytest.raises(InputError, match="cannot speak"):
                process.speak("Hello.", ANYONE, 1.0)


def test_an_engine_that_hangs_is_ended(tmp_path: Path) -> None:
    """Its library is a pipe that nobody writes to, so that it waits for ever."""
    os.mkfifo(tmp_path / "lib.so")
    with running("espeak", {"library": str(tmp_path / "lib.so"), "data": ""}) as process:
        process.patience = 0.2
        with pytest.raises(InputError, match=r"it took more than 0\.2 s"):
            process.speak("Hello.", ANYONE, 1.0)


Answers = list[dict[str, Any]]


def serve(
    monkeypatch: pytest.MonkeyPatch, speak: Callable[..., worker.Said]
) -> tuple[Answers, bytes]:
    """What the worker answers to one line, and the samples after it."""
    monkeypatch.setitem(worker.ENGINES, "bell", lambda settings: speak)
    asked = {"text": "Ding", "voice": "low", "language": "en-us", "rate": 1.5}
    out = io.BytesIO()
    worker.serve({"engine": "bell"}, io.BytesIO(json.dumps(asked).encode() + b"\n"), out)
    line, _, rest = out.getvalue().partition(b"\n")
    return [json.loads(line)], rest


def test_the_worker_answers_with_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    def speak(text: str, voice: str, language: str, rate: float) -> worker.Said:
        assert (text, voice, language, rate) == ("Ding", "low", "en-us", 1.5)
        return np.array([0.5, -0.5], np.float32), 8_000

    (answer,), data = serve(monkeypatch, speak)
    assert answer == {"rate": 8_000, "count": 2}
    assert np.frombuffer(data, "<f4").tolist() == [0.5, -0.5]


@pytest.mark.parametrize("error", [worker.Offline("no route"), RuntimeError("cracked")])
def test_the_worker_answers_with_what_went_wrong(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def speak(text: str, voice: str, language: str, rate: float) -> worker.Said:
        raise error

    (answer,), data = serve(monkeypatch, speak)
    assert answer["offline"] == isinstance(error, worker.Offline)
    assert str(error) in answer["error"]
    assert data == b""


@pytest.mark.skipif(bool(Espeak().missing()), reason="needs: " + Espeak().missing())
def test_espeak_speaks() -> None:
    engine = Espeak()
    with engine.open() as process:
        voice = engine.voice("en-us+f3")
        assert voice is not None
        said, quick = (process.speak("One, two, three.", voice, r) for r in (1.0, 1.6))
        with pytest.raises(InputError, match="no voice 'anyone'"):
            process.speak("One", ANYONE, 1.0)
    seconds = finish(said)[1]
    assert 0.7 < seconds < 2.5
    assert finish(quick)[1] < 0.8 * seconds


@pytest.mark.skipif(bool(Edge().missing()), reason="needs: " + Edge().missing())
def test_edge_without_a_network_says_which_extra_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # where nobody answers
    engine = Edge()
    with engine.open() as process, pytest.raises(InputError) as caught:
        process.speak("Hello.", engine.voices()[0], 1.0)
    assert caught.value.message.startswith("edge needs the network to speak")
    assert "pip install 'omnistage[kokoro]'" in caught.value.hint


def mp3(seconds: float) -> bytes:
    """What the service sends: MP3, 24 kHz, one channel."""
    wave = 0.3 * np.sin(2 * np.pi * 440 * np.arange(round(24_000 * seconds)) / 24_000)
    out = io.BytesIO()
    with av.open(out, "w", format="mp3") as opened:
        stream = opened.add_stream("libmp3lame", rate=24_000, layout="mono")
        frame = av.AudioFrame.from_ndarray(
            wave.astype(np.float32)[None, :], format="fltp", layout="mono"
        )
        frame.sample_rate = 24_000
        opened.mux(stream.encode(frame))
        opened.mux(stream.encode(None))
    return out.getvalue()


class NoAudioReceived(Exception):
    pass


def service(monkeypatch: pytest.MonkeyPatch, known: str) -> list[tuple[str, str, str]]:
    """edge-tts as far as we use it, with a service that has one voice; what it was asked."""
    asked: list[tuple[str, str, str]] = []

    class Communicate:
        def __init__(self, text: str, voice: str, *, rate: str) -> None:
            asked.append((text, voice, rate))

        async def stream(self) -> AsyncIterator[dict[str, object]]:
            if asked[-1][1] != known:
                raise NoAudioReceived("No audio was received.")
            data = mp3(0.6)
            yield {"type": "audio", "data": data[:500]}
            yield {"type": "SentenceBoundary", "offset": 1}
            yield {"type": "audio", "data": data[500:]}

    fake = types.ModuleType("edge_tts")
    fake.__dict__.update(
        Communicate=Communicate, exceptions=types.SimpleNamespace(NoAudioReceived=NoAudioReceived)
    )
    monkeypatch.setitem(sys.modules, "edge_tts", fake)
    return asked


def test_what_edge_sends_is_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = service(monkeypatch, "en-US-AvaNeural")
    speak = worker.edge({})
    samples, rate = speak("Hello.", "en-US-AvaNeural", "en-us", 1.25)
    assert asked == [("Hello.", "en-US-AvaNeural", "+25%")]
    assert finish(Speech(samples=samples, rate=rate))[1] == pytest.approx(0.6, abs=0.06)
    with pytest.raises(RuntimeError, match="knows no voice 'en-US-EvaNeural'"):
        speak("Hello.", "en-US-EvaNeural", "en-us", 0.8)
    assert asked[-1][2] == "-20%"


def test_listing_engines_starts_none(tmp_path: Path) -> None:
    for engine in engines(Cache(tmp_path / "cache")):
        engine.missing(), engine.version(), engine.voices()
    assert not (tmp_path / "cache").exists()
