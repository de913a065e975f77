"""Rendering: spoken once, kept in the folder, and played from there on any machine."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from simulator.errors import InputError, MissingExtra, ScenarioError
from simulator.media.cache import Cache
from simulator.media.loudness import INSTRUCTION, loudness
from simulator.media.sound import load
from simulator.scenario.load import load_scenario
from simulator.scenario.lock import NAME
from simulator.scenario.types import Say
from simulator.speech.render import prune, render_speech, unused

from .conftest import TURNS, Bell, Write


def lines(path: Path) -> list[str]:
    with pytest.raises(ScenarioError) as caught:
        load_scenario(path)
    return [p.replace(f"{path}:", "") for p in caught.value.problems]


def says(path: Path) -> list[Say]:
    return [i for t in load_scenario(path).turns for i in t.instructions if isinstance(i, Say)]


def test_text_alone_needs_rendering_and_says_so(write: Write) -> None:
    path = write()
    assert lines(path) == [
        f"8: turns[0].say: is not rendered to speech yet: omnistage render-speech {path}",
        f"11: turns[1].say: is not rendered to speech yet: omnistage render-speech {path}",
    ]


def test_rendered_speech_is_what_a_run_plays(write: Write, bell: Bell, cache: Cache) -> None:
    path = write()
    done = render_speech(path, cache=cache, engines=[bell])
    assert [(r.turn, r.sound.voice, r.source) for r in done] == [
        ("t1", "bell_high", "spoken"),
        ("t2", "bell_low", "spoken"),
    ]
    assert bell.starts == 1, "one process for all"
    first, second = says(path)
    assert first.sound.parent == path.parent / "speech"
    assert (first.text, second.voice) == ("How many bottles are there?", "guest")
    sound = load(first.sound)
    assert len(sound) / 48_000 == pytest.approx(1.5, abs=0.02), "the quiet ends are cut off"
    assert loudness(sound) == pytest.approx(INSTRUCTION, abs=0.3)
    assert float(np.abs(sound).max()) < 1


def test_the_lock_file_says_what_was_spoken_how(write: Write, bell: Bell, cache: Cache) -> None:
    path = write(guest="{voice: bell:bell_low, rate: 1.5}")
    render_speech(path, cache=cache, engines=[bell])
    body = json.loads((path.parent / "speech" / NAME).read_text())
    row = next(s for s in body["sounds"] if s["asked"])
    assert body["version"] == 1
    assert row | {"file": "", "sha256": ""} == {
        "text": "Is it lunch time?",
        "asked": "bell:bell_low",
        "rate": 1.5,
        "engine": "bell",
        "voice": "bell_low",
        "language": "en-gb",
        "version": "1",
        "file": "",
        "sha256": "",
        "seconds": pytest.approx(0.8, abs=0.01),
    }
    assert row["file"].startswith("is-it-lunch-time-")


def test_what_is_there_is_not_spoken_again(write: Write, bell: Bell, cache: Cache) -> None:
    path = write()
    render_speech(path, cache=cache, engines=[bell])
    nobody = Bell(lacks="install a bell")
    assert [r.source for r in render_speech(path, cache=cache, engines=[nobody])] == ["kept"] * 2
    write(TURNS.replace("lunch", "dinner"))
    assert len(lines(path)) == 1, "the other one is still there"
    assert [r.source for r in render_speech(path, cache=cache, engines=[bell])] == [
        "kept",
        "spoken",
    ]
    assert bell.said[2:] == ["Is it dinner time?"]


def test_the_cache_knows_what_this_machine_has_spoken(
    write: Write, bell: Bell, cache: Cache
) -> None:
    path = write()
    render_speech(path, cache=cache, engines=[bell])
    before = {f.name: f.read_bytes() for f in (path.parent / "speech").iterdir()}
    for file in (path.parent / "speech").iterdir():
        file.unlink()
    assert [r.source for r in render_speech(path, cache=cache, engines=[bell])] == ["cache"] * 2
    assert {f.name: f.read_bytes() for f in (path.parent / "speech").iterdir()} == before
    assert len(bell.said) == 2
    render_speech(path, cache=cache, engines=[bell], force=True)
    assert len(bell.said) == 4
    bell.made = "2"
    (path.parent / "speech" / NAME).unlink()
    assert {r.source for r in render_speech(path, cache=cache, engines=[bell])} == {"spoken"}, (
        "another version of the engine may speak in another way"
    )


def test_one_text_in_two_turns_is_one_sound(write: Write, bell: Bell, cache: Cache) -> None:
    path = write(
        TURNS + "  - until: 15\n    say: How many   bottles are there?\n    answer: Two.\n"
    )
    assert len(render_speech(path, cache=cache, engines=[bell])) == 3
    assert len(bell.said) == 2
    assert says(path)[0].sound == says(path)[2].sound


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda f: f.write_bytes(f.read_bytes() + b"x"), "is not what speech/lock.json says it is"),
        (lambda f: f.unlink(), "is not there"),
    ],
)
def test_a_sound_that_was_changed_or_lost(
    write: Write, bell: Bell, cache: Cache, spoil: object, said: str
) -> None:
    path = write()
    render_speech(path, cache=cache, engines=[bell])
    assert callable(spoil)
    spoil(says(path)[0].sound)
    (found,) = lines(path)
    assert found.startswith("8: turns[0].say: its speech speech/how-many-bottles-are-there-")
    assert said in found
    assert f"omnistage render-speech {path}" in found
    sources = [r.source for r in render_speech(path, cache=cache, engines=[bell])]
    assert sources == ["kept", "cache"]
    assert says(path)


@pytest.mark.parametrize("text", ["{", "[]", '{"version": 9, "sounds": []}', '{"version": 1}'])
def test_a_lock_file_that_cannot_be_read(write: Write, bell: Bell, cache: Cache, text: str) -> None:
    path = write()
    (path.parent / "speech").mkdir()
    (path.parent / "speech" / NAME).write_text(text)
    assert all("speech/lock.json cannot be read: " in line for line in lines(path))
    with pytest.raises(InputError, match="--force"):
        render_speech(path, cache=cache, engines=[bell])
    assert len(render_speech(path, cache=cache, engines=[bell], force=True)) == 2


def test_a_lock_file_cannot_lead_out_of_its_folder(write: Write) -> None:
    path = write()
    (path.parent / "speech").mkdir()
    row = dict.fromkeys(("text", "asked", "engine", "voice", "language", "version", "sha256"), "x")
    body = {"version": 1, "sounds": [row | {"file": "../own.mp4", "rate": 1, "seconds": 1}]}
    (path.parent / "speech" / NAME).write_text(json.dumps(body))
    assert "'../own.mp4' is no file of its folder" in lines(path)[0]


def test_everything_that_cannot_be_spoken_is_told_before_anything_is(
    write: Write, bell: Bell, cache: Cache
) -> None:
    path = write(
        TURNS + "  - until: 15\n    say: Сколько бутылок?\n    either: true\n"
        "  - until: 20\n    say: How many 🍾 are there?\n    either: true\n"
        '  - until: 25\n    say: "..."\n    either: true\n'
        f"  - until: 30\n    say: {'bottle ' * 2_000}\n    either: true\n",
        guest="bell_lo",
    )
    with pytest.raises(ScenarioError) as caught:
        render_speech(path, cache=cache, engines=[bell])
    told = [p.replace(f"{path}: ", "") for p in caught.value.problems]
    assert told[0].startswith(
        "turns[1] (t2): say: no voice is called 'bell_lo'; did you mean bell_low"
    )
    assert told[1:] == [
        "turns[2] (t3): say: bell_high: a voice for en-us cannot speak 'С' (cyrillic): "
        "take a voice of the text's language",
        "turns[3] (t4): say: bell_high: 🍾 (bottle with popping cork) cannot be spoken: "
        "write the word",
        "turns[4] (t5): say: bell_high: '...' has no word in it",
        "turns[5] (t6): say: bell_high: 2,000 words are too many for one instruction, at most "
        "400: split it over several turns",
    ]
    assert bell.said == []
    assert not (path.parent / "speech").exists()


def test_an_engine_that_is_not_installed(write: Write, bell: Bell, cache: Cache) -> None:
    path = write(guest="horn_low")
    horn = Bell(name="horn", lacks="pip install 'omnistage[horn]'")
    with pytest.raises(ScenarioError) as caught:
        render_speech(path, cache=cache, engines=[horn, bell])
    assert caught.value.problems[0].endswith(
        "voice 'horn_low' is one of horn's: pip install 'omnistage[horn]' "
        "(installed here, with a voice each: bell (bell_high))"
    )
    assert bell.said == [], "nothing was spoken, the other text neither"
    assert issubclass(MissingExtra, InputError)


def test_an_engine_that_fails_keeps_what_was_spoken(write: Write, bell: Bell, cache: Cache) -> None:
    path = write()
    bell.fails_at = "Is it lunch time?"
    with pytest.raises(InputError, match=r"turns\[1\] \(t2\): say: bell is cracked") as caught:
        render_speech(path, cache=cache, engines=[bell])
    assert caught.value.hint == "cast another"
    assert len(lines(path)) == 1


def test_a_folder_that_cannot_be_written(write: Write, bell: Bell, cache: Cache) -> None:
    path = write()
    (path.parent / "speech").write_text("a file where the folder should be")
    with pytest.raises(InputError, match="cannot be written") as caught:
        render_speech(path, cache=cache, engines=[bell])
    assert "copy the scenario's folder" in caught.value.hint
    assert bell.said == []


def test_speech_that_does_not_fit_is_noted(write: Write, bell: Bell, cache: Cache) -> None:
    path = write("  - until: 1\n    say: one two three four five\n    answer: Six.\n")
    (done,) = render_speech(path, cache=cache, engines=[bell])
    assert done.note == "lasts 1.50 s, its turn has 1.00 s for it"


def test_old_sounds_are_found_and_deleted_but_not_those_of_a_neighbour(
    write: Write, bell: Bell, cache: Cache
) -> None:
    path = write()
    other = write(TURNS.replace("lunch", "tea"), name="other")
    for file in (path, other):
        render_speech(file, cache=cache, engines=[bell])
    assert unused(path) == []
    write(TURNS.replace("lunch", "dinner"))
    render_speech(path, cache=cache, engines=[bell])
    (path.parent / "notes.yaml").write_text("version: 1\n")
    assert [s.text for s in unused(path)] == ["Is it lunch time?"]
    (gone,) = prune(path)
    assert not (path.parent / "speech" / gone.file).exists()
    assert unused(path) == []
    assert len(says(path)) == len(says(other)) == 2
    write("  - nonsense\n", name="broken")
    write(TURNS)
    assert unused(path) == [], "who knows what the broken one says"
