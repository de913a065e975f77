"""The openai dialect's words: messages to events, commands to messages."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.protocol.conduct import Wants
from simulator.protocol.events import (
    Acknowledged,
    Cancel,
    Commit,
    Configure,
    ContextChanged,
    Cue,
    Drained,
    Fault,
    Listened,
    Ready,
    Respond,
    ResponseEnded,
    ResponseStarted,
    Sounding,
    Text,
    UserSpeech,
    WireCommand,
    WireEvent,
)
from simulator.rtc.dialect import Message
from simulator.rtc.dialects.openai.codec import CHANNEL, Codec


def call(**settings: object) -> Codec:
    return Codec(settings)


def hear(codec: Codec, raw: str | bytes) -> Sequence[WireEvent]:
    return codec.read(Message(channel=CHANNEL, body=raw))


def read(codec: Codec, **message: Any) -> Any:
    (event,) = hear(codec, json.dumps(message))
    return event


def say(codec: Codec, command: WireCommand) -> tuple[str, list[Any]]:
    """A command's id and what of it goes out."""
    written = codec.write(command)
    assert {m.channel for m in written.messages} == {"oai-events"}
    return written.command, [json.loads(m.body) for m in written.messages]


def test_ready_once_and_updates_acknowledge_in_order() -> None:
    codec = call()
    first, _ = say(codec, Configure(instructions="a"))
    second, _ = say(codec, Configure(instructions="b"))
    created = json.dumps({"type": "session.created", "session": {}})
    updated = json.dumps({"type": "session.updated", "session": {}})
    assert hear(codec, created) == (Ready(),)
    assert hear(codec, created) == ()
    assert list(hear(codec, updated)) == [Acknowledged(command=first)]
    assert list(hear(codec, updated)) == [Acknowledged(command=second)]
    assert list(hear(codec, updated)) == []


def test_configure_carries_the_targets_settings() -> None:
    codec = call(output_modalities=["text"], voice="marin")
    name, (message,) = say(codec, Configure(instructions="Be brief."))
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
    codec = call()
    assert hear(codec, '{"type":"input_audio_buffer.committed","item_id":"u1"}') == ()
    first = read(codec, type="response.created", response={"id": "r1"})
    second = read(codec, type="response.created", response={"id": "r2", "metadata": None})
    third = read(codec, type="response.created", response={"id": "r3", "metadata": {"turn": "x"}})
    assert first == ResponseStarted(response="r1", input_item="u1")
    assert second == ResponseStarted(response="r2")
    assert third == ResponseStarted(response="r3", trigger="x")


def test_turn_detection_is_turned_off_beside_the_targets_settings() -> None:
    codec = call(audio={"input": {"format": "x", "turn_detection": {"type": "server_vad"}}})
    _, (message,) = say(codec, Configure(instructions="a", turn_detection=False))
    assert message["session"]["audio"] == {"input": {"format": "x", "turn_detection": None}}


def test_a_server_that_keeps_its_turn_detection_cannot_be_made_to_decide() -> None:
    codec = call()
    say(codec, Configure(instructions="a", turn_detection=False))
    kept = {"audio": {"input": {"turn_detection": {"type": "semantic_vad"}}}}
    _, _, fault = hear(codec, json.dumps({"type": "session.updated", "session": kept}))
    assert isinstance(fault, Fault)
    assert (fault.code, fault.fatal) == ("turn_detection", True)
    say(codec, Configure(instructions="a", turn_detection=False))
    off = {"audio": {"input": {"turn_detection": None}}}
    assert len(hear(codec, json.dumps({"type": "session.updated", "session": off}))) == 1


