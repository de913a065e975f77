"""Words without their endings, in one spelling. Pure.

Counterpart: `simulator.judging.wording` takes the stem of every word that is no number.
"""

from __future__ import annotations

import re
from functools import lru_cache

from simulator.judging.lexicon import IRREGULAR, SAME_WORD


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """A word without its plural or verb ending, in American spelling; not always a word."""
    word = SAME_WORD.get(word, word)
    if word in IRREGULAR:
        return _even(SAME_WORD.get(IRREGULAR[word], IRREGULAR[word]))
    if len(word) > 4 and word.endswith(("isation", "ization")):
        word = word[:-7] + "ize"
    word = re.sub(r"is(e|es|ed|ing)$", r"iz\1", word) if len(word) > 6 else word
    out = word
    if len(word) > 3:
        if word.endswith("sses"):
            out = word[:-2]
        elif word.endswith(("ies", "ied")) and len(word) > 4:
            out = word[:-3] + "y"
        elif word.endswith(("xes", "ches", "shes", "zes", "oes")):
            out = word[:-2]
        elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
            out = word[:-1]
        elif word.endswith("ing") and _has_vowel(word[:-3]):
            out = _single(word[:-3])
        elif word.endswith("ed") and not word.endswith("eed") and _has_vowel(word[:-2]):
            out = _single(word[:-2])
        elif word.endswith("ly") and len(word) > 5:
            out = word[:-2]
    return _even(SAME_WORD.get(out, out))


def _has_vowel(part: str) -> bool:
    return len(part) > 1 and any(c in "aeiouy" for c in part)


def _single(part: str) -> str:
    double = len(part) > 3 and part[-1] == part[-2]
    return part[:-1] if double and part[-1] not in "lsz" else part


def _even(word: str) -> str:
    """Endings that some forms lose and others keep."""
    if len(word) > 5 and word.endswith("ll"):
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word
