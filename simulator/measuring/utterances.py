"""Groups what was heard and read of the agent into responses. Pure.

With ids on the wire, a response is everything of one id: its sound is what was audible between the
times at which the wire says that its sound begins and is drained (or the next response begins).
Without ids it is an utterance: sound joined across gaps of less than 0.7 s, with the text that came
within 2 s of it. A response is never split. Counterparts: `simulator.measuring.measure` calls it,
`simulator.measuring.attribution` says whose answer each one is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from simulator.measuring.trace import Response, Speech
from simulator.protocol.events import Text
from simulator.recording.records import ResponseRecord, Stamped, TextRecord

SPEECH_GAP = 0.25
"""Silence, in seconds, across which sound is one run of speech."""
UTTERANCE_GAP = 0.7
"""Silence across which runs are one utterance."""
TEXT_REACH = 2.0
"""Seconds by which a text without id may lie beside its sound."""
LAG = 0.3
"""Seconds by which sound may trail what the wire says of it."""
LEAD = 0.1
"""Seconds by which sound may be ahead of what the wire says of it."""
ANNOUNCED = 0.5
"""Seconds by which it may, if it is nobody else's."""


def join(islands: Iterable[Speech], gap: float = SPEECH_GAP) -> tuple[Speech, ...]:
    """Islands of sound, in order, as runs: joined where less than `gap` seconds are between."""
    runs: list[Speech] = []
    for island in islands:
        if runs and island.start - runs[-1].end < gap:
            last = runs[-1]
            runs[-1] = replace(last, end=max(last.end, island.end), sent_end=island.sent_end)
        else:
            runs.append(island)
    return tuple(runs)


@dataclass(slots=True)
class _Reply:
    """A response of the wire, while it is gathered."""

    id: str
    begun: float
    wire: bool = True
    trigger: str | None = None
    input_item: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    listened: bool = False
    cut: bool = False
    """Its sound was cleared before it had all been heard, however the wire calls its end."""
    sound_from: float | None = None
    sound_to: float | None = None
    islands: list[Speech] = field(default_factory=list)
    texts: list[tuple[float, TextRecord]] = field(default_factory=list)


@dataclass(slots=True)
class _Passage:
    """Text without a response id that belongs together."""

    texts: list[tuple[float, TextRecord]]

    @property
    def first(self) -> float:
        return self.texts[0][0]

    @property
    def last(self) -> float:
        return self.texts[-1][0]


def responses(
    events: Sequence[Stamped],
    islands: Sequence[Speech],
    *,
    sound_started: Mapping[str, float] | None = None,
) -> tuple[Response, ...]:
    """The responses of a session in order of their onsets.

    `islands`: stretches of the agent's sound in order, not joined. `sound_started`: response id ->
    when the wire said that its sound begins, where it says so.
    """
    replies = _replies(events, sound_started or {})
    loose = _assign(replies, _split(replies, islands))
    utterances = _utterances(loose)
    _join_texts(_passages(events), replies, utterances)
    _name(utterances, {r.id for r in replies})
    made = [_response(r) for r in (*replies, *utterances)]
    return tuple(sorted(made, key=_order))


def _order(response: Response) -> tuple[float, str]:
    onset = response.onset
    at = onset if onset is not None else response.begun
    return (math.inf if at is None else at, response.id)


def _replies(events: Sequence[Stamped], sound_started: Mapping[str, float]) -> list[_Reply]:
    """The wire's responses in the order in which they began."""
    found: dict[str, _Reply] = {}
    for event in events:
        record = event.record
        match record:
            case ResponseRecord():
                # A decision to keep quiet may come without an id: each is one of its own.
                name = record.id or f"listened-{event.seq}"
                reply = found.setdefault(name, _Reply(name, event.t))
                reply.trigger = reply.trigger or record.trigger
                reply.input_item = reply.input_item or record.input_item
                reply.status = record.status or reply.status
                reply.reason = record.reason or reply.reason
                reply.message = record.message or reply.message
                if record.edge == "listened":
                    reply.listened = True
                elif record.edge in ("drained", "cleared"):
                    reply.sound_to = event.t
                    reply.cut = reply.cut or record.edge == "cleared"
            case TextRecord(response=str(name)) if name and record.kind != "user":
                reply = found.setdefault(name, _Reply(name, event.t))
                reply.texts.append((event.t, record))
            case _:
                pass
    for name, t in sound_started.items():
        if name in found:
            found[name].sound_from = t
    return list(found.values())


def _split(replies: Sequence[_Reply], islands: Sequence[Speech]) -> list[Speech]:
    """Part islands where one response's sound follows the last one's without a pause: where the
    wire says that the one was drained and the other begins."""
    ends = [r.sound_to for r in replies if r.sound_to is not None]
    cuts = sorted(r.sound_from for r in replies if r.sound_from is not None)
    out: list[Speech] = []
    for island in islands:
        rest = island
        for cut in cuts:
            inside = rest.start + LEAD < cut < rest.end - LEAD
            if inside and any(rest.start < end <= cut + LAG for end in ends):
                by_stamps = None if rest.sent is None else rest.sent + cut - rest.start
                out.append(replace(rest, end=cut, sent_end=by_stamps))
                # Messages and sound travel apart: the border is no better known than this.
                rest = replace(rest, start=cut, sent=by_stamps, uncertainty=LEAD, sound_from=None)
        out.append(rest)
    return out


