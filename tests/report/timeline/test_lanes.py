"""A timeline as JSON, which others read."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from simulator.report.timeline.lanes import (
    TIMELINE_VERSION,
    LaneId,
    Span,
    Timeline,
    lane,
    timeline_from_json,
    timeline_to_json,
)

README = (Path(__file__).parents[3] / "recordings" / "README.md").read_text(encoding="utf-8")
SECTION = README[README.index("## Timeline") :].split("\n## ")[0]
MADE = Timeline(
    version=TIMELINE_VERSION,
    scenario="bottles",
    agent="",
    clock="stream",
    origin=None,
    end=9.0,
    lanes=(
        lane(
            "windows",
            [
                Span(start=3.0, end=9.0, kind="answer", turn="b", numbers={"within_s": 8.0}),
                Span(start=1.0, end=1.0, kind="answer", flags=("cut",)),
            ],
        ),
        lane("turns", []),
    ),
)


def test_what_is_empty_in_a_span_is_left_out() -> None:
    assert json.loads(timeline_to_json(MADE)) == {
        "version": 1,
        "scenario": "bottles",
        "agent": "",
        "clock": "stream",
        "origin": None,
        "end": 9.0,
        "lanes": [
            {
                "id": "windows",
                "spans": [
                    {"start": 1.0, "end": 1.0, "kind": "answer", "flags": ["cut"]},
                    {
                        "start": 3.0,
                        "end": 9.0,
                        "kind": "answer",
                        "turn": "b",
                        "numbers": {"within_s": 8.0},
                    },
                ],
            },
            {"id": "turns", "spans": []},
        ],
    }
    assert timeline_from_json(timeline_to_json(MADE)) == MADE


def test_lanes_that_this_version_does_not_know_are_kept() -> None:
    value = json.loads(timeline_to_json(MADE))
    value["lanes"].append({"id": "video/p2", "spans": [{"start": 0, "end": 1, "kind": "play"}]})
    read = timeline_from_json(json.dumps(value).encode())
    assert read.lanes[-1].id == "video/p2"
    assert read.lanes[:-1] == MADE.lanes
    assert read.spans("video") == ()


@pytest.mark.parametrize("wrong", [{"version": 2}, {"clock": "clip"}, {"lanes": [{"id": "turns"}]}])
def test_what_is_no_timeline_of_this_version_is_refused(wrong: dict[str, object]) -> None:
    value = json.loads(timeline_to_json(MADE)) | wrong
    with pytest.raises(ValidationError):
        timeline_from_json(json.dumps(value).encode())


def test_spans_of_a_turn() -> None:
    assert [s.start for s in MADE.spans("windows", turn="b")] == [3.0]
    assert MADE.spans("turns", turn="b") == MADE.spans("health") == ()


def test_the_readme_specifies_every_lane_and_field() -> None:
    assert f"version {TIMELINE_VERSION}" in SECTION
    lanes = set(re.findall(r"^\| `(\w+)` \|", SECTION, re.MULTILINE))
    assert lanes == set(get_args(LaneId))
    for cls in (Timeline, Span):
        for field in cls.__dataclass_fields__:
            assert f"`{field}`" in SECTION, field
