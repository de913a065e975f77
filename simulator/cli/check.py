"""`omnistage check`: every error and warning of scenarios, one a line, as editors read them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simulator.authoring.check import check_all
from simulator.authoring.findings import Level
from simulator.media.cache import Cache
from simulator.scenario.collection import COLLECTION


def check_scenarios(names: Sequence[str]) -> int:
    """Print what is found. Status 0: nothing; 1: warnings; 2: errors."""
    errors = warnings = count = 0
    for checked in check_all(names, Cache()):
        count += Path(checked.file).name != COLLECTION
        errors += checked.count(Level.ERROR)
        warnings += checked.count(Level.WARNING)
        for found in checked.findings:
            print(found)
        if not checked.findings:
            print(f"{checked.file}: fine")
    files = f"{count} scenario{'s' * (count != 1)}"
    print(
        f"{files}: {errors} error{'s' * (errors != 1)}, {warnings} warning{'s' * (warnings != 1)}"
    )
    return 2 if errors else 1 if warnings else 0