def test_a_commit_is_acknowledged_and_a_response_asked_for_in_a_turns_name() -> None:
    codec = call()
    name, (message,) = say(codec, Commit())
    assert message == {"type": "input_audio_buffer.commit", "event_id": name}
    done = read(codec, type="input_audio_buffer.committed", item_id="u1")
    assert done == Acknowledged(command=name, what="commit")
    name, (message,) = say(codec, Respond(turn="back"))
    assert message == {
        "type": "response.create",
        "event_id": name,
        "response": {"metadata": {"turn": "back"}},
    }
    # A server need not give the metadata back: what begins now is what was asked for.
    begun = read(codec, type="response.created", response={"id": "r1"})
    assert begun == ResponseStarted(response="r1", trigger="back", input_item="u1")
    begun = read(codec, type="response.created", response={"id": "r2"})
    assert begun == ResponseStarted(response="r2")


def test_what_is_said_is_cut_by_name_and_by_sound() -> None:
    codec = call()
    _, messages = say(codec, Cancel(response="r1"))
    assert [m["type"] for m in messages] == ["response.cancel", "output_audio_buffer.clear"]
    assert messages[0]["response_id"] == "r1"
    _, messages = say(codec, Cancel(response=None))
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
                "type": "response.output_text.done",
                "response_id": "r",
                "item_id": "i",
                "text": "c",
                "content_index": 1,
            },
            Text(text="c", response="r", item="i", part=1, final=True),
        ),
        (
            {
                "type": "response.output_text.delta",
                "response_id": "r",
                "delta": "c",
                "content_index": "1",
            },
            Text(text="c", response="r"),
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
        ({"type": "output_audio_buffer.started", "response_id": "r"}, Sounding(response="r")),
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
    fault = read(call(), type="error", error={"type": "server_error", "message": "mm " * 5_000})
    assert isinstance(fault, Fault)
    assert (fault.code, fault.fatal, len(fault.message)) == ("server_error", False, 998)


def test_messages_not_known_mean_nothing() -> None:
    assert hear(call(), '{"type":"rate_limits.updated","rate_limits":[]}') == ()


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
        '{"type":"response.created","response":{"id":true}}',
        '{"type":"response.created","response":{"id":0.5}}',
        '{"type":"response.done","response":{"status":"failed"}}',
        '{"type":"response.done","response":{"id":[7],"status":"failed"}}',
        '{"type":"response.output_text.delta","response_id":"r"}',
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
        hear(call(), raw)


def test_ids_may_be_numbers() -> None:
    """A transcript whose response had one was dropped without a word."""
    codec = call()
    said = [
        {"type": "input_audio_buffer.speech_started", "item_id": 3},
        {"type": "input_audio_buffer.committed", "item_id": 3},
        {"type": "response.created", "response": {"id": 7}},
        {"type": "output_audio_buffer.started", "response_id": 7},
        {
            "type": "response.output_audio_transcript.done",
            "response_id": 7,
            "item_id": 8.0,
            "transcript": "Three.",
        },
        {"type": "response.done", "response": {"id": 7, "status": "completed"}},
        {"type": "output_audio_buffer.stopped", "response_id": 7},
    ]
    heard = [event for fields in said for event in hear(codec, json.dumps(fields))]
    assert heard == [
        UserSpeech(edge="start", item="3"),
        ResponseStarted(response="7", input_item="3"),
        Sounding(response="7"),
        Text(text="Three.", response="7", item="8", kind="transcript", final=True),
        ResponseEnded(response="7"),
        Drained(response="7"),
    ]


def test_a_response_is_cancelled_by_its_id_as_it_was_said() -> None:
    codec = call()
    hear(codec, '{"type":"response.created","response":{"id":7}}')
    cancel, _ = codec.write(Cancel(response="7")).messages
    assert json.loads(cancel.body)["response_id"] == 7


def test_an_end_without_an_id_is_that_of_the_response_that_is_open() -> None:
    codec = call()
    done = '{"type":"response.done","response":{"status":"failed"}}'
    for name in ("a", "b"):
        hear(codec, f'{{"type":"response.created","response":{{"id":"{name}"}}}}')
    with pytest.raises(ValueError, match="id"):
        hear(codec, done)
    hear(codec, '{"type":"response.done","response":{"id":"a"}}')
    assert list(hear(codec, done)) == [ResponseEnded(response="b", status="failed")]


def test_halves_of_characters_are_replaced_in_texts_and_ids() -> None:
    codec = call()
    raw = '{"type":"response.output_text.delta","response_id":"r\\udc00","delta":"three \\ud800"}'
    (event,) = hear(codec, raw)
    assert event == Text(text="three \ufffd", response="r\ufffd")
    (event,) = hear(codec, raw.encode())
    assert event == Text(text="three \ufffd", response="r\ufffd")


CUE = Cue(
    turn="t",
    index=3,
    wants=Wants.ANSWER,
    answer="A béll.",
    asked=True,
    duration=4.0,
    due_in=None,
    event=False,
    starts_in=0.2,
)


def test_what_goes_out_byte_by_byte() -> None:
    """Recordings hold it: what was said in a call of before is what would be said today."""
    codec = call(voice="marin", audio={"input": {"format": "x"}})
    said = [
        message.body
        for command in (
            Configure(instructions='Sei kurz — "ja".\nÜ'),
            CUE,
            Configure(instructions="a", turn_detection=False),
            Commit(),
            Respond(turn="back"),
            Cancel(response="r1"),
            Cancel(response=None),
        )
        for message in codec.write(command).messages
    ]
    assert said == [
        '{"type":"session.update","event_id":"om_1","session":{"type":"realtime","instructions":'
        '"Sei kurz — \\"ja\\".\\nÜ","output_modalities":["audio"],"voice":"marin",'
        '"audio":{"input":{"format":"x"}}}}',
        '{"type":"omnistage.cue","turn":{"id":"t","index":3,"wants":"answer","answer":"A béll.",'
        '"asked":true,"duration":4.0,"due_in":null,"event":false},"starts_in":0.2}',
        '{"type":"session.update","event_id":"om_2","session":{"type":"realtime","instructions":'
        '"a","output_modalities":["audio"],"voice":"marin",'
        '"audio":{"input":{"format":"x","turn_detection":null}}}}',
        '{"type":"input_audio_buffer.commit","event_id":"om_3"}',
        '{"type":"response.create","event_id":"om_4","response":{"metadata":{"turn":"back"}}}',
        '{"type":"response.cancel","response_id":"r1","event_id":"om_5_1"}',
        '{"type":"output_audio_buffer.clear","event_id":"om_5"}',
        '{"type":"output_audio_buffer.clear","event_id":"om_6"}',
    ]


def test_nothing_acknowledges_a_cue() -> None:
    assert call().write(CUE).command == ""


def test_it_says_and_hears_nothing_by_itself() -> None:
    codec = call()
    assert (codec.connected(), codec.tick(1e6)) == ((), ())


FIELDS = [
    "response",
    "response_id",
    "item_id",
    "session",
    "error",
    "delta",
    "text",
    "transcript",
    "op",
    "span",
    "tokens",
]
FIELD = st.sampled_from([*FIELDS, "id", "status", "metadata", "turn", "usage", "event_id", "audio"])
TYPE = st.sampled_from(
    [
        "session.created",
        "session.updated",
        "error",
        "input_audio_buffer.speech_started",
        "input_audio_buffer.committed",
        "response.created",
        "response.done",
        "response.output_text.delta",
        "response.output_text.done",
        "response.output_audio_transcript.done",
        "conversation.item.input_audio_transcription.completed",
        "output_audio_buffer.stopped",
        "omnistage.context",
        "omnistage.listened",
    ]
)
# Numbers in full range, texts with halves of characters, nesting: all that JSON can hold.
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(FIELD | st.text(), inner),
    max_leaves=12,
)


