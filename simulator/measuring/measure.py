"""Makes the trace of a recording: decodes and measures once; everything else reads the result.

Counterparts: `simulator.recording.reader` opens the folder, `.sound`, `.speech`, `.utterances` and
`.spans` do the parts, `simulator.measuring.attribution` says whose answer each response is,
`simulator.measuring.metrics` and the judges read the trace.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from simulator.measuring import spans
from simulator.measuring.attribution import attribute
from simulator.measuring.before import understood
from simulator.measuring.failures import failures, left_unanswered, too_many
from simulator.measuring.live_ear import checked, misheard
from simulator.measuring.sent import SentMedia
from simulator.measuring.sound import agent_sound
from simulator.measuring.speech import Detector
from simulator.measuring.stalls import ceased, stalls
from simulator.measuring.trace import (
    TRACE_VERSION,
    Attributed,
    Heard,
    Life,
    Response,
    Stall,
    Trace,
    TurnSpan,
)
from simulator.measuring.utterances import join, responses
from simulator.protocol.conditions import Decide
from simulator.protocol.events import MALFORMED, OUTCOMES, Outcome
from simulator.protocol.health import Sending
from simulator.protocol.soundness import incomplete
from simulator.recording.manifest import EVENTS, MANIFEST, RTP_LOG
from simulator.recording.reader import Recording
from simulator.recording.records import (
    ContextRecord,
    FaultRecord,
    HealthRecord,
    ResponseRecord,
    SegmentRecord,
    SessionRecord,
    SpeechRecord,
    Stamped,
    TextRecord,
    WireRecord,
)
from simulator.scenario.types import Embedded, Scenario

METHOD = 12
"""Changes whenever the same recording could get another trace; cached traces are then made anew."""
WHOLE = 0.99
"""Share of the packets that left which a log has to hold."""
STRETCH = 1.0
"""Seconds before a due time from which a send error spoils a latency."""


def measure(recording: Recording, scenario: Scenario, *, detector: Detector = "speech") -> Trace:
    """Everything that can be measured in a recording of `scenario`.

    `detector="level"` takes any sound that stands out for an answer: for calibration, where the
    agent answers with tones and clicks. Raises RecordingError if the packets cannot be read.
    """
    manifest = recording.manifest
    events = understood(recording.events(), manifest.agent.dialect)
    ended = next((r for _, r in recording.records(SessionRecord) if r.state == "ended"), None)
    end = next(
        (e.t for e, r in recording.records(SessionRecord) if r.state == "ended"), recording.end
    )
    # The last look at our health is where sending ends: hanging up comes after it.
    looked = [e.t for e, _ in recording.records(HealthRecord)]
    begun = next((r.play_at for _, r in recording.records(SessionRecord) if r.play_at), None)
    sent = SentMedia(
        recording,
        fps=scenario.canvas.fps,
        begin=begun,
        end=looked[-1] if begun is not None and ended is not None and looked else None,
    )
    until = sent.until if sent.until is not None else end
    what = spans.played(events, until=until, end=max(end, until))
    heard = spans.heard(manifest, what, sent.late)
    turns = spans.turn_spans(manifest, what, heard)

    sound = agent_sound(recording)
    edges = _live_edges(recording)
    islands = checked(edges, sound.islands(detector), until=recording.end)
    speech = join(islands)
    found = responses(events, islands, sound_started=_sound_started(recording))
    items = _user_items(recording)
    asked = manifest.conditions.decide is Decide.TURN_END
    attributed = attribute(turns, heard, found, user_items=items, gold=_gold(scenario), asked=asked)
    stalled = [s for s in stalls(sound.stretches, found) if not _ours(s, recording)]
    faults = [(e.t, r) for e in events if isinstance(r := e.record, FaultRecord)]
    failed = failures(turns, found, attributed, faults)
    turns = tuple(
        replace(
            t,
            send_error_ms=sent.worst_ms(*_stretch(t, found, attributed)),
            due_uncertainty=_due_uncertainty(t, heard, scenario, asked),
            stalled_s=sum(max(0.0, min(s.end, t.done) - max(s.start, t.start)) for s in stalled),
            opportunity=_opportunity(t, turns, heard, found, attributed, items),
        )
        for t in turns
    )
    sending = sent.sending
    outcome, reason = _outcome(recording, ended, sending, end if begun is not None else None)
    errors = too_many(turns, left_unanswered(turns, attributed, failed))
    if errors and outcome == Outcome.COMPLETED:
        outcome, reason = Outcome.AGENT_FAILED.value, errors
    return Trace(
        version=TRACE_VERSION,
        scenario=manifest.scenario.id,
        agent=manifest.agent.reference,
        outcome=outcome,
        reason=reason,
        play_at=begun,
        end=recording.end,
        turns=turns,
        heard=heard,
        speech=speech,
        misheard=misheard(edges, islands, until=recording.end),
        stalls=tuple(stalled),
        ceased=ceased(recording.received(recording.voice).t, speech, end),
        responses=found,
        attribution=attributed,
        failures=failed,
        pacing=sent.pacing(),
        sent=sending.tracks,
        reported_at=sending.reported_at,
        life=_life(recording, sending, found),
        lost=sound.lost,
        detecting=asked and _detecting(recording, begun),
        damaged=recording.damaged,
        unread=sum(r.code == MALFORMED for _, r in faults),
        shared_host=manifest.shared_host,
        conditions=manifest.conditions,
    )


def _ours(stall: Stall, recording: Recording) -> bool:
    """Whether it was ourselves who did not read what came meanwhile."""
    half = 1e3 * (stall.end - stall.start) / 2
    told = [r for e, r in recording.records(HealthRecord) if stall.start < e.t < stall.end + 1.5]
    return any(record.loop_lag_ms > half for record in told)


def _live_edges(recording: Recording) -> list[tuple[float, str]]:
    """What the live ear said of the agent."""
    return [(e.t, str(r.edge)) for e, r in recording.records(SpeechRecord) if r.by == "agent"]


def _sound_started(recording: Recording) -> dict[str, float]:
    """When the wire said that a response's sound begins, for dialects that do."""
    out: dict[str, float] = {}
    for event, record in recording.records(WireRecord):
        if record.name == "output_audio_buffer.started" and isinstance(record.body, dict):
            out.setdefault(str(record.body.get("response_id")), event.t)
    return out


