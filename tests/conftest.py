"""Shared fixtures, and how the tests are run: which are left out, and what runs side by side.

Stages for recordings are in `tests/stage.py`, the command as it is typed in `tests/command.py`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from .stage import sounds, stage

__all__ = ["media_dir", "sounds", "stage"]

RUNS = (
    "tests/rtc/test_stopping.py",
    "tests/test_cli_runs.py",
    "tests/test_end_to_end.py",
    "tests/test_failing_agents.py",
    "tests/test_hostile_agents.py",
)
"""What plays whole runs or sessions: it mostly waits, and a busy machine spoils nothing."""
CALLS = ("tests/bridge/", "tests/rtc/test_", "tests/run/test_calibrate.py")
"""Where calls are made in real time: they mostly wait as well, and milliseconds are looked at."""
LEFT_OUT = {"kill", "soak"}
"""Marks of tests that a plain `pytest` leaves out (`addopts` in pyproject.toml)."""


# ---------------------------------------------------------------- side by side


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """The whole suite runs in three processes, two of which mostly wait; a file or a test that was
    named in this one."""
    return 3 if config.args_source is pytest.Config.ArgsSource.TESTPATHS else 0


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What waits longest begins first."""
    items.sort(
        key=lambda item: (not item.nodeid.startswith(RUNS), not item.nodeid.startswith(CALLS))
    )


class _Together(LoadScopeScheduling):  # type: ignore[misc]
    """A module stays in one process; of what plays in real time no two disturb each other."""

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith(RUNS):
            return "runs"
        return "calls" if nodeid.startswith(CALLS) else nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _Together:
    return _Together(config, log)


# ---------------------------------------------------------------- what is left out


class _LeftOut:
    """Counts the tests that were left out for their marks, here or in a worker, and says so."""

    def __init__(self) -> None:
        self.count = 0

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        self.count += sum(any(m.name in LEFT_OUT for m in item.iter_markers()) for item in items)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if hasattr(session.config, "workeroutput"):
            session.config.workeroutput["left_out"] = self.count

    def pytest_testnodedown(self, node: Any) -> None:
        self.count = getattr(node, "workeroutput", {}).get("left_out", 0)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.count:
            marks = " or ".join(sorted(LEFT_OUT))
            terminalreporter.write_line(
                f"left out: {self.count} tests marked {marks}; they run with: pytest -m '{marks}'"
            )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_LeftOut())


# ---------------------------------------------------------------- fixtures


@pytest.fixture(scope="session", autouse=True)
def _own_surroundings(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> None:
    """One cache for all tests of a run, in whatever process: the user's own is left alone. Nor does
    the width of a window matter, which xdist hands on to its workers."""
    os.environ.pop("COLUMNS", None)
    base = tmp_path_factory.getbasetemp()
    folder = base if worker_id == "master" else base.parent
    os.environ["OMNISTAGE_CACHE"] = str(folder / "cache")


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