@given(
    st.lists(
        st.binary()
        | st.text()
        | JSON.map(json.dumps)
        | st.fixed_dictionaries({"type": TYPE}, optional=dict.fromkeys(FIELDS, JSON)).map(
            json.dumps
        ),
        max_size=8,
    )
)
def test_no_message_does_more_than_be_malformed(messages: list[str | bytes]) -> None:
    codec = call()
    codec.write(Configure(instructions="", turn_detection=False))
    codec.write(Commit())
    for raw in messages:
        with contextlib.suppress(ValueError):
            assert all(isinstance(event, WireEvent) for event in hear(codec, raw))


# ---------------------------------------------------------------- the provider's failures


@pytest.mark.parametrize(
    ("details", "status", "reason", "message"),
    [
        (
            {"type": "failed", "error": {"type": "server_error", "code": None, "message": "Oops."}},
            "failed",
            "server_error",
            "Oops.",
        ),
        (
            {"error": {"type": "tokens", "code": "rate_limit_exceeded", "message": "Wait 8 s."}},
            "failed",
            "rate_limit_exceeded",
            "Wait 8 s.",
        ),
        ({"type": "incomplete", "reason": "content_filter"}, "incomplete", "content_filter", None),
        ({"type": "cancelled", "reason": "turn_detected"}, "cancelled", "turn_detected", None),
        (None, "failed", None, None),
        (["quota"], "failed", None, None),
        ({"error": "No quota."}, "failed", None, "No quota."),
        ({"reason": "quota", "message": "Pay."}, "failed", "quota", "Pay."),
    ],
)
def test_why_a_response_is_not_completed(
    details: Any, status: str, reason: str | None, message: str | None
) -> None:
    response = {"id": "r", "status": status, "status_details": details}
    ended = read(call(), type="response.done", response=response)
    assert ended == ResponseEnded(response="r", status=status, reason=reason, message=message)


