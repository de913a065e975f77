"""The command line: parse, call, print. Each command's work is in a module of its own.

Modules are imported when their command runs, so that `--help` is quick. Exit status: 0 all went
well, 1 an attempt failed or a gate was not met, 2 bad input, 130 interrupted.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from simulator import __version__
from simulator.errors import InputError, OmnistageError

app = typer.Typer(
    name="omnistage",
    help="Play real video and sound to omni-modal assistants over WebRTC, and measure what comes "
    "back: when, and how good.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

Out = Annotated[
    Path | None,
    typer.Option("--out", help="Run folder; must not exist yet. Default: runs/<date>-<name>"),
]
JudgeRefs = Annotated[
    list[str] | None,
    typer.Option("--judge", help="Judge reference, repeatable. Default: keypoints and quiet"),
]
Gates = Annotated[
    list[str] | None,
    typer.Option("--gate", help="A limit such as score>=60 or latency_p95<=1.5; repeatable"),
]
MinCoverage = Annotated[
    float, typer.Option(help="Gates fail when less than this share of the plan could be scored")
]


def _version(wanted: bool) -> None:
    if wanted:
        print(f"omnistage {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version"),
    ] = False,
) -> None:
    """Options that every command has."""


@app.command()
def demo(
    out: Out = None,
    agent: Annotated[
        list[str] | None,
        typer.Option("--agent", help="Play to these instead of oracle, late and talkative"),
    ] = None,
) -> None:
    """Play the bundled scenario to three baselines at once, and compare them in a table."""
    from simulator.cli.demo import run_demo

    raise typer.Exit(run_demo(out, agent))


@app.command()
def run(
    scenarios: Annotated[
        list[str], typer.Argument(help="Paths of scenario files, or ids of bundled ones")
    ],
    agent: Annotated[
        list[str],
        typer.Option(
            "--agent", help="Agent reference, repeatable; may carry options: 'late -o delay=3'"
        ),
    ],
    judge: JudgeRefs = None,
    option: Annotated[
        list[str] | None, typer.Option("-o", "--option", help="key=value for every agent")
    ] = None,
    repeat: Annotated[int, typer.Option(help="Play each scenario this often", min=1)] = 1,
    concurrency: Annotated[int, typer.Option(help="Attempts side by side", min=1)] = 1,
    out: Out = None,
    gate: Gates = None,
    min_coverage: MinCoverage = 1.0,
    share_host: Annotated[
        bool, typer.Option(help="Let agents that compute here run side by side; marks latencies")
    ] = False,
    film: Annotated[bool, typer.Option(help="Make session.mkv of every recording")] = False,
) -> None:
    """Play scenarios to agents, record, judge and report."""
    from simulator.cli.run import RunOrder, run_order

    order = RunOrder(
        scenarios=tuple(scenarios),
        agents=tuple(agent),
        judges=tuple(judge or ()),
        options=tuple(option or ()),
        repeat=repeat,
        concurrency=concurrency,
        out=out,
        gates=tuple(gate or ()),
        min_coverage=min_coverage,
        share_host=share_host,
        film=film,
    )
    raise typer.Exit(run_order(order))


@app.command()
def judge(
    what: Annotated[Path, typer.Argument(help="A recording's folder, or a run's")],
    judge: JudgeRefs = None,
    force: Annotated[bool, typer.Option(help="Judge again what has a verdict already")] = False,
    retry_failed: Annotated[bool, typer.Option(help="Judge again what failed")] = False,
    scenario: Annotated[
        str | None, typer.Option(help="Scenario file, if the recording's own copy cannot serve")
    ] = None,
) -> None:
    """Judge a recording or a whole run again, without playing anything."""
    from simulator.cli.judge import judge_again

    raise typer.Exit(
        judge_again(what, tuple(judge or ()), force=force, retry=retry_failed, scenario=scenario)
    )


@app.command()
def report(
    run_folder: Annotated[Path, typer.Argument(help="A run's folder")],
    gate: Gates = None,
    min_coverage: MinCoverage = 1.0,
    turns: Annotated[bool, typer.Option(help="Every turn of every attempt as well")] = False,
) -> None:
    """Compute a run's summary again from its recordings and verdicts, and show it."""
    from simulator.cli.report import show_report

    raise typer.Exit(show_report(run_folder, tuple(gate or ()), min_coverage, turns=turns))


@app.command()
def film(
    recording: Annotated[Path, typer.Argument(help="A recording's folder")],
    out: Annotated[
        Path | None, typer.Option("--out", help="The file; default: session.mkv in the folder")
    ] = None,
) -> None:
    """Make a film of a recording for people: what was sent, both voices, words as subtitles."""
    from simulator.cli.film import film_recording

    raise typer.Exit(film_recording(recording, out))


@app.command()
def agents() -> None:
    """List the agents that can be named."""
    from simulator.cli.listing import list_plugins

    raise typer.Exit(list_plugins("agents"))


@app.command()
def judges() -> None:
    """List the judges that can be named."""
    from simulator.cli.listing import list_plugins

    raise typer.Exit(list_plugins("judges"))


