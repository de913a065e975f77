"""The openai dialect without a network: messages to events, commands to messages."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.agent import Dial
from simulator.errors import InputError
from simulator.protocol.events import (
    Acknowledged,
    Cancel,
    Commit,
    Configure,
    ContextChanged,
    Drained,
    Fault,
    Listened,
    Ready,
    Respond,
    ResponseEnded,
    ResponseStarted,
    Text,
    UserSpeech,
)
from simulator.rtc.dialects import dialect_names, speak
from simulator.rtc.dialects.openai import TEXT_CAP, Call


def call(**session: object) -> Call:
    return Call(Dial(url="http://agent/v1/realtime/calls", session=session))


def read(dialect: Call, **message: Any) -> Any:
    (event,) = dialect.read(json.dumps(message))
    return event


def test_ready_once_and_updates_acknowledge_in_order() -> None:
    dialect = call()
    first, _ = dialect.write(Configure(instructions="a"))
    second, _ = dialect.write(Configure(instructions="b"))
    created = json.dumps({"type": "session.created", "session": {}})
    updated = json.dumps({"type": "session.updated", "session": {}})
    assert dialect.read(created) == (Ready(),)
    assert dialect.read(created) == ()
    assert list(dialect.read(updated)) == [Acknowledged(command=first)]
    assert list(dialect.read(updated)) == [Acknowledged(command=second)]
    assert list(dialect.read(updated)) == []


def test_configure_carries_the_targets_settings() -> None:
    dialect = call(output_modalities=["text"], voice="marin")
    name, (message,) = dialect.write(Configure(instructions="Be brief."))
    assert message == {
        "type": "session.update",
        "event_id": name,
        "session": {
            "type": "realtime",
            "instructions": "Be brief.",
            "output_modalities": ["text"],
            "voice": "marin",
        },
    }


def test_a_response_is_linked_to_the_item_committed_before_it() -> None:
    dialect = call()
    assert dialect.read('{"type":"input_audio_buffer.committed","item_id":"u1"}') == ()
    first = read(dialect, type="response.created", response={"id": "r1"})
    second = read(dialect, type="response.created", response={"id": "r2", "metadata": None})
    third = read(dialect, type="response.created", response={"id": "r3", "metadata": {"turn": "x"}})
    assert first == ResponseStarted(response="r1", input_item="u1")
    assert second == ResponseStarted(response="r2")
    assert third == ResponseStarted(response="r3", trigger="x")


def test_turn_detection_is_turned_off_beside_the_targets_settings() -> None:
    dialect = call(audio={"input": {"format": "x", "turn_detection": {"type": "server_vad"}}})
    _, (message,) = dialect.write(Configure(instructions="a", turn_detection=False))
    assert message["session"]["audio"] == {"input": {"format": "x", "turn_detection": None}}


def test_a_server_that_keeps_its_turn_detection_cannot_be_made_to_decide() -> None:
    dialect = call()
    dialect.write(Configure(instructions="a", turn_detection=False))
    kept = {"audio": {"input": {"turn_detection": {"type": "semantic_vad"}}}}
    _, _, fault = dialect.read(json.dumps({"type": "session.updated", "session": kept}))
    assert isinstance(fault, Fault)
    assert (fault.code, fault.fatal) == ("turn_detection", True)
    dialect.write(Configure(instructions="a", turn_detection=False))
    off = {"audio": {"input": {"turn_detection": None}}}
    assert len(dialect.read(json.dumps({"type": "session.updated", "session": off}))) == 1


def test_a_commit_is_acknowledged_and_a_response_asked_for_in_a_turns_name() -> None:
    dialect = call()
    name, (message,) = dialect.write(Commit())
    assert message == {"type": "input_audio_buffer.commit", "event_id": name}
    done = read(dialect, type="input_audio_buffer.committed", item_id="u1")
    assert done == Acknowledged(command=name, what="commit")
    name, (message,) = dialect.write(Respond(turn="back"))
    assert message == {
        "type": "response.create",
        "event_id": name,
        "response": {"metadata": {"turn": "back"}},
    }
    # A server need not give the metadata back: what begins now is what was asked for.
    begun = read(dialect, type="response.created", response={"id": "r1"})
    assert begun == ResponseStarted(response="r1", trigger="back", input_item="u1")
    begun = read(dialect, type="response.created", response={"id": "r2"})
    assert begun == ResponseStarted(response="r2")


def test_what_is_said_is_cut_by_name_and_by_sound() -> None:
    dialect = call()
    _, messages = dialect.write(Cancel(response="r1"))
    assert [m["type"] for m in messages] == ["response.cancel", "output_audio_buffer.clear"]
    assert messages[0]["response_id"] == "r1"
    _, messages = dialect.write(Cancel(response=None))
    assert [m["type"] for m in messages] == ["output_audio_buffer.clear"]


@pytest.mark.parametrize(
    ("message", "event"),
    [
        (
            {"type": "response.output_audio_transcript.delta", "response_id": "r", "delta": "a"},
            Text(text="a", response="r", kind="transcript"),
        ),
        (
            {"type": "response.audio_transcript.done", "response_id": "r", "transcript": "ab"},
            Text(text="ab", response="r", kind="transcript", final=True),
        ),
        (
            {"type": "response.output_text.done", "response_id": "r", "item_id": "i", "text": "ab"},
            Text(text="ab", response="r", item="i", final=True),
        ),
        (
            {
                "type": "conversation.item.input_audio_transcription.completed",
                "item_id": "u",
                "transcript": "hello",
            },
            Text(text="hello", item="u", kind="user", final=True),
        ),
        (
            {"type": "input_audio_buffer.speech_started", "audio_start_ms": 3, "item_id": "u"},
            UserSpeech(edge="start", item="u"),
        ),
        (
            {"type": "input_audio_buffer.speech_stopped", "item_id": "u"},
            UserSpeech(edge="end", item="u"),
        ),
        ({"type": "output_audio_buffer.stopped", "response_id": "r"}, Drained(response="r")),
        (
            {"type": "output_audio_buffer.cleared", "response_id": "r"},
            Drained(response="r", cleared=True),
        ),
        (
            {"type": "response.done", "response": {"id": "r", "status": "cancelled", "usage": {}}},
            ResponseEnded(response="r", status="cancelled", usage={}),
        ),
        ({"type": "omnistage.listened"}, Listened()),
        (
            {"type": "omnistage.context", "op": "drop", "span": [1, 2.5], "tokens": 9},
            ContextChanged(op="drop", span=(1.0, 2.5), tokens=9),
        ),
    ],
)
def test_messages_mean_events(message: dict[str, Any], event: Any) -> None:
    assert read(call(), **message) == event


def test_errors_are_faults_that_end_nothing() -> None:
    fault = read(call(), type="error", error={"type": "server_error", "message": "m" * 5_000})
    assert isinstance(fault, Fault)
    assert (fault.code, fault.fatal, len(fault.message)) == ("server_error", False, 1_000)


def test_messages_not_known_mean_nothing() -> None:
    assert call().read('{"type":"rate_limits.updated","rate_limits":[]}') == ()


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "{",
        "[]",
        "null",
        b"\xff\xfe",
        '{"type":5}',
        '{"type":"response.created"}',
        '{"type":"response.created","response":{"id":7}}',
        '{"type":"response.done","response":{"id":"r","status":3}}',
        '{"type":"response.output_text.delta","response_id":"r"}',
        '{"type":"error","error":"text"}',
        '{"type":"omnistage.context","op":"x","tokens":"many"}',
        '{"type":"omnistage.context","op":"x","tokens":-1}',
        '{"type":"omnistage.context","op":"x","used":1' + "0" * 400 + "}",
        '{"type":"omnistage.context","op":"x","span":[1' + "0" * 400 + ",2]}",
        '{"type":"omnistage.context","op":"x","span":[NaN,2]}',
        '{"a":' * 100_000,
    ],
)
def test_malformed_messages_are_value_errors(raw: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        call().read(raw)


def test_halves_of_characters_are_replaced_in_texts_and_ids() -> None:
    dialect = call()
    raw = '{"type":"response.output_text.delta","response_id":"r\\udc00","delta":"three \\ud800"}'
    (event,) = dialect.read(raw)
    assert event == Text(text="three \ufffd", response="r\ufffd")
    (event,) = dialect.read(raw.encode())
    assert event == Text(text="three \ufffd", response="r\ufffd")


def test_text_is_capped_for_each_response() -> None:
    dialect = call()
    body = {"type": "response.output_text.delta", "response_id": "r", "delta": "x" * 150_000}
    assert len(read(dialect, **body).text) == 150_000
    assert len(read(dialect, **body).text) == TEXT_CAP - 150_000
    assert dialect.read(json.dumps(body)) == ()
    assert dialect.dropped == 250_000
    assert len(read(dialect, **{**body, "response_id": "s"}).text) == 150_000


def test_an_unknown_dialect_is_told_with_those_there_are() -> None:
    assert "openai" in dialect_names()
    with pytest.raises(InputError, match=r"unknown dialect 'opnai' \(there are: .*openai"):
        speak(Dial(url="http://x", dialect="opnai"))
