"""What `omnistage check` finds: each warning of its own, and all errors of the media at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.authoring.check import Checked, check_all
from simulator.authoring.findings import Level
from simulator.cli.check import check_scenarios
from simulator.errors import InputError
from simulator.media.cache import Cache
from simulator.plugins import content_root

from .conftest import Desk

ASKED = """\
  - until: 6
    say:
      text: Which square moves?
      file: ask.wav
    answer: The yellow square moves.
    key_points:
      - yellow
    evidence:
      - [0, 4]
"""


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def checked(cache: Cache, *files: Path) -> list[Checked]:
    return list(check_all([str(f) for f in files], cache))


def texts(cache: Cache, file: Path, level: Level) -> list[str]:
    *_, one = checked(cache, file)
    return [f"{f.line}: {f.text}" for f in one.findings if f.level is level]


def test_nothing_to_say(desk: Desk, cache: Cache) -> None:
    desk.sound("ask.wav", 2)
    assert checked(cache, desk.write(ASKED))[0].findings == ()


def test_errors_of_the_media_come_all_at_once(desk: Desk, cache: Cache) -> None:
    desk.sound("ask.wav", 7)
    desk.sound("none.wav", 0)
    more = "  - until: 14\n    say:\n      text: Hm\n      file: none.wav\n    either: true\n"
    head = "goal: 你好\n"
    found = texts(cache, desk.write(ASKED + more, head=head), Level.ERROR)
    assert len(found) == 4, found
    assert found[0].startswith("6: goal:")
    assert "U+4F60" in found[0]
    assert found[1].startswith("9: turns[0].say: lasts 7.00 s and does not fit")
    assert "14 s is after the end of clip.mkv, which lasts 12.00 s" in found[2]
    assert "none.wav" in found[3]


def test_all_problems_of_the_file_itself(desk: Desk, cache: Cache) -> None:
    found = texts(cache, desk.write("  - until: 3\n  - untill: 5\n    quiet: yes\n"), Level.ERROR)
    assert [f.split(":")[0] for f in found] == ["7", "8", "8", "9"]


WARNED = {
    "no `evidence`": ASKED.replace("    evidence:\n      - [0, 4]\n", ""),
    "after the answer falls due": ASKED.replace("[0, 4]", "[7, 8]"),
    "the user speaks, and quiet is expected": "  - until: 6\n    say:\n      text: Hm\n"
    "      file: ask.wav\n    quiet: true\n",
    "repeating it counts": ASKED.replace("- yellow", "- square"),
    "does not make the turn's own key point 'blue'": ASKED.replace("- yellow", "- blue"),
    "the same words make both": ASKED.replace("- yellow", "- yellow\n      - [the yellow, gold]"),
    "write `quiet: true` instead": ASKED.replace("The yellow square moves.", "KEEP QUIET"),
    "cannot tell the two apart": ASKED
    + ASKED.replace("until: 6", "until: 10")
    .replace("The yellow square moves", "It is yellow")
    .replace("- yellow", "- [yellow, gold]"),
}


@pytest.mark.parametrize("what", WARNED)
def test_each_warning(desk: Desk, cache: Cache, what: str) -> None:
    desk.sound("ask.wav", 2)
    found = checked(cache, desk.write(WARNED[what]))[0].findings
    assert [f.level for f in found] == [Level.WARNING], found
    assert what in found[0].text


def test_a_clip_without_licence(desk: Desk, cache: Cache) -> None:
    file = desk.write("  - until: 6\n    quiet: true\n")
    file.write_text(file.read_text().replace("  licence: CC0-1.0\n", ""))
    assert "no licence" in texts(cache, file, Level.WARNING)[0]


@pytest.mark.parametrize(
    ("loud", "pace", "warned"),
    [
        ([(6, 8)], "continuous", True),
        ([(6, 8)], "wait", False),
        ([(6.6, 8)], "continuous", False),
        ([(6.2, 6.4)], "continuous", True),
        ([], "continuous", False),
    ],
)
def test_the_pause_that_a_turn_detector_needs(
    desk: Desk, cache: Cache, loud: list[tuple[float, float]], pace: str, warned: bool
) -> None:
    desk.sound("ask.wav", 2)
    desk.clip("clip.mkv", 12, loud)
    file = desk.write(ASKED + "  - until: 12\n    quiet: true\n", head=f"pace: {pace}\n")
    found = texts(cache, file, Level.WARNING)
    assert bool(found) is warned, found
    assert all("pause of 0.5 s" in f for f in found)


def test_a_bystander_takes_the_pause_too(desk: Desk, cache: Cache) -> None:
    desk.sound("ask.wav", 2)
    head = "pace: continuous\nvoices:\n  guest: someone\n"
    guest = (
        "  - until: 12\n    say:\n      text: Well\n      file: ask.wav\n      voice: guest\n"
        "      at: 6.2\n    quiet: true\n"
    )
    assert "2.2 s" not in str(texts(cache, desk.write(ASKED, head=head), Level.WARNING))
    assert "pause" in texts(cache, desk.write(ASKED + guest, head=head), Level.WARNING)[0]


SEEN = {
    "show": "    show:\n      text: Which square moves?\n      takes: 2\n      stay: 0\n",
    "gesture": "    gesture:\n      clip: hand\n      from: 1\n      until: 3\n",
}


def seen(desk: Desk, turns: str, head: str = "") -> Path:
    """A scenario with a second clip for gestures."""
    desk.clip("hand.mkv", 3)
    file = desk.write(turns, head=head)
    both = "clips:\n  main: {file: clip.mkv, licence: CC0-1.0}\n"
    both += "  hand: {file: hand.mkv, licence: CC0-1.0}\n"
    text = file.read_text().replace("clip:\n  file: clip.mkv\n  licence: CC0-1.0\n", both)
    if "clip: hand" not in turns:
        text += "  - clip: hand\n    until: 1\n    quiet: true\n"
    file.write_text(text.replace("turns:\n  - ", "turns:\n  - clip: main\n    "))
    return file


@pytest.mark.parametrize("kind", SEEN)
@pytest.mark.parametrize(
    ("loud", "pace", "warned"),
    [([(6, 8)], "continuous", True), ([(6, 8)], "wait", False), ([(3, 5)], "continuous", False)],
)
def test_a_pause_after_what_is_seen(
    desk: Desk,
    cache: Cache,
    kind: str,
    loud: list[tuple[float, float]],
    pace: str,
    warned: bool,
) -> None:
    desk.clip("clip.mkv", 12, loud)
    asked = f"  - until: 6\n{SEEN[kind]}    either: true\n  - until: 12\n    quiet: true\n"
    found = texts(cache, seen(desk, asked, f"pace: {pace}\n"), Level.WARNING)
    assert len(found) == (1 if warned else 0), found
    if warned:
        assert f"turns[0].{kind}: sound goes on right after it" in found[0]


@pytest.mark.parametrize("kind", SEEN)
def test_what_is_seen_has_to_fit(desk: Desk, cache: Cache, kind: str) -> None:
    asked = f"  - until: 1.5\n{SEEN[kind]}    either: true\n"
    (found,) = texts(cache, seen(desk, asked), Level.ERROR)
    assert f"turns[0].{kind}: " in found
    assert "lasts 2.00 s and does not fit: its segment lasts 1.50 s" in found


def test_evidence_after_what_is_seen(desk: Desk, cache: Cache) -> None:
    for given in SEEN.values():
        asked = f"  - until: 6\n{given}    answer: The yellow one.\n"
        asked += "    evidence:\n      - [6.5, 7]\n"
        (found,) = texts(cache, seen(desk, asked), Level.WARNING)
        assert "begins at 6.5 s, after the answer falls due (5.9" in found


def test_evidence_after_the_clips_end(desk: Desk, cache: Cache) -> None:
    desk.sound("ask.wav", 2)
    (found,) = texts(cache, desk.write(ASKED.replace("[0, 4]", "[3, 900]")), Level.ERROR)
    assert "900 s is after the end of its clip, which lasts 12.00 s" in found


def test_evidence_that_a_jump_back_makes_later_in_the_clip(desk: Desk, cache: Cache) -> None:
    desk.sound("ask.wav", 2)
    played = "  - from: 6\n    until: 10\n    quiet: true\n"
    asked = ASKED.replace("  - until", "  - from: 0\n    until").replace("[0, 4]", "[7, 8]")
    assert not texts(cache, desk.write(played + asked), Level.WARNING)
    assert texts(cache, desk.write(asked + played), Level.WARNING)


def test_what_cannot_be_drawn_or_shown(desk: Desk, cache: Cache) -> None:
    asked = "  - until: 6\n    show: Hi 你\n    gesture:\n      clip: hand\n      until: 9\n"
    found = texts(cache, seen(desk, asked + "    either: true\n"), Level.ERROR)
    assert len(found) == 2
    assert "U+4F60" in found[0]
    assert "until: 9 s is after the end of its clip, which lasts 3.00 s" in found[1]


def test_lines_are_right_behind_a_prior(desk: Desk, cache: Cache) -> None:
    head = "prior:\n  as: [card, clip]\n  clip: main\n  until: 99\n  steps: [Look]\n"
    desk.sound("ask.wav", 7)
    found = texts(cache, seen(desk, ASKED.replace("[0, 4]", "[7, 8]"), head), Level.ERROR)
    assert "prior.until: 99 s is after the end of clip.mkv" in found[0]
    assert "turns[0].say: lasts 7.00 s and does not fit" in found[1]
    assert "prior" not in found[1]


def test_a_clip_that_is_played_otherwise(desk: Desk, cache: Cache) -> None:
    desk.sound("ask.wav", 2)
    file = desk.write(ASKED + "  - until: 47\n    quiet: true\n")
    plays = file.read_text().replace("  licence", "  speed: 0.5\n  repeat: 2\n  licence")
    file.write_text(plays)
    assert checked(cache, file)[0].findings == ()
    file.write_text(plays.replace("until: 47", "until: 49").replace("repeat", "level: 0\n  repeat"))
    (mute,) = texts(cache, file, Level.ERROR)
    assert "level: nothing is audible in clip.mkv" in mute
    file.write_text(plays.replace("until: 47", "until: 49"))
    (late,) = texts(cache, file, Level.ERROR)
    assert "which lasts 48.00 s at speed 0.5 2 times over" in late


def test_a_clip_that_is_elsewhere_is_a_note(desk: Desk, cache: Cache) -> None:
    file = desk.folder / "far.yaml"
    file.write_text(
        "version: 1\nid: far\nclip:\n  url: https://example.org/x.mp4\n  licence: CC0-1.0\n"
        f"  sha256: {'0' * 64}\nturns:\n  - until: 6\n    quiet: true\n"
    )
    (one,) = checked(cache, file)
    assert [f.level for f in one.findings] == [Level.NOTE]


def test_folders_and_ids(desk: Desk, cache: Cache) -> None:
    turn = "  - until: 6\n    quiet: true\n"
    desk.write(turn, name="one.yaml")
    desk.write(turn, name="two.yaml")
    desk.write(turn, name=".hidden/three.yaml")
    (desk.folder / "notes.yaml").write_text("some: thing\n")
    one, two = checked(cache, desk.folder)
    assert one.findings == ()
    assert [f.text for f in two.findings] == [
        f"id: 'made' is the id of {desk.folder / 'one.yaml'} already"
    ]
    assert len(checked(cache, desk.folder, desk.folder / "one.yaml")) == 2, "each file once"


def test_folder_without_scenarios(tmp_path: Path, cache: Cache) -> None:
    with pytest.raises(InputError, match="no scenario in this folder"):
        list(check_all([str(tmp_path)], cache))


def test_exit_status(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    desk.sound("ask.wav", 2)
    file = desk.write(ASKED)
    assert check_scenarios([str(file)]) == 0
    file.write_text(file.read_text().replace("[0, 4]", "[7, 8]"))
    assert check_scenarios([str(file)]) == 1
    file.write_text(file.read_text().replace("until: 6", "until: 60"))
    assert check_scenarios([str(file)]) == 2
    assert f"{file}:7: error: turns[0].until: 60 s" in capsys.readouterr().out


def test_the_bundled_scenarios_pass(cache: Cache, media_dir: Path) -> None:
    found = [f for one in check_all([str(content_root("scenarios"))], cache) for f in one.findings]
    assert found == []


def test_a_collection(desk: Desk, cache: Cache) -> None:
    turn = "  - until: 6\n    quiet: true\n"
    desk.write(turn, name="one.yaml")
    two = desk.write(turn, name="two.yaml", id="two")
    shared = desk.folder / "collection.yaml"
    shared.write_text("version: 1\nlicences:\n  clip.mkv: CC0-1.0\n  gone.mp4: CC0-1.0\n")
    two.write_text(two.read_text().replace("  licence: CC0-1.0\n", ""))
    found = [str(f) for c in checked(cache, desk.folder) for f in c.findings]
    assert found == [f"{shared}:4: warning: licences.gone.mp4: fits no file in this collection"]
    two.write_text(two.read_text().replace("id: two", "id: made"))
    assert "is the id of" in texts(cache, two, Level.ERROR)[0], "also if only one is looked at"


def test_a_broken_collection_is_told_once(desk: Desk, cache: Cache) -> None:
    turn = "  - until: 6\n    quiet: true\n"
    desk.write(turn, name="one.yaml")
    desk.write(turn, name="two.yaml", id="two")
    (desk.folder / "collection.yaml").write_text("version: 1\npace: fast\n")
    (one,) = checked(cache, desk.folder)
    assert [f.line for f in one.findings] == [2]
