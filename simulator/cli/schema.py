"""`omnistage schema`: the format as a JSON Schema, for editors."""

from __future__ import annotations

from pathlib import Path

from simulator.authoring.schema import schema_text, write_schema


def show_schema(out: Path | None, *, force: bool) -> int:
    if out is None:
        print(schema_text(), end="")
        return 0
    write_schema(out, force=force)
    print(f"{out}: put this line first in a scenario beside it, for editors:")
    print(f"# yaml-language-server: $schema={out.name}")
    return 0
