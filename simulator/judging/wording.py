"""English text as marked words: numbers read, endings taken off, what is denied or only supposed.

The rules judges compare such words. A word's `key` is what must agree: a stem, a number (`3`), an
ordinal (`#3`). Pure. Counterpart: `simulator.judging.points` looks for key points in it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from simulator.judging.lexicon import (
    ARTICLES,
    BORDER_WORDS,
    CONDITIONS,
    CONTRACTED,
    FUTURE,
    NEGATORS,
    QUESTION_HEADS,
    STOP,
    TIME_CONDITIONS,
)
from simulator.judging.numerals import Raw, number_at
from simulator.judging.stems import stem

LONGEST = 8_000
"""Characters of a text that are read: more is no answer."""
DENIAL_REACH = 40
"""Words that a `not` can reach over, within its clause."""
LONGEST_NUMBER = 15
"""Digits; a longer one is a name, and must agree as it is written."""


@dataclass(slots=True)
class Word:
    """One word of a text."""

    text: str
    """As it was said, in lower case (all the words of a number)."""
    key: str
    """What must agree: stem, number or #ordinal."""
    number: float | None = None
    stop: bool = False
    """It carries no point of its own."""
    negator: bool = False
    segment: int = 0
    """Part of a sentence: between commas and conjunctions."""
    sentence: int = 0
    denied_by: tuple[int, ...] = ()
    """Positions of the negators in whose reach it is."""
    supposed: bool = False
    """Part of a question, a condition or of what the user said: not asserted."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A text as words. `breaks[i]` is the mark (or conjunction) between words i-1 and i."""

    words: tuple[Word, ...]
    breaks: tuple[str, ...]
    segments: Mapping[int, tuple[int, ...]]
    """Positions of the words of each segment."""
    numbers: tuple[int, ...]
    """Positions of the numbers."""

    def content(self) -> tuple[int, ...]:
        """Positions of the words that carry a point; all but articles if there are none."""
        found = tuple(
            i
            for i, w in enumerate(self.words)
            if not w.stop and (not w.negator or w.number is not None)
        )
        return found or tuple(i for i, w in enumerate(self.words) if w.text not in ARTICLES)

    def keys(self) -> tuple[str, ...]:
        return tuple(w.key for w in self.words)

    def plain(self) -> tuple[str, ...]:
        """All that is said, for comparing whole texts: keys without articles."""
        return tuple(w.key for w in self.words if w.text not in ARTICLES)


