"""A panel over a made-up run, its disagreements, and people beside it."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

from simulator.cli.agreement import show_agreement
from simulator.errors import InputError
from simulator.judging.judge import Verdict, VerdictState
from simulator.judging.testing import answers, scenario
from simulator.judging.verdicts import JudgedTurn, JudgeFile, write_judge_file
from simulator.report.humans import read_humans
from simulator.report.panel import agreement, disagreements, read_panel
from simulator.run.plan import AgentChoice, make_plan, open_run

TURNS = ("a", "b", "c")
SCENARIOS = 8
KNOWN = [(f"s{n}--x--1", t) for n in range(SCENARIOS) for t in TURNS]


def given(judge: str, turn: str, points: float | None, said: str) -> Verdict:
    state = VerdictState.SCORED if points is not None else VerdictState.JUDGE_FAILED
    return Verdict(
        turn=turn,
        judge=judge,
        judge_version="1",
        state=state,
        score=None if points is None else 0.0,  # all of them late: content is what counts
        content=None if points is None else points / 5,
        details={"candidate": said} if said else {"missed": True},
    )


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """Three judges: `fair`, `kind` (a point more the longer), `odd` (fails each first turn)."""
    run = tmp_path / "run"
    played = [
        scenario(*(answers(t, "Three.") for t in (*TURNS, "missed")), id=f"s{n}")
        for n in range(SCENARIOS)
    ]
    plan = make_plan(played, [AgentChoice(label="x", reference="x")], judges=["fair"])
    open_run(run, plan)
    for n, attempt in enumerate(plan.attempts):
        folder = run / "recordings" / attempt.id
        folder.mkdir()
        worth = {t: float((n + i) % 4) for i, t in enumerate(TURNS)}
        words = {t: "word " * (1 + 7 * i) for i, t in enumerate(TURNS)}
        judges: Mapping[str, Mapping[str, float | None]] = {
            "fair": worth,
            "kind": {t: p + i for i, (t, p) in enumerate(worth.items())},
            "odd": {t: None if t == "a" else 5.0 - p for t, p in worth.items()},
        }
        for judge, points in judges.items():
            verdicts = [given(judge, t, points[t], words[t]) for t in TURNS]
            verdicts.append(given(judge, "missed", 0.0, ""))
            kept = tuple(JudgedTurn(inputs="", verdict=v) for v in verdicts)
            write_judge_file(folder, JudgeFile(judge=judge, judge_version="1", turns=kept))
    return run


def test_a_panel_holds_the_turns_with_words(run_folder: Path) -> None:
    judges, turns = read_panel(run_folder)
    assert judges == ("fair", "kind", "odd")
    assert [(t.attempt, t.turn) for t in turns] == KNOWN
    first = turns[0]
    assert first.points == {"fair": 0.0, "kind": 0.0}
    assert first.median == 0.0
    assert turns[2].points == {"fair": 2.0, "kind": 4.0, "odd": 3.0}
    assert turns[2].median == 3.0
    with pytest.raises(
        InputError, match=r"no judge 'gpt' has judged it .there are: fair, kind, odd"
    ):
        read_panel(run_folder, ["gpt"])


def test_agreement_of_all_kinds(run_folder: Path) -> None:
    judges, turns = read_panel(run_folder)
    found = agreement(judges, turns)
    by_pair = {(p.a, p.b): p for p in found.pairs}
    assert by_pair["fair", "odd"].pearson.value == pytest.approx(-1)
    assert by_pair["fair", "odd"].pearson.turns == 2 * SCENARIOS
    assert by_pair["fair", "kind"].exact.value == pytest.approx(1 / 3)
    assert by_pair["fair", "kind"].bias.value == pytest.approx(-1)
    assert found.alpha.value is not None
    assert found.alpha.value < 0.3
    assert {x.judge: x.failed for x in found.leanings} == {"fair": 0, "kind": 0, "odd": SCENARIOS}
    assert all(t.apart >= 2 for t in disagreements(turns))
    assert len(disagreements(turns)) == found.apart > 0
    both = agreement(("fair", "kind"), [replace(t, points=dict(t.points)) for t in turns])
    kind = next(x for x in both.leanings if x.judge == "kind")
    assert kind.against == "median"
    assert kind.bias.value == pytest.approx(1)
    assert kind.verbosity.value is not None
    assert kind.verbosity.value > 0.9
    assert kind.per_doubling.value == pytest.approx(0.66, abs=0.1)


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


def test_people_beside_judges(
    run_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"{a};{t};{(int(a[1]) + TURNS.index(t)) % 4},0" for a, t in KNOWN]
    table = write(
        tmp_path / "h.csv", "\ufeff" + "\r\n".join(["Attempt;Turn;Score", *rows]) + "\r\n"
    )
    told: list[str] = []
    real = Console.print

    def tell(console: Console, *what: object, **how: object) -> None:
        with console.capture() as capture:
            real(console, *what)
        told.append(capture.get())

    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setattr(Console, "print", tell)
    assert show_agreement(run_folder, (), table) == 0
    text = "".join(told)
    for said in ("Pearson's correlation", "each judge against people", "Krippendorff's alpha"):
        assert said in text
    assert "turns for a human to look at" in text
    body = json.loads((run_folder / "agreement.json").read_text())
    fair = next(x for x in body["leanings"] if x["judge"] == "fair")
    assert (fair["against"], fair["bias"]["value"]) == ("human", 0.0)
    assert fair["pearson"]["value"] == pytest.approx(1)
    assert body["humans"] == len(KNOWN)
    picture = ElementTree.fromstring((run_folder / "agreement.svg").read_text())
    cells = [e.text for e in picture.iter() if e.tag.endswith("text")]
    assert cells.count("1.00") == 4 + 2
    assert cells.count("-1.00") == 4
    assert cells.count("human") == 2
    with (run_folder / "agreement.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert len(read) == len(KNOWN)
    assert (read[2]["median"], read[2]["human"], read[2]["odd"]) == ("3", "2", "3")


def test_several_people(run_folder: Path, tmp_path: Path) -> None:
    rows = [f"{a},{t},{s},{r}" for a, t in KNOWN for r, s in (("ann", 4), ("ben", 2 + (t == "a")))]
    table = write(tmp_path / "h.csv", "\n".join(["attempt,turn,score,rater", *rows, "", ""]))
    humans = read_humans(table, KNOWN)
    assert humans[KNOWN[1]] == {"ann": 4.0, "ben": 2.0}
    judges, turns = read_panel(run_folder)
    found = agreement(judges, turns, humans)
    assert found.human_alpha is not None
    assert found.human_alpha.turns == len(KNOWN)


HEAD = "attempt,turn,score\n"
A, B = KNOWN[0], KNOWN[1]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is empty .its first line must be attempt,turn,score"),
        ("\n\n", "is empty"),
        (HEAD, "has a header and no scores"),
        ("attempt,turn\nx,y\n", "has no column 'score'; it has attempt, turn"),
        (f"{HEAD}s99--x--1,a,3\n", ":2: there is no attempt 's99--x--1'"),
        (f"{HEAD}{A[0]},z,3\n", ":2: there is no turn 'z' in s0--x--1"),
        (f"{HEAD}{A[0]},a,7\n", "score '7' is not from 0 to 5"),
        (f"{HEAD}{A[0]},a,nan\n", "score 'nan' is not from 0 to 5"),
        (f"{HEAD}{A[0]},a\n", "score '' is not from 0 to 5"),
        (
            f"{HEAD}{A[0]},a,3\n{B[0]},b,1\n{A[0]},a,4\n",
            r":4: s0--x--1 a has score 4, and 3 in line 2 .two people who differ are two raters",
        ),
    ],
)
def test_a_table_that_cannot_be_used_says_where(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        read_humans(write(tmp_path / "h.csv", text), KNOWN)


def test_tables_from_spreadsheets(tmp_path: Path) -> None:
    for text, encoding in (
        (f"attempt\tturn\tscore\r\n{A[0]}\ta\t3\r\n", "utf-16"),
        (f"attempt;turn;score\r\n{A[0]};a;3,0\r\n{A[0]};a;3\r\n", "utf-8-sig"),
        (f'"attempt","turn","score","note"\n"{A[0]}","a","3","two\nlines"\n', "utf-8"),
    ):
        table = write(tmp_path / "h.csv", text, encoding)
        assert read_humans(table, KNOWN) == {A: {"": 3.0}}
    with pytest.raises(InputError, match="is not UTF-8"):
        read_humans(write(tmp_path / "h.csv", "attempt,turn,score,é", "latin-1"), KNOWN)
    with pytest.raises(InputError, match="cannot be read"):
        read_humans(tmp_path / "none.csv", KNOWN)


def test_one_judge_alone_agrees_with_nobody(run_folder: Path) -> None:
    with pytest.raises(InputError, match="only fair has judged it"):
        show_agreement(run_folder, ("fair",), None)