def _user_items(recording: Recording) -> dict[str, tuple[float, float]]:
    """What the agent's own detector heard of us: item -> when it said so, start and end (inf for
    one that it never closed)."""
    starts: dict[str, float] = {}
    out: dict[str, tuple[float, float]] = {}
    for i, (event, record) in enumerate(recording.records(SpeechRecord)):
        if record.by != "user":
            continue
        if record.edge == "start":
            name = record.item or f"#{i}"
            starts[name] = event.t
            out[name] = (event.t, math.inf)
        else:
            name = record.item or next(reversed(starts), "")
            if name in starts:
                out[name] = (starts[name], event.t)
    return out


def _detecting(recording: Recording, begun: float | None) -> bool:
    """Whether the agent's own turn detection was at work once we played."""
    edges = (event.t for event, record in recording.records(SpeechRecord) if record.by == "user")
    return begun is not None and any(t >= begun for t in edges)


def _gold(scenario: Scenario) -> dict[str, tuple[str, ...]]:
    return {t.id: right for t in scenario.turns if (right := t.expect.right)}


def _due_uncertainty(
    span: TurnSpan, heard: Sequence[Heard], scenario: Scenario, asked: bool
) -> float:
    """By how much a due time may be wrong: the end of an instruction that the clip itself holds.

    Of what we put in ourselves the end is known, an event's time is the author's word, and so is a
    turn's end at which the agent is `asked`.
    """
    at_its_end = span.conduct.owed and asked
    if span.due is None or span.due_kind == "event" or at_its_end:
        return 0.0
    last = next((h.id for h in heard if h.turn == span.id and h.end == span.due), None)
    for turn in scenario.turns:
        for index, held in enumerate(turn.instructions):
            if isinstance(held, Embedded) and f"{turn.id}/{index}" == last:
                return held.uncertainty
    return 0.0


