"""From a recording to its trace: a session whose every time is known."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from struct import pack
from typing import Any

import numpy as np
import pytest

from simulator.measuring import measure as measuring
from simulator.measuring.measure import METHOD, measure
from simulator.measuring.sound import opus_samples
from simulator.measuring.speech import islands
from simulator.measuring.stored import TRACE, load_trace
from simulator.measuring.trace import (
    TRACE_VERSION,
    Failure,
    Heard,
    Trace,
    TurnSpan,
    trace_from_json,
)
from simulator.protocol.conditions import Conditions, Decide, Video
from simulator.recording.manifest import PartInfo, SpokenInfo, TurnInfo
from simulator.recording.reader import Recording
from simulator.recording.records import (
    FaultRecord,
    HealthRecord,
    ResponseRecord,
    SegmentRecord,
    SessionRecord,
    SpeechRecord,
    TextRecord,
    WireRecord,
)
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.types import (
    Clip,
    Embedded,
    Scenario,
    Turn,
)

PLAY_AT = 2.0
LOOK_AHEAD = 312 / 48_000
SPOKEN = ((0.5, 1.5037), (0.4, 1.2))
"""Where the two turns' speech lies in their segments of 2 s."""


def turn_info(index: int, expect: str, voice: str) -> TurnInfo:
    start, end = SPOKEN[index]
    return TurnInfo(
        id=("count", "guest")[index],
        index=index,
        expect=expect,
        clip="main",
        start=2.0 * index,
        end=2.0 * index + 2.0,
        stream_start=2.0 * index,
        segment=PartInfo(asset=f"s{index}", duration=2.0),
        hold=PartInfo(asset=f"h{index}", duration=1.0),
        spoken=(
            SpokenInfo(index=0, kind="say", voice=voice, text="How many?", start=start, end=end),
        ),
        within=4.0,
    )


TURNS = (turn_info(0, "answer", "user"), turn_info(1, "quiet", "guest"))
CONDITIONS = Conditions(video=Video.VP8, prompt="spoken")
SCENARIO = Scenario(
    id="stage",
    path=Path("s.yaml"),
    sha256="00",
    clips={"main": Clip(name="main")},
    turns=(
        Turn(id="count", index=0, clip="main", start=0, end=2, expect=Answer(text="Three.")),
        Turn(id="guest", index=1, clip="main", start=2, end=4, expect=Quiet()),
    ),
)
SECOND_AT = 7.0
"""Session time of the second turn's segment."""
ONSET, REPLY = 4.6, 1.2


