"""Commands for who studies results: compare, power, benchmarks in and out, agreement of judges.

Counterpart: `simulator.cli.main` takes them in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from simulator.cli.conditions import Mix

app = typer.Typer()

AgentA = Annotated[str | None, typer.Option("--agent-a", help="Label of A, if its run has several")]
AgentB = Annotated[str | None, typer.Option("--agent-b", help="Label of B, if its run has several")]


@app.command()
def compare(
    run_a: Annotated[Path, typer.Argument(help="The run to compare with")],
    run_b: Annotated[Path, typer.Argument(help="The run that may differ; may be the same folder")],
    agent_a: AgentA = None,
    agent_b: AgentB = None,
    as_json: Annotated[bool, typer.Option("--json", help="All of it as one JSON object")] = False,
    mix: Mix = False,
) -> None:
    """Compare two runs turn by turn: difference, interval, wins and losses, what flipped."""
    from simulator.cli.compare import show_comparison

    raise typer.Exit(
        show_comparison(run_a, run_b, agents=(agent_a, agent_b), as_json=as_json, mix=mix)
    )


@app.command()
def power(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help="A run that shows how scores scatter, or two to be compared"),
    ] = None,
    difference: Annotated[
        list[float] | None,
        typer.Option("-d", "--difference", help="Points of 100 to be shown, repeatable"),
    ] = None,
    agent_a: AgentA = None,
    agent_b: AgentB = None,
    sd: Annotated[
        float | None, typer.Option(help="Standard deviation of turn scores, points of 100")
    ] = None,
    correlation: Annotated[
        float, typer.Option(help="Between two systems' scores on a turn, where not measured")
    ] = 0.5,
    alpha: Annotated[float, typer.Option(help="Chance of seeing a difference that is none")] = 0.05,
    power: Annotated[float, typer.Option(help="Chance of seeing a difference that is one")] = 0.8,
    mix: Mix = False,
) -> None:
    """Say how many turns it takes to show a difference."""
    from simulator.cli.power import show_power

    raise typer.Exit(
        show_power(
            difference or [2.0, 5.0, 10.0],
            runs or [],
            agents=(agent_a, agent_b),
            sd=sd,
            correlation=correlation,
            alpha=alpha,
            power=power,
            mix=mix,
        )
    )


Benchmark = Annotated[str, typer.Argument(help="Which benchmark: omniassistbench")]


@app.command("import")
def import_(
    benchmark: Benchmark,
    source: Annotated[Path, typer.Argument(help="Its release: parquet shards, or labels.csv")],
    dest: Annotated[Path, typer.Argument(help="Folder for the scenarios; must not exist yet")],
    clips: Annotated[
        Path | None,
        typer.Option(help="Write videos out of parquet shards here, for OMNISTAGE_MEDIA"),
    ] = None,
) -> None:
    """Make scenarios of a benchmark's release, without copying its clips."""
    from simulator.cli.benchmark import import_benchmark

    raise typer.Exit(import_benchmark(benchmark, source, dest, clips))


@app.command()
def export(
    benchmark: Benchmark,
    run_folder: Annotated[Path, typer.Argument(help="A run's folder")],
    out: Annotated[Path, typer.Argument(help="The CSV to write: video_name,output_text")],
    agent: Annotated[
        str | None, typer.Option(help="Label of the agent, if the run has several")
    ] = None,
    repeat: Annotated[int, typer.Option(help="Which repeat", min=1)] = 1,
) -> None:
    """Write a run's answers as a benchmark's own scripts read them."""
    from simulator.cli.benchmark import export_benchmark

    raise typer.Exit(export_benchmark(benchmark, run_folder, out, agent, repeat))


@app.command(name="judge-agreement")
def judge_agreement(
    run_folder: Annotated[Path, typer.Argument(help="A run's folder, judged by several")],
    judge: Annotated[
        list[str] | None,
        typer.Option("--judge", help="Name of a judge as in verdicts/, repeatable; default: all"),
    ] = None,
    human: Annotated[
        Path | None, typer.Option(help="CSV of people's scores: attempt,turn,score[,rater], 0 to 5")
    ] = None,
    mix: Mix = False,
) -> None:
    """How far the judges of a run agree, with each other and with people."""
    from simulator.cli.agreement import show_agreement

    raise typer.Exit(show_agreement(run_folder, tuple(judge or ()), human, mix=mix))
