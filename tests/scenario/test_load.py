"""The loader: what an author writes arrives as meant, or all that is wrong is told at once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.errors import InputError, ScenarioError
from simulator.scenario.expectations.answer import Answer, AnswerPath
from simulator.scenario.expectations.either import Either
from simulator.scenario.expectations.quiet import Quiet
from simulator.scenario.load import (
    bundled_scenarios,
    find_scenario,
    load_recorded_scenario,
    load_scenario,
)
from simulator.scenario.types import (
    Anchor,
    Clip,
    Embedded,
    Limits,
    Pace,
    Placement,
    Say,
    Scenario,
)

HEAD = "version: 1\nid: made\nclip: own.mp4\n"
Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    (tmp_path / "own.mp4").write_bytes(b"clip")
    (tmp_path / "say.flac").write_bytes(b"sound")

    def make(text: str) -> Path:
        path = tmp_path / "made.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return make


def problems(path: Path) -> list[str]:
    """What the loader says, without the folder's name."""
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    return [p.replace(f"{path}:", "") for p in caught.value.problems]


SMALLEST = f"""\
{HEAD}turns:
  - until: 5.5
    say:
      text: How many bottles are on the table?
      file: say.flac
    answer: There are three bottles.
  - until: 13
    quiet: true
"""

REACTING = SMALLEST.replace(
    "    quiet: true\n",
    "    say:\n      text: Wait.\n      file: say.flac\n      at: speaking + 1.5\n"
    "    answer: Yes.\n",
)


def test_an_instruction_may_wait_for_the_agent(write: Write) -> None:
    first, second = load_scenario(write(REACTING)).turns
    assert first.reacts is None
    assert second.reacts == Placement(anchor=Anchor.SPEAKING, at=1.5)
    assert second.reacts.within == Placement(anchor=Anchor.START)


FULL = """\
version: 1
id: bottles-watch
title: Watching bottles
task: MER
pace: continuous
clips:
  desk:
    url: https://example.org/desk.mp4
    sha256: D52BA94AEDF8A923C342FE9EA1D2BD85F712C4CC0F49A6DE1BAC43EEBE3A48FF
    licence: CC-BY-4.0
  help: own.mp4
voices:
  user: af_heart
  guest: am_fenrir
goal: Keep three bottles on the table
prior:
  as: [text]
  steps:
    - Take the left bottle away
    - Put it back
limits:
  answer_within: 6
  reply_max: 0:20
  quiet_tail: 0
canvas:
  width: 640
  height: 360
turns:
  - id: standing
    clip: desk
    until: 0:05.5
    say:
      text: Tell me whenever all three are back.
      file: say.flac
    either: true
  - id: back
    until: 15.5
    event: 13.5
    within: 3
    asked_in: standing
    answer: All three are back.
    accept:
      - Three bottles again.
    key_points:
      - [three, "3"]
      - back
    evidence:
      - [11, 13.5]
  - until: 21
    say:
      - text: Is it lunch time, do you think?
        file: say.flac
        voice: guest
        at: 18.5
      - text: Hm.
        file: say.flac
        voice: guest
        at: start
    quiet: true
  - clip: help
    until: 4
    quiet: true
  - from: 1:00
    until: 1:10
    quiet: true
"""


def test_the_smallest_scenario(write: Write) -> None:
    path = write(SMALLEST)
    scenario = load_scenario(path)
    assert scenario.id == "made"
    assert scenario.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert scenario.clips == {"main": Clip(name="main", path=path.with_name("own.mp4"))}
    assert scenario.pace is Pace.WAIT
    assert scenario.limits == Limits()
    first, second = scenario.turns
    assert (first.id, first.start, first.end, first.within) == ("t1", 0.0, 5.5, 8.0)
    said = first.instructions[0]
    assert isinstance(said, Say)
    assert said.sound == path.with_name("say.flac")
    assert said.placement == Placement(anchor=Anchor.END)
    assert first.expect == Answer(text="There are three bottles.")
    assert (second.id, second.start, second.end) == ("t2", 5.5, 13.0)
    assert second.expect == Quiet()
    assert not second.asked


