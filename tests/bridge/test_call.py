"""A call without a connection: what of speech reaches the caller, and what the agent."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from simulator.bridge.call import Call
from simulator.bridge.events import CallEvent, Committed, Configured, SpeechEnded, SpeechStarted
from simulator.bridge.vad import Edge
from simulator.clock import ManualClock


class _Media:
    """Neither heard nor said."""

    origin = 0.0

    def start(self) -> None:
        pass


async def told(settings: dict[str, Any]) -> tuple[list[str], list[type[CallEvent]]]:
    """What a caller with these settings and its agent are told of a second of speech."""
    sent: list[str] = []
    media = cast(Any, _Media())
    call = Call(
        "call_1",
        clock=ManualClock(),
        hearing=media,
        seeing=media,
        speaking=media,
        send=lambda raw: sent.append(json.loads(raw)["type"]),
        spawn=lambda work: work.close(),
        settings=settings,
    )
    call.opened()
    await call.start()
    call.edge(Edge("start", 1.0, 1.1))
    call.edge(Edge("end", 2.0, 2.3))
    events = [await anext(call) for _ in range(call._events.qsize())]
    return sent[1:], [type(event) for event in events]


SPEECH = ["input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped"]
ITEM = ["input_audio_buffer.committed", "conversation.item.added", "conversation.item.done"]


@pytest.mark.parametrize(
    ("settings", "sent", "events"),
    [
        ({}, SPEECH + ITEM, [SpeechStarted, SpeechEnded]),
        ({"create_response": True}, SPEECH + ITEM, [Configured, SpeechStarted, SpeechEnded]),
        ({"create_response": False}, SPEECH + ITEM, [Configured, SpeechStarted, Committed]),
        (None, [], [Configured]),
    ],
)
async def test_speech_is_told_as_the_caller_wants_it(
    settings: Any, sent: list[str], events: list[Any]
) -> None:
    given = {} if settings == {} else {"audio": {"input": {"turn_detection": settings}}}
    assert await told(given) == (sent, events)
