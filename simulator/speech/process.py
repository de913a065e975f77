"""An engine's process as this end sees it: started, asked, ended.

Counterpart: `simulator.speech.worker`, the program in it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from simulator.errors import InputError
from simulator.speech.engine import Speech, Voice

PATIENCE = 600.0
"""Seconds in which one text must be spoken."""


class EngineProcess:
    """A speaker whose engine runs in a process of its own."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], offline_hint: str) -> None:
        self._name = name
        self._process = process
        self._offline_hint = offline_hint
        self._given_up = False
        self.patience = PATIENCE

    def speak(self, text: str, voice: Voice, rate: float) -> Speech:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        asked = {"text": text, "voice": voice.name, "language": voice.language, "rate": rate}
        late = threading.Timer(self.patience, self._give_up)
        late.start()
        try:
            # A process that has ended said why before.
            with suppress(BrokenPipeError):
                self._process.stdin.write(json.dumps(asked).encode() + b"\n")
                self._process.stdin.flush()
            line = self._process.stdout.readline()
            answer: dict[str, Any] = json.loads(line) if line.endswith(b"\n") else {}
            if "count" in answer:
                data = self._process.stdout.read(4 * answer["count"])
                if len(data) == 4 * answer["count"]:
                    return Speech(
                        samples=np.frombuffer(data, "<f4").astype(np.float32), rate=answer["rate"]
                    )
        finally:
            late.cancel()
        silent = f"it took more than {self.patience:g} s" if self._given_up else "its process ended"
        why = " ".join(str(answer.get("error", silent)).split())[:300]
        shown = text if len(text) <= 60 else text[:57] + "..."
        if answer.get("offline"):
            raise InputError(
                f"{self._name} needs the network to speak, and it cannot be reached: {why}",
                hint=self._offline_hint,
            )
        raise InputError(f"{self._name}: {voice.name}: cannot speak {shown!r}: {why}")

    def _give_up(self) -> None:
        self._given_up = True
        self._process.kill()


@contextmanager
def running(
    name: str, settings: Mapping[str, object], *, offline_hint: str = ""
) -> Iterator[EngineProcess]:
    """The engine `name`, started with `settings`; it ends with the context."""
    with tempfile.TemporaryDirectory(prefix="omnistage-speech-") as scratch:
        told = json.dumps({**settings, "engine": name, "scratch": scratch})
        process = subprocess.Popen(
            [sys.executable, "-m", "simulator.speech.worker", told],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield EngineProcess(name, process, offline_hint)
        finally:
            assert process.stdin is not None
            assert process.stdout is not None
            with suppress(BrokenPipeError):
                process.stdin.close()
            process.stdout.close()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
