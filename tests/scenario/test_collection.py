"""A collection gives its scenarios what they leave out, and a recording keeps both."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simulator.errors import InputError, ScenarioError
from simulator.plugins import content_root
from simulator.recording.manifest import AgentInfo, Manifest, ScenarioInfo
from simulator.recording.writer import RecordingWriter
from simulator.scenario.load import find_scenario, load_recorded_scenario, load_scenario
from simulator.scenario.schema import CollectionModel
from simulator.scenario.types import Pace, Scenario

SHARED = """\
version: 1
title: Kitchen
pace: continuous
voices:
  guest: somebody
limits:
  answer_within: 4
  quiet_tail: 1
canvas:
  fps: 25
licences:
  media/special.mp4: CC-BY-4.0
  media/*.mp4: CC0-1.0
"""
LEAST = """\
version: 1
id: {}
clip: {}
limits:
  quiet_tail: 2
turns:
  - until: 5
    say:
      text: Hello
      file: hello.wav
      voice: guest
    quiet: true
"""


@pytest.fixture
def kitchen(tmp_path: Path) -> Path:
    folder = tmp_path / "kitchen"
    (folder / "media").mkdir(parents=True)
    (folder / "one").mkdir()
    for name in ("media/own.mp4", "media/special.mp4", "one/hello.wav", "hello.wav"):
        (folder / name).write_bytes(b"")
    (folder / "collection.yaml").write_text(SHARED)
    (folder / "one" / "one.yaml").write_text(LEAST.format("one", "../media/own.mp4"))
    (folder / "two.yaml").write_text(LEAST.format("two", "media/special.mp4"))
    return folder


def test_every_key_is_in_the_reference() -> None:
    text = (content_root("scenarios") / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```yaml\n([^`]*licences:[^`]*)```", text)
    keys = re.findall(r"^(\w+):", block, re.MULTILINE)
    assert set(keys) == set(CollectionModel.model_fields)


def test_what_is_left_out_comes_from_the_collection(kitchen: Path) -> None:
    one = load_scenario(kitchen / "one" / "one.yaml")
    two = load_scenario(kitchen / "two.yaml")
    for scenario in (one, two):
        assert scenario.pace is Pace.CONTINUOUS
        assert scenario.limits.answer_within == 4
        assert scenario.limits.quiet_tail == 2, "what it says itself comes first"
        assert scenario.canvas.fps == 25
        assert scenario.canvas.width == 1280
    assert one.clips["main"].path == kitchen / "media" / "own.mp4"
    assert one.clips["main"].licence == "CC0-1.0"
    assert two.clips["main"].licence == "CC-BY-4.0", "the first line that fits"


def test_the_hash_holds_what_was_given(kitchen: Path) -> None:
    before = load_scenario(kitchen / "two.yaml").sha256
    (kitchen / "collection.yaml").write_text(SHARED.replace("4\n", "5\n"))
    assert load_scenario(kitchen / "two.yaml").sha256 != before


def test_a_file_outside_the_collection(kitchen: Path) -> None:
    (kitchen.parent / "x.mp4").write_bytes(b"")
    path = kitchen / "one" / "one.yaml"
    path.write_text(LEAST.format("one", "../../x.mp4"))
    with pytest.raises(ScenarioError, match="leads out of the collection's folder"):
        load_scenario(path)
    (kitchen / "collection.yaml").unlink()
    path.write_text(LEAST.format("one", "../media/own.mp4"))
    with pytest.raises(ScenarioError, match="leads out of the scenario's folder"):
        load_scenario(path)


def test_two_folders_up_is_another_matter(kitchen: Path) -> None:
    deep = kitchen / "a" / "b"
    deep.mkdir(parents=True)
    for name in ("own.mp4", "hello.wav"):
        (deep / name).write_bytes(b"")
    (deep / "deep.yaml").write_text(LEAST.format("deep", "own.mp4"))
    with pytest.raises(ScenarioError, match="guest"):
        load_scenario(deep / "deep.yaml")


def test_a_link_to_a_collection_that_is_gone_is_an_error(kitchen: Path) -> None:
    (kitchen / "collection.yaml").rename(kitchen.parent / "gone")
    (kitchen / "collection.yaml").symlink_to(kitchen.parent / "shared.yaml")
    with pytest.raises(InputError, match=r"collection\.yaml"):
        load_scenario(kitchen / "two.yaml")


def test_all_that_is_wrong_with_a_collection(kitchen: Path) -> None:
    file = kitchen / "collection.yaml"
    file.write_text("version: 1\npase: wait\nlimits:\n  reply_max: 0\nlicences:\n  - x\n")
    with pytest.raises(ScenarioError) as caught:
        load_scenario(kitchen / "two.yaml")
    assert [p.removeprefix(f"{file}:")[:10] for p in caught.value.problems] == [
        "2: pase: u",
        "4: limits.",
        "5: licence",
    ]


def test_a_folder_with_a_collection_and_one_scenario(kitchen: Path) -> None:
    assert find_scenario(kitchen) == kitchen / "two.yaml"
    (kitchen / "two.yaml").unlink()
    with pytest.raises(InputError, match=r"no \.yaml file"):
        find_scenario(kitchen)


def _plain(scenario: Scenario) -> dict[str, object]:
    """What judging reads of it, but for its turns."""
    return {k: getattr(scenario, k) for k in ("id", "sha256", "limits", "canvas", "pace", "task")}


def test_a_recording_is_complete_by_itself(kitchen: Path, tmp_path: Path) -> None:
    manifest = Manifest(
        scenario=ScenarioInfo(id="two", sha256="00"), agent=AgentInfo(reference="oracle")
    )
    scenario = load_scenario(kitchen / "two.yaml")
    folder = tmp_path / "recording"
    RecordingWriter(folder, manifest, scenario=scenario.path).close()
    assert (folder / "collection.yaml").read_text() == SHARED
    again = load_recorded_scenario(folder)
    assert [t.end for t in again.turns] == [t.end for t in scenario.turns]
    assert _plain(again) == _plain(scenario)
    (folder / "collection.yaml").unlink()
    (tmp_path / "collection.yaml").write_text(SHARED)
    with pytest.raises(ScenarioError, match="guest"):
        load_recorded_scenario(folder)
