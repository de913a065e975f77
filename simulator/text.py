"""Text that others wrote, made fit to be kept and shown.

JSON may hold halves of characters, which UTF-8 does not take; a URL may hold secrets.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit, urlunsplit

_CUT_WORD = re.compile(r"[\w.~+/=%-]+\Z")
"""What keys and tokens are made of, however they are written, up to the end."""


def well_formed(text: str) -> str:
    """`text` with U+FFFD for each lone surrogate, which no file and no terminal takes."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def all_well_formed(value: Any) -> Any:
    """A JSON value with all its texts, keys too, made well-formed."""
    match value:
        case str():
            return well_formed(value)
        case dict():
            return {all_well_formed(k): all_well_formed(v) for k, v in value.items()}
        case list() | tuple():
            return [all_well_formed(v) for v in value]
    return value


def excerpt(text: str, longest: int) -> str:
    """The beginning of a text, without the word that the end would cut: of half a secret nobody
    could tell that it is one."""
    return text if len(text) <= longest else _CUT_WORD.sub("", text[:longest]).rstrip()


def public_url(url: str) -> str:
    """`url` without what may be secret in it: user, password, query."""
    try:
        parts = urlsplit(url)
    except ValueError:
        # What of it is a password cannot be told.
        return "an address that cannot be read"
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
