"""A file that comes whole or not at all.

It is written beside its place, under a name that nobody else has, and then moved there: a reader
finds the old file or the new one, whoever else writes it at the same time, and a failure leaves
nothing behind. Counterpart: `simulator.media.cache` does the same for whole folders.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A path to write to; when the block ends well, what was written there takes `path`'s place.

    Raises OSError as writing and moving do; `path` is then as it was, also where the block fails.
    """
    # Cut, so that it fits wherever `path` fits; hidden, so that nobody takes it for a result.
    part = path.with_name(f".{path.name[:40]}.{secrets.token_hex(6)}.part")
    try:
        yield part
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink()


def put_file(path: Path, data: str | bytes) -> None:
    """Write a file, text as UTF-8. Raises OSError; `path` is then as it was."""
    with whole_file(path) as part:
        part.write_bytes(data.encode() if isinstance(data, str) else data)
