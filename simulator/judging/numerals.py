"""Numbers in English words and digits, as values: `twenty-one`, `3.5`, `half a dozen`, `3rd`. Pure.

Counterpart: `simulator.judging.wording` splits a text and asks here at each word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simulator.judging.lexicon import COUNTS, ORDINALS, SCALES, TENS, TWO_PIECE, UNITS


@dataclass(slots=True)
class Raw:
    text: str
    mark: str = ""
    """Punctuation before it."""
    digits: float | None = None
    ordinal: bool = False


def number_at(raw: Sequence[Raw], i: int) -> tuple[int, float, bool]:
    """(words used, value, whether it is an ordinal); (0, 0, False) if there is no number at i."""
    first = raw[i]
    if first.ordinal and first.digits is not None:
        return 1, first.digits, True
    if first.text == "pair" and i + 1 < len(raw) and raw[i + 1].text == "of":
        thing = raw[i + 2].text if i + 2 < len(raw) else ""
        return (0, 0.0, False) if thing in TWO_PIECE else (1, 2.0, False)
    if first.text in COUNTS:
        of = i + 1 < len(raw) and raw[i + 1].text == "of"
        return 1 + (of and first.text == "couple"), float(COUNTS[first.text]), False
    if first.text == "second" and i and (raw[i - 1].digits is not None or raw[i - 1].text in UNITS):
        return 0, 0.0, False  # "one second" is a time
    total, current, j, seen, last = 0.0, 0.0, i, False, 10**12
    while j < len(raw):
        item = raw[j]
        if seen and item.mark:
            break
        if item.text in ORDINALS and (not seen or (last in (100, 1000) or 20 <= last < 100)):
            if seen and last < 100 and ORDINALS[item.text] >= 10:
                break
            return j + 1 - i, total + current + ORDINALS[item.text], True
        small = _small(item)
        if small is not None:
            fits = not seen or last in SCALES.values() or (20 <= last < 100 and 0 < small < 10)
            if not fits or (seen and (item.digits is not None or first.digits is not None)):
                break
            current, last = current + small, int(small) if small < 100 else 99
            seen, j = True, j + 1
        elif item.text in SCALES and not item.mark:
            scale = SCALES[item.text]
            if seen and last in SCALES.values() and scale <= last:
                break
            if not seen and item.text not in ("hundred", "thousand", "million"):
                break
            current = (current or 1.0) * scale
            if scale >= 1000:
                total, current = total + current, 0.0
            seen, last, j = True, scale, j + 1
        elif item.text in SCALES and not seen:
            current, last, seen, j = float(SCALES[item.text]), SCALES[item.text], True, j + 1
        elif item.text == "and" and seen and last in SCALES.values() and j + 1 < len(raw):
            if _small(raw[j + 1]) is None or raw[j + 1].digits is not None:
                break
            j += 1
        elif item.text == "point" and seen and j + 1 < len(raw) and raw[j + 1].text in UNITS:
            digits, j = "", j + 1
            while j < len(raw) and raw[j].text in UNITS and UNITS[raw[j].text] < 10:
                digits, j = digits + str(UNITS[raw[j].text]), j + 1
            return j - i, total + current + float(f"0.{digits or '0'}"), False
        else:
            break
    half = [r.text for r in raw[j : j + 3]]
    if seen and half == ["and", "a", "half"]:
        return j + 3 - i, total + current + 0.5, False
    return (j - i, total + current, False) if seen else (0, 0.0, False)


def _small(item: Raw) -> float | None:
    if item.digits is not None and not item.ordinal:
        return item.digits
    known = UNITS.get(item.text, TENS.get(item.text))
    return None if known is None else float(known)
