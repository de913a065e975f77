"""The bundled agents: all load, one opens for real, and the reference's examples work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simulator.agent import Agent, Dial, Launch
from simulator.errors import InputError
from simulator.plugins import available, content_root, load, load_agent

NAMES = {"dead", "late", "metronome", "oracle", "parrot", "silent", "talkative"}
CUED = {"late", "oracle", "talkative"}


def test_all_are_listed_with_a_summary() -> None:
    listed = {a.name: a for a in available("agents")}
    assert set(listed) >= NAMES
    assert not [a for a in listed.values() if a.error or not a.summary]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_meets_both_contracts_and_has_its_traits(name: str) -> None:
    agent = load_agent(name)
    assert isinstance(agent, Agent)
    assert agent.traits.cued == (name in CUED)
    assert not agent.traits.computes_here
    path = content_root("agents") / f"{name}.py"
    assert type(load("responders", f"{path}:{type(agent).__name__}")).__name__ == name.capitalize()


async def test_one_opens_in_a_process_with_its_options(tmp_path: Path) -> None:
    agent = load_agent("oracle", {"delay": "1.5", "mode": "text"})
    assert agent.secrets() == ()
    async with agent.open(Launch(log=tmp_path / "oracle.log")) as dial:
        assert isinstance(dial, Dial)
        (token,) = agent.secrets()
        assert dial.headers["Authorization"] == f"Bearer {token}"


def test_the_examples_of_the_reference_are_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINE_API_KEY", "a key")
    text = (content_root("agents") / "README.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    examples = [block for block in blocks if "traits = " in block]
    assert len(examples) == 2
    for number, example in enumerate(examples):
        path = tmp_path / f"example{number}.py"
        path.write_text(example)
        assert isinstance(load_agent(str(path)), Agent)
    monkeypatch.delenv("MINE_API_KEY")
    with pytest.raises(InputError, match="MINE_API_KEY is not set"):
        load_agent(str(tmp_path / "example0.py"))
    assert not NAMES - set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
