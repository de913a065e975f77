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
from dataclasses import replace

from simulator.measuring.halves import TRANSCRIBED, unite
from simulator.measuring.names import Names, apart
from simulator.measuring.reply import ANNOUNCED, LAG, LEAD, UTTERANCE_GAP, Reply
from simulator.measuring.texts import TEXT_REACH, Passage, is_token, passages, spoken, written
from simulator.measuring.trace import Response, Speech
from simulator.recording.records import ResponseRecord, Stamped, TextRecord

SPEECH_GAP = 0.25
"""Silence, in seconds, across which sound is one run of speech."""


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
    replies, unnamed = _replies([*apart(events)], sound_started or {})
    loose = _assign(replies, _split(replies, islands))
    utterances = _utterances(loose)
    _join_texts(passages(unnamed), replies, utterances)
    gathered = unite([*replies, *utterances])
    _name([r for r in gathered if not r.wire], {r.id for r in replies})
    return tuple(sorted(map(_response, gathered), key=_order))


def _order(response: Response) -> tuple[float, str]:
    onset = response.onset
    at = onset if onset is not None else response.begun
    return (math.inf if at is None else at, response.id)


def _replies(
    events: Sequence[Stamped], sound_started: Mapping[str, float]
) -> tuple[list[Reply], list[tuple[float, TextRecord]]]:
    """The wire's responses in the order in which they began, and the texts that are of none."""
    names = Names.of(events)
    found: dict[str, Reply] = {}
    unnamed: list[tuple[float, TextRecord]] = []
    for event in events:
        record = event.record
        if not isinstance(record, ResponseRecord | TextRecord):
            continue
        name = names.response(record)
        if name is None and isinstance(record, ResponseRecord) and record.edge == "listened":
            # A decision to keep quiet may come without an id: each is one of its own.
            name = f"listened-{event.seq}"
        if name is not None:
            announced = name in names.announced
            reply = found.setdefault(name, Reply(name, event.t, announced=announced))
            if isinstance(record, TextRecord):
                reply.texts.append((event.t, record))
            else:
                _tell(reply, record, event.t)
        elif isinstance(record, TextRecord) and record.kind != "user":
            unnamed.append((event.t, record))
    for name, t in sound_started.items():
        own = found.get(names.others.get(name, name))
        if own is not None and own.sound_from is None:
            own.sound_from = t
    return list(found.values()), unnamed


def _tell(reply: Reply, record: ResponseRecord, t: float) -> None:
    """What the wire says of a response at `t`."""
    reply.trigger = reply.trigger or record.trigger
    reply.input_item = reply.input_item or record.input_item
    reply.status = record.status or reply.status
    reply.reason = record.reason or reply.reason
    reply.message = record.message or reply.message
    if record.edge == "listened":
        reply.listened = True
    elif record.edge in ("drained", "cleared"):
        reply.sound_to = t
        reply.cut = reply.cut or record.edge == "cleared"


def _split(replies: Sequence[Reply], islands: Sequence[Speech]) -> list[Speech]:
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


def _assign(replies: Sequence[Reply], islands: Sequence[Speech]) -> list[Speech]:
    """Give each island to the response whose sound it is; returns those that are nobody's."""
    # Of what was never announced only its own words say that it may sound.
    replies = [r for r in replies if r.announced or (r.texts and not is_token(r.texts))]
    starts = [r.sound_from if r.sound_from is not None else r.begun for r in replies]
    ends = []
    for i, reply in enumerate(replies):
        later = [s for s in starts[i + 1 :] if s > starts[i]]
        ends.append(reply.sound_to if reply.sound_to is not None else min(later, default=math.inf))
    loose: list[Speech] = []
    voice: list[Speech] = []
    """What goes on without a pause and has been nobody's so far."""
    last: tuple[int, Speech] | None = None
    voices = join(islands, UTTERANCE_GAP)
    for island in islands:
        before = voice[-1] if voice else loose[-1] if loose else None
        owner = _owner(replies, island, starts, ends, before)
        if last is not None and island.start - last[1].end < UTTERANCE_GAP:
            # The same voice goes on: only a response that began meanwhile can claim it, and none
            # that only writes, as long as the wire says that the voice was not over.
            begun_since = owner is not None and starts[owner] > last[1].start
            drained = replies[last[0]].sound_to
            beside = owner is not None and replies[owner].writes and (drained or 0) > island.start
            if owner is None or (owner != last[0] and (beside or not begun_since)):
                owner = last[0]
        elif owner is not None and replies[owner].islands and replies[owner].sound_to is None:
            # As long as it never was drained, the next one's sound may be ahead of its word, and
            # further where its own was as well.
            before_it = replies[owner].islands[0].start < starts[owner] - LEAD
            patience = TEXT_REACH if before_it else ANNOUNCED
            late = _announced(replies, starts, _whole(voices, island), patience)
            owner = owner if late is None else late
        if owner is None:
            owner = _unheard(replies, starts, ends, island, before)
        if owner is None:
            owner = _announced(replies, starts, _whole(voices, island))
        if voice and island.start - voice[-1].end >= UTTERANCE_GAP:
            loose += voice
            voice.clear()
        if owner is None:
            voice.append(island)
            last = None
            continue
        if voice and replies[owner].claims(voice):
            replies[owner].islands += voice
        else:
            loose += voice
        voice.clear()
        replies[owner].islands.append(island)
        last = (owner, island)
    loose += voice
    return loose


