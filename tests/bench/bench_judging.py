"""687 turns of 300 recordings judged again: by rules, and by a model that takes 50 ms.

`[--json] [--quick]`. The model is `simulator.judging.server` in a process of its own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

from simulator.clock import WallClock, cpu_seconds
from simulator.judging.judge import Judge
from simulator.judging.run import judge_run
from simulator.judging.server import JudgeServer, verdict
from simulator.judging.testing import answers, quiet, said, scenario, trace
from simulator.measuring.trace import Trace, trace_from_json, trace_to_json
from simulator.plugins import load_judge
from simulator.protocol.events import Outcome
from simulator.run.accounting import AttemptResult, Ledger
from simulator.run.plan import AgentChoice, make_plan, open_run
from simulator.scenario.types import Scenario

TURNS, RECORDINGS = 687, 300
LATENCY, CONCURRENCY = 0.05, 32


def make(out: Path, turns: int, recordings: int) -> dict[str, Scenario]:
    """A run of so many turns; three of four want an answer."""
    scenarios: dict[str, Scenario] = {}
    traces: dict[str, Trace] = {}
    for n in range(recordings):
        count = turns * (n + 1) // recordings - turns * n // recordings
        parts = [
            quiet(f"q{i}")
            if (n + i) % 4 == 0
            else answers(f"a{i}", f"There are {i} of them, on the left.", (str(i),), ("left",))
            for i in range(count)
        ]
        played = scenario(*parts, id=f"s{n}")
        says = [said(f"I see {i} on the left, case {n}.", at=i * 10 + 9.5) for i in range(count)]
        scenarios[played.id] = played
        traces[played.id] = trace(played, *says)
    plan = make_plan(
        list(scenarios.values()), [AgentChoice(label="a", reference="a")], judges=["keypoints"]
    )
    open_run(out, plan)
    with Ledger(out) as ledger:
        for attempt in plan.attempts:
            folder = out / "recordings" / attempt.id
            folder.mkdir()
            (folder / "trace.json").write_bytes(trace_to_json(traces[attempt.scenario]))
            ledger.ended(
                AttemptResult(attempt=attempt, outcome=Outcome.COMPLETED, reason="", seconds=60)
            )
    return scenarios


def read(folder: Path, _: Scenario) -> Trace:
    return trace_from_json((folder / "trace.json").read_bytes())


def timed(run: Path, scenarios: dict[str, Scenario], judges: Sequence[Judge]) -> dict[str, float]:
    """Wall-clock and CPU seconds of judging a run."""
    clock = WallClock()
    begun, used = clock.now(), cpu_seconds()
    judged = asyncio.run(judge_run(run, scenarios, judges, read=read, force=True))
    took, cpu = clock.now() - begun, cpu_seconds() - used
    found = [v for vs in judged.verdicts.values() for v in vs]
    assert all(v.state == "scored" for v in found), judged.problems or found
    return {"turns": len(found), "wall_s": round(took, 2), "cpu_s": round(cpu, 2)}


def serve(pipe: Connection, latency: float) -> None:
    async def main() -> None:
        async with JudgeServer(lambda b: verdict(b, 3), latency=latency) as server:
            pipe.send(server.url)
            await asyncio.to_thread(pipe.recv)

    asyncio.run(main())


@contextmanager
def server(latency: float) -> Iterator[str]:
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(theirs, latency))
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send("end")
        process.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    turns, recordings = (68, 30) if options.quick else (TURNS, RECORDINGS)
    figures: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["OMNISTAGE_CACHE"] = str(Path(folder) / "cache")
        run = Path(folder) / "run"
        scenarios = make(run, turns, recordings)
        figures["rules"] = timed(run, scenarios, [load_judge("keypoints"), load_judge("quiet")])
        with server(LATENCY) as url:
            settings = {"url": url, "concurrency": str(CONCURRENCY)}
            figures["rubric"] = timed(run, scenarios, [load_judge("rubric:bench", settings)])
            figures["cached"] = timed(run, scenarios, [load_judge("rubric:bench", settings)])
    asked = sum(1 for s in scenarios.values() for _ in s.turns)
    figures["rubric"]["least_s"] = round(asked / CONCURRENCY * LATENCY, 2)
    if options.json:
        print(json.dumps(figures))
        return
    for name, row in figures.items():
        print(f"{name:8}", "  ".join(f"{k} {v:g}" for k, v in row.items()))


if __name__ == "__main__":
    main()
