"""The silence token: how a model that must answer something says that it keeps quiet. Pure."""

from __future__ import annotations

import re

TOKEN = "[KEEP QUIET]"
"""What we ask for. The spellings below are accepted as well."""

_SPELLINGS = re.compile(r"[\s\W_]*(?:keep[\s_-]*quiet[\s\W_]*)+", re.IGNORECASE)


def is_silence_token(text: str) -> bool:
    """Whether `text` is the silence token and nothing else.

    `[KEEP QUIET]`, `KEEP QUIET`, `KEEP_QUIET`, in any case and with any punctuation around them;
    said twice it is no less.
    """
    return _SPELLINGS.fullmatch(text) is not None
