"""The engine's whole behaviour, on a link in memory and a clock that stands until it is moved.

Playbooks: what the agent does and when, then everything that was ordered of the link, everything
that was recorded, and how it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simulator.clock import ManualClock, Timer
from simulator.errors import AgentError, InputError, InstrumentError, NetworkError
from simulator.protocol.conditions import Conditions, Decide
from simulator.protocol.events import (
    Acknowledged,
    AgentSpeech,
    Commit,
    Configure,
    Drained,
    Fault,
    LinkEvent,
    Outcome,
    Ready,
    Respond,
    ResponseEnded,
    ResponseStarted,
    Text,
    Whose,
)
from simulator.protocol.health import Sending, Sent
from simulator.recording.records import (
    CommandRecord,
    FaultRecord,
    HealthRecord,
    InstructionRecord,
    SegmentRecord,
    SessionRecord,
    Stamped,
    TurnRecord,
)
from simulator.session.script import FIRST_LEAD, LEAD
from simulator.testing import Performance, asks, perform, prepared, quiet
from simulator.testing.memory import Act, Heard, Part, all_well

READY = 1.0
T0 = READY + FIRST_LEAD
ASKED = T0 + 5
"""When the question of the first turn ends."""
SCENE = prepared(asks("ask", 5), quiet("hush", 3))


def reply(start: float, end: float, name: str = "r1") -> list[Act]:
    return [
        (start - 0.1, ResponseStarted(response=name)),
        (start, Text(text="Yes.", response=name, kind="transcript")),
        (start, AgentSpeech(edge="start")),
        (start + 0.2, ResponseEnded(response=name)),
        (end, AgentSpeech(edge="end")),
        (end, Drained(response=name)),
    ]


ANSWERED: list[Act] = [(READY, Ready()), *reply(ASKED + 0.5, ASKED + 1.5)]


def told(played: Performance) -> list[tuple[float, LinkEvent | object]]:
    return [(round(t, 3), command) for t, command in played.link.told]


def parts(played: Performance) -> list[tuple[float, Part]]:
    return [(round(t, 3), replace(part, at=round(part.at, 3))) for t, part in played.link.parts]


def said(events: Iterable[Stamped]) -> list[str]:
    """The recording in a line each: what, of what, when; without health and commands."""
    lines = []
    for event in events:
        match event.record:
            case SessionRecord(state=state):
                lines.append(f"{event.t:.2f} {state}")
            case SegmentRecord(edge=edge, part=part, of=of, at=at):
                lines.append(f"{at:.2f} {part} of {of}: {edge}")
            case InstructionRecord(edge=edge, id=id, at=at):
                lines.append(f"{at:.2f} {id}: {edge}")
            case TurnRecord(of=of, state=state, at=at):
                lines.append(f"{at:.2f} {of} is {state}")
            case HealthRecord() | CommandRecord():
                pass
            case record:
                lines.append(f"{event.t:.2f} {record.type}")
    return lines


# ---------------------------------------------------------------- a session as it should be


async def test_a_whole_session(tmp_path: Path) -> None:
    played = await perform(SCENE, ANSWERED, folder=tmp_path / "s")
    # The reply ends at 7.8; 0.7 s of silence end it.
    again = 8.5
    assert told(played) == [(0.0, Configure(instructions="Be brief."))]
    assert parts(played) == [
        (READY, Part(asset="ask", at=T0)),
        (pytest.approx(ASKED - LEAD), Part(asset="ask", at=ASKED, loop=True)),
        (pytest.approx(again - LEAD, abs=0.02), Part(asset="hush", at=again)),
        (pytest.approx(again + 3 - LEAD), Part(asset="hush", at=again + 3, loop=True)),
    ]
    assert said(played.events) == [
        "0.00 dialling",
        "0.00 connected",
        "1.30 playing",
        "1.30 play of ask: start",
        "1.30 ask is playing",
        "5.30 ask/0: start",
        "6.30 ask/0: end",
        "6.30 play of ask: end",
        "6.30 hold of ask: start",
        "6.30 ask is awaiting",
        "6.70 response",
        "6.80 text",
        "6.80 speech",
        "7.00 response",
        "7.80 speech",
        "7.80 response",
        "8.50 ask is done",
        "8.50 hold of ask: end",
        "8.50 play of hush: start",
        "8.50 hush is playing",
        "11.50 play of hush: end",
        "11.50 hold of hush: start",
        "11.50 hush is done",
        "11.75 hold of hush: end",
        "11.75 ended",
    ]
    assert (played.result.outcome, played.result.reason) == (Outcome.COMPLETED, "")
    times = [event.t for event in played.events]
    assert times == sorted(times)


async def test_every_second_has_its_health_and_the_end_too(tmp_path: Path) -> None:
    played = await perform(SCENE, ANSWERED, folder=tmp_path / "s")
    looked = [e.t for e in played.events if isinstance(e.record, HealthRecord)]
    assert looked == pytest.approx([*range(1, 12), 11.75])


async def test_who_is_asked_at_the_turns_end_is_asked_over_the_link(tmp_path: Path) -> None:
    def agent(heard: Heard, now: float) -> Iterable[Act]:
        if isinstance(heard, Commit):
            yield now + 0.05, Acknowledged(command="x", what="commit")
        if isinstance(heard, Respond):
            yield from reply(now + 0.5, now + 1.0, f"to {heard.turn}")

    played = await perform(
        SCENE,
        [(READY, Ready())],
        folder=tmp_path / "s",
        agent=agent,
        conditions=Conditions(decide=Decide.TURN_END),
    )
    orders = [command for _, command in played.link.told]
    assert orders == [
        Configure(instructions="Be brief.", turn_detection=False),
        Commit(),
        Respond(turn="ask"),
        Commit(),
        Respond(turn="hush"),
    ]
    recorded = [e.record.name for e in played.events if isinstance(e.record, CommandRecord)]
    assert recorded == ["configure", "commit", "respond", "commit", "respond"]


async def test_where_a_clock_begins_means_nothing(tmp_path: Path) -> None:
    here = await perform(SCENE, ANSWERED, folder=tmp_path / "a", clock=ManualClock(0.0))
    there = await perform(SCENE, ANSWERED, folder=tmp_path / "b", clock=ManualClock(86_405.0))
    assert said(here.events) == said(there.events)
    assert parts(here) == parts(there)


# ---------------------------------------------------------------- a link that dies, in each state

MOMENTS = {
    "before it is ready": 0.5,
    "while a segment plays": T0 + 2,
    "while the question is asked": ASKED - 0.5,
    "while its answer is awaited": ASKED + 0.2,
    "while it answers": ASKED + 1.0,
    "while the last turn plays": 10.0,
}


@pytest.mark.parametrize("at", MOMENTS.values(), ids=MOMENTS)
@pytest.mark.parametrize(
    ("last", "outcome", "reason"),
    [
        (
            Fault(whose=Whose.AGENT, code="gone", message="no more", fatal=True),
            Outcome.AGENT_FAILED,
            "gone: no more",
        ),
        (
            Fault(whose=Whose.NETWORK, code="silence", message="5 s", fatal=True),
            Outcome.NETWORK_FAILED,
            "silence: 5 s",
        ),
        (None, Outcome.INSTRUMENT_INVALID, "link: the call ended without a word"),
    ],
)
async def test_a_link_that_dies_ends_the_session_there(
    tmp_path: Path, at: float, last: Fault | None, outcome: Outcome, reason: str
) -> None:
    played = await perform(SCENE, [*ANSWERED, (at, last)], folder=tmp_path / "s")
    assert (played.result.outcome, played.result.reason) == (outcome, reason)
    ended = played.events[-1]
    assert isinstance(ended.record, SessionRecord)
    assert (ended.record.state, ended.record.outcome) == ("ended", outcome)
    assert ended.t == pytest.approx(at)
    faults = [e.record for e in played.events if isinstance(e.record, FaultRecord)]
    assert [f.fatal for f in faults] == [True]


async def test_a_link_that_dies_while_we_hang_up_is_nobodys_fault(tmp_path: Path) -> None:
    played = await perform(SCENE, [*ANSWERED, (11.6, None)], folder=tmp_path / "s")
    assert played.result.outcome is Outcome.COMPLETED


CALLS = [
    (AgentError("its data channel is closed"), Outcome.AGENT_FAILED),
    (NetworkError("no path"), Outcome.NETWORK_FAILED),
    (InputError("unknown dialect 'x'", hint="there are: openai"), Outcome.UNSUPPORTED),
    (InstrumentError("a part is cut off"), Outcome.INSTRUMENT_INVALID),
]


@pytest.mark.parametrize("when", ["dialling", "sending", "playing"])
@pytest.mark.parametrize(("error", "outcome"), CALLS)
async def test_what_is_raised_is_an_outcome(
    tmp_path: Path, when: str, error: Exception, outcome: Outcome
) -> None:
    def agent(heard: Heard, now: float) -> Iterable[Act]:
        if isinstance(heard, Part) == (when == "playing"):
            raise error
        return ()

    played = await perform(
        SCENE,
        ANSWERED,
        folder=tmp_path / "s",
        dialling=error if when == "dialling" else 0.0,
        agent=agent,
    )
    assert (played.result.outcome, played.result.reason) == (outcome, str(error))
    ended = played.events[-1].record
    assert isinstance(ended, SessionRecord)
    assert (ended.outcome, ended.reason) == (outcome, str(error))


@pytest.mark.parametrize("at", [0.5, *MOMENTS.values()])
async def test_the_user_may_stop_at_any_time(tmp_path: Path, at: float) -> None:
    played = await perform(SCENE, ANSWERED, folder=tmp_path / "s", stop_at=at)
    assert played.result.outcome is Outcome.CANCELLED
    assert played.events[-1].t == pytest.approx(at)


async def test_the_user_may_stop_while_dialling(tmp_path: Path) -> None:
    played = await perform(SCENE, folder=tmp_path / "s", stop_at=0.5, dialling=60.0)
    assert (played.result.outcome, played.events[-1].t) == (Outcome.CANCELLED, 0.5)
    assert played.link.told == []


# ---------------------------------------------------------------- not sent, or not come


def stops(how: Callable[[Sent, float], Sent]) -> Callable[[float], Sending]:
    """A call in which something becomes of the sound from its fourth second on."""

    def sending(now: float) -> Sending:
        sound, *others = (well := all_well(now)).tracks
        return replace(well, tracks=(how(sound, now), *others)) if now >= 4.0 else well

    return sending


async def ends(tmp_path: Path, sending: Callable[[float], Sending]) -> tuple[Outcome, str, float]:
    scene = prepared(quiet("a", 30))
    played = await perform(
        scene,
        [(READY, Ready())],
        folder=tmp_path / "s",
        sending=sending,
    )
    faults = [e.record for e in played.events if isinstance(e.record, FaultRecord)]
    assert bool(faults) == (played.result.outcome is not Outcome.COMPLETED)
    return played.result.outcome, played.result.reason, played.events[-1].t


async def test_a_track_that_stops_leaving_is_our_fault(tmp_path: Path) -> None:
    outcome, reason, at = await ends(
        tmp_path, stops(lambda s, now: replace(s, overdue_s=now - 4.0))
    )
    assert outcome is Outcome.INSTRUMENT_INVALID
    assert reason == "not_sent: audio has stopped: its next packet is 3.0 s overdue"
    assert at == pytest.approx(7.0)


async def test_a_track_that_this_host_refuses_is_the_networks_fault(tmp_path: Path) -> None:
    outcome, reason, _ = await ends(tmp_path, stops(lambda s, now: replace(s, refused_since=4.0)))
    assert outcome is Outcome.NETWORK_FAILED
    assert reason.startswith("refused: this host's network has refused every packet of audio")


async def test_a_track_that_stops_arriving_is_the_networks_fault(tmp_path: Path) -> None:
    outcome, reason, at = await ends(tmp_path, stops(lambda s, now: replace(s, arrived_until=4.0)))
    assert outcome is Outcome.NETWORK_FAILED
    assert reason.startswith("not_arriving: audio has stopped arriving")
    assert "after 4.0 s" in reason
    assert at == pytest.approx(8.0)  # three of its reports, one each second, and some


async def test_a_browsers_rare_reports_on_sound_are_waited_for(tmp_path: Path) -> None:
    def sending(now: float) -> Sending:
        well = all_well(now)
        sound = replace(well.tracks[0], arrived_until=now // 7 * 7, reports_apart=7.0)
        return replace(well, tracks=(sound, well.tracks[1]))

    assert (await ends(tmp_path, sending))[0] is Outcome.COMPLETED


async def test_a_peer_that_never_reports_or_stops_to_is_not_held_to_it(tmp_path: Path) -> None:
    def never(now: float) -> Sending:
        well = all_well(now)
        return Sending(tracks=tuple(replace(t, arrived_until=None) for t in well.tracks))

    def no_more(now: float) -> Sending:
        then = min(now, 4.0)
        well = all_well(now)
        return Sending(
            reported_at=then, tracks=tuple(replace(t, arrived_until=then) for t in well.tracks)
        )

    for n, sending in enumerate((never, no_more)):
        (tmp_path / str(n)).mkdir()
        assert (await ends(tmp_path / str(n), sending))[0] is Outcome.COMPLETED


async def test_packets_that_did_not_leave_spoil_it_in_the_end(tmp_path: Path) -> None:
    outcome, reason, at = await ends(
        tmp_path, stops(lambda s, now: replace(s, packets=970, unsent=30))
    )
    assert outcome is Outcome.NETWORK_FAILED
    assert reason == "not_sent: 30 of 1000 packets of audio have not left this host"
    assert at > 30
    (tmp_path / "few").mkdir()
    assert (await ends(tmp_path / "few", stops(lambda s, now: replace(s, packets=995, unsent=5))))[
        0
    ] is Outcome.COMPLETED


async def test_a_session_sent_late_is_invalid(tmp_path: Path) -> None:
    played = await perform(
        SCENE,
        ANSWERED,
        folder=tmp_path / "s",
        sending=lambda now: replace(all_well(now), p99_ms=12.3, held_s=0.06 * now),
    )
    assert played.result.outcome is Outcome.INSTRUMENT_INVALID
    assert played.result.reason.startswith("pacing: send-time error p99 12.3 ms is over 10 ms")
    assert "for 6% of the time this core" in played.result.reason


@pytest.mark.parametrize("name", ["rtp.pcap", "events.jsonl"])
@pytest.mark.parametrize("how", ["removed", "cut", "moved", "replaced"])
async def test_a_recording_that_is_taken_away_is_no_recording(
    tmp_path: Path, name: str, how: str
) -> None:
    def agent(heard: Heard, now: float) -> Iterable[Act]:
        if isinstance(heard, Part) and heard.loop:
            path = tmp_path / "s" / name
            if how == "removed":
                path.unlink(missing_ok=True)
            elif path.exists() and how == "cut":
                path.write_bytes(b"")
            elif path.exists() and not (kept := path.with_name("kept")).exists():
                path.rename(kept)
                if how == "replaced":
                    path.write_bytes(kept.read_bytes())
        return ()

    played = await perform(SCENE, ANSWERED, folder=tmp_path / "s", agent=agent)
    assert played.result.outcome is Outcome.INSTRUMENT_INVALID
    assert f"{name}: was {how} while it was written" in played.result.reason


# ---------------------------------------------------------------- clocks


class Leaping(ManualClock):
    """One that goes off by `by` at some time."""

    def __init__(self, at: float, by: float) -> None:
        super().__init__()
        self.at, self.by = at, by

    def now(self) -> float:
        return super().now() + (self.by if super().now() >= self.at else 0.0)

    def call_at(self, when: float, call: Callable[[], object]) -> Timer:
        return super().call_at(super().now() + when - self.now(), call)


async def test_a_clock_that_goes_back_is_not_believed(tmp_path: Path) -> None:
    clock = Leaping(at=4.0, by=-2.0)
    played = await perform(SCENE, ANSWERED, folder=tmp_path / "s", clock=clock)
    assert played.result.outcome is Outcome.INSTRUMENT_INVALID
    assert "the clock went back by" in played.result.reason


# ---------------------------------------------------------------- whatever an agent does

ACTS: list[LinkEvent] = [
    Ready(),
    ResponseStarted(response="r1"),
    ResponseStarted(response="r2", trigger="ask"),
    ResponseEnded(response="r1", status="failed"),
    Drained(response="r2"),
    Text(text="x", response="r1"),
    Text(text="x"),
    AgentSpeech(edge="start"),
    AgentSpeech(edge="end"),
    Acknowledged(command="x", what="commit"),
    Fault(whose=Whose.AGENT, code="busy", message="later", fatal=False),
]


@given(
    acts=st.lists(st.tuples(st.floats(0, 40), st.sampled_from(ACTS)), max_size=30),
    decide=st.sampled_from(list(Decide)),
)
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
async def test_it_always_ends_and_says_how(
    tmp_path_factory: pytest.TempPathFactory, acts: list[Act], decide: Decide
) -> None:
    played = await perform(
        SCENE,
        acts,
        folder=tmp_path_factory.mktemp("any") / "s",
        conditions=Conditions(decide=decide),
    )
    ended = played.events[-1].record
    assert isinstance(ended, SessionRecord)
    assert ended.outcome == played.result.outcome
    assert played.result.outcome in (Outcome.COMPLETED, Outcome.AGENT_FAILED)
    starts = [part.at for _, part in played.link.parts]
    assert starts == sorted(starts)
    assert all(part.at >= at for at, part in played.link.parts)
    stamps = [event.t for event in played.events]
    assert stamps == sorted(stamps)


@pytest.mark.parametrize(
    "told", [Sending(), Sending(tracks=(Sent(track="audio"), Sent(track="video", packets=9)))]
)
async def test_a_session_of_which_nothing_left_is_not_completed(
    tmp_path: Path, told: Sending
) -> None:
    outcome, reason, _ = await ends(tmp_path, lambda now: told)
    assert outcome is Outcome.INSTRUMENT_INVALID
    assert reason.startswith("not_sent: nothing")
