"""Run as a program: the way from the command line to the report with one more condition.

`Conditions` is loaded with one more field, and nothing else is changed. Counterpart:
`test_one_more_condition.py` runs it.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

NAME = "simulator.protocol.conditions"
BEFORE = "    source: Source = field("
FIELD = '    colour: str = field(default="red", metadata=shown("What colour it all has"))\n'


def load_with_one_more() -> None:
    spec = importlib.util.find_spec(NAME)
    assert spec is not None
    assert spec.origin is not None
    source = Path(spec.origin).read_text("utf-8")
    assert source.count(BEFORE) == 1
    module = ModuleType(NAME)
    sys.modules[NAME] = module
    exec(compile(source.replace(BEFORE, FIELD + BEFORE), spec.origin, "exec"), vars(module))


def main(folder: Path) -> None:
    load_with_one_more()
    from typer.testing import CliRunner

    from simulator.agent import Traits
    from simulator.cli import run as run_command
    from simulator.cli.main import app
    from simulator.cli.run import RunOrder
    from simulator.protocol.conditions import Conditions
    from simulator.recording.manifest import describe, manifest_from_json, manifest_to_dict
    from simulator.report import rows
    from simulator.testing import prepared
    from tests.report.conftest import read

    # The command line.
    given: list[RunOrder] = []

    def taken(order: RunOrder) -> int:
        given.append(order)
        return 0

    words = ["run", "demo", "--agent", "oracle", "--colour", "blue"]
    with patch.object(run_command, "run_order", taken):
        assert CliRunner().invoke(app, words).exit_code == 0
    assert "What colour it all has" in CliRunner().invoke(app, ["run", "--help"]).output
    blue, red = given[0].conditions, Conditions()
    assert (blue.colour, red.colour) == ("blue", "red")  # type: ignore[attr-defined]
    assert blue != red

    # The manifest, and one that was written before there was the field.
    made = describe(prepared(), reference="x", traits=Traits(summary=""), conditions=blue)
    body = manifest_to_dict(made)
    assert manifest_from_json(json.dumps(body).encode()).conditions == blue
    del body["conditions"]["colour"]
    assert manifest_from_json(json.dumps(body).encode()).conditions == red

    with patch.object(rows, "find_trace", read):
        from_plan_to_report(folder / "run", red, blue)


def from_plan_to_report(out: Path, red: Any, blue: Any) -> None:
    from typer.testing import CliRunner

    from simulator.cli.main import app
    from simulator.judging.testing import said
    from simulator.measuring.trace import trace_from_json, trace_to_json
    from simulator.report.compare import compare, side_of
    from simulator.report.file import write_summary
    from simulator.report.summary import summarise
    from simulator.report.tables import tables
    from simulator.run.plan import AgentChoice, make_plan, read_plan
    from tests.report.conftest import PLAYED, judged, read

    agent = AgentChoice(label="x", reference="x")
    plan = make_plan([PLAYED], [agent], judges=["keypoints", "quiet"], conditions=[red, blue])
    judged(out, plan, lambda a: [said("Three.", at=9.5)] if a.conditions == blue else [])
    assert read_plan(out) == plan
    assert [a.id for a in plan.attempts] == [f"made-up--x--colour-{c}--1" for c in ("red", "blue")]
    for attempt in plan.attempts:
        trace = read(out / "recordings" / attempt.id)
        assert trace_from_json(trace_to_json(trace)).conditions == attempt.conditions
    summary = summarise(out)
    assert summary.apart == {"colour": ("red", "blue")}
    assert list(summary.by_agent) == ["x (colour red)", "x (colour blue)"]
    assert (summary.score.mean, summarise(out, mix=True).score.mean is None) == (None, False)
    stored = json.loads(write_summary(out, summary).read_text("utf-8"))
    assert [a["conditions"]["colour"] for a in stored["attempts"]] == ["red", "blue"]
    for table in tables(out).values():
        assert {r["colour"] for r in table} == {"red", "blue"}
    sides = (side_of(out, name) for name in summary.by_agent)
    assert compare(*sides).notes == ("other conditions: colour is red in A and blue in B",)
    shown = CliRunner().invoke(app, ["report", str(out)])
    assert "Unlike conditions: colour is red and blue." in " ".join(shown.output.split())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
