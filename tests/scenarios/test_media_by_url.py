"""Scenarios on clips of others: named by address and hash, never held here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simulator.authoring.check import check_all
from simulator.authoring.findings import Level
from simulator.media.cache import Cache
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.load import bundled_scenarios, load_scenario
from simulator.scenario.types import Clip, Scenario

SCENARIOS = [
    scenario
    for scenario in map(load_scenario, bundled_scenarios())
    if any(clip.url for clip in scenario.clips.values())
]
PINNED = re.compile(r"https://raw\.githubusercontent\.com/[^/]+/[^/]+/[0-9a-f]{40}/")


def _of_others(scenario: Scenario) -> list[Clip]:
    return [clip for clip in scenario.clips.values() if clip.url]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.id)
def test_a_clip_of_others_is_pinned_to_a_commit(scenario: Scenario) -> None:
    for clip in _of_others(scenario):
        assert clip.url is not None
        assert PINNED.match(clip.url), clip.url


def test_one_address_has_one_hash_and_one_licence_everywhere() -> None:
    said: dict[str | None, tuple[str | None, str | None]] = {}
    for scenario in SCENARIOS:
        for clip in _of_others(scenario):
            stated = (clip.sha256, clip.licence)
            assert said.setdefault(clip.url, stated) == stated, (scenario.id, clip.name)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.id)
def test_what_an_answer_needs_has_been_played_before_it_is_due(scenario: Scenario) -> None:
    """Jumps change the order of a clip, so times of the clip do not tell."""
    for turn in scenario.turns:
        if not isinstance(turn.expect, Answer):
            continue
        until = [
            (earlier.clip, earlier.start, earlier.end)
            for earlier in scenario.turns[: turn.index]
            if earlier.clip == turn.clip
        ]
        due = turn.end if turn.event is None else turn.event
        until.append((turn.clip, turn.start, due))
        for begin, _ in turn.evidence:
            assert any(first <= begin < last for _, first, last in until), (turn.id, begin)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda s: s.id)
def test_quiet_is_asked_for_as_well_as_answers(scenario: Scenario) -> None:
    """Else an agent that never stops talking would get full marks."""
    wanted = [isinstance(turn.expect, Answer) for turn in scenario.turns]
    assert sum(wanted) >= 2
    assert len([turn for turn in scenario.turns if turn.expect.kind == "quiet"]) >= 2


def test_the_clips_last_as_long_as_the_scenarios_say(media_dir: Path, tmp_path: Path) -> None:
    assert media_dir.is_dir()
    names = [str(path) for path in bundled_scenarios() if load_scenario(path) in SCENARIOS]
    for checked in check_all(names, Cache(tmp_path)):
        wrong = [f for f in checked.findings if f.level is Level.ERROR]
        assert not wrong, checked.file
