"""When each response of the agent began, and what belongs to it, while it happens. Pure.

The rules and numbers are those of `simulator.measuring.utterances`, which has a whole recording
before it. What is learnt a moment later corrects what was said before: a text whose sound follows,
sound that is announced after it has begun, a silence token once it is whole. Counterpart:
`simulator.session.script` asks whose each response is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from simulator.measuring.names import again
from simulator.measuring.reply import ANNOUNCED, LAG, LEAD, UTTERANCE_GAP
from simulator.measuring.texts import TEXT_REACH, spoken, written
from simulator.protocol.events import (
    AgentSpeech,
    Drained,
    Event,
    Listened,
    ResponseEnded,
    ResponseStarted,
    Text,
)
from simulator.protocol.silence import is_silence_token

STRAYS = 16
"""Names under which nothing but the end of sound was heard that are remembered."""
LONGEST = 256
"""Characters of deltas and finals together after which a text cannot be the silence token."""


class Onset(NamedTuple):
    """What became known of a response."""

    response: str
    at: float | None
    """When it began; None if it is none, or nothing that counts as said."""


@dataclass(slots=True)
class _Reply:
    """A response, of the wire or without an id."""

    name: str
    begun: float
    """When it was first heard of."""
    sound: float | None = None
    """When it first sounded."""
    text: float | None = None
    """When its first text came."""
    drained: float | None = None
    texts: list[tuple[float, Text]] = field(default_factory=list)
    """Its text, as long as that may be the silence token."""
    token: bool = False
    """It is a decision to keep quiet."""
    taken_back: bool = False
    """It was cancelled, and only its voice was to say what it writes."""
    told: set[Literal["start", "end"]] = field(default_factory=set)
    """What the wire has said of it."""

    @property
    def onset(self) -> Onset:
        written = None if self.taken_back else self.text
        at = self.sound if self.sound is not None else written
        return Onset(self.name, None if self.token else at)

    def writes(self, texts: Sequence[tuple[float, Text]]) -> None:
        if sum(len(text.text) for _, text in self.texts) <= LONGEST:
            self.texts.extend(texts)

    def whole(self) -> list[Onset]:
        """A piece of its text is whole: whether it turns out to be, or not to be, a token."""
        before, self.token = self.token, is_silence_token(written(self.texts))
        return [] if self.token is before else [self.onset]


@dataclass(slots=True)
class _Island:
    """A stretch of sound."""

    reply: _Reply
    start: float
    end: float = math.inf
    goes_on: bool = False
    """The voice before it does: the pause between is that of one utterance."""


@dataclass(slots=True)
class _Passage:
    """Text without a response id that belongs together."""

    reply: _Reply
    last: float
    """When its last piece came."""
    open: bool = True
    """What comes next may belong to it."""


@dataclass(slots=True)
class Onsets:
    """Follows one session. Every event goes through `hear`, in order."""

    _wire: dict[str, _Reply] = field(default_factory=dict)
    """Responses with an id, in the order in which they were heard of."""
    _strays: dict[str, float] = field(default_factory=dict)
    """When the sound was drained of what nothing else was heard of, so far."""
    _island: _Island | None = None
    """The last stretch of sound; it goes on while its end is infinite."""
    _named: _Island | None = None
    """The same, if it belongs to a response with an id."""
    _utterance: _Island | None = None
    """The last stretch of sound without an id."""
    _passages: dict[str | None, _Passage] = field(default_factory=dict)
    """By item; under None the last one without."""
    _alone: list[_Passage] = field(default_factory=list)
    """Text with neither sound nor a response of the wire near it, so far."""
    _count: int = 0
    _uses: dict[str, int] = field(default_factory=dict)
    """How often an id was used, of those that were used again."""

    def hear(self, event: Event, now: float) -> list[Onset]:
        """What `event` tells of when a response began."""
        match event:
            case AgentSpeech(edge="start"):
                return self._sounds(now)
            case AgentSpeech(edge="end") if self._island is not None:
                self._island.end = min(self._island.end, now)
            case ResponseStarted():
                self._again(event.response)
                found = self._begins(event.response, now)
                self._wire[event.response].told.add("start")
                return found
            case Listened():
                return self._begins(event.response or f"listened {now:g}", now)
            case ResponseEnded():
                found = self._begins(event.response, now)
                reply = self._wire[event.response]
                reply.told.add("end")
                if event.status == "cancelled" and spoken(reply.texts):
                    reply.taken_back = True
                    found += [reply.onset] if reply.sound is None else []
                return [*found, *reply.whole()]
            case Drained() if event.response in self._wire:
                self._wire[event.response].drained = now
            case Drained():
                # Another name of one of the others, unless more comes under it.
                self._strays[event.response] = now
                if len(self._strays) > STRAYS:
                    del self._strays[next(iter(self._strays))]
            case Text(kind="output" | "transcript", text=text) if text.strip():
                return self._writes(event, now)
            case _:
                pass
        return []

    # ------------------------------------------------------------ responses with an id

    def _again(self, name: str) -> None:
        """An id may be used again once the response that had it has ended."""
        if name in self._wire and self._wire[name].told == {"start", "end"}:
            use = self._uses.get(name, 1)
            self._uses[name] = use + 1
            self._wire = {again(n, use) if n == name else n: r for n, r in self._wire.items()}

    def _begins(self, name: str, now: float) -> list[Onset]:
        """The wire speaks of a response; the first time, sound that has just begun is its own."""
        if name in self._wire:
            return []
        drained = self._strays.pop(name, None)
        begun = now if drained is None else drained
        called = again(name, self._uses[name]) if name in self._uses else name
        reply = self._wire[name] = _Reply(called, begun, drained=drained)
        island = self._island
        if island is None:
            return []
        if island.end <= now or now - island.start > LEAD:
            return self._late(reply, island, now)
        before, island.reply, self._named = island.reply, reply, island
        reply.sound = island.start
        if before.sound != island.start:
            return [reply.onset]
        before.sound = None
        return [before.onset, reply.onset]

    def _late(self, reply: _Reply, island: _Island, now: float) -> list[Onset]:
        """A response is announced while a voice speaks that is nobody's: it is that one's."""
        before = island.reply
        ahead = self._ahead(island)
        began = island.start if ahead else before.sound
        known = self._named is island and not ahead
        spoken = now - island.end < UTTERANCE_GAP
        if known or not spoken or began is None or now - began > ANNOUNCED:
            return []
        island.reply, self._named = reply, island
        reply.sound = began
        if ahead:
            return [reply.onset]
        before.sound = None
        return [before.onset, reply.onset]

    def _ahead(self, island: _Island) -> bool:
        """Whether sound that went to a response may be ahead of the next one's word: a new voice
        after that of a response which never was drained."""
        before = island.reply
        heard = before.sound is not None and before.sound < island.start
        return self._named is island and heard and not island.goes_on and before.drained is None

    # ------------------------------------------------------------ sound

    def _sounds(self, now: float) -> list[Onset]:
        if self._island is not None and math.isinf(self._island.end):
            return []
        reply, last = self._owner(now), self._named
        goes_on = last is not None and now - last.end < UTTERANCE_GAP
        if last is not None and goes_on:
            # The same voice goes on: only a response that began meanwhile can claim it.
            reply = reply if reply is not None and reply.begun > last.start else last.reply
        if reply is None:
            reply = self._unheard(now)
        wire = reply is not None
        if reply is None:
            reply = self._same_voice(now) or self._new(now)
        self._island = _Island(reply, now, goes_on=goes_on)
        self._named = self._island if wire else None
        self._utterance = self._utterance if wire else self._island
        found = self._texts_join(reply, now)
        if reply.sound is None:
            reply.sound = now
            found.append(reply.onset)
        return [*found, *reply.whole()]

    def _owner(self, now: float) -> _Reply | None:
        """The response with an id in whose time something sounds."""
        best, most = None, (-math.inf, -math.inf)
        later = math.inf
        for reply in reversed(self._wire.values()):
            end = reply.drained if reply.drained is not None else later
            if now <= end + LAG and (end, reply.begun) > most:
                best, most = reply, (end, reply.begun)
            later = min(later, reply.begun)
        return best

    def _unheard(self, now: float) -> _Reply | None:
        """The last response, if it was drained just before, as the wire says, without a sound."""
        last = next(reversed(self._wire.values()), None)
        if last is None or last.drained is None or last.sound is not None:
            return None
        return last if now - last.drained <= TEXT_REACH else None

    def _same_voice(self, now: float) -> _Reply | None:
        last = self._utterance
        return last.reply if last is not None and now - last.end < UTTERANCE_GAP else None

    def _new(self, now: float) -> _Reply:
        self._count += 1
        return _Reply(f"~{self._count}", now)

    # ------------------------------------------------------------ text

    def _writes(self, text: Text, now: float) -> list[Onset]:
        if text.response is None:
            return self._loose(text, now)
        found = self._begins(text.response, now)
        reply = self._wire[text.response]
        reply.writes([(now, text)])
        if reply.text is None:
            reply.text = now
            found += [reply.onset] if reply.sound is None else []
        return [*found, *reply.whole()] if text.final else found

    def _loose(self, text: Text, now: float) -> list[Onset]:
        """Text without an id: it belongs to sound near it, else to a response that has neither
        sounded nor written, else to itself."""
        passage, found = self._passages.get(text.item), list[Onset]()
        apart = text.item is None and passage is not None and now - passage.last >= TEXT_REACH
        if passage is None or apart or not passage.open:
            passage = self._passages[text.item] = self._place(now)
            if passage.reply.text is None:
                passage.reply.text = now
                found += [passage.reply.onset] if passage.reply.sound is None else []
        passage.last = now
        passage.open = not (text.final and text.item is None)
        passage.reply.writes([(now, text)])
        return [*found, *passage.reply.whole()] if text.final else found

    def _place(self, now: float) -> _Passage:
        island = self._island
        if island is not None and now - island.end <= TEXT_REACH:
            return _Passage(island.reply, now)
        last = next(reversed(self._wire.values()), None)
        if last is not None and last.sound is None and last.text is None:
            return _Passage(last, now)
        self._alone.append(_Passage(self._new(now), now))
        return self._alone[-1]

    def _texts_join(self, reply: _Reply, now: float) -> list[Onset]:
        """Text that stood alone is that of sound which follows soon."""
        near = [p for p in self._alone if now - p.last <= TEXT_REACH]
        self._alone, found = [], list[Onset]()
        for passage in near:
            found.append(Onset(passage.reply.name, None))
            reply.writes(passage.reply.texts)
            passage.reply = reply
        return found
