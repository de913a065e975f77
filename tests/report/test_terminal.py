"""The tables fit 100 columns, are plain without a terminal, and show each character."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

import pytest
from rich.console import Console

from simulator.judging.testing import answers, quiet, said, scenario, trace
from simulator.judging.verdicts import read_verdicts
from simulator.measuring.trace import Failure, trace_from_json, trace_to_json
from simulator.report.attempt import print_attempt
from simulator.report.gates import check_gates, parse_gates
from simulator.report.summary import summarise
from simulator.report.terminal import print_gates, print_status, print_summary


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=100)


def shown(console: Console) -> list[str]:
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert "\x1b" not in text, "no colours where it is no terminal"
    lines = text.splitlines()
    too_long = [x for x in lines if len(x) > 100 and not x.startswith(("recordings:", "summary:"))]
    assert too_long == []
    return lines


def test_each_character_shows_in_its_row(run_folder: Path, console: Console) -> None:
    print_summary(summarise(run_folder), run_folder, console)
    lines = shown(console)
    rows = {x.split()[0]: " ".join(x.split()[1:]) for x in lines if x.strip()}
    assert rows["oracle"] == "completed 100 100-100 2/2 0.60 0.69 2/2 0 0 0 0 0.0"
    assert rows["late"].startswith("completed 75 25-100 1/2 4.50 5.85 2/2 0 0 0 1")
    assert rows["talkative"].startswith("completed 50 0-100 2/2 0.60 0.69 0/2 0 2 0 0")
    assert rows["silent"].startswith("completed 0 0-0 0/2 - 0/2 2 0 2 0")
    assert rows["broken"].startswith("instrument - - - - - - - - - -")
    assert rows["never"].startswith("cancelled - - - - - - - - - -")
    assert rows["dead"].startswith("agent 0 0-0 0/2 - 0/2")
    text = " ".join(" ".join(lines).split())
    assert "cut: latency is of 1 of 2 answers" in text
    assert "oracle: latency" not in text
    assert "close other programs, or play with --concurrency 1" in text
    assert "silent: 2 of 4 planned turns scored (2 unproven)" in text
    assert "with those the score lies from 0 to 50" in text
    assert "made-up--dead--1: agent failed: no_reply" in text
    assert "Packets (20 ms) and the agent's codec (6.5 ms) are in it, not subtracted." in text
    assert str(run_folder / "recordings") in text.replace("\n", "")


def test_the_table_survives_a_narrow_console(run_folder: Path) -> None:
    narrow = Console(file=io.StringIO(), width=80, force_terminal=True)
    print_summary(summarise(run_folder), run_folder, narrow)
    assert isinstance(narrow.file, io.StringIO)
    assert "oracle" in narrow.file.getvalue()


def test_an_attempt_turn_by_turn(run_folder: Path, console: Console) -> None:
    folder = run_folder / "recordings" / "made-up--talkative--1"
    verdicts = [j.verdict for f in read_verdicts(folder).values() for j in f.turns]
    print_attempt(trace_from_json((folder / "trace.json").read_bytes()), verdicts, console)
    lines = shown(console)
    text = "\n".join(lines)
    count = next(x.split() for x in lines if x.strip().startswith("count"))
    assert count[:6] == ["count", "answer", "9.00", "9.50", "0.500", "Three."]
    assert count[6:8] == ["100", "says"]
    assert 'spoke 3.0 s into the turn: "Nice."' in " ".join(text.split())


def test_strange_and_long_answers_do_not_break_the_table(console: Console) -> None:
    played = scenario(answers("a", "Yes."), quiet("[bold]q[/bold]"))
    long = said("[red]bad[/red] " + "word " * 500, at=9.5)
    print_attempt(trace(played, long), [], console)
    text = "\n".join(shown(console))
    assert "[red]bad[/red]" in text
    assert "…" in text


def test_gates_say_why(run_folder: Path, console: Console) -> None:
    gates = parse_gates(["score>=60", "false_alarms<=9"])
    print_gates(check_gates(gates, summarise(run_folder), min_coverage=0.1), console)
    assert shown(console) == [
        "NOT met score>=60: score is 43.48",
        "met     false_alarms<=9: false_alarms is 2",
    ]


def test_the_log_of_an_agent_that_failed_is_named(run_folder: Path, console: Console) -> None:
    log = run_folder / "logs/dead.log"
    log.parent.mkdir()
    log.write_text("Traceback ...")
    print_summary(summarise(run_folder), run_folder, console)
    text = "".join("".join(shown(console)).split())
    assert f"saidnothingwithin10s;itslog:{log}" in text


def test_an_exit_status_says_why(run_folder: Path, console: Console) -> None:
    summary = summarise(run_folder)
    gates = check_gates(parse_gates(["false_alarms<2"]), summary, min_coverage=0.1)
    assert print_status(summary, gates, console) == 1
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == (
        "exit status 1: 5 of 9 attempts were not completed; "
        "13 of 36 planned turns were not scored; 1 of 1 gates were not met\n"
    )


def test_columns_of_the_environment_hold_in_a_pipe(
    run_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    console = Console(file=io.StringIO())
    print_summary(summarise(run_folder), run_folder, console)
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert max(len(x) for x in lines if str(run_folder) not in x) <= 72


def test_what_an_agent_says_does_not_steer_the_terminal(console: Console) -> None:
    played = scenario(answers("a", "Yes."))
    print_attempt(trace(played, said("\x1b[2J\x9bYes.\x07", at=9.5)), [], console)
    assert "[2JYes." in "\n".join(shown(console))


def test_a_long_label_is_shown_by_its_file(run_folder: Path, console: Console) -> None:
    file = run_folder / "run.json"
    file.write_text(file.read_text().replace('"late"', '"/home/me/agents/polite.py -o x=1"'))
    print_summary(summarise(run_folder), run_folder, console)
    rows = [x.split() for x in shown(console) if x.strip()]
    assert ["polite.py", "-o", "x=1", "completed"] in [row[:4] for row in rows]


def test_what_neither_table_nor_verdict_says_is_told(run_folder: Path, console: Console) -> None:
    path = run_folder / "recordings" / "made-up--oracle--1" / "trace.json"
    beside = Failure(at=9.6, turn="count", code="server_error", message="Overloaded.")
    alone = Failure(at=13.0, turn="calm", code="quota", message="Pay.")
    made = dataclasses.replace(
        trace_from_json(path.read_bytes()),
        failures=(beside, alone),
        detecting=True,
        damaged=2,
        unread=3,
    )
    path.write_bytes(trace_to_json(made))
    print_summary(summarise(run_folder), run_folder, console)
    print_attempt(made, [], console)
    text = " ".join(" ".join(shown(console)).split())
    assert "oracle: in 1 of 1 attempts it still told when we began and ended to speak" in text
    assert "made-up--oracle--1: 2 lines of its events could not be read" in text
    assert "the recording: 2 lines of its events could not be read" in text
    assert "made-up--oracle--1: 3 messages of the agent's could not be read" in text
    assert "the recording: 3 messages of the agent's could not be read" in text
    assert "in count it told of an error, and answered all the same: server_error: Over" in text
    assert "quota" not in text, "of a turn without an answer the verdict says it"
