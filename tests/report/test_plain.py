"""What others wrote neither steers a terminal nor counts as markup."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from simulator.report.plain import clean, plain


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("three bottles", "three bottles"),
        ("\x1b[2J\x1b]0;owned\x07red", "[2J]0;ownedred"),
        ("\x9b31mred\x00", "31mred"),
        ("a\tb\rc\x85d\u2028e", "a b c d e"),
        ("one\ntwo", "one\ntwo"),
        ("\ud800 bottles, \udce9.yaml", "? bottles, ?.yaml"),
        ("right\u202eleft", "rightleft"),
        ("Grüße, 日本語 🎉", "Grüße, 日本語 🎉"),
    ],
)
def test_what_is_kept(text: str, kept: str) -> None:
    assert clean(text) == kept


def test_nothing_is_markup() -> None:
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    console.print(plain("o[/red]x omnistage[listen]"), highlight=False)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == "o[/red]x omnistage[listen]\n"
