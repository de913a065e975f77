"""What is the silence token, and what only holds its words."""

from __future__ import annotations

import pytest

from simulator.protocol.silence import is_silence_token


@pytest.mark.parametrize(
    "text",
    [
        "[KEEP QUIET]",
        "keep quiet.",
        "KEEP_QUIET",
        "(Keep-quiet)",
        "[KEEP QUIET][KEEP QUIET]",
        "[KEEP QUIET]\n[KEEP QUIET]",
        "Keep quiet. Keep quiet. Keep quiet.",
    ],
)
def test_the_token_in_any_spelling_and_said_more_than_once(text: str) -> None:
    assert is_silence_token(text)


@pytest.mark.parametrize(
    "text",
    ["", "quiet", "Keep quiet, please.", "I keep quiet.", "[KEEP QUIET] Three.", "keep keep quiet"],
)
def test_words_around_it_are_an_answer(text: str) -> None:
    assert not is_silence_token(text)


def test_a_long_text_of_it_is_read_at_once() -> None:
    assert not is_silence_token("keep quiet " * 20_000 + "!" * 50_000 + "x")
