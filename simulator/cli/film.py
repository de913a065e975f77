"""`omnistage film`, and the films of a run: session.mkv, for people to watch."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from rich.console import Console

from simulator.errors import OmnistageError
from simulator.measuring.stored import load_trace
from simulator.recording.reader import Recording
from simulator.report.film import make_film
from simulator.report.plain import plain
from simulator.report.timeline.lanes import Timeline
from simulator.report.timeline.session import session_timeline
from simulator.run.accounting import AttemptResult, read_attempts
from simulator.run.plan import Plan
from simulator.scenario.load import load_recorded_scenario
from simulator.scenario.types import Scenario


def film_recording(folder: Path, out: Path | None) -> int:
    """Make one film. Status 1 if something is missing in it."""
    console = Console()
    recording = Recording.open(folder)
    film = make_film(recording, _timeline(recording, load_recorded_scenario(folder)), path=out)
    console.print(plain(f"{film.path}: {film.duration:.1f} s"), soft_wrap=True)
    for missing in film.missing:
        line = f"not in the cache any more, so not in the film: {missing}"
        console.print(plain(line), soft_wrap=True)
    return 1 if film.missing else 0


def make_films(run: Path, plan: Plan, scenarios: Mapping[str, Scenario]) -> Iterator[str]:
    """Make the film of every recording of a run; yields a line for each that could not be made.

    Several at a time: most of it is decoding and encoding, which other threads need not wait for.
    """
    played = [t for r in read_attempts(run, plan) for t in r.tries if t.folder is not None]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as threads:
        yield from filter(None, threads.map(lambda r: _film(r, scenarios), played))


def _film(result: AttemptResult, scenarios: Mapping[str, Scenario]) -> str:
    """Make one film; why there is none, if so."""
    assert result.folder is not None
    try:
        recording = Recording.open(result.folder)
        make_film(recording, _timeline(recording, scenarios[result.attempt.scenario]))
    except (OmnistageError, OSError) as error:
        return f"{result.name}: no film: {error}"
    return ""


def _timeline(recording: Recording, scenario: Scenario) -> Timeline:
    trace = load_trace(recording.folder, scenario)
    return session_timeline(trace, scenario, events=recording.events())
