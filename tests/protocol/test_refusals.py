"""What a provider says of its failures beside its events: how long it wants to be left alone."""

from __future__ import annotations

import pytest

from simulator.protocol.refusals import retry_after


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "3"}, 3.0),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After-Ms": "1500", "Retry-After": "9"}, 1.5),
        (
            {
                "Retry-After": "Mon, 30 Nov 2026 00:00:10 GMT",
                "Date": "Mon, 30 Nov 2026 00:00:03 GMT",
            },
            7.0,
        ),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "inf"}, None),
        ({}, None),
    ],
)
def test_how_long_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds
