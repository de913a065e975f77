"""The serving end's protocol, message by message."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.bridge.events import Cued, ItemAdded, ResponseAsked, ResponseCancelled
from simulator.bridge.wire import Clear, ResponseWire, Wire
from simulator.rtc.dialect import Message
from simulator.rtc.dialects.openai.codec import CHANNEL, Codec


class Talk:
    """A wire, and what it has sent."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.wire = Wire("call_1", {"model": "test"}, lambda raw: self.sent.append(json.loads(raw)))

    def say(self, message: Any) -> Any:
        raw = message if isinstance(message, str | bytes) else json.dumps(message)
        return self.wire.read(raw, 100.0)

    def types(self) -> list[str]:
        return [m["type"] for m in self.sent]


def test_settings_are_merged_and_confirmed() -> None:
    talk = Talk()
    talk.wire.created()
    talk.say({"type": "session.update", "session": {"instructions": "Be brief."}})
    talk.say({"type": "session.update", "session": {"audio": {"input": {"turn_detection": None}}}})
    assert talk.types() == ["session.created", "session.updated", "session.updated"]
    assert talk.wire.session["instructions"] == "Be brief."
    assert talk.sent[-1]["session"]["audio"]["input"]["turn_detection"] is None
    assert len({m["event_id"] for m in talk.sent}) == 3


def test_items_go_where_they_are_told() -> None:
    talk = Talk()
    for item_id, after in (("a", None), ("b", None), ("c", "root"), ("d", "a")):
        item = {"id": item_id, "type": "message", "role": "user", "content": []}
        event = talk.say(
            {"type": "conversation.item.create", "previous_item_id": after, "item": item}
        )
        assert event == ItemAdded(item=item)
    assert list(talk.wire.items) == ["c", "a", "d", "b"]
    added = [m for m in talk.sent if m["type"] == "conversation.item.added"]
    assert [m["previous_item_id"] for m in added] == [None, "a", None, "a"]
    talk.say({"type": "conversation.item.delete", "item_id": "d"})
    assert list(talk.wire.items) == ["c", "a", "b"]
    assert talk.types()[-1] == "conversation.item.deleted"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ("{", "invalid_json"),
        ("[" * 100_000, "invalid_json"),
        ('{"type": "session.update", "session": {"speed": Infinity}}', "invalid_json"),
        (b"\x00", "invalid_message"),
        ([1], "invalid_message"),
        ({"no": "type"}, "invalid_message"),
        ({"type": "response.dance", "event_id": "e7"}, "unknown_event"),
        ({"type": "session.update", "session": 3}, "invalid_type"),
        ({"type": "conversation.item.create"}, "invalid_type"),
        ({"type": "conversation.item.delete", "item_id": "nope"}, "item_not_found"),
        (
            {"type": "conversation.item.create", "previous_item_id": "nope", "item": {}},
            "item_not_found",
        ),
        ({"type": "omnistage.cue", "turn": {"wants": "dance"}}, "invalid_cue"),
        ({"type": "omnistage.cue", "turn": {"wants": "silence", "due_in": "x"}}, "invalid_cue"),
        ({"type": "omnistage.cue", "turn": {"wants": "answer", "answer": 3}}, "invalid_cue"),
    ],
)
def test_what_cannot_be_served_gets_an_error_and_nothing_else(message: Any, code: str) -> None:
    talk = Talk()
    assert talk.say(message) is None
    assert talk.types() == ["error"]
    error = talk.sent[0]["error"]
    assert (error["type"], error["code"]) == ("invalid_request_error", code)
    if isinstance(message, dict):
        assert error["event_id"] == message.get("event_id")


def test_what_is_for_the_agent_reaches_it() -> None:
    talk = Talk()
    assert talk.say({"type": "response.create", "response": {"metadata": {"a": "b"}}}) == (
        ResponseAsked(settings={"metadata": {"a": "b"}})
    )
    assert talk.say({"type": "response.cancel", "response_id": "r"}) == ResponseCancelled(
        response="r"
    )
    assert talk.say({"type": "output_audio_buffer.clear"}) == Clear()
    cue = talk.say(
        {
            "type": "omnistage.cue",
            "turn": {"id": "t", "index": 2, "wants": "answer", "answer": "Yes.", "due_in": 1.5},
            "starts_in": 0.25,
        }
    )
    assert isinstance(cue, Cued)
    assert (cue.start, cue.turn.due_in, cue.turn.answer) == (100.25, 1.5, "Yes.")
    assert talk.sent == []


