"""A kind of turn that the project does not know goes all the way, from YAML to the report.

What it needs is what `tests/trial_kinds.py` has: the kind and its judge. Nothing in `simulator/`
asks which kind it is, and who reads a recording need not know it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simulator.agent import Traits
from simulator.authoring.schema import json_schema
from simulator.authoring.sheet import Sheet
from simulator.authoring.transcript import transcript
from simulator.errors import RecordingError, ScenarioError
from simulator.judging.judge import Verdict
from simulator.judging.run import judge_recording
from simulator.judging.testing import Scripted, answers, quiet, said, scenario, trace
from simulator.measuring.metrics.turns import session_metrics
from simulator.measuring.trace import Trace, trace_to_json
from simulator.protocol.conduct import Conduct, Wants
from simulator.protocol.events import AgentSpeech, Event, Outcome, Ready
from simulator.recording.manifest import describe, manifest_from_json, manifest_to_dict
from simulator.report import rows
from simulator.report.summary import summarise
from simulator.report.tables import tables
from simulator.report.timeline.stream import stream_timeline
from simulator.run.accounting import AttemptResult, Ledger
from simulator.run.plan import AgentChoice, estimate, make_plan, open_run, read_plan
from simulator.scenario.expectations.kinds import trying
from simulator.scenario.load import load_scenario
from simulator.scenario.types import Scenario
from simulator.session.script import FIRST_LEAD, Script
from simulator.testing import Rehearsal, Sketch, asks, prepared
from simulator.testing import quiet as silence
from tests.report.conftest import read
from tests.trial_kinds import Choice, ChoiceJudge, Telling

WHERE = Choice(options=("left", "right", "nowhere"), gold=("left", "nowhere"))
YAML = """\
version: 1
id: where
clip: own.mp4
voices: {guest: x}
turns:
  - id: ask
    until: 5
    say:
      text: Where is it?
      file: say.flac
    choice:
      - left
      - right
      - nowhere
    right: [left, nowhere]
    evidence:
      - [1, 2]
  - id: rest
    until: 9
    quiet: true
