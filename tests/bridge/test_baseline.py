"""Every baseline's character over a real call: an answer turn, an idle quiet one, and an event."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from simulator.agent import Dial
from simulator.bridge.conduct import IDLE, REMARK
from simulator.bridge.host import Host
from simulator.errors import InputError
from simulator.media.packets import PacketFile
from simulator.media.timeline import on_grid
from simulator.plugins import load_agent
from simulator.protocol.samples import MonoInt16
from simulator.protocol.silence import TOKEN

PACKET, CODEC = 0.020, 0.0065
"""What is stated beside a latency: a packet of the user's sound, and the agent's own codec."""
QUESTION, REST = 1.0, 1.9
QUIET = 2.7
EVENT_IN, EVENT = 0.4, 2.5
ANSWER, TOLD = "Three.", "All back."
LATE = 0.3
"""Seconds by which a message may be late on a busy machine; sound is placed exactly."""


@dataclass
class Seen:
    caller: Any
    question: float
    """When the question's turn began, and the others."""
    quiet: float
    event: float

    def texts(self) -> list[str]:
        done = self.caller.of("response.output_audio_transcript.done")
        return [m["transcript"] for m in done]

    def onsets(self) -> list[float]:
        return [start for start, _ in self.caller.runs()] if self.caller.rtp else []


def cue(name: str, wants: str, starts_in: float, **more: Any) -> dict[str, Any]:
    turn = {"id": name, "index": 0, "wants": wants, "answer": None, "asked": False}
    turn |= {"duration": 2.0, "due_in": None, "event": False} | more
    return {"type": "omnistage.cue", "turn": turn, "starts_in": starts_in}


async def session(
    call: Any,
    reference: str,
    options: dict[str, str],
    asked: PacketFile,
    hold: PacketFile,
    begin: float,
) -> Seen:
    """Play to one baseline, beginning a little later than to the one before."""
    host = Host(load_agent(reference, options), token="t")  # type: ignore[arg-type]
    async with host.listen() as url:
        dial = Dial(url=url, headers={"Authorization": "Bearer t"})
        async with call(dial, hold) as caller:
            now = caller.playlist.now
            await asyncio.sleep(0.3 + begin)
            first = on_grid(now() + 0.1)
            await caller.send(
                **cue("q", "answer", first - now(), answer=ANSWER, asked=True, due_in=QUESTION)
            )
            caller.playlist.play(asked, first)
            caller.playlist.play(hold, first + QUESTION, loop=True)
            await asyncio.sleep(QUESTION + REST + first - now() - 0.1)
            second = first + QUESTION + REST
            await caller.send(**cue("k", "silence", second - now()))
            await asyncio.sleep(second + QUIET - now() - 0.1)
            third = second + QUIET
            await caller.send(
                **cue("e", "answer", third - now(), answer=TOLD, due_in=EVENT_IN, event=True)
            )
            await asyncio.sleep(third + EVENT - now())
            return Seen(caller, first, second, third)


BASELINES: dict[str, tuple[str, dict[str, str]]] = {
    "oracle": ("oracle", {}),
    "writing": ("oracle", {"mode": "text"}),
    "late": ("late", {"delay": "1.2"}),
    "talkative": ("talkative", {}),
    "silent": ("silent", {}),
    "dead": ("dead", {}),
    "parrot": ("parrot", {}),
}


@pytest.fixture(scope="module")
def seen(parts: Any, question: MonoInt16, hush: PacketFile, call: Any) -> dict[str, Seen]:
    """All baselines, at once, each in a call of its own."""
    asked = parts.make(question)

    async def run() -> list[Seen]:
        return await asyncio.gather(
            *(
                session(call, ref, opts, asked, hush, 0.3 * n)
                for n, (ref, opts) in enumerate(BASELINES.values())
            )
        )

    return dict(zip(BASELINES, asyncio.run(run()), strict=True))


@pytest.mark.parametrize(("name", "delay"), [("oracle", 0.6), ("late", 1.2)])
def test_right_answers_come_when_they_should(
    seen: dict[str, Seen], name: str, delay: float
) -> None:
    it = seen[name]
    assert it.texts() == [ANSWER, TOLD]
    asked, told = it.onsets()
    # The question ends in a fade of 12 ms, of which the last few cannot be heard.
    stated = delay + PACKET + CODEC
    assert asked - (it.question + QUESTION) == pytest.approx(stated - 0.003, abs=0.02)
    # An event has no sound: its time is that of the cue, a message and not a packet.
    assert -0.005 < told - (it.event + EVENT_IN) - (delay + CODEC) < LATE
    assert it.caller.types().count("output_audio_buffer.stopped") == 2
    assert not it.caller.of("error")


