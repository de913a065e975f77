"""`omnistage render-speech` and `voices` as a user types them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from simulator.media.cache import Cache
from simulator.speech.engines import Espeak, engines

from .conftest import Write


def omnistage(*words: str, cache: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "simulator", *words]
    env = {**os.environ, "OMNISTAGE_CACHE": str(cache), "COLUMNS": "200"}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False, env=env)


def test_voices_are_listed(tmp_path: Path) -> None:
    shown = omnistage("voices", cache=tmp_path)
    assert shown.returncode == 0
    assert "en-US-AvaNeural" in shown.stdout
    assert "af_heart" in shown.stdout
    for engine in engines(Cache(tmp_path)):
        assert (engine.missing() or "ready") in shown.stdout


@pytest.mark.skipif(bool(Espeak().missing()), reason="needs: " + Espeak().missing())
def test_rendering_and_bad_input(write: Write, tmp_path: Path) -> None:
    path = write(
        "  - until: 5\n    say: {text: 'Hello [there].', voice: guest}\n    either: true\n",
        guest="espeak:en-us",
    )
    shown = omnistage("render-speech", str(path), cache=tmp_path / "cache")
    assert shown.returncode == 0, shown.stderr
    assert "espeak:en-us" in shown.stdout
    assert "Hello [there]." in shown.stdout
    write(guest="espeak:en-uz")
    shown = omnistage("render-speech", str(path), cache=tmp_path / "cache")
    assert shown.returncode == 2
    assert "espeak has no voice 'en-uz'; did you mean en-us" in shown.stderr
    assert "Traceback" not in shown.stderr
