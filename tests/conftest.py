"""Shared fixtures: where the real clips are, and a cache that tests may fill."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def media_dir() -> Path:
    """The folder of real clips; tests that need one skip, with the reason, where it is not."""
    named = os.environ.get("OMNISTAGE_MEDIA")
    folder = (
        Path(named.split(os.pathsep)[0]) if named else Path(__file__).parents[2] / "shared/media"
    )
    if not folder.is_dir():
        pytest.skip("real clips not found: set OMNISTAGE_MEDIA to their folder")
    return folder