def test_every_key(write: Write) -> None:
    scenario = load_scenario(write(FULL))
    assert scenario.task == "MER"
    assert scenario.pace is Pace.CONTINUOUS
    assert scenario.title == "Watching bottles"
    desk = scenario.clips["desk"]
    assert desk.url == "https://example.org/desk.mp4"
    assert desk.sha256 is not None
    assert desk.sha256.startswith("d52ba9")
    assert desk.licence == "CC-BY-4.0"
    assert desk.path is None
    assert scenario.prior.steps == ("Take the left bottle away", "Put it back")
    assert scenario.limits == Limits(answer_within=6, reply_max=20, quiet_tail=0)
    assert (scenario.canvas.width, scenario.canvas.height, scenario.canvas.fps) == (640, 360, 30)
    standing, back, guest, away, jump = scenario.turns
    assert standing.expect == Either()
    assert standing.end == 5.5
    assert standing.within == 6.0
    assert (back.event, back.within, back.asked_in) == (13.5, 3.0, "standing")
    assert back.expect == Answer(
        text="All three are back.",
        accept=("Three bottles again.",),
        key_points=(("three", "3"), ("back",)),
    )
    assert back.evidence == ((11.0, 13.5),)
    assert guest.id == "t3"
    assert [i.placement for i in guest.instructions if isinstance(i, Say)] == [
        Placement(anchor=Anchor.TIME, at=18.5),
        Placement(anchor=Anchor.START),
    ]
    assert not guest.asked
    assert (away.clip, away.start, away.end) == ("help", 0.0, 4.0)
    assert (jump.clip, jump.start, jump.end) == ("help", 60.0, 70.0)


@pytest.mark.parametrize(
    "text", ["No", "yes", "1:30", "Three, not two.", "null", "0x1F", "1e3", "~", "2026-01-01", "on"]
)
def test_strings_stay_strings(write: Write, text: str) -> None:
    scenario = load_scenario(write(SMALLEST.replace("There are three bottles.", text)))
    assert scenario.turns[0].expect == Answer(text=text)


