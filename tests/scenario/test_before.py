"""Prior knowledge that is seen: turns of their own, first and not scored."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.errors import ScenarioError
from simulator.scenario.expectations.either import Either
from simulator.scenario.load import load_scenario
from simulator.scenario.types import Scenario

HEAD = "version: 1\nid: made\ngoal: Three bottles\nclips:\n  desk: own.mp4\n  shown: own.mp4\n"
TURNS = "turns:\n  - clip: desk\n    until: 5\n    quiet: true\n  - until: 9\n    quiet: true\n"
STEPS = "  steps:\n    - Take it away\n    - Put it back\n"
SHOWN = "  clip: shown\n  from: 1\n  until: 3.5\n"


def load(tmp_path: Path, prior: str, turns: str = TURNS) -> Scenario:
    (tmp_path / "own.mp4").write_bytes(b"clip")
    path = tmp_path / "made.yaml"
    path.write_text(HEAD + "prior:\n" + prior + turns, encoding="utf-8")
    return load_scenario(path)


def test_a_card_and_an_example_come_first(tmp_path: Path) -> None:
    made = load(tmp_path, "  as:\n    - clip\n    - card\n" + STEPS + SHOWN)
    assert [(t.id, t.index) for t in made.turns] == [
        ("prior-card", 0),
        ("prior-clip", 1),
        ("t1", 2),
        ("t2", 3),
    ]
    card, example, first, _ = made.turns
    assert card.card == ("Three bottles", "1. Take it away", "2. Put it back")
    assert (card.start, card.end) == (0.0, 4.0)
    assert (example.clip, example.start, example.end) == ("shown", 1.0, 3.5)
    assert all(t.prior and t.expect == Either() for t in (card, example))
    assert not first.prior
    assert (first.clip, first.start) == ("desk", 0.0)


def test_told_in_text_there_are_no_more_turns(tmp_path: Path) -> None:
    made = load(tmp_path, "  as: text\n" + STEPS)
    assert [t.id for t in made.turns] == ["t1", "t2"]
    assert made.subtitle == "Three bottles"


def test_subtitles_stand_below_the_goal(tmp_path: Path) -> None:
    made = load(tmp_path, "  as: subtitles\n" + STEPS)
    assert made.subtitle == "Three bottles\n1. Take it away\n2. Put it back"


def test_a_card_may_stand_longer(tmp_path: Path) -> None:
    assert load(tmp_path, "  as: card\n  card_for: 12\n" + STEPS).turns[0].end == 12.0


WRONG = {
    "no steps": ("prior.steps: is missing: needed with `as: card`", "  as: card\n"),
    "no clip": ("prior.clip: is missing: needed with `as: clip`", "  as: clip\n  until: 3\n"),
    "no end": ("prior.until: is missing", "  as: clip\n  clip: shown\n"),
    "no such clip": ("'none' is no clip; allowed: desk, shown", "  as: clip\n  clip: none\n"),
    "a clip for nothing": ("prior.clip: is allowed only with `as: clip`", STEPS + SHOWN),
    "time for nothing": ("prior.card_for: is allowed only with", STEPS + "  card_for: 3\n"),
    "a form": ("'song' is not known; allowed: text, subtitles", "  as: song\n" + STEPS),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told(tmp_path: Path, name: str) -> None:
    expected, prior = WRONG[name]
    with pytest.raises(ScenarioError, match=expected.replace("(", r"\(")):
        load(tmp_path, prior)


def test_the_ids_are_taken(tmp_path: Path) -> None:
    turns = TURNS.replace("clip: desk", "clip: desk\n    id: prior-card")
    with pytest.raises(ScenarioError, match="'prior-card' is the id of a turn"):
        load(tmp_path, "  as: card\n" + STEPS, turns)