_TOKEN = re.compile(
    r"(?P<clock>\d{1,2}:\d{2})(?!\d)|(?P<number>\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"|(?P<cjk>[぀-ヿ㐀-鿿가-힯])|(?P<word>[^\W\d_]+(?:'[^\W\d_]+)?)|(?P<mark>[.!?;:,()\n—])"
)
_CLEAN = (
    (re.compile(r"[‘’ʼ´`]"), "'"),
    (re.compile(r"[*_#\"“”«»<>\[\]{}|~^\\]"), " "),
    (re.compile(r"(?<=\d)\s*[-–—]\s*(?=\d)"), " to "),
    (re.compile(r"(?<=\d)/(?=\d)"), " of "),
    (re.compile(r"/"), " or "),
    (re.compile(r"&"), " and "),
    (re.compile(r"%"), " percent "),
    (re.compile(r"\$"), " dollar "),
    (re.compile(r"°"), " degree "),
    (re.compile(r"\s[-–—]+\s|—|–|\.\.\.|…|--"), " — "),
    (re.compile(r"(?<=\w)-(?=\w)"), " "),
    (re.compile(r"\bno longer\b|\bnot yet\b|\bnot any ?more\b"), " not "),
    (
        re.compile(
            r"\bout of\b(?=\s+(?:the\s+)?(?:\d|two|three|four|five|six|seven|eight|nine|ten))"
        ),
        " of ",
    ),
    (re.compile(r"\bper cent\b"), "percent"),
    (re.compile(r"\ban? (?=(?:couple|pair|dozen|hundred|thousand|million|single)\b)"), ""),
    (re.compile(r"\bhalf (?:a )?dozen\b"), "six"),
    (re.compile(r"\bno one\b"), "nobody"),
    (re.compile(r"\b(?:anti|counter) clockwise\b"), "counterclockwise"),
)
_NOT_DENYING = frozenset({"only", "just", "surprisingly"})
_RIGHT_AS_ADVERB = frozenset(
    (
        "now",
        "away",
        "there",
        "here",
        "next",
        "after",
        "before",
        "behind",
        "in",
        "at",
        "above",
        "below",
        "beside",
        "on",
        "under",
        "over",
        "where",
        "when",
    )
)
_WRONG = frozenset({"wrong", "incorrect", "false", "untrue"})
_RIGHT = frozenset({"right", "correct", "true"})
_DETERMINERS = frozenset(
    (
        "the",
        "this",
        "that",
        "these",
        "those",
        "each",
        "every",
        "any",
        "another",
        "other",
        "which",
        "same",
    )
)
_BE = frozenset({"is", "are", "was", "were", "be"})


@lru_cache(maxsize=4096)
def read(text: str) -> Wording:
    """Read a text. Anything longer than LONGEST characters is cut there."""
    raw = _split(text)
    words, breaks = _numbers(raw)
    _mark_segments(words, breaks)
    _mark_denied(words, breaks)
    _mark_supposed(words, breaks)
    segments: dict[int, list[int]] = {}
    for i, word in enumerate(words):
        segments.setdefault(word.segment, []).append(i)
    return Wording(
        words=tuple(words),
        breaks=tuple(breaks),
        segments={s: tuple(at) for s, at in segments.items()},
        numbers=tuple(i for i, w in enumerate(words) if w.number is not None),
    )


# ---------------------------------------------------------------- words and numbers


def _split(text: str) -> list[Raw]:
    text = unicodedata.normalize("NFKC", text[:LONGEST]).casefold()
    for pattern, by in _CLEAN:
        text = pattern.sub(by, text)
    out: list[Raw] = []
    mark = ""

    def add(item: Raw) -> None:
        nonlocal mark
        item.mark, mark = mark, ""
        out.append(item)

    for match in _TOKEN.finditer(text):
        kind, value = match.lastgroup, match.group()
        if kind == "mark":
            mark = value if mark not in (".", "!", "?") else mark
        elif kind == "number" and len(value) <= LONGEST_NUMBER:
            add(Raw(text=value, digits=float(value.replace(",", ""))))
        elif kind == "word":
            glued = match.start() > 0 and text[match.start() - 1].isdigit() and not mark
            if glued and value in ("st", "nd", "rd", "th") and out[-1].digits is not None:
                out[-1].ordinal = True
                out[-1].text += value
                continue
            for part in _expand(value):
                add(Raw(text=part))
        else:
            add(Raw(text=value))
    if mark:
        out.append(Raw(text="", mark=mark))
    return out


def _expand(word: str) -> Sequence[str]:
    if word in CONTRACTED:
        return CONTRACTED[word].split("_")
    if word.endswith("n't"):
        return (word[:-3], "not")
    head, quote, tail = word.partition("'")
    if not quote:
        return (word,)
    full = {"ll": "will", "re": "are", "ve": "have", "m": "am", "d": "would"}.get(tail)
    if full:
        return (head, full)
    subjects = {"it", "that", "there", "he", "she", "what", "who", "where", "here", "how"}
    return (head, "is") if tail == "s" and head in subjects else (head,)


def _numbers(raw: Sequence[Raw]) -> tuple[list[Word], list[str]]:
    """Words with numbers put together, and the marks before each (and after the last)."""
    words: list[Word] = []
    breaks: list[str] = []
    i = 0
    while i < len(raw):
        item = raw[i]
        if not item.text:
            break
        used, value, ordinal = number_at(raw, i)
        breaks.append(item.mark)
        if used:
            said = " ".join(r.text for r in raw[i : i + used])
            shown = str(int(value)) if value == int(value) else f"{value:.10g}"
            words.append(
                Word(
                    text=said,
                    key=f"#{shown}" if ordinal else shown,
                    number=None if ordinal else value,
                    negator=said == "none",
                )
            )
            i += used
            continue
        key = stem(item.text)
        words.append(
            Word(
                text=item.text,
                key=key,
                stop=item.text in STOP,
                negator=item.text in NEGATORS,
            )
        )
        i += 1
    breaks.append(raw[-1].mark if raw and not raw[-1].text else "")
    _mark_no(words, breaks)
    _mark_one(words, breaks)
    _mark_right(words, breaks)
    return words, breaks


def _mark_no(words: list[Word], breaks: list[str]) -> None:
    """`no` before a thing is none of it; alone it is an answer."""
    for i, word in enumerate(words):
        if word.text != "no":
            continue
        alone = i + 1 == len(words) or bool(breaks[i + 1])
        follows = words[i + 1] if i + 1 < len(words) else None
        if alone or follows is None or follows.stop or follows.text in ("wait", "problem", "doubt"):
            word.key = "no"
        else:
            word.key, word.negator, word.number = "0", True, 0.0


def _mark_one(words: list[Word], breaks: list[str]) -> None:
    """`the left one` counts nothing."""
    for i, word in enumerate(words):
        if word.text not in ("one", "ones"):
            continue
        before = []
        for j in range(i - 1, max(-1, i - 4), -1):
            if breaks[j + 1]:
                break
            before.append(words[j])
        for n, other in enumerate(before):
            if other.number is not None or (other.stop and other.text not in _DETERMINERS):
                break
            pointing = other.text in _DETERMINERS
            if pointing or (n > 0 and other.text in ("a", "an")):
                word.number, word.key, word.stop = None, "one'", True
                break


def _mark_right(words: list[Word], breaks: list[str]) -> None:
    """`right now`, `that's right` and `, right?` have no side."""
    for i, word in enumerate(words):
        if word.text != "right":
            continue
        before = words[i - 1].text if i and not breaks[i] else ""
        after = words[i + 1].text if i + 1 < len(words) and not breaks[i + 1] else ""
        tag = not before and breaks[i] == "," and breaks[i + 1] == "?"
        bare = before in ("is", "are", "all", "am") and not after and i >= 2
        pronoun = i >= 2 and words[i - 2].text in ("that", "you", "it", "i", "all")
        opening = not before and breaks[i + 1] == "," and i == 0
        if after in _RIGHT_AS_ADVERB or tag or before == "all" or (bare and pronoun) or opening:
            word.key, word.stop = "right'", True


# ---------------------------------------------------------------- segments, denial, supposition


def _mark_segments(words: list[Word], breaks: list[str]) -> None:
    segment = sentence = 0
    for i, word in enumerate(words):
        if i and breaks[i] in (".", "!", "?", ";", "\n"):
            sentence, segment = sentence + 1, segment + 1
        elif i and (breaks[i] or word.text in BORDER_WORDS):
            segment += 1
        word.sentence, word.segment = sentence, segment


def _mark_denied(words: list[Word], breaks: list[str]) -> None:
    for i, word in enumerate(words):
        after = words[i + 1].text if i + 1 < len(words) else ""
        pair = f"{word.text} {after}"
        prefix = pair in ("instead of", "rather than", "far from", "other than")
        if not (word.negator or prefix):
            continue
        if word.text == "not" and after in _NOT_DENYING and not breaks[i + 1]:
            word.negator = False
            continue
        if word.text == "not" and after in _RIGHT:
            _deny(words, [j for j, w in enumerate(words) if w.segment == word.segment], i)
            continue
        word.negator = True
        reach = []
        for j in range(i + 1, min(len(words), i + DENIAL_REACH)):
            if words[j].sentence != word.sentence:
                break
            listed = words[j].text in ("or", "nor") or words[j - 1].text in ("or", "nor")
            if words[j].segment != words[j - 1].segment and j > i + 1 and not listed:
                break
            reach.append(j)
        _deny(words, reach, i)
    for i, word in enumerate(words):
        if word.text in _WRONG and i and words[i - 1].text in _BE:
            _deny(words, [j for j in range(i) if words[j].segment == word.segment], i)


def _deny(words: list[Word], reach: Sequence[int], by: int) -> None:
    for j in reach:
        if j != by:
            words[j].denied_by = (*words[j].denied_by, by)


def _mark_supposed(words: list[Word], breaks: list[str]) -> None:
    for sentence in {w.sentence for w in words}:
        at = [i for i, w in enumerate(words) if w.sentence == sentence]
        opening = next((words[i].text for i in at if words[i].text not in ("so", "and")), "")
        asks = breaks[at[-1] + 1] == "?" and opening in QUESTION_HEADS
        future = any(words[i].text in FUTURE for i in at)
        told = any(
            words[i].text == "you" and words[i + 1].text in ("asked", "said", "mentioned", "wanted")
            for i in at[:-1]
        )
        for n, i in enumerate(at):
            text = words[i].text
            condition = text in CONDITIONS or (text in TIME_CONDITIONS and future)
            as_soon = text == "soon" and n >= 1 and words[i - 1].text == "as" and future
            if asks or told:
                words[i].supposed = True
            elif condition or as_soon:
                for j in at[n:]:
                    if words[j].segment != words[i].segment and (breaks[j] or _turns(words[j])):
                        break
                    words[j].supposed = True


def _turns(word: Word) -> bool:
    """Whether a conjunction ends what was supposed; `and` does not."""
    return word.text in BORDER_WORDS and word.text != "and"
