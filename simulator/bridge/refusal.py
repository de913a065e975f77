"""What a caller asks for and cannot have: its words, in the API's shape.

Over HTTP it is the body of a reply (`simulator.bridge.host`), on the data channel an `error` event
(`simulator.bridge.wire`).
"""

from __future__ import annotations


class Refusal(Exception):
    """A request or message that cannot be served. `param` names what of it is meant."""

    def __init__(
        self, code: str, message: str, param: str | None = None, *, status: int = 400
    ) -> None:
        super().__init__(message)
        self.status = status
        """Of the reply over HTTP."""
        self.body = {
            "type": "invalid_request_error",
            "code": code,
            "message": message,
            "param": param,
        }