def play(
    make: Any,
    sounds: Any,
    *,
    late: Any = lambda due: 0.0,
    reply: bool = True,
    wrong: bool = False,
    heard_guest: bool = False,
    ended: bool = True,
    more: Sequence[tuple[float, Any]] = (),
    late_by: Callable[[int], float] = lambda i: 0.0,
) -> Path:
    """A session: an instruction, a reply (and a false alarm), the agent's track from 0.5 s on."""
    made = make(turns=TURNS, conditions=CONDITIONS, shared_host=True)
    made.event(0.0, SessionRecord(state="dialling"))
    made.event(
        0.5,
        SessionRecord(state="connected", negotiated={"audio": {"payload_type": 111}}),
    )
    made.event(PLAY_AT, SessionRecord(state="playing", play_at=PLAY_AT))
    sound = sounds.silence(9.0)
    for (index, at), (start, end) in zip(enumerate((PLAY_AT, SECOND_AT)), SPOKEN, strict=True):
        voice = sounds.voice(end - start)
        first = round((at - PLAY_AT + start) * 48_000)
        sound[first : first + len(voice)] = voice
        made.event(
            at,
            SegmentRecord(edge="start", part="play", of=TURNS[index].id, at=at, asset=f"s{index}"),
        )
        made.event(at + 2, SegmentRecord(edge="start", part="hold", of=TURNS[index].id, at=at + 2))
    made.user(PLAY_AT, sound, late=late)
    voices = [(ONSET - 0.5, sounds.voice(REPLY))] if reply else []
    if reply:
        made.event(2.6, SpeechRecord(edge="start", by="user", item="i1"))
        made.event(3.9, SpeechRecord(edge="end", by="user", item="i1"))
        made.event(4.5, ResponseRecord(id="r1", edge="start", input_item="i1"))
        made.event(4.55, TextRecord(text="Three.", response="r1", kind="transcript", final=True))
        made.event(4.8, ResponseRecord(id="r1", edge="end", status="completed"))
        made.event(5.9, ResponseRecord(id="r1", edge="drained"))
    if heard_guest:
        made.event(7.5, SpeechRecord(edge="start", by="user", item="i2"))
        made.event(8.7, SpeechRecord(edge="end", by="user", item="i2"))
    if wrong:
        voices.append((9.0 - 0.5, sounds.voice(0.8)))
    made.agent(0.5, sounds.placed(11.0, *voices), jitter=late_by)
    for t, highest in ((3.0, 50), (8.0, 300)):
        report = pack(">BBHIIIIIII", 0x81, 201, 7, 9, 1001, 0, highest, 0, 0, 0)
        made.packets.append((t, lambda t=t, r=report: made.writer.received_rtcp(t, r)))
    for t, record in more:
        made.event(t, record)
    if ended:
        made.event(11.2, SessionRecord(state="ended", outcome="completed", reason=""))
    return Path(made.close())


def trace_of(folder: Path, **options: Any) -> Trace:
    return measure(Recording.open(folder), SCENARIO, **options)


def test_a_reply_is_measured_to_two_milliseconds(stage: Any, sounds: Any) -> None:
    trace = trace_of(play(stage, sounds))
    count = trace.turn("count")
    assert count.due == pytest.approx(PLAY_AT + 1.5037, abs=1e-5)
    assert count.asked_at == pytest.approx(PLAY_AT + 0.5, abs=1e-5)
    (response,) = trace.responses
    assert response.onset == pytest.approx(ONSET + LOOK_AHEAD, abs=0.002)
    assert response.end == pytest.approx(ONSET + REPLY + LOOK_AHEAD, abs=0.013)
    assert (response.id, response.text, response.input_item) == ("r1", "Three.", "i1")
    assert [(a.response, a.turn, a.by) for a in trace.attribution] == [("r1", "count", "wire")]
    assert (trace.outcome, trace.play_at) == ("completed", PLAY_AT)
    assert trace.end == pytest.approx(11.48)
    assert trace.shared_host
    assert trace.conditions == CONDITIONS
    assert trace.lost == 0
    assert (trace.life.transport, trace.life.session, trace.life.response) == (True, True, True)
    assert [t.id for t in trace.turns if t.reached] == ["count", "guest"]


def stands(at: float, seconds: float) -> Callable[[int], float]:
    """How late each of the agent's packets is that stands still from `at` on and catches up."""
    return lambda i: max(0.0, at + seconds - (0.5 + i * 0.02)) if 0.5 + i * 0.02 >= at else 0.0


def test_a_stream_that_stands_still_is_told_in_the_turn(stage: Any, sounds: Any) -> None:
    before = ONSET - 0.3
    trace = trace_of(play(stage, sounds, late_by=stands(before, 1.5)))
    (stall,) = trace.stalls
    assert (stall.start, stall.end) == pytest.approx((before, before + 1.5), abs=0.02)
    assert [t.stalled_s for t in trace.turns] == [pytest.approx(1.5, abs=0.02), 0.0]
    # What was heard late is measured as heard, and stated to have been sent earlier.
    (response,) = trace.responses
    assert response.onset == pytest.approx(before + 1.5, abs=0.03)
    assert response.speech[0].sent == pytest.approx(ONSET + LOOK_AHEAD, abs=0.01)