"""


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    with trying(Choice), trying(Telling):
        yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own.mp4").write_bytes(b"clip")
    (tmp_path / "say.flac").write_bytes(b"sound")
    return tmp_path


def load(folder: Path, text: str) -> Scenario:
    path = folder / "where.yaml"
    path.write_text(text, encoding="utf-8")
    return load_scenario(path)


def test_it_is_read_from_yaml(folder: Path) -> None:
    loaded = load(folder, YAML)
    assert loaded.turns[0].expect == WHERE
    assert loaded.warnings == ()
    assert estimate(loaded) > 9


@pytest.mark.parametrize(
    ("written", "instead", "problem"),
    [
        ("[left, nowhere]", "[up]", "15: turns[0].right[0]: 'up' is no option; allowed: left"),
        ("- right\n", "- left\n", "13: turns[0].choice[1]: 'left' is an option already"),
        ("    right: [left, nowhere]\n", "", "11: turns[0].choice: needs `right` beside it"),
        ("rest\n", "rest\n    right: left\n", "is allowed only with `choice`"),
        ("rest\n", "rest\n    choice: [a]\n", "has `quiet` and `choice`; a turn has exactly one"),
        ("    right:", "    rihgt:", "15: turns[0].rihgt: unknown key; did you mean `right`?"),
        ("\n      - left\n      - right\n      - nowhere", " left", "choice: must be a list"),
        ("[left, nowhere]", "[left, nowhere]\n    telling: x", "has `choice` and `telling`"),
        ("say.flac\n", "say.flac\n      voice: guest\n", "turns[0].choice: nothing asks for it"),
    ],
)
def test_what_is_wrong_with_it_is_told(
    folder: Path, written: str, instead: str, problem: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(folder, YAML.replace(written, instead, 1))
    assert problem in str(caught.value)


def test_editors_know_it() -> None:
    turn = json_schema()["$defs"]["TurnModel"]
    assert {"required": ["choice"]} in turn["oneOf"]
    assert turn["properties"]["right"]["description"] == "The right options, or the right one."


def test_two_kinds_cannot_have_one_key(folder: Path) -> None:
    with trying(Choice), pytest.raises(TypeError, match="'choice' of 'choice' is another's"):
        load(folder, YAML)


# ------------------------------------------------------------------ playing


def speech(*spans: tuple[float, float]) -> list[tuple[float, Event]]:
    starts: list[tuple[float, Event]] = [(t, AgentSpeech(edge="start")) for t, _ in spans]
    return sorted([*starts, *((t, AgentSpeech(edge="end")) for _, t in spans)], key=lambda e: e[0])


def sketches() -> tuple[Sketch, ...]:
    asked = asks("ask", 5)
    tells = Sketch(
        id="tell",
        seconds=20,
        expect=Telling(happens=("A cup falls.", "It breaks.")),
        said=(("user", 0.5, 2.0),),
        within=4,
    )
    chosen = Sketch(id=asked.id, seconds=asked.seconds, expect=WHERE, said=asked.said)
    return chosen, tells, silence("rest", 6)


def test_the_stream_waits_for_it_and_it_is_drawn(tmp_path: Path) -> None:
    made = prepared(*sketches())
    start = 1.0 + FIRST_LEAD
    tell = start + 5 + 0.8 + 1 + 1.5  # an answer of 1 s, 0.8 s after it fell due, and a rest
    told = [(tell + 5, tell + 6), (tell + 12, tell + 13), (tell + 20.5, tell + 21.5)]
    says = speech((start + 5.8, start + 6.8), *told)
    script = Script(made, instructions="")
    played = Rehearsal(script=script).run([(1.0, Ready()), *says])
    assert [t for _, t in played.plays] == pytest.approx([start, tell, tell + 21.5 + 1.5], abs=0.1)
    assert script.owners == {"~1": "ask", "~2": "tell", "~3": "tell", "~4": "tell"}
    timeline = stream_timeline(made)
    Sheet(made, timeline).draw(tmp_path / "sheet.png")
    assert (tmp_path / "sheet.png").stat().st_size > 10_000
    words = transcript(made, timeline)
    assert "wants choice: left or nowhere" in words
    assert "    B: right" in words
    assert "wants told as it happens: A cup falls.; It breaks." in words


def test_its_recording_can_be_read_by_who_does_not_know_it() -> None:
    manifest = describe(prepared(*sketches()), reference="a", traits=Traits(summary=""))
    body = manifest_to_dict(manifest)
    assert [t["conduct"] for t in body["turns"]] == [
        {"wants": "answer", "many": False},
        {"wants": "answer", "many": True},
        {"wants": "silence", "many": False},
    ]
    again = manifest_from_json(json.dumps(body).encode())
    assert [t.conduct for t in again.turns][:2] == [
        Conduct(wants=Wants.ANSWER),
        Conduct(wants=Wants.ANSWER, many=True),
    ]
    del body["turns"][0]["conduct"]
    with pytest.raises(RecordingError, match="expects 'choice', and it is not recorded"):
        manifest_from_json(json.dumps(body).encode())


# ------------------------------------------------------------------ judging and reporting

PLAYED = scenario(
    Scripted(id="ask", expect=WHERE, asks="Where is it?"),
    quiet("calm"),
    Scripted(id="tell", expect=Telling(happens=("A cup falls.",)), asks="Tell me what happens."),
    answers("count", "There are three.", ("three",)),
    id="where",
)


def session(*says: tuple[str, float], **how: Any) -> Trace:
    spoken = [said(text, at=at, seconds=0.3) for text, at in says]
    return trace(PLAYED, *spoken, **how)


def test_attribution_and_numbers_go_by_its_conduct() -> None:
    made = session(("left", 9.2), ("right", 9.6), ("A cup falls.", 29.2), ("It breaks.", 30.7))
    assert [(a.turn, a.flags) for a in made.attribution] == [
        ("ask", ()),
        ("ask", ("extra", "joined")),
        ("tell", ()),
        ("tell", ()),
    ]
    ask, _, tell, count = session_metrics(made).turns
    assert ask.latency_s == pytest.approx(0.2)
    assert ask.extra == 1
    assert (tell.latency_s, tell.latency_invalid, tell.extra) == (None, "not_asked", 0)
    assert (tell.responses, tell.missed, count.missed) == (2, False, True)


def judged(folder: Path, made: Trace) -> Verdict:
    """The verdict on a session, kept in a new folder."""
    folder.mkdir()
    (folder / "trace.json").write_bytes(trace_to_json(made))
    (found,) = asyncio.run(judge_recording(folder, PLAYED, [ChoiceJudge()], read=read))
    return found


def test_it_is_judged_or_settled(tmp_path: Path) -> None:
    assert judged(tmp_path / "a", session(("left", 9.6))).score == 1.0
    assert judged(tmp_path / "b", session(("right", 9.6))).score == 0.0
    gone = judged(tmp_path / "c", session(outcome="agent_failed", reason="left", reached=0))
    assert (gone.score, gone.content, gone.why) == (0.0, 0.0, "not reached: agent failed (left)")


def test_it_is_planned_and_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "run"
    agents = [AgentChoice(label=name, reference=name) for name in ("left", "right")]
    plan = make_plan([PLAYED], agents, judges=["choices"])
    open_run(out, plan)
    with Ledger(out) as ledger:
        for attempt in plan.attempts:
            ledger.started(attempt)
            judged(out / "recordings" / attempt.id, session((attempt.agent, 9.6)))
            ledger.ended(AttemptResult(attempt=attempt, outcome=Outcome.COMPLETED))
    monkeypatch.setattr(rows, "find_trace", read)
    monkeypatch.setattr("simulator.scenario.expectations.kinds._KINDS", [])
    planned = read_plan(out).scenarios[0].turns
    assert [t.conduct.wants.value for t in planned] == ["answer", "silence", "answer", "answer"]
    summary = summarise(out)
    left, right = summary.by_agent["left"], summary.by_agent["right"]
    assert (left.answers.expected, left.quiet.expected) == (3, 1)
    assert (left.answers.right, right.answers.right) == (1, 0)
    assert left.latency_s.n == 1
    found = [t for t in tables(out)["turns"] if t["turn"] == "ask"]
    assert [(t["expect"], t["score"]) for t in found] == [("choice", 1.0), ("choice", 0.0)]
