"""Halves of characters, which JSON may carry and no file may hold."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from simulator.text import all_well_formed, excerpt, public_url, well_formed


def test_only_lone_surrogates_are_replaced() -> None:
    assert well_formed("three \ud800 bottles") == "three \ufffd bottles"
    assert well_formed("\ude00\udcff") == "\ufffd\ufffd"
    assert well_formed("\ud83d\ude00 é") == "😀 é"
    assert well_formed("Über 😀") == "Über 😀"


def test_every_text_of_a_value_is_reached() -> None:
    value = json.loads('{"a\\ud800": ["\\udfff", 1, null, {"b": "c"}]}')
    assert all_well_formed(value) == {"a\ufffd": ["\ufffd", 1, None, {"b": "c"}]}


@given(text=st.text(st.characters(exclude_categories=())))
def test_what_comes_out_can_be_written(text: str) -> None:
    well_formed(text).encode()


def test_urls_in_messages_hold_no_secrets() -> None:
    assert public_url("https://u:p@host:1/v1?key=k#f") == "https://host:1/v1"
    assert public_url("http://u:p@[bad/") == "an address that cannot be read"


def test_no_excerpt_ends_within_a_word() -> None:
    assert excerpt("Wrong key.", 10) == "Wrong key."
    assert excerpt("The key sk-a_b.c+d/e=%2F is wrong.", 20) == "The key"
    assert excerpt('{"error":"no Bearer sk-proj-0123456789"}', 30) == '{"error":"no Bearer'
    assert excerpt("x" * 50, 10) == ""
