"""Which pages may call, and what their browsers are told."""

from __future__ import annotations

import pytest

from simulator.bridge.origins import Origins
from simulator.errors import InputError


@pytest.mark.parametrize(
    ("allowed", "origin", "may"),
    [
        ((), "http://localhost:3000", True),
        ((), "https://127.0.0.1", True),
        ((), "http://[::1]:8080", True),
        ((), "http://localhost.evil.example", False),
        ((), "http://[::1].evil.example", False),
        ((), "http://localhost:3000 http://evil.example", False),
        ((), "HTTP://LocalHost:3000", True),
        ((), "http://evil.example", False),
        ((), "http://localhost:x", False),
        ((), "http://a@localhost", False),
        ((), "ftp://localhost", False),
        ((), "null", False),
        ((), "", False),
        (("https://app.example",), "https://app.example", True),
        (("https://App.example:443/",), "https://app.example", True),
        (("https://app.example",), "https://app.example:8443", False),
        (("https://app.example",), "http://app.example", False),
        (("https://app.example",), "https://app.example.evil.example", False),
        (("https://app.example",), "http://localhost:3000", False),
        (("http://a.example:80", "null"), "http://a.example", True),
        (("http://a.example:80", "null"), "null", True),
        (("http://a.example:", "http://b.example:080"), "http://a.example", True),
        (("http://a.example:", "http://b.example:080"), "http://b.example", True),
        (("http://[::1]:80",), "http://[::1]", True),
        (("https://bücher.example",), "https://xn--bcher-kva.example", True),
        (("*",), "https://anything.example", True),
    ],
)
def test_who_may_call(allowed: tuple[str, ...], origin: str, may: bool) -> None:
    assert Origins(allowed).allow(origin) is may


@pytest.mark.parametrize(
    "wrong", ["app.example", "https://app.example/path", "", "https://", "ws://a", "http://a:x"]
)
def test_what_is_no_origin_is_said(wrong: str) -> None:
    with pytest.raises(InputError, match="is no origin of pages"):
        Origins([wrong])


def test_a_preflight_allows_what_it_asks_for_and_no_more() -> None:
    asked = {"Access-Control-Request-Headers": "authorization,x-openai-agents-sdk"}
    answer = Origins().preflight("http://localhost:1", asked)
    assert answer["Access-Control-Allow-Headers"] == "authorization,x-openai-agents-sdk"
    assert answer["Access-Control-Allow-Origin"] == "http://localhost:1"
    assert answer["Access-Control-Expose-Headers"] == "Location"
    assert answer["Vary"] == "Origin"
    assert "Access-Control-Allow-Private-Network" not in answer
    assert "Access-Control-Allow-Credentials" not in answer
