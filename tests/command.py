"""The command as a user types it, in a process of its own; and the scenario that is typed most."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from simulator.plugins import content_root

DEMO = content_root("scenarios") / "demo"

QUIET = """\
version: 1
id: quiet
clip: demo.mp4
canvas:
  width: 320
  height: 180
turns:
  - until: {until}
    quiet: true
"""


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "simulator", *words]


def omnistage(*words: str, **how: Any) -> subprocess.CompletedProcess[str]:
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command(*words), capture_output=True, text=True, timeout=110, check=False, **how
    )
    return done


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """A long quiet turn on the demo's clip, in a small picture."""
    (tmp_path / "demo.mp4").symlink_to(DEMO / "media/demo.mp4")
    file = tmp_path / "quiet.yaml"
    file.write_text(QUIET.format(until=60))
    return file