def test_a_written_answer_has_text_and_no_sound(seen: dict[str, Seen]) -> None:
    it = seen["writing"]
    texts = [(t, m["text"]) for t, m in it.caller.said if m["type"] == "response.output_text.done"]
    assert [text for _, text in texts] == [ANSWER, TOLD]
    assert -0.01 < texts[0][0] - (it.question + QUESTION) - (0.6 + PACKET) < LATE
    assert it.onsets() == []
    assert it.caller.rtp  # silence all the while, so that its clock runs on


def test_talkative_answers_and_cannot_keep_quiet(seen: dict[str, Seen]) -> None:
    it = seen["talkative"]
    assert it.texts() == [ANSWER, REMARK, TOLD]
    assert -0.005 < it.onsets()[1] - it.quiet - (IDLE + CODEC) < LATE


def test_silent_keeps_the_protocol_and_nothing_else(seen: dict[str, Seen]) -> None:
    it = seen["silent"]
    assert it.caller.types() == [
        "session.created",
        "input_audio_buffer.speech_started",
        "input_audio_buffer.speech_stopped",
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
    ]
    assert it.caller.rtp
    assert it.onsets() == []


def test_dead_is_connected_and_that_is_all(seen: dict[str, Seen]) -> None:
    it = seen["dead"]
    assert it.caller.said == []
    assert it.caller.rtp == []
    assert it.caller.peer.health().reported > 3  # our media did arrive


def test_parrot_says_it_back_without_words(seen: dict[str, Seen], question: MonoInt16) -> None:
    it = seen["parrot"]
    assert it.texts() == []
    assert it.caller.types().count("response.done") == 1
    ((start, end),) = it.caller.runs()
    assert start - (it.question + QUESTION) == pytest.approx(0.6 + PACKET + CODEC, abs=0.01)
    spoken = QUESTION - next(i for i, s in enumerate(question) if s) / 48_000
    assert end - start == pytest.approx(spoken, abs=0.03)


@pytest.mark.parametrize(
    ("reference", "wants", "said"),
    [("oracle", "answer", ANSWER), ("oracle", "silence", TOKEN), ("silent", "silence", "")],
)
async def test_with_turn_detection_off_a_baseline_speaks_when_it_is_asked(
    parts: Any,
    question: MonoInt16,
    hush: PacketFile,
    call: Any,
    reference: str,
    wants: str,
    said: str,
) -> None:
    host = Host(load_agent(reference, {}), token="t")  # type: ignore[arg-type]
    async with (
        host.listen() as url,
        call(Dial(url=url, headers={"Authorization": "Bearer t"}), hush) as caller,
    ):
        await caller.until("session.created")
        off = {"audio": {"input": {"turn_detection": None}}}
        await caller.send(type="session.update", session=off)
        await caller.until("session.updated")
        now = caller.playlist.now
        first = on_grid(now() + 0.1)
        more = {"answer": ANSWER, "asked": True, "due_in": QUESTION}
        await caller.send(**cue("q", wants, first - now(), **more))
        caller.playlist.play(parts.make(question), first)
        caller.playlist.play(hush, first + QUESTION, loop=True)
        await asyncio.sleep(first + QUESTION + 1.2 - now())
        await caller.send(type="input_audio_buffer.commit")
        await caller.until("input_audio_buffer.committed")
        assert not caller.of("input_audio_buffer.speech_started")
        assert not caller.of("response.created")
        asked = {"metadata": {"turn": "q"}}
        await caller.send(type="response.create", response=asked)
        done = (await caller.until("response.done"))["response"]
        (item,) = done["output"]
        (part,) = item["content"]
        assert done["metadata"] == {"turn": "q"}
        assert (part.get("transcript") or part.get("text") or "") == said
        assert not caller.of("error")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"delay": "soon"}, "option 'delay' is 'soon', but has to be seconds of 0.35 or more"),
        ({"delay": "0.1"}, "0.35 or more"),
        ({"mode": "song"}, "option 'mode' is 'song', but has to be speech or text"),
        ({"yields": "perhaps"}, "has to be yes or no"),
        ({"dealy": "1"}, "did you mean delay"),
    ],
)
def test_wrong_options(options: dict[str, str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        load_agent("oracle", options)
