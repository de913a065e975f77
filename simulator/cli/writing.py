"""Commands for who writes scenarios: new, check, preview, schema, and speech.

Counterpart: `simulator.cli.main` takes them in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer()


@app.command("render-speech")
def render_speech(
    scenarios: Annotated[
        list[str], typer.Argument(help="Paths of scenario files whose `say` is text alone")
    ],
    force: Annotated[bool, typer.Option(help="Speak again what is there already")] = False,
    prune: Annotated[
        bool, typer.Option(help="Delete sounds that no scenario in the folder uses any more")
    ] = False,
    check: Annotated[
        bool, typer.Option(help="Let a recogniser hear the English ones, and show what it mishears")
    ] = False,
) -> None:
    """Speak a scenario's instructions into its folder, so that it plays the same everywhere."""
    from simulator.cli.speech import render

    raise typer.Exit(render(scenarios, force=force, drop=prune, check=check))


@app.command()
def voices() -> None:
    """List the speech engines and their voices, and what is missing for each."""
    from simulator.cli.speech import voices as show

    raise typer.Exit(show())


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
    no_input: Annotated[
        bool, typer.Option("--no-input", help="Ask nothing, also at a terminal")
    ] = False,
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
