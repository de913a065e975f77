"""A plain `pytest` says which tests it leaves out, and every mark is on some test."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from .conftest import LEFT_OUT

HERE = Path(__file__).parent
RUNS = "tests/test_cli_runs.py"


def collected(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", *words],
        cwd=HERE.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_what_is_left_out_is_told_with_how_to_run_it() -> None:
    told = re.compile(r"^left out: (\d+) tests marked .*; they run with: pytest -m '(.*)'$", re.M)
    found = told.search(collected(RUNS))
    assert found is not None
    rest = collected(RUNS, "-m", found[2])
    assert told.search(rest) is None
    assert len(re.findall(r"::test_", rest)) == int(found[1]) > 0


def test_every_mark_is_in_use() -> None:
    used = {
        mark
        for path in HERE.rglob("test_*.py")
        for mark in re.findall(r"^@pytest\.mark\.(\w+)$", path.read_text("utf-8"), re.MULTILINE)
    }
    assert used >= LEFT_OUT
