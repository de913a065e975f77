"""Every condition that can be asked for is an option of `run`, made of its field."""

from __future__ import annotations

from dataclasses import fields, replace
from enum import Enum
from typing import Any

import pytest
from typer.testing import CliRunner

from simulator.cli import run as run_command
from simulator.cli.main import app
from simulator.cli.run import RunOrder
from simulator.protocol.conditions import USUAL, Conditions, has_option, words_of, written
from tests.protocol.conditions import another

OPTIONS = [f for f in fields(Conditions) if has_option(f)]


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch) -> list[RunOrder]:
    """What `run` was asked for, instead of doing it."""
    given: list[RunOrder] = []

    def taken(order: RunOrder) -> int:
        given.append(order)
        return 0

    monkeypatch.setattr(run_command, "run_order", taken)
    return given


def run(*words: str) -> Any:
    return CliRunner().invoke(app, ["run", "demo", "--agent", "oracle", *words])


def test_without_options_all_is_as_usual(orders: list[RunOrder]) -> None:
    assert run().exit_code == 0
    assert orders[0].conditions == USUAL
    assert (orders[0].scenarios, orders[0].agents) == (("demo",), ("oracle",))


@pytest.mark.parametrize("field", OPTIONS, ids=lambda f: f.name)
def test_each_condition_is_an_option(orders: list[RunOrder], field: Any) -> None:
    value = another(field.name)
    option = f"--{field.name.replace('_', '-')}"
    words = [option] if isinstance(value, bool) else [option, written(value)]
    assert run(*words).exit_code == 0
    assert orders[0].conditions == replace(USUAL, **{field.name: value})
    help_text = " ".join(CliRunner().invoke(app, ["run", "--help"]).output.split())
    assert words_of(field) in help_text


@pytest.mark.parametrize("field", [f for f in fields(Conditions) if f not in OPTIONS])
def test_what_follows_from_the_command_is_no_option(orders: list[RunOrder], field: Any) -> None:
    assert run(f"--{field.name}", written(another(field.name))).exit_code == 2
    assert orders == []


@pytest.mark.parametrize(
    "field", [f for f in OPTIONS if isinstance(f.default, Enum)], ids=lambda f: f.name
)
def test_a_word_that_is_none_is_refused_with_those_that_are(
    orders: list[RunOrder], field: Any
) -> None:
    refused = run(f"--{field.name}", "sometimes")
    assert refused.exit_code == 2
    for word in type(field.default):
        assert repr(str(word)) in refused.output
    assert orders == []
