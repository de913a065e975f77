"""What a caller can set of a session, however it says so: one shape, one check, one merge.

Settings come with the offer (the form's part `session`), with a client secret, or later as
`session.update`; all are of the API's present shape. The bridge itself acts on `turn_detection`;
everything else is for the agent, which finds all of it in `call.session`. Pure. Counterparts:
`simulator.bridge.wire` holds a session's settings, `simulator.bridge.host` takes those that come
over HTTP.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simulator.bridge.refusal import Refusal, decoded

Settings = dict[str, Any]
"""A session, or changes of one, as JSON."""

DETECTION: Mapping[str, Any] = {
    "type": "server_vad",
    "silence_duration_ms": 250,
    "create_response": True,
    "interrupt_response": False,
}
"""How the end of speech is found; what else is asked of it changes nothing."""
DEPTH = 50
"""Levels to which settings may be nested."""
_DETECTORS = ("server_vad", "semantic_vad")
_MODALITIES = (["audio"], ["text"])
_SHAPES: Mapping[str, type | tuple[type, ...]] = {
    "type": str,
    "model": str,
    "instructions": str,
    "output_modalities": list,
    "tools": list,
    "include": list,
    "audio": dict,
    "audio.input": dict,
    "audio.output": dict,
    "audio.input.turn_detection": (dict, type(None)),
    "audio.input.turn_detection.create_response": bool,
}
"""What can be wrong about settings in a way that would be misunderstood."""
_UNSERVED = (
    "audio.input.transcription",
    "audio.input.noise_reduction",
    "audio.input.turn_detection.idle_timeout_ms",
    "audio.input.turn_detection.interrupt_response",
    "audio.input.turn_detection.prefix_padding_ms",
    "audio.input.turn_detection.silence_duration_ms",
    "audio.input.turn_detection.threshold",
    "audio.input.turn_detection.eagerness",
    "include",
    "prompt",
    "tools",
    "tracing",
    "truncation",
)
"""What the API knows and the bridge does nothing about."""
_KNOWN = {
    *("type", "object", "id", "model", "instructions", "output_modalities", "audio", "tools"),
    *("tool_choice", "parallel_tool_calls", "max_output_tokens", "reasoning", "include", "prompt"),
    *("tracing", "truncation"),
}
"""The API's own names, at the top."""
_FORMER = {
    "modalities": "output_modalities",
    "turn_detection": "audio.input.turn_detection",
    "input_audio_format": "audio.input.format",
    "input_audio_noise_reduction": "audio.input.noise_reduction",
    "input_audio_transcription": "audio.input.transcription",
    "max_response_output_tokens": "max_output_tokens",
    "output_audio_format": "audio.output.format",
    "speed": "audio.output.speed",
    "voice": "audio.output.voice",
}
"""Where what the API's former shape names has gone."""
_WORDS = {str: "text", list: "a list", dict: "an object", bool: "true or false"}


def defaults(session_id: str) -> Settings:
    """A session of which nothing has been set."""
    return {
        "type": "realtime",
        "object": "realtime.session",
        "id": session_id,
        "model": "",
        "output_modalities": ["audio"],
        "instructions": "",
        "audio": {"input": {"turn_detection": dict(DETECTION)}},
    }


def parsed(text: str) -> Settings:
    """Settings as they come in a form. Raises Refusal."""
    return checked(decoded(text, "session", "session"))


def checked(given: object) -> Settings:
    """`given`, if it can be settings. Raises Refusal."""
    if not isinstance(given, dict):
        raise Refusal("invalid_type", "session has to be an object", "session")
    if _deep(given):
        raise Refusal("invalid_value", f"session is nested over {DEPTH} levels", "session")
    for place, wanted in _SHAPES.items():
        for value in _at(given, place):
            if not isinstance(value, wanted):
                one = wanted if isinstance(wanted, type) else wanted[0]
                words = _WORDS[one] + ("" if one is wanted else ", or null")
                _refuse("invalid_type", place, f"has to be {words}")
    if given.get("type", "realtime") != "realtime":
        _refuse("invalid_value", "type", "can only be 'realtime' here")
    if given.get("output_modalities", ["audio"]) not in _MODALITIES:
        _refuse("invalid_value", "output_modalities", "has to be ['audio'] or ['text']")
    for detector in _at(given, "audio.input.turn_detection.type"):
        if detector not in _DETECTORS:
            _refuse("invalid_value", "audio.input.turn_detection.type", "is not served here")
    return given


def from_older(body: Mapping[str, Any]) -> Settings:
    """The settings in a session of the API's former shape, as `POST /v1/realtime/sessions` has it;
    names that are left as they are have not changed, or have no counterpart."""
    settings: Settings = {}
    for key, value in body.items():
        # Sound came with its text then as it does now, when only the sound is named.
        spoken = key == "modalities" and isinstance(value, list) and "audio" in value
        found: Any = ["audio"] if spoken else value
        for name in reversed(_FORMER.get(key, key).split(".")):
            found = {name: found}
        settings = merged(settings, found)
    return settings


def unserved(given: Mapping[str, Any]) -> list[str]:
    """What of the settings asks for something that the bridge does nothing about, or is none of the
    API's."""
    known = defaults("")
    asked = [
        place
        for place in _UNSERVED
        for value in _at(given, place)
        if value not in (None, False, [], {}, *_at(known, place))
    ]
    return asked + [key for key in given if key not in _KNOWN]


def decides(session: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether speech is looked for in a session, and whether it is answered unasked."""
    found = next(_at(session, "audio.input.turn_detection"), None)
    if not isinstance(found, dict):
        return False, False
    return True, found.get("create_response") is not False


def merged(had: Mapping[str, Any], changes: Mapping[str, Any]) -> Settings:
    """Both as one: nested settings are merged, anything else is replaced."""
    both = dict(had)
    for key, value in changes.items():
        old = both.get(key)
        both[key] = (
            merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
        )
    return both


def _deep(value: object) -> bool:
    """Whether something is nested so deeply that not everyone could read it."""
    level = [value]
    for _ in range(DEPTH):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return bool(level)


def _at(given: Mapping[str, Any], place: str) -> Iterator[Any]:
    """What stands at `a.b.c`, if anything does."""
    found: Any = given
    for key in place.split("."):
        if not isinstance(found, dict) or key not in found:
            return
        found = found[key]
    yield found


def _refuse(code: str, place: str, words: str) -> None:
    raise Refusal(code, f"session.{place} {words}", f"session.{place}")
