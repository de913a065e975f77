"""The example of judges/README.md runs, and its figures are those that are measured."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from simulator.judging.judge import VerdictState
from simulator.judging.testing import answers, question, said
from simulator.plugins import load_judge

HERE = Path(__file__).parent
README = (HERE.parents[1] / "judges" / "README.md").read_text("utf-8")


async def test_the_example_judge_works(tmp_path: Path) -> None:
    code = re.search(r"```python\n(from typing.*?)```", README, re.DOTALL)
    assert code is not None
    path = tmp_path / "brief.py"
    path.write_text(code[1])
    judge = load_judge(str(path), {"words": "2"})
    turn = answers("count", "There are three.")
    short = await judge.judge(question(turn, said("Three.", at=0.6)))
    long = await judge.judge(question(turn, said("There are three.", at=0.6)))
    assert (short.state, short.score, short.why) == (
        VerdictState.SCORED,
        1.0,
        "1 words of at most 2",
    )
    assert long.score == 0.0


def test_the_sets_have_the_stated_sizes() -> None:
    for name in ("pairs.yaml", "pairs_fresh.yaml"):
        cases = yaml.safe_load((HERE / name).read_text("utf-8"))
        right = sum(len(c.get("right", ())) for c in cases)
        wrong = sum(len(c.get("wrong", ())) for c in cases)
        stated = re.search(rf"`{name}`[^|]*\| (\d+) \| (\d+) \|", README)
        assert stated is not None
        assert (int(stated[1]), int(stated[2])) == (right, wrong)