def _assign(replies: Sequence[_Reply], islands: Sequence[Speech]) -> list[Speech]:
    """Give each island to the response whose sound it is; returns those that are nobody's."""
    starts = [r.sound_from if r.sound_from is not None else r.begun for r in replies]
    ends = []
    for i, reply in enumerate(replies):
        later = [s for s in starts[i + 1 :] if s > starts[i]]
        ends.append(reply.sound_to if reply.sound_to is not None else min(later, default=math.inf))
    loose: list[Speech] = []
    last: tuple[int, Speech] | None = None
    voices = join(islands, UTTERANCE_GAP)
    for island in islands:
        owner = _owner(island, starts, ends)
        if last is not None and island.start - last[1].end < UTTERANCE_GAP:
            # The same voice goes on: only a response that began meanwhile can claim it.
            begun_since = owner is not None and starts[owner] > last[1].start
            if owner is None or (owner != last[0] and not begun_since):
                owner = last[0]
        if owner is None:
            owner = _unheard(replies, starts, ends, island)
        if owner is None:
            voice = next(v for v in voices if v.start <= island.start <= v.end)
            owner = _announced(replies, starts, voice)
        if owner is None:
            loose.append(island)
            last = None
        else:
            replies[owner].islands.append(island)
            last = (owner, island)
    return loose


def _owner(island: Speech, starts: Sequence[float], ends: Sequence[float]) -> int | None:
    """The response in whose time an island begins: the one that it overlaps most."""
    best, most = None, (-math.inf, -math.inf)
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if start - LEAD <= island.start <= end + LAG:
            overlap = (min(island.end, end) - max(island.start, start), start)
            if overlap >= most:
                best, most = i, overlap
    return best


def _unheard(
    replies: Sequence[_Reply], starts: Sequence[float], ends: Sequence[float], island: Speech
) -> int | None:
    """A response just before that was drained, as the wire says, but has no sound yet."""
    for i in reversed(range(len(replies))):
        if starts[i] <= island.start:
            near = island.start - ends[i] <= TEXT_REACH
            return i if near and not replies[i].islands else None
    return None


def _announced(replies: Sequence[_Reply], starts: Sequence[float], voice: Speech) -> int | None:
    """The first response that the wire announces, a little late, while a voice speaks that is
    nobody's; or of whose sound it says so, if that is late and the response had begun."""
    for i, (reply, start) in enumerate(zip(replies, starts, strict=True)):
        meanwhile = start < voice.end + UTTERANCE_GAP or reply.begun <= voice.start
        if 0 < start - voice.start <= ANNOUNCED and meanwhile and not reply.islands:
            return i
    return None


def _utterances(loose: Sequence[Speech]) -> list[_Reply]:
    out: list[_Reply] = []
    for island in loose:
        if out and island.start - out[-1].islands[-1].end < UTTERANCE_GAP:
            out[-1].islands.append(island)
        else:
            out.append(_Reply("", island.start, wire=False, islands=[island]))
    return out


def _passages(events: Sequence[Stamped]) -> list[_Passage]:
    """Text without a response id, put together by item, by order and by closeness in time."""
    out: list[_Passage] = []
    named: dict[str, _Passage] = {}
    open_one: _Passage | None = None
    for event in events:
        record = event.record
        if not isinstance(record, TextRecord) or record.response or record.kind == "user":
            continue
        text = (event.t, record)
        if record.item is not None:
            if record.item in named:
                named[record.item].texts.append(text)
            else:
                named[record.item] = _Passage([text])
                out.append(named[record.item])
        elif open_one is not None and event.t - open_one.last < TEXT_REACH:
            open_one.texts.append(text)
            open_one = None if record.final else open_one
        else:
            open_one = _Passage([text])
            out.append(open_one)
            open_one = None if record.final else open_one
    return out


def _join_texts(
    passages: Sequence[_Passage], replies: Sequence[_Reply], utterances: list[_Reply]
) -> None:
    """Give each passage to the nearest sound within reach; else to the wire's response that has
    begun and neither sounds nor writes; else let it stand alone."""
    heard = [r for r in (*replies, *utterances) if r.islands]
    for passage in passages:
        near = min(heard, key=lambda r: _distance(passage, r), default=None)
        if near is not None and _distance(passage, near) <= TEXT_REACH:
            near.texts.extend(passage.texts)
            continue
        begun = [r for r in replies if r.begun <= passage.first]
        if begun and not begun[-1].islands and not begun[-1].texts:
            begun[-1].texts.extend(passage.texts)
        else:
            utterances.append(_Reply("", passage.first, wire=False, texts=list(passage.texts)))


def _distance(passage: _Passage, reply: _Reply) -> float:
    start, end = reply.islands[0].start, reply.islands[-1].end
    return max(0.0, start - passage.last, passage.first - end)


def _name(utterances: Sequence[_Reply], taken: set[str]) -> None:
    """Number the utterances by onset, passing over what the wire uses as an id."""
    free = (name for name in (f"u{n}" for n in itertools.count(1)) if name not in taken)
    for utterance, name in zip(sorted(utterances, key=lambda r: r.begun), free, strict=False):
        utterance.id = name


def _response(reply: _Reply) -> Response:
    text = written(reply.texts)
    return Response(
        id=reply.id,
        speech=join(reply.islands),
        first_text=next((t for t, r in reply.texts if r.text.strip()), None),
        text=text,
        transcript_missing=bool(reply.islands) and not text.strip(),
        trigger=reply.trigger,
        input_item=reply.input_item,
        status="cancelled" if reply.cut else reply.status,
        reason=reply.reason,
        message=reply.message,
        listened=reply.listened,
        begun=reply.begun if reply.wire else None,
    )


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
            key = (record.item, unnamed if record.item is None else 0)
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
