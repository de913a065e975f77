"""Whether a voice can speak a text: by its letters, and by its length. Pure.

What cannot be told apart by letters (French read by an English voice) is not found here.
Counterpart: `simulator.speech.render` asks before anything is spoken.
"""

from __future__ import annotations

import unicodedata

MOST_WORDS = 400
"""Words in one instruction: about two and a half minutes."""

_SCRIPTS = {
    "ja": ("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "CJK", "LATIN"),
    "zh": ("CJK", "LATIN"),
    "cmn": ("CJK", "LATIN"),
    "yue": ("CJK", "LATIN"),
    "ko": ("HANGUL", "LATIN"),
    "hi": ("DEVANAGARI", "LATIN"),
    "mr": ("DEVANAGARI", "LATIN"),
    "ne": ("DEVANAGARI", "LATIN"),
    "ru": ("CYRILLIC", "LATIN"),
    "uk": ("CYRILLIC", "LATIN"),
    "bg": ("CYRILLIC", "LATIN"),
    "be": ("CYRILLIC", "LATIN"),
    "mk": ("CYRILLIC", "LATIN"),
    "el": ("GREEK", "LATIN"),
    "he": ("HEBREW", "LATIN"),
    "ar": ("ARABIC", "LATIN"),
    "fa": ("ARABIC", "LATIN"),
    "ur": ("ARABIC", "LATIN"),
    "th": ("THAI", "LATIN"),
    "ka": ("GEORGIAN", "LATIN"),
    "hy": ("ARMENIAN", "LATIN"),
}
"""Scripts of languages that are not written in Latin letters alone."""

_LATIN = """
    en es fr it pt de nl sv da nb no fi is pl cs sk sl hr hu ro et lv lt tr az vi id ms sw af ca
    eu gl ga cy sq mt eo la lb
"""

_MARKS = ("MODIFIER", "FEMININE", "MASCULINE", "FULLWIDTH", "HALFWIDTH", "MICRO")
"""First words of the names of letters that belong to no script."""


def unspeakable(text: str, language: str) -> str:
    """Why a voice of `language` cannot speak `text`; empty if it can."""
    words = text.split()
    if len(words) > MOST_WORDS:
        return (
            f"{len(words):,} words are too many for one instruction, at most {MOST_WORDS}: "
            "split it over several turns"
        )
    odd = [c for c in text if unicodedata.category(c) in ("So", "Co", "Cn", "Cs")]
    if odd:
        name = unicodedata.name(odd[0], "an unnamed character").lower()
        return f"{odd[0]} ({name}) cannot be spoken: write the word"
    if not any(c.isalnum() for c in text):
        return f"{text!r} has no word in it"
    main = language.partition("-")[0]
    allowed = _SCRIPTS.get(main) or (("LATIN",) if main in _LATIN.split() else None)
    if allowed is None:
        return ""
    for letter in text:
        # Names of letters begin with their script; º and the like have names of their own.
        script = unicodedata.name(letter, "").partition(" ")[0]
        if letter.isalpha() and script not in allowed and script not in _MARKS:
            return (
                f"a voice for {language} cannot speak {letter!r} ({script.lower()}): "
                "take a voice of the text's language"
            )
    return ""
