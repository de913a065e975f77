"""The cells of the release, with all their quirks."""

from __future__ import annotations

import pytest

from simulator.benchmarks.omniassistbench.texts import (
    MIXED,
    NO_GOLD,
    alternatives,
    clean,
    expectation,
    key_points,
    steps,
    task_of,
)
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.expectations.either import Either
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.taxonomy import TASKS


@pytest.mark.parametrize("gold", ["KEEP_QUIET", "KEEP QUIET", "KEEP QUIET.", "[KEEP QUIET]"])
def test_silence_in_its_spellings(gold: str) -> None:
    assert expectation(gold, "1. quiet") == (Quiet(), "")


def test_alternatives() -> None:
    assert alternatives('["a", "b", "a"]') == ("a", "b")
    assert alternatives("['a']") == ("a",)
    assert alternatives("a\n<OR>\nb <or> c") == ("a", "b", "c")
    assert alternatives("[not a list") == ("[not a list",)
    assert alternatives("[broken, list]") == ("[broken, list]",)


def test_silence_beside_an_answer_is_either() -> None:
    assert expectation("['KEEP QUIET', 'Wait.']", "") == (Either(), MIXED)
    assert expectation("KEEP_QUIET <OR> KEEP QUIET", "") == (Quiet(), "")
    assert expectation("", "1. a") == (Either(), NO_GOLD)


@pytest.mark.parametrize(
    "text",
    ["1. a\n2. b", r"1. a\n2. b", "1. a 2. b", "1.a 2.b", "1) a\n\n2) b", "['a', 'b']"],
)
def test_key_points_however_parted(text: str) -> None:
    assert key_points(text) == (("a",), ("b",))


def test_key_points_with_alternatives_and_numbers_inside() -> None:
    assert key_points('1. a\n2. ["b", "c"]') == (("a",), ("b", "c"))
    assert key_points("three of 12. and more") == (("three of 12. and more",),)
    assert key_points("1. add 2 eggs 2. stir") == (("add 2 eggs",), ("stir",))
    assert key_points("1. 3.5 litres") == (("3.5 litres",),)
    assert key_points("") == ()


def test_a_numbered_gold_is_one_answer() -> None:
    found, _ = expectation("1. Cut\n2. ['Press', 'Push']", "1. cut")
    assert found == Answer(text="1. Cut\n2. Press", key_points=(("cut",),))


def test_tasks_however_spelt() -> None:
    for task in TASKS.values():
        assert task_of(f"{task.name.upper()} ") == task_of(task.code) == task.code
    assert task_of("Multi-Events triggered response") == "MER"
    assert task_of("something else") is None


def test_empty_cells() -> None:
    assert [clean(c) for c in (None, float("nan"), " ", "null", "None")] == ["", "", "", "", "None"]


def test_steps() -> None:
    assert steps(r"First, cut.\nThen press.") == ("First, cut.", "Then press.")