@given(
    text=st.text(
        st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=60
    ).filter(lambda t: t.strip())
)
@settings(max_examples=60, deadline=None)
def test_any_text_comes_back_when_quoted(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.mktemp("quoted")
    (folder / "own.mp4").write_bytes(b"")
    plain = {
        "version": "1",
        "id": "made",
        "clip": "own.mp4",
        "goal": text,
        "turns": [{"until": "2", "event": "1", "answer": text, "key_points": [[text, "3"]]}],
    }
    path = folder / "made.yaml"
    path.write_text(yaml.safe_dump(plain, allow_unicode=True), encoding="utf-8")
    scenario = load_scenario(path)
    assert scenario.goal == text.strip()
    assert scenario.turns[0].expect == Answer(text=text.strip(), key_points=((text.strip(), "3"),))


@given(
    cuts=st.lists(st.integers(1, 500_000), min_size=1, max_size=8, unique=True).map(sorted),
    clock=st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_time_is_continuous(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int], clock: bool
) -> None:
    folder = tmp_path_factory.mktemp("cuts")
    (folder / "own.mp4").write_bytes(b"")

    def written(milliseconds: int) -> str:
        if clock:
            return f"{milliseconds // 60_000}:{milliseconds % 60_000 / 1000:06.3f}"
        return f"{milliseconds / 1000:g}" if milliseconds < 100_000 else str(milliseconds / 1000)

    turns = "".join(f"  - until: {written(c)}\n    quiet: true\n" for c in cuts)
    path = folder / "made.yaml"
    path.write_text(f"{HEAD}turns:\n{turns}")
    scenario: Scenario = load_scenario(path)
    assert [t.end for t in scenario.turns] == pytest.approx([c / 1000 for c in cuts])
    assert [t.start for t in scenario.turns] == [0.0, *(t.end for t in scenario.turns[:-1])]


# ---------------------------------------------------------------- what is wrong

TURN = HEAD + "turns:\n  - until: 5\n"

WRONG = {
    "goall: x": ("4: goall: unknown key; did you mean `goal`?", HEAD + "goall: x\nturns: []\n"),
    "colon": (
        "6: syntax: a colon inside text: put the text in quotes",
        TURN + "    say: Tell me: now\n    quiet: true\n",
    ),
    "comment": (
        "7: turns[0].say.text: is empty; text that begins with # must be in quotes",
        TURN + "    say:\n      text: #1 first\n      file: say.flac\n    quiet: true\n",
    ),
    "text as key": (
        "7: turns[0].say.Tell me: unknown key; if it is part of a text, quote the text",
        TURN + "    say:\n      Tell me: now\n    quiet: true\n",
    ),
    "twice": (
        "7: until: stands here twice, first in line 5",
        TURN + "    quiet: true\n    until: 6\n",
    ),
    "back": (
        "7: turns[1].until: 4 goes back: it must be after 5",
        TURN + "    quiet: true\n  - until: 4\n    quiet: true\n",
    ),
    "back from": (
        "8: turns[1].until: 4 must be after `from` (6)",
        TURN + "    quiet: true\n  - from: 6\n    until: 4\n    quiet: true\n",
    ),
    "one of": (
        "7: turns[0].quiet: has `answer` and `quiet`; a turn has exactly one of",
        TURN + "    answer: Yes.\n    quiet: true\n    event: 3\n",
    ),
    "none of": ("5: turns[0]: has none; a turn has exactly one of", TURN),
    "event": (
        "7: turns[0].event: 5.5 is outside the turn; allowed: 0 to 5",
        TURN + "    answer: Yes.\n    event: 5.5\n",
    ),
    "nothing asks": ("6: turns[0].answer: nothing asks for it", TURN + "    answer: Yes.\n"),
    "asked in nowhere": (
        "8: turns[0].asked_in: there is no turn 'tt'; did you mean 't1'?",
        TURN + "    answer: Yes.\n    event: 3\n    asked_in: tt\n",
    ),
    "asked in itself": (
        "8: turns[0].asked_in: 't1' is not an earlier turn",
        TURN + "    answer: Yes.\n    event: 3\n    asked_in: t1\n",
    ),
    "asked in silence": (
        "10: turns[1].asked_in: the user says nothing in turn 't1'",
        TURN + "    quiet: true\n  - until: 9\n    answer: Yes.\n    event: 7\n    asked_in: t1\n",
    ),
    "same id": (
        "8: turns[1].id: 'a' is the id of turns[0] already",
        TURN + "    id: a\n    quiet: true\n  - id: a\n    until: 9\n    quiet: true\n",
    ),
    "clash with a default id": (
        "7: turns[1].id: 't1' is the id of turns[0] already",
        TURN + "    quiet: true\n  - id: t1\n    until: 9\n    quiet: true\n",
    ),
    "show without text": (
        "7: turns[0].show.text: is missing",
        TURN + "    quiet: true\n    show:\n      style: typed\n",
    ),
    "a style of writing": (
        "9: turns[0].show.style: 'chalk' is not known; allowed: typed, handwritten",
        TURN + "    quiet: true\n    show:\n      text: Hi\n      style: chalk\n",
    ),
    "writing outside": (
        "9: turns[0].show.at: 7 is outside the turn; allowed: 0 to 5",
        TURN + "    quiet: true\n    show:\n      text: Hi\n      at: 7\n",
    ),
    "a gesture of no clip": (
        "7: turns[0].gesture.clip: 'wave' is no clip; allowed: main",
        TURN + "    quiet: true\n    gesture: wave\n",
    ),
    "a gesture's size": (
        "9: turns[0].gesture.size: '40' is not a share of the picture's height: 0.1 to 1",
        TURN + "    quiet: true\n    gesture:\n      clip: main\n      size: 40\n",
    ),
    "a gesture trimmed away": (
        "10: turns[0].gesture.until: 1 must be after `from` (2)",
        TURN + "    quiet: true\n    gesture:\n      clip: main\n      from: 2\n      until: 1\n",
    ),
    "two gestures at the end": (
        "7: turns[0].gesture: two are placed at the end",
        TURN + "    quiet: true\n    gesture:\n      - main\n      - main\n",
    ),
    "a level": (
        "10: turns[0].say.level: 'loud' is not a level in LU",
        TURN
        + "    quiet: true\n    say:\n      text: Hi\n      file: say.flac\n      level: loud\n",
    ),
    "a background without its file": (
        "5: backgrounds[0].file: 'none.flac': no such file",
        TURN.replace("turns:", "backgrounds:\n  - file: none.flac\nturns:") + "    quiet: true\n",
    ),
    "a background that ends without a beginning": (
        "6: backgrounds[0].until: is allowed only with `at`",
        TURN.replace("turns:", "backgrounds:\n  - file: say.flac\n    until: 3\nturns:")
        + "    quiet: true\n",
    ),
    "no such font": (
        "4: font: 'none.ttf': no such file",
        TURN.replace("turns:", "font: none.ttf\nturns:") + "    quiet: true\n",
    ),
    "speaking": (
        "7: turns[0].say: the first turn cannot wait for the agent's speech",
        TURN + "    quiet: true\n    say:\n      text: Hi\n      at: speaking + 1\n",
    ),
    "speaking soon": (
        "9: turns[0].say.at: 'speaking soon' is not known; allowed: speaking + seconds",
        TURN + "    quiet: true\n    say:\n      text: Hi\n      at: speaking soon\n",
    ),
    "two that wait": (
        "turns[1].show: one instruction of a turn can wait for the agent's speech, not several",
        TURN
        + "    quiet: true\n  - until: 9\n    quiet: true\n    say:\n      text: Hi\n"
        + "      file: say.flac\n      at: speaking\n"
        + "    show:\n      text: Hi\n      at: stopped+2\n",
    ),
    "waiting while the clip plays on": (
        "turns[1]: `at: stopped + ...` needs `pace: wait`",
        TURN.replace("turns:", "pace: continuous\nturns:")
        + "    quiet: true\n  - until: 9\n    quiet: true\n    say:\n      text: Hi\n"
        + "      file: say.flac\n      at: stopped + 0.5\n",
    ),
    "no sound file": (
        "7: turns[0].say: is not rendered to speech yet: omnistage render-speech",
        TURN + "    either: true\n    say: Hello there.\n",
    ),
    "rate": (
        "3: voices.guest.rate: '3' is no rate: 0.5 (half as fast) to 2 (twice as fast)",
        TURN.replace("clip: own.mp4", "voices: {guest: {voice: x, rate: 3}}\nclip: own.mp4")
        + "    quiet: true\n",
    ),
    "no speech text": ("7: turns[0].say: is empty", TURN + "    either: true\n    say:\n"),
    "out of the folder": (
        "9: turns[0].say.file: '../say.flac' leads out of the scenario's folder",
        TURN + "    either: true\n    say:\n      text: Hi\n      file: ../say.flac\n",
    ),
    "absolute": (
        "3: clip: '/etc/passwd' leads out of the scenario's folder",
        TURN.replace("own.mp4", "/etc/passwd") + "    quiet: true\n",
    ),
    "no such file": (
        "3: clip: 'gone.mp4': no such file in",
        TURN.replace("own.mp4", "gone.mp4") + "    quiet: true\n",
    ),
    "voice": (
        "9: turns[0].say.voice: 'usr' is not in `voices`; did you mean 'user'?",
        TURN
        + "    either: true\n    say:\n      text: Hi\n      voice: usr\n      file: say.flac\n",
    ),
    "url alone": (
        "3: clip.sha256: is missing beside `url`",
        TURN.replace("clip: own.mp4", "clip:\n  url: https://example.org/x.mp4")
        + "    quiet: true\n",
    ),
    "licence": (
        "3: clip.licence: is missing beside `url`",
        TURN.replace("clip: own.mp4", "clip:\n  url: https://example.org/x.mp4")
        + "    quiet: true\n",
    ),
    "speed": (
        "5: clip.speed: '5' is no speed: 0.05 (twenty times as slow) to 4 (four times as fast)",
        TURN.replace("clip: own.mp4", "clip:\n  file: own.mp4\n  speed: 5") + "    quiet: true\n",
    ),
    "no speed": (
        "5: clip.speed: '-1' is no speed: 0.05",
        TURN.replace("clip: own.mp4", "clip:\n  file: own.mp4\n  speed: -1") + "    quiet: true\n",
    ),
    "half a copy": (
        "5: clip.repeat: '1.5' is no number of copies: a whole number, 1 to 1000",
        TURN.replace("clip: own.mp4", "clip:\n  file: own.mp4\n  repeat: 1.5")
        + "    quiet: true\n",
    ),
    "no copy": (
        "5: clip.repeat: '0' is no number of copies",
        TURN.replace("clip: own.mp4", "clip:\n  file: own.mp4\n  repeat: 0") + "    quiet: true\n",
    ),
    "a clip's level": (
        "5: clip.level: 'loud' is not a level in LU against the instructions: -60 to 20",
        TURN.replace("clip: own.mp4", "clip:\n  file: own.mp4\n  level: loud")
        + "    quiet: true\n",
    ),
    "no width": (
        "4: canvas.width: '0' must be a whole number from 1 to 99999",
        HEAD + "canvas: {width: 0, height: 360}\n" + TURN.removeprefix(HEAD) + "    quiet: true\n",
    ),
    "two ends": (
        "7: turns[0].say: two are placed at the end",
        TURN + "    either: true\n    say:\n      - {text: A, file: say.flac}\n"
        "      - {text: B, file: say.flac}\n",
    ),
    "quiet no": (
        "6: turns[0].quiet: 'no': only `true` is allowed",
        TURN + "    quiet: no\n",
    ),
    "anchor": ("4: &a: anchors and aliases are not read here", HEAD + "turns: &a []\n"),
    "alias": ("4: *a: anchors and aliases are not read here", HEAD + "turns: *a\n"),
    "tag": ("4: !thing: tags are not read here", HEAD + "turns: !thing x\n"),
    "tab": ("5: syntax: a tab cannot indent: use spaces", HEAD + "turns:\n\t- until: 5\n"),
    "empty": ("1: file: is empty", ""),
    "a list": ("1: file: must be keys with values", "- a\n"),
    "no turns": ("4: turns: is empty", HEAD + "turns:\n"),
    "empty turns": ("4: turns: is empty: at least one turn", HEAD + "turns: []\n"),
    "two documents": (
        "7: file: a second document begins here",
        TURN + "    quiet: true\n---\na: b\n",
    ),
    "version": ("1: version: '2' is not known; allowed: 1", "version: 2\nid: x\nturns: []\n"),
    "no version": ("1: version: is missing", "id: x\nturns: []\n"),
    "evidence": (
        "7: turns[0].evidence[0]: ends (2) before it begins",
        TURN + "    quiet: true\n    evidence: [[3, 2]]\n",
    ),
    "nan": ("5: turns[0].until: 'nan' is not a time", HEAD + "turns:\n  - until: nan\n"),
    "deep": ("nested deeper than 16", HEAD + "turns: " + "[" * 20 + "]" * 20 + "\n"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_told(write: Write, name: str) -> None:
    expected, text = WRONG[name]
    told = problems(write(text))
    assert any(line.startswith(expected) or expected in line for line in told), told


def test_everything_is_told_at_once(write: Write) -> None:
    text = """\
version: 1
id: two words
task: MERR
clip: gone.mp4
turns:
  - until: 5
    say: {text: Hi, file: gone.flac}
    answr: Yes.
    answer: Yes.
    quiet: true
  - until: 4
    answer: No.
    event: 1:75
"""
    told = problems(write(text))
    assert [line.split(": ")[0] + ": " + line.split(": ")[1] for line in told] == [
        "2: id",
        "3: task",
        "7: turns[0].say.file",
        "8: turns[0].answr",
        "10: turns[0].quiet",
        "11: turns[1].until",
        "13: turns[1].event",
    ]


def test_a_comment_that_cuts_text_short_is_refused(write: Write) -> None:
    found = problems(write(SMALLEST.replace("There are three", "Press the #1 key")))
    assert len(found) == 1
    assert "`#` cuts the text short after `Press the`: put the text in quotes" in found[0]
    assert load_scenario(write(SMALLEST.replace("5.5", "5.5  # here"))).warnings == (
        "turns[0] (t1): no `evidence` for its answer",
    )


def test_large_files_and_other_bytes(write: Write, tmp_path: Path) -> None:
    assert "bytes are too many" in problems(write(SMALLEST + "# " + "x" * (1 << 20)))[0]
    (tmp_path / "latin.yaml").write_bytes(b"version: 1\nid: caf\xe9\n")
    assert problems(tmp_path / "latin.yaml") == ["2: file: is not UTF-8 text"]
    (tmp_path / "bytes.yaml").write_bytes(b"version: \x00\x01\n")
    assert problems(tmp_path / "bytes.yaml")
    (tmp_path / "bom.yaml").write_bytes(b"\xef\xbb\xbf" + SMALLEST.replace("\n", "\r\n").encode())
    assert load_scenario(tmp_path / "bom.yaml").id == "made"


@given(noise=st.text(max_size=200))
@settings(max_examples=150, deadline=None)
def test_no_text_breaks_the_loader(tmp_path_factory: pytest.TempPathFactory, noise: str) -> None:
    path = tmp_path_factory.mktemp("noise") / "made.yaml"
    path.write_text(HEAD + noise, encoding="utf-8", errors="replace")
    with pytest.raises(ScenarioError):
        load_scenario(path)


# ---------------------------------------------------------------- finding


def test_bundled_scenarios_load_and_have_different_ids() -> None:
    files = bundled_scenarios()
    assert len(files) >= 2
    ids = [load_scenario(file).id for file in files]
    assert len(set(ids)) == len(ids)
    assert {"demo", "bottles"} <= set(ids)
    assert load_scenario("demo").warnings == ()
    assert load_scenario("bottles").warnings == ()


def test_finding_by_path_folder_and_id(write: Write, tmp_path: Path) -> None:
    path = write(SMALLEST)
    assert find_scenario(path) == path
    assert find_scenario(tmp_path) == path
    assert find_scenario("demo").name == "demo.yaml"
    (tmp_path / "other.yaml").write_text("")
    with pytest.raises(InputError, match=r"made\.yaml, other\.yaml"):
        find_scenario(tmp_path)
    with pytest.raises(InputError, match="did you mean bottles"):
        find_scenario("botles")
    with pytest.raises(InputError, match="bundled: "):
        find_scenario("zzzz")


def test_a_recordings_copy_needs_no_media(write: Write, tmp_path: Path) -> None:
    folder = tmp_path / "recording"
    folder.mkdir()
    (folder / "scenario.yaml").write_text(SMALLEST)
    assert load_recorded_scenario(folder).turns == tuple(load_recorded_scenario(folder).turns)
    assert load_recorded_scenario(folder).turns[0].expect == Answer(text="There are three bottles.")
    with pytest.raises(InputError, match=r"has no scenario\.yaml"):
        load_recorded_scenario(tmp_path)


EMBEDDED = """\
    embedded:
      text: How many?
      in: sound
      end: {end}
      uncertainty: 0.1
    answer: Three.
  - until: 9
    answer: Still three.
    event: 9
    asked_in: t1
"""


def test_an_instruction_in_the_clip_itself_asks(write: Write) -> None:
    loaded = load_scenario(write(TURN + EMBEDDED.format(end=4.5)))
    held = loaded.turns[0].instructions
    assert held == (Embedded(text="How many?", start=0.0, end=4.5, uncertainty=0.1),)
    assert loaded.turns[0].asked
    assert problems(write(TURN + EMBEDDED.format(end=5.5))) == [
        "9: turns[0].embedded.end: 0 to 5.5 is not inside the turn: 0 to 5"
    ]


def test_a_clip_by_its_hash_alone(write: Write) -> None:
    head = f"version: 1\nid: made\nclip:\n  sha256: {'A' * 64}\n  named: x.mp4\n"
    loaded = load_scenario(write(f"{head}turns:\n  - until: 5\n    quiet: true\n"))
    assert loaded.clips["main"] == Clip(name="main", sha256="a" * 64, named="x.mp4")
    beside = HEAD.replace("clip: own.mp4", "clip:\n  file: own.mp4\n  named: x")
    assert problems(write(f"{beside}turns:\n  - until: 5\n    quiet: true\n")) == [
        "5: clip.named: is allowed only where `sha256` stands alone"
    ]


PATHS = f"""\
{HEAD}turns:
  - until: 5
    event: 4
    answer: Take the left one.
    paths:
      - name: right-first
        answer: Begin with the right one.
        accept: The right one first.
        key_points:
          - [right, "to the right"]
      - name: ask
        answer: Which one?
"""


def test_paths(write: Write) -> None:
    (turn,) = load_scenario(write(PATHS)).turns
    assert turn.expect == Answer(
        text="Take the left one.",
        paths=(
            AnswerPath(
                name="right-first",
                answer=Answer(
                    text="Begin with the right one.",
                    accept=("The right one first.",),
                    key_points=(("right", "to the right"),),
                ),
            ),
            AnswerPath(name="ask", answer=Answer(text="Which one?")),
        ),
    )


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("name: ask", "name: prior", "paths[1].name: 'prior' is what the turn's own answer"),
        ("name: ask", "name: right-first", "'right-first' names another path of this turn"),
        ("        answer: Which one?", "        quiet: true", "paths[1].answer: is missing"),
        ("    answer: Take the left one.\n", "    quiet: true\n", "allowed only with `answer`"),
        (
            "      - name: ask\n        answer: Which one?",
            "      - ask",
            "must be keys with values",
        ),
    ],
)
def test_paths_that_are_none(write: Write, old: str, new: str, why: str) -> None:
    assert old in PATHS
    assert why in "\n".join(problems(write(PATHS.replace(old, new))))


def test_a_task_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "x.mp4").write_bytes(b"")
    path = tmp_path / "x.yaml"
    text = "version: 1\nid: x\ntask: {}\nclip: x.mp4\nturns:\n  - until: 3\n    quiet: true\n"
    path.write_text(text.format("custom:sorting"))
    assert load_scenario(path).task == "custom:sorting"
    path.write_text(text.format("'custom: sorting'"))
    with pytest.raises(ScenarioError, match="custom:a-name-of-yours"):
        load_scenario(path)