@app.command()
def scenarios() -> None:
    """List the bundled scenarios."""
    from simulator.cli.listing import list_scenarios

    raise typer.Exit(list_scenarios())


@app.command()
def doctor() -> None:
    """Say what is installed, what is missing, and whether WebRTC works on this host."""
    from simulator.cli.doctor import examine

    raise typer.Exit(examine())


@app.command()
def calibrate(
    as_json: Annotated[bool, typer.Option("--json", help="End with one JSON object")] = False,
    repeats: Annotated[int, typer.Option(help="Answers per delay", min=2)] = 10,
) -> None:
    """Measure this machine's own error: latencies put in against latencies that come out."""
    from simulator.cli.calibrate import show_calibration

    raise typer.Exit(show_calibration(as_json=as_json, repeats=repeats))


@app.command()
def check(
    scenarios: Annotated[
        list[str], typer.Argument(help="Scenario files, folders of them, or ids of bundled ones")
    ],
) -> None:
    """Tell every error and warning of scenarios. Exit status: 0 none, 1 warnings, 2 errors."""
    from simulator.cli.check import check_scenarios

    raise typer.Exit(check_scenarios(scenarios))


@app.command()
def new(
    clip: Annotated[Path, typer.Argument(help="A video or sound file")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder of the scenario. Default: its id")
    ] = None,
    id: Annotated[
        str | None, typer.Option("--id", help="Its name. Default: from the clip's file name")
    ] = None,
    title: Annotated[str, typer.Option(help="A line for people")] = "",
    task: Annotated[str, typer.Option(help="A sub-task's code, custom, or custom:NAME")] = "custom",
    pace: Annotated[str, typer.Option(help="wait or continuous")] = "wait",
    licence: Annotated[str, typer.Option(help="Terms under which others may use the clip")] = "",
    url: Annotated[str, typer.Option(help="Where others get the clip; it is then not copied")] = "",
    goal: Annotated[str, typer.Option(help="A subtitle that is shown throughout")] = "",
    ask: Annotated[str, typer.Option(help="The first question")] = "",
    sound: Annotated[Path | None, typer.Option(help="The question as a sound file")] = None,
    at: Annotated[
        str | None, typer.Option(help="Clip time by which it has been asked. Default: half-way")
    ] = None,
    answer: Annotated[str, typer.Option(help="The right answer")] = "",
    key_point: Annotated[
        list[str] | None,
        typer.Option(help="What an answer must say, alternatives as 'three|3'; repeatable"),
    ] = None,
    evidence: Annotated[
        str | None, typer.Option(help="FROM-TO: clip times at which the answer can be seen")
    ] = None,
    force: Annotated[bool, typer.Option(help="Write over files that exist")] = False,
    no_input: Annotated[bool, typer.Option(help="Ask nothing, also at a terminal")] = False,
) -> None:
    """Begin a scenario: a folder with a clip and a commented YAML file. Asks for what it needs."""
    from simulator.authoring.draft import Draft, name_from
    from simulator.cli.new import clip_time, new_scenario, span

    draft = Draft(
        clip=clip,
        id=id or name_from(clip),
        folder=out or Path(),
        title=title,
        task=task,
        pace=pace,
        licence=licence,
        url=url,
        goal=goal,
        ask=ask,
        sound=sound,
        at=None if at is None else clip_time(at),
        answer=answer,
        key_points=tuple(key_point or ()),
        evidence=None if evidence is None else span(evidence),
        force=force,
    )
    raise typer.Exit(
        new_scenario(draft, named=id is not None, placed=out is not None, ask=not no_input)
    )


@app.command()
def preview(
    scenario: Annotated[str, typer.Argument(help="A scenario file, or the id of a bundled one")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for it. Default: <id>-preview")
    ] = None,
    force: Annotated[bool, typer.Option(help="Write over a preview that exists")] = False,
) -> None:
    """See and hear what the agent will get: a film, a contact sheet and a transcript."""
    from simulator.cli.preview import preview_scenario

    raise typer.Exit(preview_scenario(scenario, out, force=force))


@app.command()
def schema(
    out: Annotated[Path | None, typer.Option("--out", help="Write it to this file")] = None,
    force: Annotated[bool, typer.Option(help="Write over a file that exists")] = False,
) -> None:
    """Print the scenario format as a JSON Schema, for editors that complete and check YAML."""
    from simulator.cli.schema import show_schema

    raise typer.Exit(show_schema(out, force=force))


def main() -> None:
    """Entry point: errors that were foreseen are one line and a hint, never a traceback."""
    try:
        app()
    except InputError as error:
        _complain(error)
        sys.exit(2)
    except OmnistageError as error:
        _complain(error)
        sys.exit(1)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read our output has gone; there is nobody to tell.
        sys.exit(0)


def _complain(error: OmnistageError) -> None:
    print(f"error: {error.message}", file=sys.stderr)
    if error.hint:
        print(f"  {error.hint}", file=sys.stderr)
