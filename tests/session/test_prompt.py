"""What agents are told in words: from a template, and nothing about what is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.cli.run import find_template
from simulator.errors import InputError
from simulator.scenario.types import Prior, Scenario
from simulator.session.prompt import DEFAULT, TEMPLATES, Template, instructions


def scenario(goal: str = "", prior: Prior = Prior()) -> Scenario:  # noqa: B008 (frozen)
    return Scenario(
        id="s", path=Path("s.yaml"), sha256="0" * 64, clips={}, turns=(), goal=goal, prior=prior
    )


STEPS = ("Take the left bottle", "Put it back")


def test_the_two_forms_differ_in_how_quiet_is_kept() -> None:
    assert "[KEEP QUIET]" in instructions(scenario())
    assert "[KEEP QUIET]" not in instructions(scenario(), TEMPLATES["spoken"])
    assert "say nothing at all" in instructions(scenario(), TEMPLATES["spoken"])


def test_goal_and_steps_are_told_only_where_there_are_any() -> None:
    bare = instructions(scenario())
    assert "goal" not in bare
    assert "steps" not in bare
    told = instructions(scenario("Three {steps} bottles", Prior(steps=STEPS)))
    assert "Their goal: Three {steps} bottles.\n\n" in told
    assert told.endswith("in this order:\n1. Take the left bottle\n2. Put it back")


def test_prior_knowledge_that_is_seen_is_announced_and_not_told() -> None:
    prior = Prior(steps=STEPS, forms=("card", "clip"))
    told = instructions(scenario(prior=prior))
    assert "left bottle" not in told
    assert told.endswith("which is not the person's own.")
    assert "a card with the steps, and then an example" in told
    assert "First you are shown" not in instructions(scenario(prior=Prior(steps=STEPS)))
    assert "steps" not in instructions(scenario(prior=Prior(steps=STEPS, forms=("subtitles",))))


def test_an_own_template_is_recorded_by_name_and_hash(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text("Be kind. Else {token}.\n\nGoal {goal}\n\n{steps}\n", encoding="utf-8")
    template = find_template(str(file))
    assert instructions(scenario("Tea"), template) == "Be kind. Else [KEEP QUIET].\n\nGoal Tea"
    assert template.recorded.startswith("mine.txt#")
    assert DEFAULT.recorded == "written"
    assert Template(name="written", text="Say so.").recorded != "written"


def test_wrong_templates_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"--prompt 'spokn': no such.*named ones: written, spoken"):
        find_template("spokn")
    with pytest.raises(
        InputError, match=r"template x: \{aim\} is no placeholder; allowed: \{token"
    ):
        Template(name="x", text="The {aim}")
    with pytest.raises(InputError, match="0 characters"):
        Template(name="x", text="")
    binary = tmp_path / "mine.bin"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="cannot be read as UTF-8"):
        find_template(str(binary))
