"""Removes secrets by value, whatever field they are in and however they are written. Pure.

A secret is looked for as it is, JSON-escaped (once and twice), percent-encoded, in base64 (at each
of the three alignments, both alphabets) and in hex. What this cannot find: a secret that is split
over two records (two text deltas), changed by the agent (spelt out, reversed), or of fewer than
four characters, which would blot out half of any text. Counterpart: `simulator.recording.writer`
passes everything through it before it reaches a disk.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, quote_plus

MARK = "[secret]"
"""What stands where a secret was."""
SHORTEST = 4
"""Characters below which a value is not taken for a secret."""
_SCHEMES = ("bearer ", "basic ", "token ", "apikey ")


class Redactor:
    """Knows the secrets of one session."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        whole = set(secrets)
        # The token of an Authorization header may turn up without the word before it.
        whole |= {s.split(" ", 1)[1].strip() for s in whole if s.lower().startswith(_SCHEMES)}
        known = sorted(s for s in whole if len(s) >= SHORTEST)
        forms = {form for secret in known for form in _forms(secret)}
        self._forms = tuple(sorted(forms, key=lambda f: (-len(f), f)))
        self._bytes = tuple(s.encode(errors="surrogatepass") for s in known)
        self.longest = max((len(f) for f in self._forms), default=0)
        """Length of the longest way to write one of them, in characters."""

    def __bool__(self) -> bool:
        return bool(self._forms)

    def found(self, text: str) -> bool:
        """Whether a secret stands in `text`."""
        return any(form in text for form in self._forms)

    def text(self, text: str) -> str:
        """`text` with a mark in place of each secret."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, MARK)
        return text

    def value(self, value: Any) -> Any:
        """The same for a JSON value, in its keys, its strings and the digits of its numbers."""
        if not self._forms:
            return value
        match value:
            case str():
                return self.text(value)
            case Mapping():
                return {self.text(str(k)): self.value(v) for k, v in value.items()}
            case list() | tuple():
                return [self.value(v) for v in value]
            case int() | float() if not isinstance(value, bool) and self.found(repr(value)):
                return MARK
            case _:
                return value

    def packet(self, packet: bytes) -> bytes:
        """A binary packet with each secret, written as it is, overwritten by asterisks."""
        for form in self._bytes:
            if form in packet:
                packet = packet.replace(form, b"*" * len(form))
        return packet


def _forms(secret: str) -> Iterator[str]:
    raw = secret.encode(errors="surrogatepass")
    yield secret
    for ascii_only in (True, False):
        once = json.dumps(secret, ensure_ascii=ascii_only)[1:-1]
        yield once
        yield once.replace("/", "\\/")
        yield json.dumps(once, ensure_ascii=ascii_only)[1:-1]
    every = "".join(f"%{b:02X}" for b in raw)
    for percent in (quote(raw, safe=""), quote(raw), quote_plus(raw), every):
        yield percent
        yield _lower_hex(percent)
    yield raw.hex()
    yield raw.hex().upper()
    for shift in range(3):
        # Only the characters that the secret alone decides, whatever stands before and after it.
        encoded = base64.b64encode(b"\0" * shift + raw)
        first = -(-shift * 8 // 6)
        last = (shift + len(raw)) * 8 // 6
        for alphabet in (encoded, encoded.translate(bytes.maketrans(b"+/", b"-_"))):
            form = alphabet[first:last].decode()
            if len(form) > SHORTEST:
                yield form
                yield form.replace("/", "\\/")


def _lower_hex(percent: str) -> str:
    parts = percent.split("%")
    return "%".join([parts[0], *(p[:2].lower() + p[2:] for p in parts[1:])])