def _whole(voices: Sequence[Speech], island: Speech) -> Speech:
    """The voice that an island is a part of."""
    return next(v for v in voices if v.start <= island.start <= v.end)


def _owner(
    replies: Sequence[Reply],
    island: Speech,
    starts: Sequence[float],
    ends: Sequence[float],
    before: Speech | None,
) -> int | None:
    """The response in whose time an island begins: the one that it overlaps most. `before`: the
    last sound before it that is nobody's."""
    best, most = None, (-math.inf, -math.inf)
    for i, (start, end) in enumerate(zip(starts, ends, strict=True)):
        if start - LEAD <= island.start <= end + LAG:
            if not replies[i].announced and _told_after(replies[i], start, island, before):
                continue
            overlap = (min(island.end, end) - max(island.start, start), start)
            if overlap >= most:
                best, most = i, overlap
    return best


def _told_after(reply: Reply, start: float, island: Speech, before: Speech | None) -> bool:
    """Whether a response is first told of once its voice, which another one follows, has begun: it
    has that already, or that is nobody's yet, and nearer to it than an island is."""
    if reply.islands:
        another = island.start - reply.islands[-1].end >= UTTERANCE_GAP
        return another and reply.islands[0].start < start - LEAD
    return before is not None and start - before.end < min(island.start - start, TRANSCRIBED)


def _unheard(
    replies: Sequence[Reply],
    starts: Sequence[float],
    ends: Sequence[float],
    island: Speech,
    before: Speech | None,
) -> int | None:
    """A response just before that was drained, as the wire says, but has no sound yet; `before` as
    for `_owner`."""
    for i in reversed(range(len(replies))):
        if starts[i] <= island.start:
            near = island.start - ends[i] <= TEXT_REACH
            own = near and not _told_after(replies[i], starts[i], island, before)
            return i if own and not replies[i].islands else None
    return None


def _announced(
    replies: Sequence[Reply],
    starts: Sequence[float],
    voice: Speech,
    patience: float = ANNOUNCED,
) -> int | None:
    """The first response that the wire announces, a little late, while a voice speaks that is
    nobody's; or of whose sound it says so, if that is late and the response had begun."""
    for i, (reply, start) in enumerate(zip(replies, starts, strict=True)):
        meanwhile = start < voice.end + UTTERANCE_GAP or reply.begun <= voice.start
        if 0 < start - voice.start <= patience and meanwhile and not reply.islands:
            return i
    return None


def _utterances(loose: Sequence[Speech]) -> list[Reply]:
    out: list[Reply] = []
    for island in loose:
        if out and island.start - out[-1].islands[-1].end < UTTERANCE_GAP:
            out[-1].islands.append(island)
        else:
            out.append(Reply("", island.start, wire=False, islands=[island]))
    return out


def _join_texts(
    passages: Sequence[Passage], replies: Sequence[Reply], utterances: list[Reply]
) -> None:
    """Give each passage to the nearest sound within reach, where that has words by name only while
    it sounds; else to the wire's response that has begun and neither sounds nor writes; else let it
    stand alone."""
    heard = [r for r in (*replies, *utterances) if r.islands]
    named = {r.id for r in replies if r.texts}
    for passage in passages:
        nearest = min(
            (r for r in heard if _distance(passage, r) <= (0 if r.id in named else TEXT_REACH)),
            key=lambda r: (r.id in named, _distance(passage, r)),
            default=None,
        )
        if nearest is not None:
            nearest.texts.extend(passage.texts)
            continue
        begun = [r for r in replies if r.begun <= passage.first]
        if begun and not begun[-1].islands and not begun[-1].texts:
            begun[-1].texts.extend(passage.texts)
        else:
            utterances.append(Reply("", passage.first, wire=False, texts=list(passage.texts)))


def _distance(passage: Passage, reply: Reply) -> float:
    start, end = reply.islands[0].start, reply.islands[-1].end
    return max(0.0, start - passage.last, passage.first - end)


def _name(utterances: Sequence[Reply], taken: set[str]) -> None:
    """Number the utterances by onset, passing over what the wire uses as an id."""
    free = (name for name in (f"u{n}" for n in itertools.count(1)) if name not in taken)
    for utterance, name in zip(sorted(utterances, key=lambda r: r.begun), free, strict=False):
        utterance.id = name


def _response(reply: Reply) -> Response:
    text = written(reply.texts)
    return Response(
        id=reply.id,
        speech=join(reply.islands),
        first_text=next((t for t, r in reply.texts if r.text.strip()), None),
        text=text,
        transcript_missing=bool(reply.islands) and not text.strip(),
        unheard=not reply.islands and spoken(reply.texts),
        trigger=reply.trigger,
        input_item=reply.input_item,
        status="cancelled" if reply.cut else reply.status,
        reason=reply.reason,
        message=reply.message,
        listened=reply.listened,
        begun=reply.begun if reply.wire else None,
    )
