"""Secrets go, however they are written; everything else stays."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.recording.redact import MARK, Redactor

SECRET = 'sk-p/ro+j "x"\\é=42'


@pytest.mark.parametrize(
    "written",
    [
        SECRET,
        json.dumps(SECRET),
        json.dumps(SECRET, ensure_ascii=False),
        json.dumps(json.dumps({"key": SECRET})),
        quote(SECRET),
        quote(SECRET, safe=""),
        quote(SECRET, safe="").lower().replace("%c3%a9", "%c3%a9"),
        base64.b64encode(SECRET.encode()).decode(),
        base64.b64encode(b"u:" + SECRET.encode() + b":tail").decode(),
        base64.urlsafe_b64encode(b"user:" + SECRET.encode()).decode(),
        SECRET.encode().hex(),
    ],
)
def test_every_way_to_write_it_is_found(written: str) -> None:
    redactor = Redactor([SECRET])
    clean = redactor.text(f"before {written} after")
    assert clean.startswith("before ")
    assert clean.endswith(" after")
    assert MARK in clean
    assert not redactor.found(clean)


@given(st.binary(max_size=7), st.text(st.characters(codec="ascii"), min_size=6, max_size=40))
def test_base64_hides_nothing_whatever_stands_before_it(before: bytes, secret: str) -> None:
    encoded = base64.b64encode(before + secret.encode() + b"!").decode()
    assert Redactor([secret]).found(encoded)


def test_a_token_is_found_without_the_word_before_it() -> None:
    assert Redactor(["Bearer abcdef123"]).text("key=abcdef123") == f"key={MARK}"


def test_values_are_walked_through_with_keys_and_numbers() -> None:
    redactor = Redactor(["hunter22", "775533"])
    value = {"hunter22": ["a", {"b": "x hunter22"}], "n": 7755331, "ok": 5, "flag": True}
    assert redactor.value(value) == {
        MARK: ["a", {"b": f"x {MARK}"}], "n": MARK, "ok": 5, "flag": True,
    }  # fmt: skip


def test_what_is_too_short_to_be_a_secret_is_none() -> None:
    assert Redactor(["", "abc"]).text("abc abc") == "abc abc"


def test_packets_keep_their_length() -> None:
    assert Redactor(["topsecret"]).packet(b"\x80topsecret\x01") == b"\x80*********\x01"
