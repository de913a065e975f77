"""`omnistage render-speech` and `omnistage voices`: speech into a scenario's folder, and whose."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from simulator.media.cache import Cache
from simulator.media.sound import load
from simulator.scenario.load import find_scenario
from simulator.scenario.lock import FOLDER
from simulator.speech.engines import engines
from simulator.speech.hearing import Hear, recogniser, word_errors
from simulator.speech.render import Rendered, prune, render_speech, unused


def render(scenarios: Sequence[str], *, force: bool, drop: bool, check: bool) -> int:
    """Render each scenario's speech and list it; status 1 if `check` mishears something. Raises
    InputError."""
    console, cache = Console(), Cache()
    hear = recogniser() if check else None
    misheard = 0
    for name in scenarios:
        with console.status(f"{escape(name)}: speaking") as status:
            done = render_speech(
                name,
                cache=cache,
                force=force,
                tell=lambda text: status.update(escape(text)),
            )
        if not done:
            console.print(f"{escape(name)}: every instruction names its sound file already")
            continue
        table = Table("turn", "voice", "seconds", "", "text", box=None, pad_edge=False)
        for r in done:
            s = r.sound
            table.add_row(
                r.turn, f"{s.engine}:{s.voice}", f"{s.seconds:.2f}", r.source, escape(s.text)
            )
        console.print(table)
        for r in done:
            if r.note:
                console.print(f"[yellow]{r.turn}: {escape(r.note)}")
        for r in done:
            heard = _heard(hear, name, r) if hear is not None else ""
            if heard:
                misheard += 1
                console.print(f"[red]{r.turn}: was heard as: {escape(heard)}")
        left = prune(name) if drop else unused(name)
        if left:
            what = "deleted" if drop else "not used any more; --prune deletes them"
            console.print(f"{len(left)} older sound{'s' if len(left) > 1 else ''}: {what}")
    return 1 if misheard else 0


def _heard(hear: Hear, scenario: str, rendered: Rendered) -> str:
    """What was heard instead of a text; empty if it was heard right, or is not English."""
    sound = rendered.sound
    folder = find_scenario(scenario).parent / FOLDER
    if not sound.language.startswith("en"):
        return ""
    heard = hear(load(folder / sound.file))
    return heard or "nothing" if word_errors(sound.text, heard)[0] else ""


def voices() -> int:
    """List the engines with their voices, and what each needs."""
    console = Console()
    table = Table("engine", "what it is", "here", box=None, pad_edge=False)
    for engine in engines():
        table.add_row(engine.name, engine.summary, escape(engine.missing() or "ready"))
    console.print(table)
    for engine in engines():
        names = " ".join(v.name for v in engine.voices())
        console.print(f"\n[bold]{engine.name}[/bold]  {names}", highlight=False)
    console.print("\nIn a scenario: `voices:`, by name or as engine:name; see scenarios/README.md")
    return 0