def test_a_path_may_go_up_and_down(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(SMALLEST)
    (path.parent / "below").mkdir()
    monkeypatch.chdir(path.parent / "below")
    plain = load_scenario(path)
    for way in ("../made.yaml", f"../below/../{path.name}", path.parent / "below/../made.yaml"):
        found = load_scenario(way)
        assert found.clips["main"].path == plain.clips["main"].path
        assert found.turns == plain.turns


def test_a_recording_may_be_named_by_a_path_that_goes_up(write: Write) -> None:
    path = write(SMALLEST)
    recording = path.parent / "kept"
    recording.mkdir()
    (recording / "scenario.yaml").write_text(SMALLEST)
    up = recording / ".." / "kept"
    assert load_recorded_scenario(up).id == "made"


@pytest.mark.parametrize(
    "url", ["http://[bad/x.mp4", "http://./x.mp4", f"http://{'a' * 70}/x", "http://x:99999/x.mp4"]
)
def test_an_address_must_name_a_host(write: Write, url: str) -> None:
    named = f"clip:\n  url: {url}\n  sha256: {'0' * 64}\n  licence: CC0-1.0\n"
    path = write(SMALLEST.replace("clip: own.mp4\n", named))
    assert problems(path) == [
        f"4: clip.url: {url!r} is not an address that begins with https:// or http:// and a host"
    ]


def test_a_folder_hides_no_bundled_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundled = find_scenario("demo")
    (tmp_path / "demo").mkdir()
    monkeypatch.chdir(tmp_path)
    assert find_scenario("demo") == bundled
    with pytest.raises(InputError, match="is a folder with no"):
        find_scenario("./demo")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "made.yaml").write_text(SMALLEST)
    assert find_scenario("own").name == "made.yaml"
