"""`omnistage new`: its draft loads, says what was said, and touches nothing that exists."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from simulator.authoring.draft import Draft, name_from, quoted, write_draft
from simulator.authoring.schema import json_schema
from simulator.cli import new
from simulator.cli.new import clip_time, new_scenario, span
from simulator.errors import InputError
from simulator.media.cache import hash_file
from simulator.scenario.expectations.answer import Answer
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.load import load_scenario
from simulator.scenario.source import parse
from simulator.scenario.types import Say

from .conftest import Desk


def draft(desk: Desk, **more: object) -> Draft:
    plain = Draft(clip=desk.folder / "clip.mkv", id="first", folder=desk.folder / "first")
    return dataclasses.replace(plain, **more)  # type: ignore[arg-type]


def full(desk: Desk, **more: object) -> Draft:
    sound = desk.sound("ask.wav", 2)
    return draft(
        desk,
        licence="CC0-1.0",
        ask="What is it: a square?",
        sound=sound,
        at=5.0,
        answer="Yes, it's yellow.",
        key_points=("yellow|gold", "1:30"),
        evidence=(0.0, 4.0),
        **more,
    )


def test_everything_said(desk: Desk) -> None:
    path = write_draft(full(desk))
    scenario = load_scenario(path)
    ask, rest = scenario.turns
    assert isinstance(ask.expect, Answer)
    (say,) = ask.instructions
    assert isinstance(say, Say)
    assert say.text == "What is it: a square?"
    assert ask.expect.text == "Yes, it's yellow."
    assert list(ask.expect.key_points) == [("yellow", "gold"), ("1:30",)]
    assert list(ask.evidence) == [(0, 4)]
    assert (ask.end, rest.end) == (5, 12)
    assert rest.expect == Quiet()
    assert scenario.clips["main"].licence == "CC0-1.0"
    assert scenario.warnings == ()
    first = path.read_text().splitlines()[0]
    assert first == "# yaml-language-server: $schema=scenario.schema.json"
    jsonschema.validate(yaml.safe_load(path.read_text()), json_schema())


def test_the_least(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    assert new_scenario(draft(desk), named=True, placed=True, ask=True) == 0
    out = capsys.readouterr().out
    assert "left to do:" in out
    assert "no licence" in out
    scenario = load_scenario(desk.folder / "first" / "first.yaml")
    assert [t.expect for t in scenario.turns] == [Quiet()]


def test_the_other_turns_that_it_shows_are_right(desk: Desk) -> None:
    path = write_draft(full(desk))
    text = path.read_text()
    head, more = text.split("# More kinds of turns")
    turns = "\n".join(line[1:] for line in more.splitlines()[1:])
    for name in ("standing", "guest"):
        (path.parent / "speech" / f"{name}.flac").write_bytes(b"")
    head = head.split("turns:")[0] + "voices:\n  guest: someone\n"
    path.write_text(head + "turns:\n" + turns + "\n")
    assert [t.id for t in load_scenario(path).turns] == ["standing", "sun", "guest"]


def test_a_clip_by_its_address(desk: Desk) -> None:
    path = write_draft(draft(desk, url="https://example.org/c.mkv", licence="CC-BY-4.0"))
    clip = load_scenario(path).clips["main"]
    assert clip.sha256 == hash_file(desk.folder / "clip.mkv")
    assert not (path.parent / "media").exists()


def test_a_clip_that_lies_there_already_is_not_copied(desk: Desk) -> None:
    path = write_draft(draft(desk, folder=desk.folder))
    assert load_scenario(path).clips["main"].path == desk.folder / "clip.mkv"
    assert not (desk.folder / "media").exists()


def test_nothing_is_written_over(desk: Desk) -> None:
    path = write_draft(draft(desk))
    path.write_text("mine")
    with pytest.raises(InputError, match=r"first\.yaml: exists already.*--force"):
        write_draft(draft(desk))
    assert path.read_text() == "mine"
    (desk.folder / "first/media/clip.mkv").write_bytes(b"another")
    path.unlink()
    with pytest.raises(InputError, match=r"clip\.mkv: exists already"):
        write_draft(draft(desk))
    assert not path.exists()
    write_draft(draft(desk, force=True))
    assert len(load_scenario(path).turns) == 1


WRONG: dict[str, dict[str, object]] = {
    "no such file": {"clip": Path("nowhere.mp4")},
    "is not a name": {"id": "a b"},
    "is no task": {"task": "XX"},
    "allowed: wait": {"pace": "fast"},
    "outside the clip, which lasts 12.00 s": {"at": 13.0},
    "--url needs --licence": {"url": "https://example.org/x"},
    "is not an address": {"url": "x", "licence": "CC0"},
    "--answer needs --ask": {"answer": "Three"},
    "lasts 2.00 s and does not fit": {"at": 1.0, "ask": "Hm?"},
}


@pytest.mark.parametrize("what", WRONG)
def test_bad_input(desk: Desk, what: str) -> None:
    more = WRONG[what]
    if "ask" in more:
        more = {**more, "sound": desk.sound("ask.wav", 2)}
    with pytest.raises(InputError, match=what):
        write_draft(draft(desk, **more))
    assert not (desk.folder / "first").exists(), "nothing is written"


def test_a_clip_without_duration(desk: Desk) -> None:
    with pytest.raises(InputError, match="a scenario needs"):
        write_draft(draft(desk, clip=desk.clip("one.mkv", 0.3)))


def test_a_folder_that_cannot_be_written(desk: Desk) -> None:
    (desk.folder / "first").write_text("a file")
    with pytest.raises(InputError, match=r"cannot be written.*--out"):
        write_draft(draft(desk))


def test_at_a_terminal_it_asks_and_asks_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {
        "Name": ["my scene", "mine"],
        "Terms": ["CC0-1.0"],
        "First": ["Hm?"],
        "Asked": ["soon", "99", "0:03"],
        "Sound": ["nothing.wav", ""],
        "The": ["Yes."],
    }
    asked: list[str] = []

    def line(question: str, default: str) -> str:
        asked.append(question)
        answers = said.get(question.split(maxsplit=1)[0], [])
        return answers.pop(0) if answers else default

    monkeypatch.setattr(new, "_line", line)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.chdir(desk.folder)
    new_scenario(draft(desk), named=False, placed=False, ask=True)
    assert len(asked) == 7 + 4
    told = capsys.readouterr().out
    for complaint in ("is not a name", "'soon' is not a time", "outside the clip", "nothing.wav"):
        assert complaint in told
    text = (desk.folder / "mine" / "mine.yaml").read_text()
    assert "until: 3\n" in text
    assert "answer: Yes." in text


@given(st.text(min_size=1).filter(lambda t: t.strip()))
def test_any_text_survives(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    text = "".join(c for c in text if c.isprintable()) or "x"
    file = tmp_path_factory.getbasetemp() / "text.yaml"
    file.write_text(f"a: {quoted(text)}\n", encoding="utf-8")
    source = parse(file, "x")
    assert source.root.plain() == {"a": " ".join(text.split())}
    assert source.warnings == ()


def test_times_on_the_command_line() -> None:
    assert span("1:02.5-63") == (62.5, 63)
    for text, said in (("3", "FROM-TO"), ("5-3", "ends before"), ("a-3", "--evidence: 'a' is no")):
        with pytest.raises(InputError, match=said):
            span(text)
    with pytest.raises(InputError, match="--at: 'soon' is not a time"):
        clip_time("soon")


def test_names_from_files() -> None:
    assert name_from(Path("My clip (1).mp4")) == "My-clip-1"
    assert name_from(Path("视频.mp4")) == "scenario"
