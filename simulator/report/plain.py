"""Text of agents, files and users, made fit for a terminal. Pure.

Counterparts: `simulator.report.terminal`, `simulator.cli`: whatever they print that is not their
own goes through here, so that it neither steers a terminal nor is taken for markup.
"""

from __future__ import annotations

import re

from rich.text import Text

_BLANKS = re.compile(r"[\t\v\f\r\x85\u2028\u2029]")
_CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_LONE = re.compile(r"[\ud800-\udfff]")


def clean(text: str) -> str:
    """The text without control characters (C0, C1, changes of direction) but for line feeds.

    Other blanks become spaces, and what is no character (a byte of a file's name that is no UTF-8)
    a question mark.
    """
    return _LONE.sub("?", _CONTROLS.sub("", _BLANKS.sub(" ", text)))


def plain(text: str, style: str = "") -> Text:
    """The same for a rich console: nothing in it is markup."""
    return Text(clean(text), style=style)
