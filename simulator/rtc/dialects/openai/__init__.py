"""The Realtime API's calls by WebRTC, with a video track added: OpenAI's, and all that serve it."""

from __future__ import annotations

from collections.abc import Mapping

from simulator.agent import Dial
from simulator.rtc import dialect


class OpenAI(dialect.Dialect):
    """The two parts, imported when they are made: who only reads messages needs no network."""

    def codec(self, settings: Mapping[str, object]) -> dialect.Codec:
        from simulator.rtc.dialects.openai.codec import Codec

        return Codec(settings)

    def signalling(self, target: Dial) -> dialect.Signalling:
        from simulator.rtc.dialects.openai.signalling import Signalling

        return Signalling(target)