@pytest.mark.parametrize(
    ("response", "status"),
    [
        ({"status": "FAILED"}, "failed"),
        ({"status_details": {"type": "failed"}}, "failed"),
        ({"status": "error", "error": {"message": "No."}}, "failed"),
        ({"status": 500, "status_details": {"error": {"code": 500}}}, "failed"),
        ({"status": 3}, "3"),
        ({"status": "done", "message": {"role": "assistant"}}, "done"),
        ({"status": None}, "completed"),
        ({}, "completed"),
    ],
)
def test_how_a_response_ended_that_does_not_say_it_as_it_should(
    response: dict[str, Any], status: str
) -> None:
    assert read(call(), type="response.done", response={"id": "r", **response}).status == status


@pytest.mark.parametrize(
    ("message", "code", "words"),
    [
        ({"error": "boom"}, "error", "boom"),
        ({"error": None, "message": "boom", "code": 500}, "500", "boom"),
        ({"code": "busy", "message": "boom"}, "busy", "boom"),
        ({}, "error", ""),
        ({"error": {"type": 500, "message": {"a": 1}}}, "500", ""),
        ({"error": {"type": "server_error", "message": "m", "event_id": 7}}, "server_error", "m"),
        ({"error": {"type": "server_error", "message": "m", "event_id": ""}}, "server_error", "m"),
        # It gives the error a name of its own.
        ({"error": {"type": "server_error", "event_id": "event_77"}}, "server_error", ""),
    ],
)
def test_an_error_of_any_shape_is_one(message: dict[str, Any], code: str, words: str) -> None:
    codec = call()
    say(codec, Respond(turn="back"))
    fault = read(codec, type="error", **message)
    assert (fault.code, fault.message) == (code, words)
    # Nothing else can be meant; but it may give the response all the same.
    assert (fault.unanswered, fault.turn) == (True, "back")
    begun = read(codec, type="response.created", response={"id": "r1"})
    assert begun == ResponseStarted(response="r1", trigger="back")


def test_an_error_about_nothing_of_ours_is_the_sessions() -> None:
    codec = call()
    say(codec, Configure(instructions="a"))
    hear(codec, '{"type":"session.updated"}')
    fault = error(codec, type="invalid_request_error", code="session_expired", event_id=None)
    assert (fault.unanswered, fault.turn, fault.fatal) == (True, None, True)
    # What may be about a message of ours is about that: the first that is not acknowledged.
    say(codec, Configure(instructions="b"))
    assert not error(codec, type="invalid_request_error", code="unknown_parameter").unanswered
    assert error(codec, type="invalid_request_error", code="too_fast").unanswered
    say(codec, Cancel(response=None))
    assert not error(codec, type="invalid_request_error", code="not_active").unanswered


