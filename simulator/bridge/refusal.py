"""What a caller asks for and cannot have: its words, in the API's shape.

Over HTTP it is the body of a reply (`simulator.bridge.host`), on the data channel an `error` event
(`simulator.bridge.wire`).
"""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


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


def decoded(text: str, what: str, param: str | None = None) -> Any:
    """JSON that a caller wrote. Raises Refusal, also for numbers that JSON cannot have: a browser
    could not read them when they are told again."""
    try:
        return json.loads(text, parse_constant=_no_number, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise Refusal("invalid_json", f"{what} is not JSON: {error}", param) from None


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _no_number(digits)


def _no_number(digits: str) -> NoReturn:
    raise ValueError(f"{digits[:40]} is no number")