def _stretch(
    turn: TurnSpan, found: Sequence[Response], attributed: Sequence[Attributed]
) -> tuple[float, float]:
    """The time in which send errors count for a turn's latency."""
    if turn.due is None:
        return turn.start, turn.done
    mine = {a.response for a in attributed if a.turn == turn.id}
    onsets = [r.onset for r in found if r.id in mine and r.onset is not None]
    return turn.due - STRETCH, max(min(onsets, default=turn.done), turn.due)


def _opportunity(
    turn: TurnSpan,
    turns: Sequence[TurnSpan],
    heard: Sequence[Heard],
    found: Sequence[Response],
    attributed: Sequence[Attributed],
    items: Mapping[str, tuple[float, float]],
) -> bool | None:
    """Whether the agent was given an occasion to decide in a turn that wants silence."""
    if not turn.conduct.silent or not turn.reached:
        return None
    mine = {a.response for a in attributed if a.turn == turn.id}
    if any(r.id in mine and (r.listened or r.onset is not None) for r in found):
        return True
    if any(r.trigger == turn.id for r in found):
        return True  # it was asked, and said nothing at all
    began = [start for start, _ in items.values()]
    if any(turn.start <= t < turn.done for t in began):
        return True
    elsewhere = any(t.start <= b < t.done for t in turns if t.id != turn.id for b in began)
    spoken = any(h.turn == turn.id for h in heard)
    return False if spoken and elsewhere else None


def _outcome(
    recording: Recording, ended: SessionRecord | None, sending: Sending, end: float | None
) -> tuple[str, str]:
    """How the session ended, and why: what says that it was completed has to have been played.

    `end`: session time of its end; None if nothing was played.
    """
    if ended is None:
        return Outcome.INSTRUMENT_INVALID.value, "cut_off: the recording has no end"
    outcome = ended.outcome or Outcome.INSTRUMENT_INVALID.value
    if outcome not in tuple(Outcome):
        why = f"it ended as {outcome!r}, which this version does not know"
        return Outcome.INSTRUMENT_INVALID.value, why
    if outcome != Outcome.COMPLETED or end is None:
        return outcome, ended.reason or ""
    lost = _lost_events(recording) or _lost_log(recording)
    if lost:
        return Outcome.INSTRUMENT_INVALID.value, lost
    fault = incomplete(sending, end)
    if fault is not None:
        return OUTCOMES[fault.whose].value, f"{fault.code}: {fault.message}"
    return outcome, ended.reason or ""


def _lost_events(recording: Recording) -> str:
    """What the events lack of what was written, or have of another session; or empty."""
    known = {turn.id for turn in recording.manifest.turns}
    strange = [r.of for _, r in recording.records(SegmentRecord) if r.of not in known]
    if strange:
        return f"events_damaged: they play a turn {strange[0]!r} that {MANIFEST} does not have"
    if not recording.missing:
        return ""
    whole = len(recording.events()) + recording.missing
    what = f"{recording.missing} of {whole} events are not there or cannot be read"
    return f"events_damaged: {what}; is {EVENTS} whole?"


def _lost_log(recording: Recording) -> str:
    """What the log lacks of the packets of which the session knew that they left; or empty."""
    told = [record.tracks for _, record in recording.records(HealthRecord) if record.tracks]
    left = sum(track.packets for track in told[-1]) if told else 0
    held = sum(len(recording.sent(track.id)) for track in recording.manifest.tracks)
    if held >= left * WHOLE:
        return ""
    return f"log_damaged: it holds {held} of the {left} packets that left; is {RTP_LOG} whole?"


def _life(recording: Recording, sending: Sending, found: Sequence[Response]) -> Life:
    return Life(
        transport=any(sent.arrived_until is not None for sent in sending.tracks),
        session=any(_is_reply(e) for e in recording.events()),
        response=any(r.onset is not None and not r.listened for r in found),
    )


def _is_reply(event: Stamped) -> bool:
    record = event.record
    if isinstance(record, WireRecord):
        return record.dir == "in"
    if isinstance(record, SpeechRecord):
        return record.by == "user"
    return isinstance(record, ResponseRecord | TextRecord | ContextRecord)
