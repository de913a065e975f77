"""The texts that an agent sent: which belong together, and what they say together. Pure.

Counterparts: `simulator.measuring.utterances` gives them to responses, `simulator.session.onsets`
asks the same while it happens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from simulator.protocol.events import Text
from simulator.protocol.silence import is_silence_token
from simulator.recording.records import TextRecord

TEXT_REACH = 2.0
"""Seconds by which a text without id may lie beside its sound."""


@dataclass(slots=True)
class Passage:
    """Text without a response id that belongs together."""

    texts: list[tuple[float, TextRecord]]

    @property
    def first(self) -> float:
        return self.texts[0][0]

    @property
    def last(self) -> float:
        return self.texts[-1][0]


def passages(texts: Iterable[tuple[float, TextRecord]]) -> list[Passage]:
    """Text that no name gives to a response, put together by item, by order and by closeness in
    time."""
    out: list[Passage] = []
    named: dict[str, Passage] = {}
    open_one: Passage | None = None
    for t, record in texts:
        text = (t, record)
        if record.item is not None:
            if record.item in named:
                named[record.item].texts.append(text)
            else:
                named[record.item] = Passage([text])
                out.append(named[record.item])
        elif open_one is not None and t - open_one.last < TEXT_REACH:
            open_one.texts.append(text)
            open_one = None if record.final else open_one
        else:
            open_one = Passage([text])
            out.append(open_one)
            open_one = None if record.final else open_one
    return out


def spoken(texts: Sequence[tuple[float, Text | TextRecord]]) -> bool:
    """Whether the wire gives words of them as those of a voice."""
    return any(r.kind == "transcript" and r.text.strip() for _, r in texts)


def is_token(texts: Sequence[tuple[float, Text | TextRecord]]) -> bool:
    """Whether they are written, and are the decision to keep quiet."""
    return not spoken(texts) and is_silence_token(written(texts))


def written(texts: Sequence[tuple[float, Text | TextRecord]]) -> str:
    """What text records say together: finals replace their deltas; output before transcripts.

    What comes after a final displaces nothing: deltas that are late, a second final of an item, the
    same final once more, written deltas that no final ever closed beside a final transcript.
    """
    finals = {r.kind for _, r in texts if r.final and r.text.strip()}
    spoken_first = "transcript" in finals and "output" not in finals
    for kind in ("transcript", "output") if spoken_first else ("output", "transcript"):
        said: dict[tuple[str | None, int], str] = {}
        closed: set[tuple[str | None, int]] = set()
        finished: set[str] = set()
        unnamed = 0
        for _, record in texts:
            if record.kind != kind:
                continue
            # Without an item, a final closes one piece and what follows is the next.
            key = (record.item, unnamed if record.item is None else record.part)
            if record.final:
                if key in closed or (record.item is None and record.text in finished):
                    continue
                said[key] = record.text
                if record.text.strip():
                    closed.add(key)
                    finished.add(record.text)
                unnamed += record.item is None
            elif key not in closed:
                said[key] = said.get(key, "") + record.text
        whole = " ".join(s.strip() for s in said.values() if s.strip())
        if whole:
            return whole
    return ""
