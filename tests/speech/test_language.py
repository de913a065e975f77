"""What a voice can speak, by its letters."""

from __future__ import annotations

import pytest

from simulator.speech.language import MOST_WORDS, unspeakable


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How many bottles?", "en-us"),
        ("Où est le café à 5 €, naïf ½ ª?", "fr-fr"),
        ("Wie groß ist er? Größer als 3 µm?", "de"),
        ("ビンは何本ありますか。Tシャツは?", "ja-jp"),
        ("桌上有几个瓶子？", "zh-cn"),
        ("Сколько бутылок?", "ru"),
        ("병이 몇 개 있어요?", "ko-kr"),
        ("कितनी बोतलें हैं?", "hi"),
        ("anything, Сколько", "xx"),
        ("3 + 4 = 7", "en-us"),
        ("e\u0301tude", "fr"),
        ("word " * MOST_WORDS, "en-us"),
    ],
)
def test_spoken(text: str, language: str) -> None:
    assert unspeakable(text, language) == ""


@pytest.mark.parametrize(
    ("text", "language", "why"),
    [
        ("桌上有几个瓶子？", "en-us", "cannot speak '桌' (cjk)"),
        ("Сколько?", "en-gb", "(cyrillic)"),
        ("كم زجاجة؟", "en-us", "(arabic)"),
        ("ビン", "ko-kr", "(katakana)"),
        ("one 👍", "en-us", "thumbs up sign"),
        ("?!", "en-us", "has no word"),
        ("word " * (MOST_WORDS + 1), "en-us", "401 words are too many"),
    ],
)
def test_refused(text: str, language: str, why: str) -> None:
    assert why in unspeakable(text, language)
