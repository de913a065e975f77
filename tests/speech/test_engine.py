"""Which engine speaks, and what is said when none can."""

from __future__ import annotations

import re

import pytest

from simulator.errors import InputError, MissingExtra
from simulator.speech.engine import find_voice
from simulator.speech.engines import engines

from .conftest import Bell


def test_the_first_that_is_there_speaks_for_those_who_name_nobody() -> None:
    horn, bell = Bell(name="horn", lacks="pip install horn"), Bell()
    assert find_voice("", [horn, bell]) == (bell, bell.voices()[0])
    assert find_voice("", [Bell(name="horn"), bell])[1].name == "horn_high"


def test_a_voice_by_its_name_or_with_its_engine() -> None:
    horn, bell = Bell(name="horn"), Bell()
    assert find_voice("bell_low", [horn, bell])[0] is bell
    assert find_voice("bell:bell_low", [horn, bell])[1].language == "en-gb"


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("bel_low", "no voice is called 'bel_low'; did you mean bell_low"),
        ("BELL_LOW", "did you mean bell_low"),
        ("zzz", "it has bell_high, bell_low, bell_oriental"),
        ("bel:bell_low", "no speech engine 'bel'; did you mean bell?"),
        ("bell:low", "bell has no voice 'low'; did you mean bell_low"),
    ],
)
def test_unknown_names_bring_near_ones(asked: str, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        find_voice(asked, [Bell()])


def test_nothing_installed() -> None:
    with pytest.raises(MissingExtra) as caught:
        find_voice("", [Bell(lacks="pip install 'omnistage[bell]'")])
    assert "pip install 'omnistage[bell]'" in str(caught.value)
    assert "the lightest: pip install 'omnistage[espeak]'" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "engine", "language"),
    [
        ("af_heart", "kokoro", "en-us"),
        ("bm_george", "kokoro", "en-gb"),
        ("ff_siwis", "kokoro", "fr-fr"),
        ("joe", "piper", "en-us"),
        ("en-US-AvaNeural", "edge", "en-us"),
        ("zh-CN-liaoning-XiaobeiNeural", "edge", "zh-cn"),
        ("de+f2", "espeak", "de"),
        ("espeak:en-us", "espeak", "en-us"),
    ],
)
def test_the_engines_know_their_voices(name: str, engine: str, language: str) -> None:
    head, colon, bare = name.partition(":")
    found = {e.name: v for e in engines() if (v := e.voice(bare if colon else head))}
    assert list(found) == [engine]
    assert found[engine].language == language


def test_every_engine_has_a_first_voice_and_says_what_it_lacks() -> None:
    for engine in engines():
        first = engine.voices()[0]
        assert engine.voice(first.name) == first
        assert engine.voice("nobody at all") is None
        lacking = engine.missing()
        assert not lacking or "install" in lacking
