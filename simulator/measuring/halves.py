"""Sound without words and words without sound that are one response. Pure.

What a server announces late, never, or under another id than the rest leaves a response in pieces:
one that sounds and says nothing, and one that says something and is mute. Left so, one false alarm
counts several times, and an answer is judged without its words or timed by them. Pieces are joined
only where at most one of them was announced and they lie together in time. Counterparts:
`simulator.measuring.utterances` calls it, `simulator.measuring.names` is what needs no guessing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from simulator.measuring.reply import ANNOUNCED, LEAD, UTTERANCE_GAP, Reply
from simulator.measuring.texts import TEXT_REACH, is_token, spoken, written

TRANSCRIBED = 10.0
"""Seconds after its sound within which a transcript may come."""


def unite(replies: Sequence[Reply]) -> list[Reply]:
    """The replies, in order, each whole; those that went into others are left out."""
    kept = list(replies)
    for mute in sorted((r for r in replies if not r.islands), key=_begun):
        sounding = [r for r in kept if r.islands and _one(mute, r)]
        nearest = min(sounding, key=lambda r: _apart(mute, r), default=None)
        if nearest is None:
            continue
        whole, part = (mute, nearest) if _rank(mute) > _rank(nearest) else (nearest, mute)
        whole.takes(part)
        kept.remove(part)
    return kept


def _begun(reply: Reply) -> float:
    return reply.begun


def _rank(reply: Reply) -> tuple[bool, bool]:
    """Whose name a response keeps: an announced one's, else one of the wire."""
    return reply.announced, reply.wire


def _one(mute: Reply, sounding: Reply) -> bool:
    """Whether a reply that makes no sound is a part of one that does."""
    if mute.listened or (mute.announced and sounding.announced):
        return False
    if is_token(mute.texts):
        return False
    words, said = written(mute.texts), written(sounding.texts)
    if words and said and not (words.startswith(said) or said.startswith(words)):
        return False
    if mute.announced:
        return _announces(mute, sounding, words)
    if not words:
        # The end of something that never began: of what is sounding, if that has not ended.
        return mute.wire and sounding.status is None and _apart(mute, sounding) <= TEXT_REACH
    return _apart(mute, sounding) <= (TRANSCRIBED if spoken(mute.texts) else TEXT_REACH)


def _announces(mute: Reply, sounding: Reply, words: str) -> bool:
    """Whether a response that was announced, and not heard, is what sounds meanwhile."""
    if mute.status == "failed" and not words:
        return False
    start, end = sounding.islands[0].start, sounding.islands[-1].end
    late = mute.begun - start
    if mute.trigger is not None and late > ANNOUNCED:
        return False
    told = mute.begun if mute.sound_from is None else max(mute.begun, mute.sound_from)
    # With a transcript it was spoken: before, where nothing else is that was.
    patience = TRANSCRIBED if spoken(mute.texts) else UTTERANCE_GAP
    return mute.begun <= end + patience and told >= start - LEAD


def _apart(mute: Reply, sounding: Reply) -> float:
    """Seconds between what the wire says of the one and the sound of the other; inf where words
    come long before the sound that they would be of."""
    start, end = sounding.islands[0].start, sounding.islands[-1].end
    times = [t for t, _ in mute.texts] or [mute.begun]
    before = start - times[-1]
    return math.inf if before > TEXT_REACH else max(0.0, before, times[0] - end)
