"""The command line: parse, call, print. Each command's work is in a module of its own.

Modules are imported when their command runs, so that `--help` is quick. Exit status: 0 all went
well, 1 an attempt failed or a gate was not met, 2 bad input, 130 interrupted.
"""

from __future__ import annotations

import math
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from simulator import __version__
from simulator.cli import studying, writing
from simulator.cli.conditions import Mix, imposes
from simulator.errors import InputError, OmnistageError
from simulator.protocol.conditions import Conditions

INTERRUPTED = 130


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


def _number(value: float) -> float:
    # The range of an option lets NaN through, and no coverage is below NaN.
    if math.isnan(value):
        raise typer.BadParameter("nan is not a number")
    return value


MinCoverage = Annotated[
    float,
    typer.Option(
        min=0.0,
        max=1.0,
        callback=_number,
        help="Gates fail when less than this share of the plan could be scored",
    ),
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
@imposes
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
    conditions: Conditions,
    judge: JudgeRefs = None,
    option: Annotated[
        list[str] | None, typer.Option("-o", "--option", help="key=value for every agent")
    ] = None,
    repeat: Annotated[int, typer.Option(help="Play each scenario this often", min=1)] = 1,
    retries: Annotated[
        int,
        typer.Option(
            help="Play an attempt that failed again, up to this often; the first try counts", min=0
        ),
    ] = 0,
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
        retries=retries,
        concurrency=concurrency,
        out=out,
        gates=tuple(gate or ()),
        min_coverage=min_coverage,
        share_host=share_host,
        film=film,
        conditions=conditions,
    )
    raise typer.Exit(run_order(order))


@app.command()
def judge(
    what: Annotated[
        Path, typer.Argument(help="A recording's folder, a run's, or a CSV video_name,output_text")
    ],
    judge: JudgeRefs = None,
    force: Annotated[bool, typer.Option(help="Judge again what has a verdict already")] = False,
    retry_failed: Annotated[bool, typer.Option(help="Judge again what failed")] = False,
    heard: Annotated[
        bool,
        typer.Option(
            "--heard",
            help="Judge what a recogniser hears in the recorded sound, beside what was said "
            "(omnistage[recognise])",
        ),
    ] = False,
    scenario: Annotated[
        str | None, typer.Option(help="Scenario file, if the recording's own copy cannot serve")
    ] = None,
    scenarios: Annotated[
        Path | None, typer.Option(help="For a CSV: the folder of imported scenarios")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="For a CSV: run folder to make. Default: runs/<its name>"),
    ] = None,
) -> None:
    """Judge a recording, a whole run or a CSV of answers, without playing anything."""
    from simulator.cli.judge import judge_again

    raise typer.Exit(
        judge_again(
            what,
            tuple(judge or ()),
            force=force,
            retry=retry_failed,
            heard=heard,
            scenario=scenario,
            scenarios=scenarios,
            out=out,
        )
    )


@app.command()
def report(
    run_folder: Annotated[Path, typer.Argument(help="A run's folder")],
    judge: Annotated[
        str | None,
        typer.Option(
            help="Whose verdicts give the score, by the name of its file in verdicts/. Default: "
            "the first one named when the run was judged"
        ),
    ] = None,
    gate: Gates = None,
    min_coverage: MinCoverage = 1.0,
    turns: Annotated[bool, typer.Option(help="Every turn of every attempt as well")] = False,
    as_csv: Annotated[
        Path | None, typer.Option("--csv", help="Folder for turns, attempts and scores as CSV")
    ] = None,
    as_parquet: Annotated[
        Path | None, typer.Option("--parquet", help="Folder for the same tables as Parquet")
    ] = None,
    mix: Mix = False,
) -> None:
    """Compute a run's summary again from its recordings and verdicts, and show it."""
    from simulator.cli.report import show_report

    raise typer.Exit(
        show_report(
            run_folder,
            tuple(gate or ()),
            min_coverage,
            judge=judge,
            turns=turns,
            as_csv=as_csv,
            as_parquet=as_parquet,
            mix=mix,
        )
    )


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


app.add_typer(writing.app)
app.add_typer(studying.app)


def main() -> None:
    """Entry point: errors that were foreseen are one line and a hint, never a traceback."""
    try:
        try:
            app()
        except SystemExit as end:
            if isinstance(end.__context__, KeyboardInterrupt) or end.code == INTERRUPTED:
                raise KeyboardInterrupt from None
            raise
        finally:
            sys.stdout.flush()
    except InputError as error:
        _complain(error)
        sys.exit(2)
    except OmnistageError as error:
        _complain(error)
        sys.exit(1)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # Whoever read our output has gone; there is nobody to tell.
        _leave_stdout()
        sys.exit(0)
    except OSError as error:
        # A full disk, a name that is too long: the system's own words are clear, and say where.
        _leave_stdout()
        where = f"{error.filename}: " if error.filename else ""
        _complain(OmnistageError(f"{where}{error.strerror or error}"))
        sys.exit(1)


def _leave_stdout() -> None:
    """What could not be written is not tried again when Python ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _complain(error: OmnistageError) -> None:
    from simulator.report.plain import clean

    with suppress(OSError):
        print(clean(f"error: {error.message}"), file=sys.stderr)
        if error.hint:
            print(clean(f"  {error.hint}"), file=sys.stderr)
