"""`omnistage demo`: one command that shows what the product does."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from simulator.cli.run import RunOrder, run_order
from simulator.plugins import content_root
from simulator.report.plain import plain

SCENARIO = "demo"
AGENTS = ("oracle", "late", "talkative")


def run_demo(out: Path | None, agents: list[str] | None = None) -> int:
    """Play the demo to three baselines side by side. Their characters are meant to show: a low
    score of one of them is a right result, so the status is 0 when all were completed and scored.
    """
    console = Console()
    cast = tuple(agents or AGENTS)
    who = ", ".join(cast) if agents else f"{', '.join(cast)}: baselines that need no model"
    console.print(
        plain(
            f"Playing the scenario '{SCENARIO}' in real time to {who}.\n"
            "Each gets the same video and sound over its own WebRTC call."
        )
    )
    return run_order(
        RunOrder(
            # By its path: a file of that name in the working folder is not meant.
            scenarios=(str(content_root("scenarios") / SCENARIO / f"{SCENARIO}.yaml"),),
            agents=cast,
            concurrency=len(cast),
            out=out,
            name="demo",
            film=True,
        ),
        console,
    )