def test_a_stream_that_stands_still_for_less_is_told_by_the_onset_alone(
    stage: Any, sounds: Any
) -> None:
    trace = trace_of(play(stage, sounds, late_by=stands(ONSET - 0.1, 0.6)))
    assert trace.stalls == ()
    (response,) = trace.responses
    assert response.onset == pytest.approx(ONSET + 0.5, abs=0.03)
    assert response.uncertainty == pytest.approx(0.5, abs=0.03)


def test_what_we_were_too_busy_to_read_is_no_stall_of_the_agents(stage: Any, sounds: Any) -> None:
    lag = HealthRecord(send_p99_ms=0.1, send_max_ms=0.1, loop_lag_ms=1400.0)
    late = stands(ONSET - 0.3, 1.5)
    trace = trace_of(play(stage, sounds, more=[(ONSET + 1.3, lag)], late_by=late))
    assert trace.stalls == ()
    assert [t.stalled_s for t in trace.turns] == [0.0, 0.0]


def test_the_instruction_ends_where_the_sent_sound_says(stage: Any, sounds: Any) -> None:
    """The manifest's spans against the packets: decoded, they end at the same sample."""
    folder = play(stage, sounds)
    recording = Recording.open(folder)
    log, due = recording.due("audio")
    decode = opus_samples()
    heard = np.concatenate([decode(log.payload(i)) for i in range(len(log))])
    found = islands(heard)
    start = due[0] - 0.02 - LOOK_AHEAD
    trace = trace_of(folder)
    assert [start + a / 48_000 for a, _ in found] == pytest.approx(
        [h.start for h in trace.heard], abs=0.002
    )
    assert [start + b / 48_000 for _, b in found] == pytest.approx(
        [h.end for h in trace.heard], abs=0.013
    )


def test_a_late_packet_moves_the_end_and_is_told(stage: Any, sounds: Any) -> None:
    # The packet with the instruction's last sample (due at 3.52) leaves 15 ms late; one long
    # before the due time leaves 40 ms late and does not count for the latency.
    lateness = {3.52: 0.015, 2.04: 0.040, 8.0: 0.025}
    late = lambda due: next((v for k, v in lateness.items() if abs(k - due) < 1e-6), 0.0)  # noqa: E731
    trace = trace_of(play(stage, sounds, late=late))
    count, guest = trace.turns
    assert count.due == pytest.approx(PLAY_AT + 1.5037 + 0.015, abs=1e-5)
    assert count.send_error_ms == pytest.approx(15.0, abs=0.01)
    assert guest.send_error_ms == pytest.approx(25.0, abs=0.01)
    assert trace.pacing.max_ms == pytest.approx(40.0, abs=0.01)
    assert trace.pacing.p50_ms == pytest.approx(0.0, abs=0.01)
    assert trace.pacing.packets == 450


def test_a_false_alarm_is_the_quiet_turns_own(stage: Any, sounds: Any) -> None:
    trace = trace_of(play(stage, sounds, wrong=True))
    assert [(a.response, a.turn, "false_alarm" in a.flags) for a in trace.attribution] == [
        ("r1", "count", False),
        ("u1", "guest", True),
    ]
    assert trace.response("u1").transcript_missing
    assert trace.turn("guest").opportunity is True


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"heard_guest": True}, True),
        ({}, False),  # It told of speech in the other turn, and of none in this one.
        ({"reply": False}, None),
    ],
)
def test_whether_there_was_an_occasion_to_answer(
    stage: Any, sounds: Any, options: Any, expected: bool | None
) -> None:
    trace = trace_of(play(stage, sounds, **options))
    assert trace.turn("guest").opportunity is expected
    assert trace.turn("count").opportunity is None


