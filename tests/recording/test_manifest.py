"""The manifest says all that is needed of a session, and no path of the machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simulator.agent import Traits
from simulator.errors import RecordingError
from simulator.media.timeline import Asset, Prepared, PreparedTurn, Spoken
from simulator.protocol.conditions import Conditions, Video
from simulator.recording.manifest import (
    AgentInfo,
    Manifest,
    ScenarioInfo,
    describe,
    manifest_from_json,
    manifest_to_dict,
)
from simulator.recording.records import FORMAT_VERSION
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.types import (
    Clip,
    Say,
    Scenario,
    Turn,
)

ROOT = Path("/home/somebody/.cache/omnistage/parts/ab/abcdef")


def prepared() -> Prepared:
    turn = Turn(
        id="count",
        index=0,
        clip="main",
        start=1.0,
        end=5.0,
        instructions=(Say(text="How many?", sound=Path("/home/somebody/count.flac")),),
        expect=Answer(text="Three."),
        within=6.0,
    )
    scenario = Scenario(
        id="bottles",
        path=Path("/home/somebody/bottles.yaml"),
        sha256="ab" * 32,
        clips={"main": Clip(name="main", path=Path("/home/somebody/clip.mp4"))},
        turns=(turn,),
    )
    return Prepared(
        scenario=scenario,
        turns=(
            PreparedTurn(
                turn=turn,
                segment=Asset(key="k1", path=ROOT / "segment", duration=4.0),
                hold=Asset(key="k2", path=Path("/home/somebody/loose"), duration=1.0),
                spoken=(Spoken(index=0, start=2.5, end=3.9),),
            ),
        ),
    )


def test_it_says_what_is_played_and_no_path_of_the_machine() -> None:
    manifest = describe(
        prepared(),
        reference="oracle",
        traits=Traits(summary="right answers", cued=True),
        dialect="/home/somebody/agents/words.py:Mine",
        agent_options={"delay": "0.6"},
        conditions=Conditions(video=Video.VP8),
        shared_host=True,
        attempt={"attempt": "a1"},
    )
    text = json.dumps(manifest_to_dict(manifest))
    assert "somebody" not in text
    assert manifest_from_json(text.encode()) == manifest
    (turn,) = manifest.turns
    assert turn.segment.file == "parts/ab/abcdef/segment"
    assert (turn.hold.asset, turn.hold.file) == ("k2", "")
    assert (turn.spoken[0].text, turn.spoken[0].start, turn.spoken[0].end) == (
        "How many?", 2.5, 3.9,
    )  # fmt: skip
    assert (turn.due, turn.within, turn.expect) == (3.9, 6.0, "answer")
    assert manifest.scenario.file == "bottles.yaml"
    assert manifest.agent.dialect == "words.py:Mine"
    assert manifest.scenario.pace == "wait"
    assert manifest.conditions == Conditions(video=Video.VP8)
    assert manifest.shared_host
    assert manifest.agent.cued
    assert manifest.software["aiortc"]
    assert manifest.host["cores"] >= 1


def test_another_version_says_which() -> None:
    value = manifest_to_dict(describe(prepared(), reference="a", traits=Traits(summary="")))
    value["version"] = FORMAT_VERSION + 1
    with pytest.raises(RecordingError, match=f"version {FORMAT_VERSION + 1}") as error:
        manifest_from_json(json.dumps(value).encode())
    assert error.value.hint


def test_a_condition_of_a_newer_version_is_not_read_as_none() -> None:
    value = manifest_to_dict(describe(prepared(), reference="a", traits=Traits(summary="")))
    value["conditions"]["fog"] = 3
    with pytest.raises(RecordingError, match=r"conditions\.fog: not known here") as error:
        manifest_from_json(json.dumps(value).encode())
    assert error.value.hint


@pytest.mark.parametrize(
    ("tracks", "why"),
    [
        ([], "none of them is sound"),
        ([("v", "video", 5004)], "none of them is sound"),
        ([("a", "audio", 5004), ("a", "video", 5006)], "two have one id"),
        ([("", "audio", 5004)], "or one has none"),
        ([("a", "audio", 5004), ("v", "video", 5004)], "two have one port"),
        ([("a", "audio", 5005)], "or one that of RTCP"),
    ],
)
def test_tracks_that_cannot_be_told_apart_are_refused(
    tracks: list[tuple[str, str, int]], why: str
) -> None:
    made = manifest_to_dict(
        Manifest(scenario=ScenarioInfo(id="s", sha256="0"), agent=AgentInfo(reference="a"))
    )
    made["tracks"] = [dict(zip(("id", "kind", "port"), track, strict=True)) for track in tracks]
    with pytest.raises(RecordingError, match=why):
        manifest_from_json(json.dumps(made).encode())
