"""What can be set of a session, and what is said of the rest."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.bridge.refusal import Refusal
from simulator.bridge.settings import (
    checked,
    decides,
    defaults,
    from_older,
    merged,
    parsed,
    unserved,
)


def detection(value: Any) -> dict[str, Any]:
    return {"audio": {"input": {"turn_detection": value}}}


def nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"a": [value]}
    return value


@pytest.mark.parametrize(
    ("given", "param"),
    [
        (None, "session"),
        ([], "session"),
        ({"tools": [nested(30)]}, "session"),
        ({"type": "transcription"}, "session.type"),
        ({"type": 3}, "session.type"),
        ({"instructions": ["Be brief."]}, "session.instructions"),
        ({"output_modalities": "audio"}, "session.output_modalities"),
        ({"output_modalities": ["audio", "text"]}, "session.output_modalities"),
        ({"output_modalities": ["video"]}, "session.output_modalities"),
        ({"audio": None}, "session.audio"),
        ({"audio": {"input": 3}}, "session.audio.input"),
        (detection("none"), "session.audio.input.turn_detection"),
        (detection({"type": "psychic"}), "session.audio.input.turn_detection.type"),
        (
            detection({"create_response": "no"}),
            "session.audio.input.turn_detection.create_response",
        ),
        ({"tools": {}}, "session.tools"),
    ],
)
def test_what_would_be_misunderstood_is_refused(given: Any, param: str) -> None:
    with pytest.raises(Refusal) as refused:
        checked(given)
    assert refused.value.body["param"] == param
    assert str(refused.value).startswith(param)


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"a": NaN}', '{"a": 1e999}'])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(Refusal, match="session is not JSON"):
        parsed(text)


def test_changes_are_merged_and_neither_side_is_changed() -> None:
    had = defaults("call_1")
    new = merged(had, detection({"create_response": False}) | {"instructions": "Be brief."})
    assert new["audio"]["input"]["turn_detection"]["type"] == "server_vad"
    assert new["audio"]["input"]["turn_detection"]["create_response"] is False
    assert new["instructions"] == "Be brief."
    assert had == defaults("call_1")
    assert merged(new, detection(None))["audio"]["input"]["turn_detection"] is None


@pytest.mark.parametrize(
    ("set_to", "listens", "answers"),
    [
        ({}, True, True),
        ({"type": "semantic_vad"}, True, True),
        ({"create_response": False}, True, False),
        (None, False, False),
    ],
)
def test_who_decides(set_to: Any, listens: bool, answers: bool) -> None:
    session = merged(defaults("call_1"), detection(set_to))
    assert decides(session) == (listens, answers)


def test_what_changes_nothing_is_named() -> None:
    given = {
        "instructions": "Be brief.",
        "modalities": ["text"],
        "tools": [],
        "tracing": "auto",
        "audio": {
            "output": {"voice": "marin"},
            "input": {
                "transcription": {"model": "some"},
                "noise_reduction": None,
                "turn_detection": {"silence_duration_ms": 250, "interrupt_response": True},
            },
        },
    }
    assert unserved(given) == [
        "audio.input.transcription",
        "audio.input.turn_detection.interrupt_response",
        "tracing",
        "modalities",
    ]
    assert unserved(defaults("call_1")) == []


def test_the_former_shape_says_the_same() -> None:
    body = {
        "model": "m",
        "modalities": ["audio", "text"],
        "voice": "verse",
        "instructions": "Be brief.",
        "turn_detection": None,
        "input_audio_transcription": {"model": "whisper-1"},
        "temperature": 0.8,
    }
    assert checked(from_older(body)) == {
        "model": "m",
        "output_modalities": ["audio"],
        "instructions": "Be brief.",
        "audio": {
            "output": {"voice": "verse"},
            "input": {"turn_detection": None, "transcription": {"model": "whisper-1"}},
        },
        "temperature": 0.8,
    }
    assert from_older({"modalities": ["text"]}) == {"output_modalities": ["text"]}