@pytest.mark.parametrize(
    ("forced", "turn", "expected"),
    [(False, "count", 0.1), (False, "guest", 0.1), (True, "count", 0.0)],
)
def test_an_instruction_in_the_clip_makes_the_due_time_uncertain(
    forced: bool, turn: str, expected: float
) -> None:
    held = Embedded(text="How many?", start=0.0, end=1.0, uncertainty=0.1)
    scenario = replace(
        SCENARIO, turns=tuple(replace(t, instructions=(held,)) for t in SCENARIO.turns)
    )
    kind = "answer" if turn == "count" else "quiet"
    span = TurnSpan(
        id=turn, index=0, expect=kind, start=0, end=2, done=3, due=1.5, due_kind="instruction"
    )
    before = Heard(id=f"{turn}/1", turn=turn, voice="guest", start=0.1, end=0.2)
    asked = Heard(id=f"{turn}/0", turn=turn, voice="user", start=0.5, end=1.5)
    found = measuring._due_uncertainty(span, (before, asked), scenario, forced)
    assert found == expected
    # What we put in ourselves has an end that we know, and an event's time is the author's word.
    other = replace(asked, end=1.4)
    for event in (replace(span, due_kind="event"), replace(span, due=None)):
        assert measuring._due_uncertainty(event, (asked,), scenario, False) == 0.0
    assert measuring._due_uncertainty(span, (other,), scenario, False) == 0.0


def test_silence_has_no_life_but_transport(stage: Any, sounds: Any) -> None:
    life = trace_of(play(stage, sounds, reply=False)).life
    assert (life.transport, life.session, life.response) == (True, False, False)


def test_a_recording_without_an_end_was_cut_off(stage: Any, sounds: Any) -> None:
    folder = play(stage, sounds, ended=False)
    path = folder / "rtp.pcap"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    trace = trace_of(folder)
    assert trace.outcome == "instrument_invalid"
    assert "no end" in trace.reason


def test_an_empty_recording_has_a_trace(stage: Any) -> None:
    trace = trace_of(Path(stage(turns=TURNS).close()))
    assert trace.play_at is None
    assert not any(t.reached for t in trace.turns)
    assert trace.pacing.packets == 0


def test_tones_are_heard_by_level(stage: Any, sounds: Any) -> None:
    made = stage(turns=TURNS)
    click = (0.4 * np.sin(np.arange(960) * 2 * np.pi * 1000 / 48_000)).astype(np.float32)
    made.agent(1.0, sounds.placed(4.0, (1.0, click), (2.5, click)))
    folder = Path(made.close())
    assert trace_of(folder).speech == ()
    found = trace_of(folder, detector="level").speech
    assert [s.start - LOOK_AHEAD for s in found] == pytest.approx([2.0, 3.5], abs=0.002)


# ---------------------------------------------------------------- trace.json


