"""The format reference: its examples load, and it leaves no key out."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simulator.plugins import content_root
from simulator.scenario.expectations.answer import PathKeys
from simulator.scenario.keys import keys
from simulator.scenario.load import load_scenario
from simulator.scenario.schema import (
    BackgroundModel,
    CanvasModel,
    ClipModel,
    EmbeddedModel,
    GestureModel,
    LimitsModel,
    PriorModel,
    SayModel,
    ScenarioModel,
    ShowModel,
    VoiceModel,
    turn_model,
)
from simulator.scenario.taxonomy import TASKS
from simulator.scenario.values import Strict

TEXT = (content_root("scenarios") / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize(
    "model",
    [
        ScenarioModel,
        turn_model(),
        SayModel,
        EmbeddedModel,
        ShowModel,
        GestureModel,
        ClipModel,
        LimitsModel,
        CanvasModel,
        PriorModel,
        PathKeys,
        VoiceModel,
        BackgroundModel,
    ],
)
def test_every_key_has_an_example(model: type[Strict]) -> None:
    examples = "\n".join(BLOCKS)
    missing = {k for k in keys(model) if not re.search(rf"^[ -]*{k}:", examples, re.MULTILINE)}
    assert missing == set()


def test_every_task_is_listed() -> None:
    for task in TASKS.values():
        assert f"| `{task.code}` | {task.name} | {task.major} | {task.tier} |" in TEXT


def whole(block: str) -> str:
    """A file around an example, so that it can be read."""
    keys = set(re.findall(r"^(\w+):", block, re.MULTILINE))
    head = "" if "version" in keys else "version: 1\n"
    head += "" if "id" in keys else "id: made\n"
    head += "" if keys & {"clip", "clips"} else "clips:\n  desk: own.mp4\n  help: own.mp4\n"
    head += "" if "voices" in keys else "voices:\n  guest: x\n"
    if keys:
        turns = "" if "turns" in keys else "turns:\n  - until: 5\n    quiet: true\n"
        turns = turns.replace("- until", "- clip: desk\n    until") if "clips" in keys else turns
        return (head + block + turns).replace("clip: desk\n    clip", "clip")
    first = "turns:\n"
    if not block.lstrip().startswith("- ") or block.startswith("    "):
        first += "  - clip: desk\n    until: 30\n"
        if not re.search(r"^    (answer|quiet|either):", block, re.MULTILINE):
            first += "    either: true\n"
        if "answer:" in block:
            first += "    event: 20\n"
        return head + first + block
    if "until" not in block:
        block += "    until: 20\n"
    if not re.search(r"^    (answer|quiet|either):", block, re.MULTILINE):
        block += "    quiet: true\n"
    return head + first + block.replace("  - id: standing", "  - clip: desk\n    id: standing")


@pytest.mark.parametrize("index", range(len(BLOCKS)))
def test_examples_load(tmp_path: Path, index: int) -> None:
    text = whole(BLOCKS[index])
    if "clip: " not in text.split("turns:")[-1] and "clips:" in text:
        text = text.replace("turns:\n  - ", "turns:\n  - clip: desk\n    ", 1)
    for name in re.findall(r"[\w/-]+\.(?:mp4|mkv|flac|ttf)\b", re.sub(r"https?://\S+", "", text)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"")
    path = tmp_path / "made.yaml"
    if "licences:" in text:
        (tmp_path / "collection.yaml").write_text(BLOCKS[index], encoding="utf-8")
        text = whole("    quiet: true\n")
    path.write_text(text, encoding="utf-8")
    assert load_scenario(path, rendered=False).turns, text