def test_a_spoken_response_in_the_order_of_a_real_server() -> None:
    talk = Talk()
    item = talk.wire.commit("item_u")
    out = ResponseWire(talk.wire, "audio", {"turn": "t"})
    out.delta("Three ")
    out.delta("bottles.")
    out.sound("started")
    out.done()
    out.done("failed")
    out.sound("stopped")
    assert talk.types() == [
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
        "response.created",
        "response.output_item.added",
        "conversation.item.added",
        "response.content_part.added",
        "response.output_audio_transcript.delta",
        "response.output_audio_transcript.delta",
        "output_audio_buffer.started",
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
        "output_audio_buffer.stopped",
    ]
    by_type = {m["type"]: m for m in talk.sent}
    assert by_type["response.output_audio_transcript.done"]["transcript"] == "Three bottles."
    assert by_type["response.done"]["response"]["status"] == "completed"
    assert by_type["response.created"]["response"]["metadata"] == {"turn": "t"}
    assert list(talk.wire.items) == [item, out.item]
    told = [m for m in talk.sent if m["type"].startswith("conversation.item.")]
    assert [(m["item"]["id"], m["previous_item_id"]) for m in told] == [
        *[(item, None)] * 2,
        *[(out.item, item)] * 2,
    ]
    assert [m["item"]["status"] for m in told[2:]] == ["in_progress", "completed"]
    done = by_type["response.output_item.done"]["item"]
    assert told[-1]["item"] == done == talk.wire.items[out.item]
    assert done["content"] == [{"type": "output_audio", "transcript": "Three bottles."}]


def test_every_item_is_done_once_but_one_that_was_deleted_under_way() -> None:
    talk = Talk()
    seeded = {"type": "message", "role": "assistant", "content": [{"type": "output_text"}]}
    added = talk.say({"type": "conversation.item.create", "item": seeded})
    out, lost = (ResponseWire(talk.wire, "text", None) for _ in range(2))
    talk.say({"type": "conversation.item.delete", "item_id": lost.item})
    lost.done()
    out.done("cancelled", "turn_detected")
    done = [m["item"] for m in talk.sent if m["type"] == "conversation.item.done"]
    assert [i["id"] for i in done] == [added.item["id"], out.item]
    assert done[-1]["status"] == "incomplete"
    assert list(talk.wire.items) == [added.item["id"], out.item]


def test_the_calling_end_reads_all_of_it() -> None:
    talk = Talk()
    codec = Codec({})
    talk.wire.created()
    talk.wire.speech_started("i1", 10)
    talk.wire.speech_stopped("i1", 900)
    talk.wire.commit("i1")
    for modality in ("audio", "text"):
        out = ResponseWire(talk.wire, modality, None)
        out.delta("Yes.")
        out.done("cancelled", "turn_detected")
        out.sound("cleared")
    said = [Message(channel=CHANNEL, body=json.dumps(m)) for m in talk.sent]
    names = [type(e).__name__ for m in said for e in codec.read(m)]
    assert names == [
        "Ready",
        "UserSpeech",
        "UserSpeech",
        *["ResponseStarted", "Text", "Text", "ResponseEnded", "Drained"] * 2,
    ]


def test_a_text_that_fits_in_no_message_is_cut_and_says_so() -> None:
    sent: list[dict[str, Any]] = []
    wire = Wire("call", {}, lambda raw: sent.append(json.loads(raw)))
    response = ResponseWire(wire, "text", None)
    for _ in range(3):
        response.delta("é" * 20_000)
    response.done()
    deltas = [m["delta"] for m in sent if m["type"] == "response.output_text.delta"]
    assert [len(d) for d in deltas] == [20_000, 20_000]
    (done,) = [m["response"] for m in sent if m["type"] == "response.done"]
    assert done["status"] == "incomplete"
    assert done["status_details"]["reason"] == "max_output_tokens"
    assert max(len(json.dumps(m)) for m in sent) < 262_144