def test_a_trace_is_made_once(stage: Any, sounds: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = play(stage, sounds)
    told: list[str] = []
    first = load_trace(folder, SCENARIO, progress=told.append)
    assert trace_from_json((folder / TRACE).read_bytes()) == first
    assert load_trace(folder, SCENARIO, progress=told.append) == first
    assert len(told) == 1
    # Another scenario, another method, changed inputs, a broken cache: made anew.
    load_trace(folder, replace(SCENARIO, sha256="01"), progress=told.append)
    assert len(told) == 2
    assert not load_trace(folder, SCENARIO).before
    monkeypatch.setattr(measuring, "METHOD", 99)
    again = load_trace(folder, SCENARIO, progress=told.append)
    assert again.before == f"{TRACE_VERSION}.{METHOD}"
    assert load_trace(folder, SCENARIO) == again
    assert json.loads((folder / TRACE).read_bytes())["inputs"]["method"] == 99
    with (folder / "events.jsonl").open("ab") as events:
        events.write(b'{"seq":99,"t":11.3,"type":"weather","turn":null}\n')
    load_trace(folder, SCENARIO, progress=told.append)
    (folder / TRACE).write_text("{")
    load_trace(folder, SCENARIO, progress=told.append)
    assert len(told) == 5


def test_a_provider_that_fails_is_told_and_fails_the_attempt(stage: Any, sounds: Any) -> None:
    """No answer came in `count`, and its response says why: one of two turns."""
    failed = (
        (4.5, ResponseRecord(id="r1", edge="start")),
        (
            4.6,
            ResponseRecord(
                id="r1",
                edge="end",
                status="failed",
                reason="rate_limit_exceeded",
                message="Wait 8 s.",
            ),
        ),
    )
    trace = trace_of(play(stage, sounds, reply=False, more=failed))
    (failure,) = trace.failures
    assert failure == Failure(
        at=4.5,
        turn="count",
        code="rate_limit_exceeded",
        message="Wait 8 s.",
        response="r1",
    )
    assert trace.failure_of("count") == failure
    assert trace.failure_of("guest") is None
    assert trace.outcome == "agent_failed"
    assert trace.reason == "agent_error: in 1 of 2 turns, first rate_limit_exceeded: Wait 8 s."


def test_an_error_beside_an_answer_fails_nothing(stage: Any, sounds: Any) -> None:
    error = FaultRecord(
        whose="agent", code="server_error", message="", fatal=False, unanswered=True, of="count"
    )
    trace = trace_of(play(stage, sounds, more=((6.0, error),)))
    assert [f.turn for f in trace.failures] == ["count"]
    assert trace.failure_of("count") is None
    assert trace.outcome == "completed"


def edit(folder: Path, part: str, **values: str) -> None:
    """Change what a recording's manifest says."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest[part] |= values
    path.write_text(json.dumps(manifest))


def test_an_error_in_a_recording_of_before_is_read_again(stage: Any, sounds: Any) -> None:
    body = {"type": "error", "error": {"type": "server_error", "message": "Overloaded."}}
    more = (
        (4.5, WireRecord(dir="in", name="error", bytes=9, body=body)),
        (4.5, FaultRecord(whose="agent", code="server_error", message="Overloaded.", fatal=False)),
    )
    folder = play(stage, sounds, reply=False, more=more)
    edit(folder, "agent", dialect="openai")
    trace = trace_of(folder)
    assert [(f.turn, f.told) for f in trace.failures] == [("count", "server_error: Overloaded.")]
    assert trace.outcome == "agent_failed"


def test_lines_that_cannot_be_read_are_counted(stage: Any, sounds: Any) -> None:
    folder = play(stage, sounds)
    assert trace_of(folder).damaged == 0
    with (folder / "events.jsonl").open("ab") as events:
        events.write(b'{"seq":99,"t":11.3,"ty')
    assert trace_of(folder).damaged == 1


@pytest.mark.parametrize("kind", ["response", "text", "speech", "segment"])
def test_a_recording_without_some_of_its_events_is_no_session_played(
    stage: Any, sounds: Any, kind: str
) -> None:
    folder = play(stage, sounds)
    path = folder / "events.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if f'"type":"{kind}"'.encode() not in line]
    assert len(kept) < len(lines)
    path.write_bytes(b"".join(kept))
    trace = trace_of(folder)
    assert trace.outcome == "instrument_invalid"
    assert trace.reason.startswith(f"events_damaged: {len(lines) - len(kept)} of {len(lines)} ")


def test_events_beside_the_manifest_of_another_session_are_no_session_played(
    stage: Any, sounds: Any
) -> None:
    folder = play(stage, sounds)
    path = folder / "manifest.json"
    path.write_text(path.read_text().replace('"count"', '"counted"'))
    trace = trace_of(folder)
    assert trace.outcome == "instrument_invalid"
    assert "play a turn 'count' that manifest.json does not have" in trace.reason


@pytest.mark.parametrize("decide", list(Decide))
def test_turn_detection_at_work_where_it_was_to_be_off_is_told(
    stage: Any, sounds: Any, decide: Decide
) -> None:
    folder = play(stage, sounds)
    edit(folder, "conditions", decide=decide.value)
    heard = any(r.by == "user" for _, r in Recording.open(folder).records(SpeechRecord))
    assert heard
    assert trace_of(folder).detecting is (decide is Decide.TURN_END)