def error(codec: Codec, **what: Any) -> Fault:
    fault = read(codec, type="error", error=what)
    assert isinstance(fault, Fault)
    return fault


def test_an_error_in_place_of_a_response_says_whose_it_would_have_been() -> None:
    codec = call()
    name, _ = say(codec, Respond(turn="back"))
    fault = error(codec, type="server_error", code="overloaded", message="Later.", event_id=name)
    assert (fault.code, fault.message, fault.fatal) == ("overloaded", "Later.", False)
    assert (fault.unanswered, fault.turn) == (True, "back")
    # What begins after all that is not what was asked for.
    begun = read(codec, type="response.created", response={"id": "r1"})
    assert begun == ResponseStarted(response="r1")


def test_a_server_that_does_not_say_which_command_it_refuses() -> None:
    codec = call()
    say(codec, Respond(turn="back"))
    fault = error(codec, type="invalid_request_error", message="No such voice.")
    assert (fault.unanswered, fault.turn) == (True, "back")
    # A commit may be meant as well: then it is no word on the response.
    say(codec, Commit())
    say(codec, Respond(turn="left"))
    fault = error(codec, type="invalid_request_error", code="input_audio_buffer_commit_empty")
    assert (fault.unanswered, fault.turn) == (False, None)
    # Refused as well: what came first was about what we said first.
    fault = error(codec, type="invalid_request_error", code="quota")
    assert (fault.unanswered, fault.turn) == (True, "left")


def test_an_error_of_the_session_is_a_failure_and_one_about_a_command_is_none() -> None:
    codec = call()
    fault = error(codec, type="rate_limit_error", code="insufficient_quota", message="Pay.")
    assert (fault.unanswered, fault.turn) == (True, None)
    name, _ = say(codec, Cancel(response="r1"))
    fault = error(codec, type="invalid_request_error", code="not_active", event_id=f"{name}_1")
    assert (fault.unanswered, fault.turn) == (False, None)


def test_an_error_that_says_neither_its_type_nor_what_it_is_about_is_the_servers_own() -> None:
    codec = call()
    say(codec, Commit())
    fault = error(codec, message="Something went wrong.")
    assert (fault.code, fault.unanswered, fault.turn) == ("error", True, None)
    fault = error(codec, code=503)
    assert (fault.code, fault.message, fault.unanswered) == ("503", "", True)


@pytest.mark.parametrize(
    "session",
    [
        {"audio": {"input": {"turn_detection": {"type": "server_vad"}}}},
        {"turn_detection": {"type": "server_vad"}},
    ],
)
def test_turn_detection_that_comes_back_is_found_out(session: dict[str, Any]) -> None:
    codec = call()
    say(codec, Configure(instructions="a", turn_detection=False))
    off = {"type": "session.updated", "session": {"audio": {"input": {"turn_detection": None}}}}
    assert Acknowledged(command="om_1") in hear(codec, json.dumps(off))
    (fault,) = hear(codec, json.dumps({"type": "session.updated", "session": session}))
    assert isinstance(fault, Fault)
    assert (fault.code, fault.fatal) == ("turn_detection", True)
    assert hear(call(), json.dumps({"type": "session.updated", "session": session})) == [Ready()]


def test_turn_detection_that_was_given_up_and_goes_on_is_found_out() -> None:
    codec = call()
    say(codec, Configure(instructions="a", turn_detection=False))
    own = json.dumps({"type": "input_audio_buffer.committed", "item_id": "u1"})
    assert hear(codec, own) == (), "it may not have heard of it yet"
    off = {"audio": {"input": {"turn_detection": None}}}
    hear(codec, json.dumps({"type": "session.updated", "session": off}))
    say(codec, Commit())
    assert [type(e) for e in hear(codec, own)] == [Acknowledged]
    (fault,) = hear(codec, own)
    assert isinstance(fault, Fault)
    assert (fault.code, fault.fatal) == ("turn_detection", True)
