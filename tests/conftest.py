"""Shared fixtures: where the real clips are, and stages for recordings (`tests/stage.py`)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .stage import sounds, stage

__all__ = ["media_dir", "sounds", "stage"]


@pytest.fixture(scope="session")
def media_dir() -> Path:
    """The folder of real clips: the first of OMNISTAGE_MEDIA.

    Tests that need it skip where the variable is not set. Where it is set and wrong they fail, so
    that a CI which means to run them cannot lose them quietly.
    """
    named = os.environ.get("OMNISTAGE_MEDIA")
    if not named:
        pytest.skip("real clips not found: set OMNISTAGE_MEDIA to their folder")
    folder = Path(named.split(os.pathsep)[0])
    if not folder.is_dir():
        pytest.fail(f"OMNISTAGE_MEDIA names {folder}, which is not a folder")
    return folder
